// Hints about managed memory. It does not move, so that they change nothing; what a program has said of a
// block is kept and told. A hint about a part of a block is one about all of it.
#ifndef WEFT_RUNTIME_CUDA_CORE_HINTS_H
#define WEFT_RUNTIME_CUDA_CORE_HINTS_H

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/core/memory.h"
#include "weft/cuda_structures.h"

namespace weft::cuda {

// The place that the interfaces of CUDA 12 call by a device's number, or -1, the host.
cudaMemLocation location_of(int device);

// Fail with kInvalidValue for memory that is not known, and for advice that there is not.
void prefetch(Memory& memory, std::uint64_t address, cudaMemLocation to);
void advise(Memory& memory, std::uint64_t address, int advice, cudaMemLocation place);
// An int, or, for the places that access the range, as many as there is room for.
void tell_range(Memory& memory, void* data, std::size_t bytes, int attribute, std::uint64_t address);

}  // namespace weft::cuda

#endif
