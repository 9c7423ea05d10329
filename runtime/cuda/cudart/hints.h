// Hints about managed memory, which the interfaces of CUDA 12 and 13 give in forms of their own.
#ifndef WEFT_RUNTIME_CUDA_CUDART_HINTS_H
#define WEFT_RUNTIME_CUDA_CUDART_HINTS_H

#include "runtime/cuda/core/streams.h"
#include "runtime/cuda/cudart/cudart.h"

namespace weft::cuda {

// Managed memory does not move: nothing but the parameters is looked at.
inline cudaError_t memory_hint(const char* name, const void* memory, cudaStream_t stream) {
  return runtime_call(name, [&](Context& c) {
    c.streams().stream(stream);
    if (c.memory().find(address_of(memory)) == nullptr) fail(Error::kInvalidValue);
  });
}

}  // namespace weft::cuda

#endif
