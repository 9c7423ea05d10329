// The electrostatic potential of point charges on a square slice of a lattice: one lattice point per thread, every
// thread reads the same atom at the same time from constant memory.
#include "weft/workloads/device.h"

constexpr int kMaxAtoms = 4000;  // 16 bytes each: as many as fit 64 KB of constant memory, rounded down

// x, y: position; z: squared distance from the slice; w: charge.
__constant__ float4 atoms[kMaxAtoms];

__global__ void coulombic_potential(int count, float spacing, float* grid, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float at_x = x * spacing, at_y = y * spacing;
  float potential = 0.0f;
  for (int i = 0; i < count; ++i) {
    const float4 atom = atoms[i];
    const float dx = at_x - atom.x, dy = at_y - atom.y;
    potential += atom.w * rsqrtf(dx * dx + dy * dy + atom.z);
  }
  grid[y * width + x] += potential;
}
