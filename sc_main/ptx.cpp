#include <iostream>

#include "ptx/module.h"
#include "runtime/device.h"
#include "sc_main/options.h"

namespace weft::cli {

ExitCode ptx(const Words& words) {
  namespace po = boost::program_options;
  std::string file;
  ptx::DecodeOptions decoding;
  po::options_description options("options");
  options.add_options()("file", po::value(&file)->required(), "PTX file; may stand without --file")(
      "max-registers", po::value(&decoding.max_registers)->default_value(decoding.max_registers),
      "registers per thread, 16 to 255: what a kernel needs beyond is spilled to local memory");
  if (!parse(words, "weft ptx FILE", options, "file")) return ExitCode::kDone;
  if (decoding.max_registers < ptx::kLeastRegisters || decoding.max_registers > 255) {
    throw InputError("--max-registers",
                     "found " + std::to_string(decoding.max_registers) + ", allowed are 16 to 255");
  }
  std::cout << ptx::describe(ptx::parse(runtime::read_text(file), file), decoding);
  return ExitCode::kDone;
}

}  // namespace weft::cli
