// What a value of a configuration may be, in one place for those who read JSON and those who check a struct.
#ifndef WEFT_COMMON_CONFIG_RANGES_H
#define WEFT_COMMON_CONFIG_RANGES_H

#include <string>
#include <vector>

#include "weft/common/config_visitor.h"

namespace weft::config {

inline bool within(const IntegerRange& allowed, std::uint64_t value) {
  return value >= allowed.low && value <= allowed.high;
}
// Never for what is no number.
bool within(const RealRange& allowed, double value);
// "an integer from 1 to 65536 (sets)"
std::string expected(const IntegerRange& allowed, const char* unit);
std::string expected(const RealRange& allowed, const char* unit);
// "lru, fifo"
std::string expected(const std::vector<std::string>& words);

}  // namespace weft::config

#endif
