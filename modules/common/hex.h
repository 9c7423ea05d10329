// Addresses and masks in messages.
#ifndef WEFT_COMMON_HEX_H
#define WEFT_COMMON_HEX_H

#include <cstdint>
#include <cstdio>
#include <string>

namespace weft {

// "0x" and lower-case digits without leading zeros: 255 is "0xff".
inline std::string hex(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace weft

#endif
