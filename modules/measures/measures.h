// Derived values, such as `idle_share`: shares and rates that are made of counters.
//
// Each is a row of table.cpp, and defined nowhere else. The summary, stats.json, launches.csv, samples.csv,
// `weft compare`, `weft reproduce`, the page of `weft report` and `weft list measures` read the row. A new
// row appears in all of them.
//
//   const Definition& share = get("idle_share");
//   value_of(share, [&](const Counter& c) { return my_number_of(c.column); });    // once
//   const auto reading = Reading::of(share, [&](const Counter& c) { return my_place_of(c); });
//   reading->value([&](std::size_t place) { return my_numbers[place]; });         // often: allocates nothing
#ifndef WEFT_MEASURES_MEASURES_H
#define WEFT_MEASURES_MEASURES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "measures/counters.h"
#include "weft/common/units.h"

namespace weft::measures {

// A counter times a weight: {kHits}, {kHits, -1}.
struct Term {
  constexpr Term() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): {kHits} in a list of terms
  constexpr Term(const Counter& of, double times = 1) : counter(&of), weight(times) {}
  const Counter* counter = nullptr;
  double weight = 1;
};

class Terms {
 public:
  static constexpr std::size_t kMost = 6;

  constexpr Terms() = default;
  constexpr Terms(std::initializer_list<Term> terms) {
    for (const Term& term : terms) all_[size_++] = term;
  }
  constexpr const Term* begin() const { return all_; }
  constexpr const Term* end() const { return all_ + size_; }
  constexpr std::size_t size() const { return size_; }

 private:
  Term all_[kMost] = {};  // NOLINT(*-c-arrays): constexpr
  std::size_t size_ = 0;
};

enum class Transform : std::uint8_t { kRatio, kOneMinusRatio };

// Where a value appears. The page of `weft report`, `weft reproduce` and the list have every row.
enum Output : unsigned {
  kTotals = 1,      // the summary and stats.json
  kTables = 2,      // launches.csv and samples.csv
  kComparison = 4,  // weft compare
  kEverywhere = kTotals | kTables | kComparison,
  kOnRequest = 0
};

// What a column of `weft compare` is about: columns of a subject stand together. kNone: in files only.
enum class Subject : std::uint8_t { kNone, kTime, kThreads, kCost };

// A row of the table: sum of `above` / (sum of `below` x product of `times`), transformed.
struct Definition {
  const char* name;     // in JSON, CSV and Python
  const char* heading;  // for people
  statistics::Unit unit;
  const char* meaning;  // a sentence
  Terms above, below, times;
  Transform transform = Transform::kRatio;
  int digits = 3;          // shown to people
  const char* needs = "";  // the setting that counts it; empty: always counted
  unsigned outputs = kEverywhere;
  const char* label = "";   // in the summary; empty: the heading
  const char* remark = "";  // behind the value in the summary
  Subject subject = Subject::kNone;
  const char* column = "";  // heading of the narrow column of weft compare
  const char* legend = "";  // what its legend says

  // A row is made of these.
  constexpr Definition(const char* its_name, const char* its_heading, statistics::Unit its_unit,
                       const char* its_meaning)
      : name(its_name), heading(its_heading), unit(its_unit), meaning(its_meaning) {}
  constexpr Definition ratio(const Terms& of, const Terms& over, const Terms& factors = {}) const {
    Definition row = *this;
    row.above = of;
    row.below = over;
    row.times = factors;
    return row;
  }
  constexpr Definition one_minus_ratio(const Terms& of, const Terms& over, const Terms& factors = {}) const {
    Definition row = ratio(of, over, factors);
    row.transform = Transform::kOneMinusRatio;
    return row;
  }
  constexpr Definition with_digits(int count) const {
    Definition row = *this;
    row.digits = count;
    return row;
  }
  constexpr Definition counted_with(const char* setting) const {
    Definition row = *this;
    row.needs = setting;
    return row;
  }
  constexpr Definition only_in(unsigned some) const {
    Definition row = *this;
    row.outputs = some;
    return row;
  }
  constexpr Definition in_summary(const char* its_label, const char* its_remark) const {
    Definition row = *this;
    row.label = its_label;
    row.remark = its_remark;
    return row;
  }
  constexpr Definition in_comparison(Subject about, const char* its_column, const char* its_legend) const {
    Definition row = *this;
    row.subject = about;
    row.column = its_column;
    row.legend = its_legend;
    return row;
  }
};

// The table.
class Rows {
 public:
  template <std::size_t kSize>
  constexpr Rows(const Definition (&rows)[kSize])  // NOLINT(google-explicit-constructor,*-c-arrays)
      : first_(rows), last_(rows + kSize) {}
  constexpr Rows(const Definition* first, const Definition* last) : first_(first), last_(last) {}
  constexpr const Definition* begin() const { return first_; }
  constexpr const Definition* end() const { return last_; }

 private:
  const Definition *first_, *last_;
};
Rows rows();

// nullptr: there is none of this name.
const Definition* find(std::string_view name);
// Throws std::out_of_range.
const Definition& get(std::string_view name);
// "1 - sm*.active_beats / (sm*.scheduler*.held_cycles x beats_in_a_cycle)"
std::string formula_of(const Definition& row);

// A row over one source, whose places of the counters are found once.
class Reading {
 public:
  // `place(counter)` is a std::optional<std::size_t>. None if the source lacks a counter.
  template <class Place>
  static std::optional<Reading> of(const Definition& row, Place&& place) {
    Reading reading(row);
    const auto fill = [&place](const Terms& terms, Places& places) {
      std::size_t i = 0;
      for (const Term& term : terms) {
        const std::optional<std::size_t> found = place(*term.counter);
        if (!found.has_value()) return false;
        places[i++] = *found;
      }
      return true;
    };
    if (!fill(row.above, reading.above_) || !fill(row.below, reading.below_) ||
        !fill(row.times, reading.times_))
      return std::nullopt;
    return reading;
  }

  const Definition& row() const { return *row_; }

  // `at(place)` is a number. None if the counters below are 0: there is nothing to have a share of.
  template <class At>
  std::optional<double> value(At&& at) const {
    const double above = sum(row_->above, above_, at);
    double below = sum(row_->below, below_, at);
    for (std::size_t i = 0; i < row_->times.size(); ++i) below *= static_cast<double>(at(times_[i]));
    if (below == 0) return std::nullopt;
    const double ratio = above / below;
    return row_->transform == Transform::kOneMinusRatio ? 1 - ratio : ratio;
  }

 private:
  using Places = std::array<std::size_t, Terms::kMost>;

  explicit Reading(const Definition& row) : row_(&row) {}
  template <class At>
  static double sum(const Terms& terms, const Places& places, At&& at) {
    double sum = 0;
    std::size_t i = 0;
    for (const Term& term : terms) sum += term.weight * static_cast<double>(at(places[i++]));
    return sum;
  }

  const Definition* row_;
  Places above_{}, below_{}, times_{};
};

// The value of a row, once. `number` has none for a counter that the source lacks; then there is no value.
// `of_nothing` is the value while the counters below are 0.
using NumberOf = std::function<std::optional<double>(const Counter&)>;
std::optional<double> value_of(const Definition& row, const NumberOf& number, double of_nothing = 0);

}  // namespace weft::measures

#endif
