#include "study/judge/pareto.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "study/judge/pareto_front.h"
#include "study/terminal/table.h"

namespace weft::study {
namespace {

bool complete(const Row& row) {
  return row.exit_code == 0 && row.measures && row.measures->cycles != 0 &&
         row.measures->joules.value_or(0) > 0 && row.measures->area_mm2.has_value();
}

// The rows of a scheme beside those of the first one on the same workload; empty if one lacks something.
std::vector<std::pair<const Measures*, const Measures*>> pairs_of(const Comparison& comparison,
                                                                  const std::string& scheme) {
  std::vector<std::pair<const Measures*, const Measures*>> pairs;
  for (const Row& row : comparison.rows) {
    if (row.scheme != scheme) continue;
    const auto first = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                    [&](const Row& other) { return other.workload == row.workload; });
    if (!complete(row) || !complete(*first)) return {};
    pairs.emplace_back(&*row.measures, &*first->measures);
  }
  return pairs;
}

}  // namespace

std::vector<SchemeCost> costs_of(const Comparison& comparison) {
  std::vector<SchemeCost> costs;
  for (const std::string& scheme : schemes_of(comparison)) {
    const auto pairs = pairs_of(comparison, scheme);
    if (pairs.empty()) continue;
    const auto mean = [&](auto&& of) {
      double sum = 0;
      for (const auto& [mine, first] : pairs) sum += std::log(of(*mine) / of(*first));
      return std::exp(sum / static_cast<double>(pairs.size()));
    };
    SchemeCost cost;
    cost.scheme = scheme;
    cost.speedup = 1 / mean([](const Measures& m) { return static_cast<double>(m.cycles); });
    cost.energy = mean([](const Measures& m) { return m.joules.value_or(0); });
    cost.edp = mean([](const Measures& m) { return m.edp.value_or(0); });
    // Stacks and such may be deeper for one workload than for another.
    for (const auto& [mine, first] : pairs)
      cost.area_mm2 = std::max(cost.area_mm2, mine->area_mm2.value_or(0));
    costs.push_back(std::move(cost));
  }
  if (costs.size() < 2) return {};
  std::vector<std::vector<double>> numbers;
  for (const SchemeCost& cost : costs) numbers.push_back({-cost.speedup, cost.energy, cost.area_mm2});
  const auto better = dominated_by(numbers);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (better[i].has_value()) costs[i].dominated_by = costs[*better[i]].scheme;
  }
  return costs;
}

std::string pareto_text(const Comparison& comparison, const Paint& paint) {
  const std::vector<SchemeCost> costs = costs_of(comparison);
  if (costs.empty()) return "";
  TextTable table({{"geometric over", Align::kLeft},
                   {costs[0].scheme, Align::kLeft},
                   {"speed-up"},
                   {"energy"},
                   {"EDP"},
                   {"mm2 per SM"},
                   {"on the front", Align::kLeft}},
                  2);
  std::string front;
  for (const SchemeCost& cost : costs) {
    const bool on_it = cost.dominated_by.empty();
    table.row({"", cost.scheme, fixed(cost.speedup, 3), fixed(cost.energy, 3), fixed(cost.edp, 3),
               fixed(cost.area_mm2, 4), on_it ? "yes" : "no: " + cost.dominated_by});
    if (on_it) front += (front.empty() ? "" : ", ") + cost.scheme;
  }
  return table.text(kPageWidth, paint) + "Pareto front of speed, energy and area: " + front + "\n";
}

nlohmann::ordered_json pareto_json(const Comparison& comparison) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const SchemeCost& cost : costs_of(comparison)) {
    json.push_back({{"scheme", cost.scheme},
                    {"speedup", cost.speedup},
                    {"energy", cost.energy},
                    {"edp", cost.edp},
                    {"area_mm2_per_sm", cost.area_mm2},
                    {"on_front", cost.dominated_by.empty()},
                    {"dominated_by", cost.dominated_by.empty() ? nlohmann::ordered_json(nullptr)
                                                               : nlohmann::ordered_json(cost.dominated_by)}});
  }
  return json;
}

}  // namespace weft::study
