// Temperatures of a chip over time, by finite differences. A block keeps a tile in shared memory over several
// steps; with each step the part of the tile that is still right shrinks by one cell on each side (ghost
// zones), and only what is left after the last step is written.
#include "weft/workloads/device.h"

constexpr int kTile = 16;

// All per step: how much a watt warms a cell, and the conductances to the neighbours and to the surroundings.
struct Coefficients {
  float step_over_capacity, across, down, up, ambient;
};

extern "C" __global__ void hotspot(int steps, const float* power, const float* before, float* after,
                                   int columns, int rows, Coefficients with) {
  __shared__ float temperature[kTile][kTile];
  __shared__ float watts[kTile][kTile];
  __shared__ float next[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int useful = kTile - 2 * steps;
  const int x0 = useful * static_cast<int>(blockIdx.x) - steps,
            y0 = useful * static_cast<int>(blockIdx.y) - steps;
  const int x = x0 + tx, y = y0 + ty;
  const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
  const int at = y * columns + x;
  if (inside) {
    temperature[ty][tx] = before[at];
    watts[ty][tx] = power[at];
  }
  __syncthreads();

  // The cells of the tile that lie on the chip, and each cell's neighbours: at the border, itself.
  const int first_x = x0 < 0 ? -x0 : 0, last_x = x0 + kTile > columns ? columns - x0 - 1 : kTile - 1;
  const int first_y = y0 < 0 ? -y0 : 0, last_y = y0 + kTile > rows ? rows - y0 - 1 : kTile - 1;
  const int west = max(tx - 1, first_x), east = min(tx + 1, last_x);
  const int north = max(ty - 1, first_y), south = min(ty + 1, last_y);

  bool right = false;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    right = false;
    if (tx > step && tx < kTile - 1 - step && ty > step && ty < kTile - 1 - step && tx >= first_x &&
        tx <= last_x && ty >= first_y && ty <= last_y) {
      right = true;
      const float t = temperature[ty][tx];
      next[ty][tx] =
          t + with.step_over_capacity *
                  (watts[ty][tx] + (temperature[south][tx] + temperature[north][tx] - 2.0f * t) * with.down +
                   (temperature[ty][east] + temperature[ty][west] - 2.0f * t) * with.across +
                   (with.ambient - t) * with.up);
    }
    __syncthreads();
    if (step == steps - 1) break;
    if (right) temperature[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (right) after[at] = next[ty][tx];
}
