// Where the counters of derived values come from: columns of a table, the tree of a GPU, a stats.json.
#ifndef WEFT_MEASURES_SOURCES_H
#define WEFT_MEASURES_SOURCES_H

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "measures/measures.h"
#include "weft/common/statistics.h"

namespace weft::measures {

// The counters that a path as "sm*.scheduler*.held_cycles" names, from this group on. Empty: there are none.
statistics::Sum sum_of(const statistics::Group& group, std::string_view path);
// The same in the statistics of a stats.json, which outlive the result: "sm*" and "sm" name all SMs.
std::vector<const nlohmann::ordered_json*> entries_in(const nlohmann::ordered_json& statistics,
                                                      std::string_view path);

// The rows of some outputs that a source has the counters for. Places of the source's own counters are its
// own; the numbers of a run are given with each question.
class Readings {
 public:
  using PlaceOf = std::function<std::optional<std::size_t>(const Counter&)>;
  Readings() = default;
  Readings(unsigned outputs, const PlaceOf& place);

  const std::vector<Reading>& all() const { return all_; }

  // each(row, value) for every row, in the order of the table; a share of nothing is 0.
  template <class At, class Each>
  void each(const At& at, const Run& run, Each&& each) const {
    const auto number = [&at, &run](std::size_t place) {
      return place >= kOfRun ? run[place - kOfRun] : static_cast<double>(at(place));
    };
    for (const Reading& reading : all_) each(reading.row(), reading.value(number).value_or(0));
  }

 private:
  static constexpr std::size_t kOfRun = static_cast<std::size_t>(-1) / 2;

  std::vector<Reading> all_;
};

// The rows of some outputs over a tree of statistics, which outlives it.
class TreeReadings {
 public:
  TreeReadings() = default;
  TreeReadings(unsigned outputs, const statistics::Group& root);

  template <class Each>
  void each(const Run& run, Each&& each) const {
    readings_.each([this](std::size_t place) { return sums_[place].value(); }, run, each);
  }

 private:
  std::vector<statistics::Sum> sums_;
  Readings readings_;
};

// The counters of a tree of statistics or of a stats.json, which outlive it. A tree has no numbers of a run.
NumberOf numbers_of(const statistics::Group& root);
NumberOf numbers_of(const nlohmann::ordered_json& stats);
// A row of a stats.json: the number of this name, else made of the counters. So a row that is newer than the
// run has a value, too.
std::optional<double> value_in(const nlohmann::ordered_json& stats, const Definition& row);

}  // namespace weft::measures

#endif
