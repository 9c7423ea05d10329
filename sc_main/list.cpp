#include <iomanip>
#include <iostream>
#include <regex>
#include <set>

#include "platform/soc/soc_config.h"
#include "sc_main/options.h"
#include "sc_main/session.h"
#include "warp_formation/warp_formation.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

void list_workloads() {
  for (const auto& workload : workloads::all()) {
    std::cout << workload->name() << "\n  " << workload->summary() << "\n";
    const auto sizes = workload->sizes();
    for (const auto& option : workload->options()) {
      std::cout << "  " << option.name << ": " << option.meaning << ", " << option.low << " to "
                << option.high;
      if (option.multiple > 1) std::cout << ", a multiple of " << option.multiple;
      for (const auto& [size, values] : sizes) std::cout << "; " << size << " " << values.at(option.name);
      std::cout << "\n";
    }
  }
}

// Units that repeat (sm0, sm1 ...) are listed once, as sm*.
void list_statistics(const std::string& config) {
  static const std::regex index(R"(\d+(?=\.))");
  SessionOptions options;
  options.config = config;
  Session session(options);
  std::set<std::string> seen;
  for (const auto& entry : session.device().gpu().statistics().entries()) {
    const std::string name = std::regex_replace(entry.name, index, "*");
    if (!seen.insert(name).second) continue;
    std::cout << name << " [" << entry.unit << "]\n    " << entry.description << "\n";
  }
}

}  // namespace

ExitCode list(const Words& words) {
  std::string what, config = "gtx480";
  Options options("options");
  options.text("what", what, "WORD", "configs, workloads, schemes or statistics", true)
      .text("config", config, "NAME", "whose statistics to list");
  if (!parse(words, "weft list configs|workloads|schemes|statistics [--config NAME|FILE]", options, "what")) {
    return ExitCode::kDone;
  }
  if (what == "configs") {
    for (const auto& name : config_names()) std::cout << name << "\n";
    for (const auto& name : soc_config_names()) std::cout << "soc/" << name << "\n";
  } else if (what == "workloads") {
    list_workloads();
  } else if (what == "schemes") {
    for (const auto& name : warp_formation::scheme_names()) std::cout << name << "\n";
  } else if (what == "statistics") {
    list_statistics(config);
  } else {
    throw InputError("weft list", "unknown '" + what + "'; known: configs, workloads, schemes, statistics");
  }
  return ExitCode::kDone;
}

}  // namespace weft::cli
