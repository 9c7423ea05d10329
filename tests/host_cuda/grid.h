// A grid of threads on the host: each thread of a block is a fiber, resumed in turn until it ends or waits at
// the barrier. Nothing runs at the same time, and the order is fixed.
#ifndef WEFT_TESTS_HOST_CUDA_GRID_H
#define WEFT_TESTS_HOST_CUDA_GRID_H

#include <functional>

#include "weft/dispatch/launch.h"

namespace weft::host_cuda {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

// Of the thread that runs.
struct Current {
  Index thread, block, block_size, grid_size;
};
extern Current current;

// Calls `thread` once for each thread of the grid, block after block.
void run_grid(const dispatch::Dim3& grid, const dispatch::Dim3& block, const std::function<void()>& thread);

// Called by a thread: returns when every thread of its block that has not ended has called it as often.
void barrier();

}  // namespace weft::host_cuda

#endif
