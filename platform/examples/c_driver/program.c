#include "program.h"

enum { kElements = 5000, kBlock = 128 };

static weft_gpu gpu;

void program_interrupt(void) {
  weft_interrupt(&gpu);
}

int program_run(const weft_io* io, const char* ptx, uint64_t ptx_bytes) {
  struct {
    uint64_t from, to;
    int32_t factor, n;
  } arguments;
  weft_queue queue;
  struct weft_signal* signal;
  uint64_t kernel;
  int32_t *from, *to;
  int i, wrong = 0;

  if (weft_open(&gpu, io) != 0 || weft_open_queue(&queue, &gpu, 0, 64, 1 << 16) != 0) return -1;
  kernel = weft_kernel(&gpu, ptx, ptx_bytes, "scale", 1 << 16);
  from = weft_allocate(&gpu, kElements * sizeof *from);
  to = weft_allocate(&gpu, kElements * sizeof *to);
  if (kernel == 0 || from == 0 || to == 0) return -2;
  for (i = 0; i < kElements; ++i) from[i] = i;

  {
    const uint32_t grid[3] = {(kElements + kBlock - 1) / kBlock, 1, 1}, block[3] = {kBlock, 1, 1};
    arguments.from = weft_address(&gpu, from);
    arguments.to = weft_address(&gpu, to);
    arguments.factor = 3;
    arguments.n = kElements;
    signal = weft_new_signal(&gpu);
    if (signal == 0 || weft_dispatch(&queue, kernel, grid, block, &arguments, sizeof arguments, signal) != 0)
      return -3;
  }
  if (weft_wait(&gpu, signal) != 0) return -4;
  for (i = 0; i < kElements; ++i) wrong += to[i] != 3 * i;
  return wrong;
}
