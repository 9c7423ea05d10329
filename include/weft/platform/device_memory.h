// The pages of device memory.
#ifndef WEFT_PLATFORM_DEVICE_MEMORY_H
#define WEFT_PLATFORM_DEVICE_MEMORY_H

#include <cstdint>

namespace weft {

// What Gpu::map counts in.
inline constexpr std::uint64_t kPageBytes = 4096;

}  // namespace weft

#endif
