#include "study/judge/other_prices.h"

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

namespace weft::study {
namespace {

using Events = std::map<std::string, PricedEvent>;
// What the events of a run would cost.
using Prices = std::function<std::map<std::string, double>(const RunResult& run)>;

double picojoules_of(const Events& events) {
  double sum = 0;
  for (const auto& [name, event] : events) sum += event.count * event.picojoules;
  return sum;
}

// The same runs at other prices.
Results repriced(const Experiment& experiment, const Results& results, const Prices& prices) {
  std::vector<RunResult> runs = results.runs();
  for (RunResult& run : runs) {
    const double before = picojoules_of(run.reading.events);
    if (before == 0) continue;
    for (const auto& [name, picojoules] : prices(run)) run.reading.events[name].picojoules = picojoules;
    const double times = picojoules_of(run.reading.events) / before;
    for (const Measure& measure : experiment.measures) {
      const auto value = run.values.find(measure.name);
      if (is_energy(measure) && value != run.values.end()) value->second *= times;
    }
  }
  return {experiment, std::move(runs)};
}

// Events by the largest share that a run has of them.
std::vector<std::string> events_that_matter(const Results& results) {
  constexpr double kLeastShare = 0.001;
  std::map<std::string, double> share;
  for (const RunResult& run : results.runs()) {
    const double all = picojoules_of(run.reading.events);
    for (const auto& [name, event] : run.reading.events) {
      if (all != 0) share[name] = std::max(share[name], event.count * event.picojoules / all);
    }
  }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [name, part] : share) {
    if (part >= kLeastShare) order.emplace_back(-part, name);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> names;
  names.reserve(order.size());
  for (const auto& [part, name] : order) names.push_back(name);
  return names;
}

// Whether every run that has events has their prices under this setting. Stored results may lack them.
bool has_prices(const Results& results, const std::string& setting) {
  const auto lacks = [&](const RunResult& run) {
    return !run.reading.events.empty() && run.reading.prices.count(setting) == 0;
  };
  return std::none_of(results.runs().begin(), results.runs().end(), lacks);
}

}  // namespace

bool is_about_prices(const Sensitivity& sensitivity) {
  return sensitivity.key.rfind("energy.", 0) == 0;
}

std::vector<SettingResult> with_other_prices(const Experiment& experiment, const Results& results,
                                             const Rules& rules, bool whole) {
  std::vector<SettingResult> list;
  const auto add = [&](const Sensitivity& of, const std::string& setting, const Prices& prices) {
    Results other = repriced(experiment, results, prices);
    auto claims = judge_headline(experiment, other, rules, whole);
    list.push_back({&of, setting, std::move(other), std::move(claims), true});
  };
  for (const Sensitivity& one : experiment.sensitivity) {
    for (const Sensitivity::Setting& setting : one.settings) {
      if (is_about_prices(one) && has_prices(results, setting.name))
        add(one, setting.name, [&](const RunResult& run) { return run.reading.prices.at(setting.name); });
    }
  }
  if (experiment.price_times.empty()) return list;
  for (const std::string& event : events_that_matter(results)) {
    for (const double times : experiment.price_times) {
      std::ostringstream name;
      name << event << " x " << times;
      add(experiment.priced, name.str(), [&](const RunResult& run) {
        std::map<std::string, double> prices;
        const auto found = run.reading.events.find(event);
        if (found != run.reading.events.end()) prices[event] = found->second.picojoules * times;
        return prices;
      });
    }
  }
  return list;
}

}  // namespace weft::study
