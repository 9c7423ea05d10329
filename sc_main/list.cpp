#include <iomanip>
#include <iostream>
#include <set>

#include "platform/soc/soc_config.h"
#include "sc_main/options.h"
#include "sc_main/session.h"
#include "weft/warp_formation/scheme.h"
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

// Instances (sm0, sm1 ...) are listed once, as sm*.
void list_statistics(const std::string& config) {
  SessionOptions options;
  options.config = config;
  Session session(options);
  std::set<std::string> seen;
  session.device().gpu().statistics().each(
      [&](const std::vector<const statistics::Group*>& way, const statistics::Entry& entry) {
        std::string name;
        for (const statistics::Group* group : way)
          name += (group->index() ? statistics::pattern_of(group->kind()) : group->name()) + ".";
        name += entry.name;
        if (!seen.insert(name).second) return;
        std::cout << name << " [" << entry.unit.name() << "]\n    " << entry.description
                  << (entry.kind == statistics::Entry::Kind::kGauge ? " (samples only)" : "") << "\n";
      });
}

}  // namespace

ExitCode list(const Words& words) {
  std::string what, config = "gtx480";
  Options options("options");
  options.text("what", what, "WORD", "configs, workloads, schemes or statistics", true)
      .text("config", config, "NAME", "whose statistics to list")
      .plugins();
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
