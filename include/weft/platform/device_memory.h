// Where kernels find device memory.
#ifndef WEFT_PLATFORM_DEVICE_MEMORY_H
#define WEFT_PLATFORM_DEVICE_MEMORY_H

#include <cstdint>

namespace weft {

// Device addresses of global memory start here; below lie the shared and local windows
// (isa/address_windows.h).
inline constexpr std::uint64_t kDeviceBase = 0x1'0000'0000;
// What Gpu::map counts in.
inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace weft

#endif
