#include "measures/sources.h"

#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "common/statistics_sample.h"

namespace weft::measures {

using nlohmann::ordered_json;
using statistics::Group;
using statistics::Step;

namespace {

// The kinds of the steps of a path: "sm*" is "sm", "l2_*" is "l2".
std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> steps;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (step.back() == '*') {
      step.remove_suffix(1);
      const bool after_digit = step.size() > 1 && step.back() == '_' &&
                               std::isdigit(static_cast<unsigned char>(step[step.size() - 2])) != 0;
      if (after_digit) step.remove_suffix(1);
    }
    steps.push_back(step);
  }
  return steps;
}

std::optional<std::size_t> index_of_run(const Counter& counter) {
  for (std::size_t i = 0; i < std::size(kRunCounters); ++i) {
    if (std::string_view(kRunCounters[i]->column) == counter.column) return i;
  }
  return std::nullopt;
}

std::optional<double> sum_in(const ordered_json& statistics, std::string_view path) {
  const auto found = entries_in(statistics, path);
  if (found.empty()) return std::nullopt;
  double sum = 0;
  for (const ordered_json* value : found) sum += value->get<double>();
  return sum;
}

}  // namespace

std::vector<const ordered_json*> entries_in(const ordered_json& statistics, std::string_view path) {
  std::vector<const ordered_json*> found{&statistics};
  for (const std::string_view step : steps_of(path)) {
    std::vector<const ordered_json*> below;
    for (const ordered_json* group : found) {
      const auto more = statistics::Sample(*group).find({Step(step)});
      below.insert(below.end(), more.begin(), more.end());
    }
    found = std::move(below);
  }
  return found;
}

statistics::Sum sum_of(const Group& group, std::string_view path) {
  const std::vector<std::string_view> steps = steps_of(path);
  std::vector<const Group*> found{&group};
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    std::vector<const Group*> below;
    for (const Group* one : found) {
      const auto more = one->groups({Step(steps[i])});
      below.insert(below.end(), more.begin(), more.end());
    }
    found = std::move(below);
  }
  statistics::Sum sum;
  for (const Group* one : found) {
    if (!one->find({Step(steps.back())}).empty()) sum += one->sum({Step(steps.back())});
  }
  return sum;
}

Readings::Readings(unsigned outputs, const PlaceOf& place) {
  const auto place_of = [&place](const Counter& counter) -> std::optional<std::size_t> {
    if (!counter.is_of_run()) return place(counter);
    const auto index = index_of_run(counter);
    return index.has_value() ? std::optional(kOfRun + *index) : std::nullopt;
  };
  for (const Definition& row : rows()) {
    if ((row.outputs & outputs) == 0) continue;
    if (const auto reading = Reading::of(row, place_of)) all_.push_back(*reading);
  }
}

TreeReadings::TreeReadings(unsigned outputs, const Group& root) {
  readings_ = Readings(outputs, [&](const Counter& counter) -> std::optional<std::size_t> {
    statistics::Sum sum = sum_of(root, counter.path);
    if (sum.empty()) return std::nullopt;
    sums_.push_back(std::move(sum));
    return sums_.size() - 1;
  });
}

NumberOf numbers_of(const Group& root) {
  return [&root](const Counter& counter) -> std::optional<double> {
    if (counter.is_of_run()) return std::nullopt;
    const statistics::Sum sum = sum_of(root, counter.path);
    return sum.empty() ? std::nullopt : std::optional(static_cast<double>(sum.value()));
  };
}

NumberOf numbers_of(const ordered_json& stats) {
  return [&stats](const Counter& counter) -> std::optional<double> {
    if (!counter.is_of_run()) {
      if (!stats.contains("statistics")) return std::nullopt;
      return sum_in(stats.at("statistics"), counter.path);
    }
    const auto found = stats.find(counter.column);
    if (found != stats.end() && found->is_number()) return found->get<double>();
    // Left out where a scheduler has one beat in a cycle.
    if (counter.column == std::string_view(kBeatsInACycle.column)) return 1;
    return std::nullopt;
  };
}

std::optional<double> value_in(const ordered_json& stats, const Definition& row) {
  const auto stored = stats.find(row.name);
  if (stored != stats.end() && stored->is_number()) return stored->get<double>();
  return value_of(row, numbers_of(stats));
}

}  // namespace weft::measures
