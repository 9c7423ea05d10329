// What only libcudart.so.13 has.
#include "runtime/cuda/cudart/hints.h"

using namespace weft::cuda;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return device_properties(properties, device);
}
cudaError_t cudaMemPrefetchAsync(const void* memory, std::size_t /*bytes*/, cudaMemLocation location,
                                 unsigned /*flags*/, cudaStream_t stream) {
  return prefetch_hint(memory, location, stream);
}
extern "C" __attribute__((visibility("default"))) cudaError_t cudaMemPrefetchAsync_ptsz(
    const void* memory, std::size_t bytes, cudaMemLocation location, unsigned flags, cudaStream_t stream) {
  return cudaMemPrefetchAsync(memory, bytes, location, flags, stream);
}
cudaError_t cudaMemAdvise(const void* memory, std::size_t /*bytes*/, int what, cudaMemLocation location) {
  return advice(memory, what, location);
}
