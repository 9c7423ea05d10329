#include "study/judge/pareto_front.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace weft::study {

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) throw std::invalid_argument("dominates: numbers of objectives");
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<std::optional<std::size_t>> dominated_by(const std::vector<std::vector<double>>& costs) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  // What dominates another comes before it in this order; and what is dominated is so by one on the front.
  std::vector<std::optional<std::size_t>> result(costs.size());
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    for (const std::size_t on_it : front) {
      if ((!result[i].has_value() || on_it < *result[i]) && dominates(costs[on_it], costs[i]))
        result[i] = on_it;
    }
    if (!result[i].has_value()) front.push_back(i);
  }
  return result;
}

}  // namespace weft::study
