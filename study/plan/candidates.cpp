#include "study/plan/candidates.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace weft::study {

std::vector<Candidate> candidates_of(const Plan& plan, const std::vector<std::size_t>& axes,
                                     const std::vector<std::size_t>& points) {
  std::vector<Candidate> candidates;
  std::map<std::vector<std::string>, std::size_t> numbers;
  for (const std::size_t point : points) {
    std::vector<std::string> values;
    for (const std::size_t axis : axes) values.push_back(plan.points[point].values[axis]);
    const auto [found, fresh] = numbers.try_emplace(values, candidates.size());
    if (fresh) candidates.push_back({std::move(values), {}});
    candidates[found->second].points.push_back(point);
  }
  return candidates;
}

std::vector<std::size_t> all_points(const Plan& plan) {
  std::vector<std::size_t> points(plan.points.size());
  std::iota(points.begin(), points.end(), 0);
  return points;
}

std::vector<std::size_t> work_axes(const Plan& plan) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    for (const char* name : {"workload", "program", "size", "seed"}) {
      if (plan.axes[i] == name) axes.push_back(i);
    }
  }
  return axes;
}

std::vector<std::size_t> other_axes(const Plan& plan, const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) others.push_back(i);
  }
  return others;
}

std::string name_of(const Plan& plan, const std::vector<std::size_t>& axes,
                    const std::vector<std::string>& values) {
  std::string name;
  for (std::size_t i = 0; i < axes.size(); ++i)
    name += (i == 0 ? "" : ", ") + plan.axes[axes[i]] + " " + values[i];
  return name;
}

}  // namespace weft::study
