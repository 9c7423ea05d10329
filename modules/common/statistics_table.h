// Tables of counters: the columns are found once in the tree, and rows are differences of snapshots.
#ifndef WEFT_COMMON_STATISTICS_TABLE_H
#define WEFT_COMMON_STATISTICS_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/archive.h"
#include "weft/common/statistics.h"

namespace weft::statistics {

struct Column {
  std::string name;
  Sum sum;
};
using Columns = std::vector<Column>;

// The values of columns at one time, or a difference of two. Nothing is allocated after the construction.
class Snapshot {
 public:
  Snapshot() = default;
  // Of as many columns, all 0.
  explicit Snapshot(std::size_t columns) : values_(columns, 0) {}

  void take(const Columns& columns) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = columns[i].sum.value();
  }
  // Both are of the same columns.
  Snapshot& operator-=(const Snapshot& before) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= before.values_[i];
    return *this;
  }
  Snapshot& operator+=(const Snapshot& other) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += other.values_[i];
    return *this;
  }
  // As many values as there are columns.
  void assign(const std::uint64_t* values) { values_.assign(values, values + values_.size()); }
  void clear() { values_.assign(values_.size(), 0); }
  void archive(Archive& archive) { archive(values_); }

  std::uint64_t operator[](std::size_t column) const { return values_[column]; }
  std::size_t size() const { return values_.size(); }
  const std::vector<std::uint64_t>& values() const { return values_; }

 private:
  std::vector<std::uint64_t> values_;
};

}  // namespace weft::statistics

#endif
