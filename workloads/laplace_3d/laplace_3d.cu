// Jacobi steps for Laplace's equation on a box: a block of 32 x 4 threads walks along z with a tile of three
// planes in shared memory, with a border of one cell that its first threads fetch.
#include "weft/workloads/device.h"

constexpr int kBlockX = 32, kBlockY = 4;
constexpr int kRow = kBlockX + 2, kPlane = kRow * (kBlockY + 2);
constexpr int kBorder = 2 * (kBlockX + kBlockY + 2);  // cells around a plane's tile

extern "C" __global__ void laplace_3d(int nx, int ny, int nz, const float* before, float* after) {
  __shared__ float u[3 * kPlane];
  const int thread = threadIdx.x + threadIdx.y * kBlockX;
  const int x = threadIdx.x + blockIdx.x * kBlockX, y = threadIdx.y + blockIdx.y * kBlockY;
  const int plane = nx * ny;

  // The cell of the border that this thread fetches, if any: two rows, corners included, then two columns.
  const bool has_border = thread < kBorder;
  int tile_x = 0, tile_y = 0;
  if (thread < 2 * kRow) {
    tile_x = thread % kRow;
    tile_y = thread / kRow * (kBlockY + 1);
  } else {
    tile_x = (thread - 2 * kRow) % 2 * (kBlockX + 1);
    tile_y = (thread - 2 * kRow) / 2 + 1;
  }
  const int border_x = tile_x - 1 + static_cast<int>(blockIdx.x) * kBlockX;
  const int border_y = tile_y - 1 + static_cast<int>(blockIdx.y) * kBlockY;
  const bool fetches_border = has_border && border_x >= 0 && border_x < nx && border_y >= 0 && border_y < ny;
  const int border_cell = tile_x + tile_y * kRow;
  int border_at = border_x + border_y * nx;

  const bool active = x < nx && y < ny;
  const bool edge = x == 0 || x == nx - 1 || y == 0 || y == ny - 1;
  const int cell = threadIdx.x + 1 + (threadIdx.y + 1) * kRow;
  int at = x + y * nx;

  // The three planes move down by a copy in each turn, as in the original.
  constexpr int below = 0, here = kPlane, above = 2 * kPlane;
  if (active) u[above + cell] = before[at];
  if (fetches_border) u[above + border_cell] = before[border_at];

#pragma unroll 1
  for (int z = 0; z < nz; ++z) {
    if (active) {
      u[below + cell] = u[here + cell];
      u[here + cell] = u[above + cell];
      if (z + 1 < nz) u[above + cell] = before[at + plane];
    }
    if (fetches_border) {
      u[below + border_cell] = u[here + border_cell];
      u[here + border_cell] = u[above + border_cell];
      if (z + 1 < nz) u[above + border_cell] = before[border_at + plane];
    }
    __syncthreads();
    if (active) {
      float value;
      if (edge || z == 0 || z == nz - 1) {
        value = u[here + cell];  // given
      } else {
        value = (u[here + cell - 1] + u[here + cell + 1] + u[here + cell - kRow] + u[here + cell + kRow] +
                 u[below + cell] + u[above + cell]) *
                (1.0f / 6.0f);
      }
      after[at] = value;
    }
    __syncthreads();
    at += plane;
    border_at += plane;
  }
}
