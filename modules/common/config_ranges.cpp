#include "common/config_ranges.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace weft::config {
namespace {

std::string in_unit(const char* unit) {
  return *unit == '\0' ? "" : std::string(" (") + unit + ")";
}

std::string short_number(double value) {
  return nlohmann::json(value).dump();
}

bool bounded(const RealRange& allowed) {
  return allowed.low < allowed.high;
}

}  // namespace

bool within(const RealRange& allowed, double value) {
  return std::isfinite(value) && (!bounded(allowed) || (value >= allowed.low && value <= allowed.high));
}

std::string expected(const IntegerRange& allowed, const char* unit) {
  const std::string low = std::to_string(allowed.low);
  const bool open = allowed.high == std::numeric_limits<std::uint64_t>::max();
  return (open ? "an integer of at least " + low
               : "an integer from " + low + " to " + std::to_string(allowed.high)) +
         in_unit(unit);
}

std::string expected(const RealRange& allowed, const char* unit) {
  std::string range = "a number";
  if (bounded(allowed)) range += " from " + short_number(allowed.low) + " to " + short_number(allowed.high);
  return range + in_unit(unit);
}

std::string expected(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace weft::config
