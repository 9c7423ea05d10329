#include "measures/measures.h"

#include <stdexcept>
#include <vector>

namespace weft::measures {
namespace {

std::string name_of(const Counter& counter) {
  return counter.is_of_run() ? counter.column : counter.path;
}

std::string sum_text(const Terms& terms) {
  std::string text;
  for (const Term& term : terms) {
    const bool minus = term.weight < 0;
    const double weight = minus ? -term.weight : term.weight;
    if (!text.empty()) {
      text += minus ? " - " : " + ";
    } else if (minus) {
      text += "-";
    }
    if (weight != 1) text.append(std::to_string(weight)).append(" x ");
    text += name_of(*term.counter);
  }
  return terms.size() == 1 ? text : "(" + text + ")";
}

}  // namespace

const Definition* find(std::string_view name) {
  for (const Definition& row : rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const Definition& get(std::string_view name) {
  const Definition* const row = find(name);
  if (row == nullptr) throw std::out_of_range("unknown derived value '" + std::string(name) + "'");
  return *row;
}

std::string formula_of(const Definition& row) {
  std::string below = sum_text(row.below);
  for (const Term& factor : row.times) below.append(" x ").append(name_of(*factor.counter));
  if (row.times.size() != 0) below.insert(0, "(").append(")");
  return (row.transform == Transform::kOneMinusRatio ? "1 - " : "") + sum_text(row.above) + " / " + below;
}

std::optional<double> value_of(const Definition& row, const NumberOf& number, double of_nothing) {
  std::vector<double> numbers;
  const auto reading = Reading::of(row, [&](const Counter& counter) -> std::optional<std::size_t> {
    const std::optional<double> found = number(counter);
    if (!found.has_value()) return std::nullopt;
    numbers.push_back(*found);
    return numbers.size() - 1;
  });
  if (!reading.has_value()) return std::nullopt;
  return reading->value([&numbers](std::size_t place) { return numbers[place]; }).value_or(of_nothing);
}

}  // namespace weft::measures
