// Where memory lies unless a configuration says otherwise.
#ifndef WEFT_TESTS_DEFAULT_ADDRESSES_H
#define WEFT_TESTS_DEFAULT_ADDRESSES_H

#include "weft/sm/address_map.h"

namespace weft {

inline constexpr sm::AddressMap kDefaultMap;
inline constexpr std::uint64_t kDeviceBase = kDefaultMap.device_base;

}  // namespace weft

#endif
