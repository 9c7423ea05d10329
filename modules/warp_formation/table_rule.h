// The rule that the sizes of set-associative tables obey.
#ifndef WEFT_WARP_FORMATION_TABLE_RULE_H
#define WEFT_WARP_FORMATION_TABLE_RULE_H

#include <cstdint>
#include <string>

#include "common/config_origins.h"
#include "warp_formation/powers.h"

namespace weft::warp_formation {

// A table of `entries` in sets of `ways`: as many sets as a PC's low bits can name. The keys are
// `table`_entries and `table`_ways of the object at `where`.
inline void check_table(const std::string& where, const char* table, std::uint64_t entries,
                        std::uint64_t ways) {
  if (entries % ways == 0 && power_of_two(entries / ways)) return;
  throw config::RuleError(where + "/" + table + "_entries", {where + "/" + table + "_ways"},
                          "found " + std::to_string(entries) + " entries of " + std::to_string(ways) +
                              " ways; allowed: entries = ways x a power of two");
}

}  // namespace weft::warp_formation

#endif
