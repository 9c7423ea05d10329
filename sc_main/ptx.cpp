#include <iostream>

#include "ptx/module.h"
#include "runtime/device.h"
#include "sc_main/options.h"
#include "sm/kernel.h"

namespace weft::cli {

ExitCode ptx(const Words& words) {
  std::string file;
  std::uint64_t most_registers = ptx::DecodeOptions{}.max_registers;
  Options options("options");
  options.text("file", file, "FILE", "PTX file; may stand without --file", true)
      .number("max-registers", most_registers, {ptx::kLeastRegisters, 255, 1, "registers"},
              "per thread: what a kernel needs beyond is spilled to local memory (" +
                  std::to_string(most_registers) + ")");
  if (!parse(words, "weft ptx FILE", options, "file")) return ExitCode::kDone;
  ptx::DecodeOptions decoding;
  decoding.max_registers = static_cast<std::uint32_t>(most_registers);
  std::vector<std::string> refused;
  std::cout << ptx::describe(ptx::parse(runtime::read_text(file), file), decoding, &refused,
                             sm::check_executable);
  std::cout.flush();
  for (const std::string& why : refused) std::cerr << "weft: " << why << "\n";
  return refused.empty() ? ExitCode::kDone : ExitCode::kBadInput;
}

}  // namespace weft::cli
