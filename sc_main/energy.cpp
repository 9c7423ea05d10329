#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/input_file.h"
#include "platform/energy_machine.h"
#include "sc_main/options.h"
#include "study/session/energy_results.h"
#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

using energy::Energy;
using nlohmann::ordered_json;

// The results of a run.
struct PricedRun {
  std::string folder;
  GpuConfig config;
  ordered_json statistics;
};

PricedRun read_run(const std::string& folder) {
  const std::string file = folder + "/stats.json";
  PricedRun run{folder, load_config(folder + "/config.json"), {}};
  const ordered_json results = ordered_json::parse(read_regular_file(file), nullptr, false);
  if (results.is_discarded() || !results.is_object() || !results.contains("statistics"))
    throw InputError(file, "found no statistics of a run with timing");
  run.statistics = results.at("statistics");
  return run;
}

Energy energy_of_run(const PricedRun& run, const energy::Technology& technology) {
  auto energy = energy_of(run.statistics, run.config, technology);
  if (!energy.has_value()) {
    throw InputError(run.folder, "the run counted no events; run it again with --set sm.observe.events=true");
  }
  return std::move(*energy);
}

std::string in_digits(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

// Runs, each over its base.
class Ratios {
 public:
  Ratios(std::vector<Energy> runs, std::vector<Energy> bases)
      : runs_(std::move(runs)), bases_(std::move(bases)) {}

  // The geometric mean of what `of` says of a run, over the same of its base.
  template <class Of>
  double mean(Of&& of) const {
    double sum = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) sum += std::log(of(runs_[i]) / of(bases_[i]));
    return std::exp(sum / static_cast<double>(runs_.size()));
  }
  // The same of the EDP, if one event of this name cost so many times as much.
  double edp(const std::string& event, double times) const {
    return mean([&](const Energy& energy) {
      double joules = energy.joules();
      for (const Energy::Part& part : energy.parts)
        joules += part.name == event ? (times - 1) * part.joules() : 0;
      return joules * energy.seconds;
    });
  }
  // Of the energy of the bases, on average.
  double share(const std::string& event) const {
    double sum = 0;
    for (const Energy& base : bases_) {
      for (const Energy::Part& part : base.parts)
        sum += part.name == event ? part.joules() / base.joules() : 0;
    }
    return sum / static_cast<double>(bases_.size());
  }
  // Events of any of them, those with the largest share first.
  std::vector<std::string> events() const {
    std::vector<std::string> names;
    for (const auto* list : {&bases_, &runs_}) {
      for (const Energy& energy : *list) {
        for (const Energy::Part& part : energy.parts) {
          if (part.joules() != 0 && std::find(names.begin(), names.end(), part.name) == names.end())
            names.push_back(part.name);
        }
      }
    }
    std::stable_sort(names.begin(), names.end(),
                     [&](const auto& a, const auto& b) { return share(a) > share(b); });
    return names;
  }

 private:
  const std::vector<Energy> runs_, bases_;
};

void print_ratios(const Ratios& ratios, std::size_t pairs) {
  const auto line = [&](const char* name, auto&& of) {
    return label(name, 10, 2) + in_digits(ratios.mean(of), 4);
  };
  std::cout << "\nratio to the base, geometric mean of " << pairs << (pairs == 1 ? " run" : " runs") << "\n"
            << line("time", [](const Energy& e) { return e.seconds; }) << "\n"
            << line("power", [](const Energy& e) { return e.watts(); }) << "\n"
            << line("energy", [](const Energy& e) { return e.joules(); }) << "\n"
            << line("EDP", [](const Energy& e) { return e.edp(); }) << "   without memory devices "
            << in_digits(ratios.mean([](const Energy& e) { return e.chip_joules() * e.seconds; }), 4) << "\n";
}

void print_sensitivity(const Ratios& ratios) {
  TextTable table({{"event", Align::kLeft}, {"share"}, {"x 0.5"}, {"x 1"}, {"x 2"}}, 1, 2);
  for (const std::string& event : ratios.events()) {
    std::vector<std::string> cells{event, in_digits(100 * ratios.share(event), 2) + " %"};
    for (const double times : {0.5, 1.0, 2.0}) cells.push_back(in_digits(ratios.edp(event, times), 4));
    table.row(std::move(cells));
  }
  const Paint paint = Paint::of(STDOUT_FILENO);
  std::cout << "\nEDP as a ratio to the base, if an event costs half or twice as much\n"
            << table.text(0, paint);
}

}  // namespace

ExitCode energy(const Words& words) {
  std::vector<std::string> folders, bases;
  std::string technology;
  double node = 0;
  bool sensitivity = false;
  Options options("options");
  options
      .list("runs", folders, "DIR", "folders of results (--out of weft run) of runs with sm.observe.events",
            true)
      .list("base", bases, "DIR", "base of each run, in the order of --runs", true)
      .text("technology", technology, "NAME",
            "figures of energy: a name in configs/technology, or a file (those of each run)")
      .real("node-nm", node, {0, 250, "nm"}, "feature size to which the figures are scaled")
      .flag("sensitivity", sensitivity, "with --base: the EDP if an event costs half or twice as much")
      .plugins();
  if (!parse(words, "weft energy --runs DIR... [--base DIR...] [--technology NAME] [--sensitivity]", options))
    return ExitCode::kDone;
  if (folders.empty()) throw InputError("--runs", "found no folder; allowed: one or more");
  if (!bases.empty() && bases.size() != folders.size()) {
    throw InputError("--base", "found " + std::to_string(bases.size()) +
                                   " folders; allowed: as many as --runs, " + std::to_string(folders.size()));
  }
  if (sensitivity && bases.empty()) throw InputError("--sensitivity", "needs --base");
  const auto all_of = [&](const std::vector<std::string>& names) {
    std::vector<Energy> energies;
    for (const std::string& name : names) {
      const PricedRun run = read_run(name);
      energy::Config config = run.config.energy;
      if (!technology.empty()) config.technology = technology;
      if (node != 0) config.node_nm = node;
      const energy::Technology figures = technology_of(config);
      energies.push_back(energy_of_run(run, figures));
      std::cout << name << ": " << run.config.name << "\n";
      write_energy(std::cout, energies.back(), figures, Paint::of(STDOUT_FILENO));
      std::cout << "\n";
    }
    return energies;
  };
  std::vector<Energy> runs = all_of(folders);
  if (bases.empty()) return ExitCode::kDone;
  const Ratios ratios(std::move(runs), all_of(bases));
  print_ratios(ratios, folders.size());
  if (sensitivity) print_sensitivity(ratios);
  return ExitCode::kDone;
}

}  // namespace weft::cli
