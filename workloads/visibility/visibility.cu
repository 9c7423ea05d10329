// How many watchers see each field of a game's map: one thread a field walks the line to each watcher
// (Bresenham 1965) until it meets something as high as the line of sight, or arrives.
#include "weft/workloads/device.h"

// heights: of the ground, walls included; eyes above the ground at both ends.
extern "C" __global__ void visibility(const unsigned char* heights, int columns, int fields,
                                      const int2* watchers, int count, int eye, int range, int* seen_by) {
  const int field = blockIdx.x * blockDim.x + threadIdx.x;
  if (field >= fields) return;
  const int x0 = field % columns, y0 = field / columns;
  const int from = heights[field] + eye;
  int seen = 0;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const int2 watcher = watchers[i];
    const int dx = watcher.x - x0, dy = watcher.y - y0;
    const int across = dx < 0 ? -dx : dx, down = dy < 0 ? -dy : dy;
    const int steps = across > down ? across : down;
    if (steps > range) continue;
    const int rise = heights[watcher.y * columns + watcher.x] + eye - from;
    const int step_x = dx < 0 ? -1 : 1, step_y = dy < 0 ? -columns : columns;
    int at = field, error = across - down;
    bool free = true;
#pragma unroll 1
    for (int step = 1; step < steps; ++step) {
      const int twice = 2 * error;
      if (twice > -down) {
        WEFT_KEEP_BRANCH();
        error -= down;
        at += step_x;
      }
      if (twice < across) {
        WEFT_KEEP_BRANCH();
        error += across;
        at += step_y;
      }
      // The line of sight is at from + rise * step / steps.
      if ((heights[at] - from) * steps >= rise * step) {
        free = false;
        break;
      }
    }
    if (free) ++seen;
  }
  seen_by[field] = seen;
}
