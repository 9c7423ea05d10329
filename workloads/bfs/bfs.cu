// One level of a breadth-first search over a graph in compressed rows: every vertex of the frontier marks its
// unvisited neighbours. Several threads may mark the same vertex; they all write the same value.
#include "workloads/device.h"

__global__ void bfs(const int* row, const int* neighbour, int* level, int current, int* changed, int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || level[vertex] != current) return;
  const int end = row[vertex + 1];
#pragma unroll 1  // a loop of one body diverges as the source reads
  for (int edge = row[vertex]; edge < end; ++edge) {
    const int next = neighbour[edge];
    if (level[next] >= 0) continue;
    level[next] = current + 1;
    *changed = 1;
  }
}
