#include <iostream>

#include "ptx/module.h"
#include "runtime/device.h"
#include "sc_main/options.h"

namespace weft::cli {

ExitCode ptx(const Words& words) {
  namespace po = boost::program_options;
  std::string file;
  po::options_description options("options");
  options.add_options()("file", po::value(&file)->required(), "PTX file; may stand without --file");
  if (!parse(words, "weft ptx FILE", options, "file")) return ExitCode::kDone;
  std::cout << ptx::describe(ptx::parse(runtime::read_text(file), file));
  return ExitCode::kDone;
}

}  // namespace weft::cli
