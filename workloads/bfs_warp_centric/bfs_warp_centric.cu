// One level of a breadth-first search in which groups of threads, parts of a warp, take vertices together
// (Hong et al., PPoPP 2011): all threads of a group look at the same vertex of the group's share, and walk
// the edges of a vertex of the frontier side by side. So threads of a group differ by at most one edge.
#include "weft/workloads/device.h"

constexpr int kThreads = 128;
constexpr int kVertices = 1024;            // of a block
constexpr int kMostGroups = kThreads / 2;  // of a block

// Groups have 2^log2width threads, 2 to 32. level[v] is negative until v is reached.
extern "C" __global__ void bfs_warp_centric(const int* row, const int* neighbour, int* level, int current,
                                            int* changed, int vertices, int log2width) {
  __shared__ int levels[kVertices];
  __shared__ int rows[kVertices + kMostGroups];
  const int width = 1 << log2width;
  const int lane = threadIdx.x & (width - 1), group = threadIdx.x >> log2width;
  const int share = kVertices / kThreads << log2width;
  const int first = blockIdx.x * kVertices + group * share;
  int* const own_levels = levels + group * share;
  int* const own_rows = rows + group * (share + 1);

#pragma unroll 1
  for (int i = lane; i < share && first + i < vertices; i += width) own_levels[i] = level[first + i];
#pragma unroll 1
  for (int i = lane; i <= share && first + i <= vertices; i += width) own_rows[i] = row[first + i];
  __syncthreads();

#pragma unroll 1
  for (int i = 0; i < share && first + i < vertices; ++i) {
    if (own_levels[i] != current) continue;
    const int end = own_rows[i + 1];
#pragma unroll 1
    for (int edge = own_rows[i] + lane; edge < end; edge += width) {
      const int next = neighbour[edge];
      if (level[next] >= 0) continue;
      level[next] = current + 1;
      *changed = 1;
    }
  }
}
