// Where memory lies unless a configuration says otherwise.
#ifndef WEFT_TESTS_DEFAULT_ADDRESSES_H
#define WEFT_TESTS_DEFAULT_ADDRESSES_H

#include "weft/machine/address_windows.h"

namespace weft {

inline constexpr machine::AddressWindows kDefaultMap;
inline constexpr std::uint64_t kDeviceBase = kDefaultMap.device_base;

}  // namespace weft

#endif
