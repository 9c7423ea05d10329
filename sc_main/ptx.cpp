#include <iostream>

#include "ptx/module.h"
#include "runtime/device.h"
#include "sc_main/options.h"

namespace weft::cli {

ExitCode ptx(const Words& words) {
  std::string file;
  Options options("options");
  options.text("file", file, "FILE", "PTX file; may stand without --file", true);
  if (!parse(words, "weft ptx FILE", options, "file")) return ExitCode::kDone;
  std::cout << ptx::describe(ptx::parse(runtime::read_text(file), file));
  return ExitCode::kDone;
}

}  // namespace weft::cli
