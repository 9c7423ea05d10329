// Hints about managed memory (core/hints.h), which the interfaces of CUDA 12 and 13 give in forms of their
// own.
#ifndef WEFT_RUNTIME_CUDA_CUDART_HINTS_H
#define WEFT_RUNTIME_CUDA_CUDART_HINTS_H

#include "runtime/cuda/core/hints.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

namespace weft::cuda {

inline cudaError_t prefetch_hint(const void* memory, cudaMemLocation to, cudaStream_t stream) {
  return runtime_call("cudaMemPrefetchAsync", [&](Context& c) {
    c.streams().stream(stream);
    prefetch(c.memory(), address_of(memory), to);
  });
}
inline cudaError_t advice(const void* memory, int what, cudaMemLocation place) {
  return runtime_call("cudaMemAdvise",
                      [&](Context& c) { advise(c.memory(), address_of(memory), what, place); });
}

}  // namespace weft::cuda

#endif
