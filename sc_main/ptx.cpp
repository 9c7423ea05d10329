#include <iostream>

#include "ptx/module.h"
#include "runtime/device.h"
#include "sc_main/options.h"
#include "sm/kernel.h"

namespace weft::cli {

ExitCode ptx(const Words& words) {
  std::string file;
  Options options("options");
  options.text("file", file, "FILE", "PTX file; may stand without --file", true);
  if (!parse(words, "weft ptx FILE", options, "file")) return ExitCode::kDone;
  std::vector<std::string> refused;
  std::cout << ptx::describe(ptx::parse(runtime::read_text(file), file), &refused, sm::check_executable);
  std::cout.flush();
  for (const std::string& why : refused) std::cerr << "weft: " << why << "\n";
  return refused.empty() ? ExitCode::kDone : ExitCode::kBadInput;
}

}  // namespace weft::cli
