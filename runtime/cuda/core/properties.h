// What a configuration says of the device, in CUDA's terms.
#ifndef WEFT_RUNTIME_CUDA_CORE_PROPERTIES_H
#define WEFT_RUNTIME_CUDA_CORE_PROPERTIES_H

#include <cstdint>
#include <optional>
#include <string>

#include "weft/cuda_structures.h"

namespace weft {
struct GpuConfig;
}

namespace weft::cuda {

inline constexpr int kVersion = 13000;  // of the CUDA interface, as programs ask for it: 13.0
inline constexpr std::uint32_t kWarpSize = 32;

// Limits of launches. Those that hardware has and Weft does not are the ones of compute capability 3.0
// to 12.x.
struct Limits {
  std::uint32_t block_threads = 1024;
  dim3 block{1024, 1024, 64};
  dim3 grid{0x7fffffff, 65535, 65535};
  std::uint64_t shared_bytes = 0;    // of a block, static and dynamic
  std::uint64_t default_shared = 0;  // ... of a kernel for which the program has asked for no more
};
Limits limits_of(const GpuConfig& config);

std::string device_name(const GpuConfig& config);
cudaDeviceProp properties_of(const GpuConfig& config, unsigned capability);
// By number (cudaDeviceAttr, CUdevice_attribute); none: there is no such attribute.
std::optional<int> attribute_of(const GpuConfig& config, unsigned capability, int attribute);

}  // namespace weft::cuda

#endif
