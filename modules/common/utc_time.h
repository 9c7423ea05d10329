// The present time as text.
#ifndef WEFT_COMMON_UTC_TIME_H
#define WEFT_COMMON_UTC_TIME_H

#include <array>
#include <ctime>
#include <string>

namespace weft {

// In UTC, to the second: "2026-11-27T17:40:00Z".
inline std::string utc_now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace weft

#endif
