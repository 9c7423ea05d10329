#ifndef WEFT_RUNTIME_DEVICE_LIMITS_H
#define WEFT_RUNTIME_DEVICE_LIMITS_H

#include <cstdint>

#include "weft/ptx/limits.h"

namespace weft::runtime {

// Limits as cudaDeviceSetLimit has them, in bytes.
struct DeviceLimits {
  static constexpr std::uint64_t kMostStack = ptx::kMaxLocalBytes;
  static constexpr std::uint64_t kMostPrintf = std::uint64_t{1} << 32;  // of the simulator's own memory
  static constexpr std::uint64_t kMostHeap = std::uint64_t{1} << 36;    // as device memory may have
  std::uint64_t stack_bytes = 1024;      // of a thread, where functions call themselves
  std::uint64_t printf_bytes = 1 << 20;  // output that is kept: older calls give way to newer ones
  std::uint64_t heap_bytes = 8 << 20;    // of malloc in kernels
};
// Throws InputError for a limit above its bound.
void check_limits(const DeviceLimits& limits);

}  // namespace weft::runtime

#endif
