#include <iostream>
#include <nlohmann/json.hpp>

#include "platform/gpu_config.h"
#include "sc_main/options.h"

namespace weft::cli {

ExitCode check_config(const Words& words) {
  namespace po = boost::program_options;
  std::string file;
  std::vector<std::string> overrides;
  bool effective = false;
  po::options_description options("options");
  options.add_options()("config", po::value(&file)->required(),
                        "name or JSON file; may stand without --config")(
      "set", po::value(&overrides)->composing()->multitoken(), "path=value ...: override values")(
      "effective", po::bool_switch(&effective), "print the configuration with every default filled in");
  if (!parse(words, "weft check-config FILE [--set path=value ...] [--effective]", options, "config")) {
    return ExitCode::kDone;
  }
  const GpuConfig config = load_config(file, overrides);
  if (effective) {
    std::cout << effective_config(config).dump(2) << "\n";
  } else {
    std::cout << file << ": valid; " << config.name << ", " << config.sm.count << " SMs, scheme "
              << config.warp_formation.scheme << "\n";
  }
  return ExitCode::kDone;
}

ExitCode schema(const Words& words) {
  if (!parse(words, "weft schema > weft.schema.json", {})) return ExitCode::kDone;
  std::cout << config_schema().dump(2) << "\n";
  return ExitCode::kDone;
}

}  // namespace weft::cli
