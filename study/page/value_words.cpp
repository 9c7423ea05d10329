#include "study/page/value_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

namespace weft::study {
namespace {

std::string shown_number(const std::optional<double>& number) {
  return number ? fmt::format("{:.6g}", *number) : "-";
}

const char* of_all(Mean mean) {
  switch (mean) {
    case Mean::kHarmonic:
      return "harmonic mean";
    case Mean::kGeometric:
      return "geometric mean";
    case Mean::kArithmetic:
      return "arithmetic mean";
    case Mean::kMaximum:
      return "largest";
    case Mean::kMinimum:
      return "smallest";
    case Mean::kSum:
      return "sum";
    case Mean::kZeros:
      return "number of zeros";
    case Mean::kNone:
      break;
  }
  return "";
}

std::string over_programs(const Value& value) {
  if (value.programs.size() == 1) return value.programs.front();
  return std::to_string(value.programs.size()) + " programs";
}

// What is looked at in each program.
std::string quantity(const Experiment& experiment, const Value& value) {
  std::string text = experiment.measure(value.measure).heading;
  text += " under " + experiment.variant(value.variant).label;
  if (!value.over.empty()) text += " over that under " + experiment.variant(value.over).label;
  return text;
}

std::string labels(const Experiment& experiment, const std::vector<std::string>& variants) {
  std::string text;
  for (const std::string& name : variants)
    text.append(text.empty() ? "" : ", ").append(experiment.variant(name).label);
  return text;
}

std::string of_parts(const Experiment& experiment, const Value& value, const char* between) {
  std::string text;
  for (const Value& part : value.parts)
    text.append(text.empty() ? "" : between).append("(").append(in_words(experiment, part)).append(")");
  return text;
}

// Calls with each value of the claim and with each part of it, and a name: "lwm", "2", "lwm, 1".
void each_part(const std::string& name, const Value& value,
               const std::function<void(const std::string&, const Value&)>& visit) {
  visit(name, value);
  for (std::size_t i = 0; i < value.parts.size(); ++i)
    each_part((name.empty() ? "" : name + ", ") + std::to_string(i + 1), value.parts[i], visit);
}

void each_part(const FindingPlan& finding,
               const std::function<void(const std::string&, const Value&)>& visit) {
  if (finding.value) each_part("", *finding.value, visit);
  for (const auto& [name, value] : finding.values) each_part(name, value, visit);
}

// Leaves out columns in which no row has anything.
void drop_empty(Table& table) {
  for (std::size_t c = table.headings.size(); c-- > 0;) {
    const auto empty = [c](const std::vector<std::string>& row) { return row[c].empty(); };
    if (!std::all_of(table.rows.begin(), table.rows.end(), empty)) continue;
    const auto column = static_cast<std::ptrdiff_t>(c);
    table.headings.erase(table.headings.begin() + column);
    for (auto& row : table.rows) row.erase(row.begin() + column);
  }
}

// What the claim compares with, beside the program.
std::string beside(const Value& value, const std::string& program) {
  const auto printed = value.printed.find(program), number = value.numbers.find(program);
  if (printed != value.printed.end()) return shown_number(printed->second);
  return number != value.numbers.end() ? shown_number(number->second) : "";
}

void add_numbers(const Experiment& experiment, const std::string& name, const Value& value, const Lookup& at,
                 Table& table) {
  if (!value.parts.empty()) return;
  for (const std::string& program : value.programs) {
    if (value.kind == Value::Kind::kRankCorrelation && value.printed.count(program) == 0) continue;
    std::vector<std::string> row{name,
                                 program,
                                 experiment.measure(value.measure).heading,
                                 experiment.variant(value.variant).label,
                                 shown_number(at(value.measure, value.variant, program)),
                                 "",
                                 "",
                                 shown_number(program_value(value, at, program)),
                                 beside(value, program)};
    std::vector<std::string> others = value.against;
    if (!value.over.empty()) others = {value.over};
    if (others.empty()) table.rows.push_back(row);
    for (const std::string& other : others) {
      row[5] = experiment.variant(other).label;
      row[6] = shown_number(at(value.measure, other, program));
      table.rows.push_back(row);
    }
  }
}

}  // namespace

std::string in_words(const Experiment& experiment, const Value& value) {
  const char* const limit =
      value.kind == Value::Kind::kAbove || value.kind == Value::Kind::kFirstAbove ? "above" : "below";
  switch (value.kind) {
    case Value::Kind::kMeasure:
      if (value.mean == Mean::kNone) return quantity(experiment, value) + " in " + over_programs(value);
      return fmt::format("{} over {} of {}", of_all(value.mean), over_programs(value),
                         quantity(experiment, value));
    case Value::Kind::kDifference:
      return of_parts(experiment, value, " - ");
    case Value::Kind::kQuotient:
      return of_parts(experiment, value, " / ");
    case Value::Kind::kDistance:
      return "size of " + of_parts(experiment, value, " - ");
    case Value::Kind::kAverage:
      return "arithmetic mean of " + of_parts(experiment, value, ", ");
    case Value::Kind::kLargest:
      return "largest of " + of_parts(experiment, value, ", ");
    case Value::Kind::kSmallest:
      return "smallest of " + of_parts(experiment, value, ", ");
    case Value::Kind::kWins:
      return fmt::format("in how many of {} {} is above that under all of {}", over_programs(value),
                         quantity(experiment, value), labels(experiment, value.against));
    case Value::Kind::kAbove:
    case Value::Kind::kBelow:
      return fmt::format("in how many of {} {} is {} {:.6g}", over_programs(value),
                         quantity(experiment, value), limit, value.limit);
    case Value::Kind::kRankCorrelation:
      return "rank correlation of " + quantity(experiment, value) + " with the printed series";
    case Value::Kind::kFirstAbove:
    case Value::Kind::kFirstBelow:
      return fmt::format("least number of a program in which {} is {} {:.6g}", quantity(experiment, value),
                         limit, value.limit);
  }
  return "";
}

Table formula_table(const Experiment& experiment, const FindingPlan& finding, const Lookup& at) {
  Table table{{"value", "in words", "ours", "program"}, {}};
  each_part(finding, [&](const std::string& name, const Value& value) {
    const std::optional<Answer> answer = evaluate(value, at);
    table.rows.push_back({name, in_words(experiment, value),
                          shown_number(answer ? std::optional(answer->number) : std::nullopt),
                          answer ? answer->program : ""});
  });
  drop_empty(table);
  return table;
}

Table numbers_table(const Experiment& experiment, const FindingPlan& finding, const Lookup& at) {
  Table table{
      {"value", "program", "measure", "under", "number", "beside", "its number", "goes in", "printed"}, {}};
  const bool of_programs = [&] {
    bool any = false;
    each_part(finding, [&](const std::string&, const Value& value) { any = any || !value.numbers.empty(); });
    return any;
  }();
  if (of_programs) table.headings.back() = "number of the program";
  each_part(finding, [&](const std::string& name, const Value& value) {
    add_numbers(experiment, name, value, at, table);
  });
  drop_empty(table);
  return table;
}

}  // namespace weft::study
