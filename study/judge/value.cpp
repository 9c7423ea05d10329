#include "study/judge/value.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "study/judge/experiment_form.h"
#include "study/judge/verdict.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

const std::map<std::string, Mean> kMeans{
    {"harmonic", Mean::kHarmonic}, {"geometric", Mean::kGeometric}, {"arithmetic", Mean::kArithmetic},
    {"maximum", Mean::kMaximum},   {"minimum", Mean::kMinimum},     {"sum", Mean::kSum},
    {"zeros", Mean::kZeros}};

const std::map<std::string, Value::Kind> kOperations{
    {"difference", Value::Kind::kDifference}, {"quotient", Value::Kind::kQuotient},
    {"distance", Value::Kind::kDistance},     {"average", Value::Kind::kAverage},
    {"largest", Value::Kind::kLargest},       {"smallest", Value::Kind::kSmallest}};

template <typename T>
std::vector<std::string> names_of(const std::map<std::string, T>& map) {
  std::vector<std::string> names;
  for (const auto& [name, value] : map) names.push_back(name);
  return names;
}

bool in(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "programs", "types", or neither: all.
std::vector<std::string> read_programs(const Place& place, const Names& names, Value& value) {
  std::vector<std::string> all, types, chosen;
  for (const auto& program : names.programs) {
    all.push_back(program.abbr);
    if (!program.type.empty() && !in(types, program.type)) types.push_back(program.type);
  }
  if (place.has("programs") && place.has("types"))
    throw InputError(place.where(), "found both 'programs' and 'types'; allowed: one of the two");
  if (place.has("programs")) {
    for (const Place& item : place.at("programs").items()) chosen.push_back(item.one_of(all));
    return chosen;
  }
  if (!place.has("types")) return all;
  if (!names.computed_types.empty()) {
    for (const Place& item : place.at("types").items())
      value.types.push_back(item.one_of(names.computed_types));
    return all;
  }
  std::vector<std::string> wanted;
  for (const Place& item : place.at("types").items()) wanted.push_back(item.one_of(types));
  for (const auto& program : names.programs) {
    if (in(wanted, program.type)) chosen.push_back(program.abbr);
  }
  return chosen;
}

Value read_operation(const Place& place, const std::string& name, const Names& names) {
  place.keys(experiment_form()[name]);
  Value value;
  value.kind = kOperations.at(name);
  for (const Place& part : place.at(name).items()) value.parts.push_back(read_value(part, names));
  const bool any_number = value.kind == Value::Kind::kAverage || value.kind == Value::Kind::kLargest ||
                          value.kind == Value::Kind::kSmallest;
  if (!any_number && value.parts.size() != 2) place.at(name).refuse("two values");
  return value;
}

std::optional<Answer> evaluate_measure(const Value& value, const Lookup& at) {
  if (value.programs.empty()) return {};  // a slice without them
  std::vector<double> numbers;
  for (const std::string& program : value.programs) {
    const auto number = program_value(value, at, program);
    if (!number) return {};
    numbers.push_back(*number);
  }
  if (value.mean == Mean::kNone) return Answer{numbers.front(), value.programs.front()};
  const auto mean = mean_of(value.mean, numbers);
  if (!mean) return {};
  Answer answer{*mean, ""};
  if (value.mean == Mean::kMaximum || value.mean == Mean::kMinimum) {
    const auto found = std::find(numbers.begin(), numbers.end(), *mean);
    answer.program = value.programs[static_cast<std::size_t>(found - numbers.begin())];
  }
  return answer;
}

// Equal values are nobody's win.
std::optional<Answer> evaluate_wins(const Value& value, const Lookup& at) {
  if (value.programs.empty()) return {};  // a slice without them
  double wins = 0;
  for (const std::string& program : value.programs) {
    const auto own = at(value.measure, value.variant, program);
    if (!own) return {};
    bool best = true;
    for (const std::string& other : value.against) {
      const auto number = at(value.measure, other, program);
      if (!number) return {};
      best = best && *own > *number;
    }
    wins += best ? 1 : 0;
  }
  return Answer{wins, ""};
}

std::optional<Answer> evaluate_count(const Value& value, const Lookup& at) {
  if (value.programs.empty()) return {};
  double count = 0;
  for (const std::string& program : value.programs) {
    const auto number = program_value(value, at, program);
    if (!number) return {};
    count += (value.kind == Value::Kind::kAbove ? *number > value.limit : *number < value.limit) ? 1 : 0;
  }
  return Answer{count, ""};
}

std::optional<Answer> evaluate_first(const Value& value, const Lookup& at) {
  std::optional<Answer> first;
  for (const std::string& program : value.programs) {
    const auto number = program_value(value, at, program);
    if (!number) return {};
    const bool passes =
        value.kind == Value::Kind::kFirstAbove ? *number > value.limit : *number < value.limit;
    const double own = value.numbers.at(program);
    if (passes && (!first || own < first->number)) first = Answer{own, program};
  }
  return first;
}

std::optional<Answer> evaluate_correlation(const Value& value, const Lookup& at) {
  std::vector<double> ours, printed;
  for (const std::string& program : value.programs) {
    const auto there = value.printed.find(program);
    if (there == value.printed.end()) continue;
    const auto number = program_value(value, at, program);
    if (!number) return {};
    ours.push_back(*number);
    printed.push_back(there->second);
  }
  if (ours.size() < 3) return {};  // two are in order or not, and no more
  return Answer{rank_correlation(printed, ours), ""};
}

void read_measured(const Place& place, const Names& names, Value& value) {
  value.variant = place.at("variant").one_of(names.variants);
  if (place.has("over")) value.over = place.at("over").one_of(names.variants);
}

Value read_first(const Place& place, const Names& names) {
  place.keys(experiment_form()["first"]);
  Value value;
  value.kind = place.at("first").one_of({"above", "below"}) == "above" ? Value::Kind::kFirstAbove
                                                                       : Value::Kind::kFirstBelow;
  value.limit = place.at("limit").number();
  read_measured(place, names, value);
  value.measure = place.at("measure").one_of(names.measures);
  std::vector<std::string> known;
  for (const auto& program : names.programs) known.push_back(program.abbr);
  for (const auto& [program, number] : place.at("of").members()) {
    if (!in(known, program)) place.at("of").refuse("numbers by program: " + joined(known));
    value.programs.push_back(program);
    value.numbers[program] = number.number();
  }
  return value;
}

}  // namespace

std::optional<double> program_value(const Value& value, const Lookup& at, const std::string& program) {
  const auto number = at(value.measure, value.variant, program);
  if (!number || value.over.empty()) return number;
  const auto over = at(value.measure, value.over, program);
  if (!over || *over == 0) return {};
  return *number / *over;
}

Value read_value(const Place& place, const Names& names) {
  for (const auto& [name, kind] : kOperations) {
    if (place.value().is_object() && place.has(name)) return read_operation(place, name, names);
  }
  if (place.value().is_object() && place.has("first")) return read_first(place, names);
  Value value;
  if (place.value().is_object() && place.has("wins")) {
    place.keys(experiment_form()["wins"]);
    value.kind = Value::Kind::kWins;
    value.variant = place.at("wins").one_of(names.variants);
    for (const Place& other : place.at("against").items())
      value.against.push_back(other.one_of(names.variants));
  } else if (place.value().is_object() && place.has("count")) {
    place.keys(experiment_form()["count"]);
    value.kind =
        place.at("count").one_of({"above", "below"}) == "above" ? Value::Kind::kAbove : Value::Kind::kBelow;
    value.limit = place.at("limit").number();
    read_measured(place, names, value);
  } else if (place.value().is_object() && place.has("rank_correlation")) {
    place.keys(experiment_form()["rank correlation"]);
    value.kind = Value::Kind::kRankCorrelation;
    value.printed = names.series.at(place.at("rank_correlation").one_of(names_of(names.series)));
    read_measured(place, names, value);
  } else {
    if (!place.value().is_object()) {
      place.refuse("an object with measure, wins, count, first, rank_correlation, or one of " +
                   joined(names_of(kOperations)));
    }
    place.keys(experiment_form()["measured value"]);
    read_measured(place, names, value);
    if (place.has("mean")) value.mean = kMeans.at(place.at("mean").one_of(names_of(kMeans)));
  }
  value.measure = place.at("measure").one_of(names.measures);
  value.programs = read_programs(place, names, value);
  if (value.kind == Value::Kind::kMeasure && value.mean == Mean::kNone && value.programs.size() != 1) {
    throw InputError(place.where(), "needs a mean (" + joined(names_of(kMeans)) + ") or a single program");
  }
  return value;
}

std::optional<double> mean_of(Mean mean, const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto count = static_cast<double>(numbers.size());
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  const bool positive = std::all_of(numbers.begin(), numbers.end(), [](double x) { return x > 0; });
  switch (mean) {
    case Mean::kNone:
      return {};
    case Mean::kMaximum:
      return *std::max_element(numbers.begin(), numbers.end());
    case Mean::kMinimum:
      return *std::min_element(numbers.begin(), numbers.end());
    case Mean::kSum:
      return sum;
    case Mean::kZeros:
      return static_cast<double>(std::count(numbers.begin(), numbers.end(), 0.0));
    case Mean::kArithmetic:
      return sum / count;
    case Mean::kHarmonic:
    case Mean::kGeometric:
      break;
  }
  if (!positive) return {};
  double inverse = 0, logarithm = 0;
  for (const double number : numbers) {
    inverse += 1 / number;
    logarithm += std::log(number);
  }
  return mean == Mean::kHarmonic ? count / inverse : std::exp(logarithm / count);
}

std::optional<Answer> evaluate(const Value& value, const Lookup& at) {
  if (value.kind == Value::Kind::kMeasure) return evaluate_measure(value, at);
  if (value.kind == Value::Kind::kWins) return evaluate_wins(value, at);
  if (value.kind == Value::Kind::kAbove || value.kind == Value::Kind::kBelow)
    return evaluate_count(value, at);
  if (value.kind == Value::Kind::kFirstAbove || value.kind == Value::Kind::kFirstBelow)
    return evaluate_first(value, at);
  if (value.kind == Value::Kind::kRankCorrelation) return evaluate_correlation(value, at);
  std::vector<double> numbers;
  for (const Value& part : value.parts) {
    const auto answer = evaluate(part, at);
    if (!answer) return {};
    numbers.push_back(answer->number);
  }
  switch (value.kind) {
    case Value::Kind::kDifference:
      return Answer{numbers[0] - numbers[1], ""};
    case Value::Kind::kDistance:
      return Answer{std::abs(numbers[0] - numbers[1]), ""};
    case Value::Kind::kQuotient:
      if (numbers[1] == 0) return {};
      return Answer{numbers[0] / numbers[1], ""};
    default:
      break;
  }
  const Mean mean = value.kind == Value::Kind::kAverage   ? Mean::kArithmetic
                    : value.kind == Value::Kind::kLargest ? Mean::kMaximum
                                                          : Mean::kMinimum;
  return Answer{*mean_of(mean, numbers), ""};
}

void settle_types(const std::map<std::string, std::string>& type_of, Value& value) {
  if (!value.types.empty()) {
    const auto other = [&](const std::string& program) {
      const auto type = type_of.find(program);
      return type != type_of.end() && !in(value.types, type->second);
    };
    value.programs.erase(std::remove_if(value.programs.begin(), value.programs.end(), other),
                         value.programs.end());
  }
  for (Value& part : value.parts) settle_types(type_of, part);
}

bool speaks_of_types(const Value& value) {
  return !value.types.empty() || std::any_of(value.parts.begin(), value.parts.end(), speaks_of_types);
}

void restrict_to(const std::vector<std::string>& programs, Value& value) {
  const auto gone = [&](const std::string& program) { return !in(programs, program); };
  value.programs.erase(std::remove_if(value.programs.begin(), value.programs.end(), gone),
                       value.programs.end());
  for (Value& part : value.parts) restrict_to(programs, part);
}

void variants_of(const Value& value, std::vector<std::string>& variants) {
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !in(variants, name)) variants.push_back(name);
  };
  add(value.variant);
  add(value.over);
  for (const std::string& name : value.against) add(name);
  for (const Value& part : value.parts) variants_of(part, variants);
}

void measures_of(const Value& value, std::set<std::string>& measures) {
  if (!value.measure.empty()) measures.insert(value.measure);
  for (const Value& part : value.parts) measures_of(part, measures);
}

}  // namespace weft::study
