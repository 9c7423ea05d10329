// How often a scheme uses one of its tables, for the energy of it.
//
//   accesses_.bind(group, "stack", [this] { return rows(); }, [this] { return row_bits(); });
//   ++accesses_.reads;
//
// They are `tables.NAME.*` among the scheme's statistics.
#ifndef WEFT_WARP_FORMATION_TABLE_ACCESSES_H
#define WEFT_WARP_FORMATION_TABLE_ACCESSES_H

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "weft/common/statistics.h"

namespace weft::warp_formation {

struct TableAccesses {
  std::uint64_t reads = 0, writes = 0;  // of a row
  std::uint64_t searches = 0;           // of all rows at a time, for one with given contents

  void bind(statistics::Group& scheme, std::string_view name, std::function<double()> rows,
            std::function<double()> row_bits) {
    static constexpr statistics::Unit kRows("rows");
    statistics::Group& table = scheme.group("tables").group(name);
    table.derived("rows", statistics::Quantity::kLevel, kRows, "size of the table", std::move(rows));
    table.derived("row_bits", statistics::Quantity::kLevel, units::kBits, "of a row", std::move(row_bits));
    table.counter("reads", units::kAccesses, "rows read", reads);
    table.counter("writes", units::kAccesses, "rows written", writes);
    table.counter("searches", units::kAccesses, "searches of the whole table", searches);
  }
};

}  // namespace weft::warp_formation

#endif
