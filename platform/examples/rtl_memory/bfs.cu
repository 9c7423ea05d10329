// One level of a breadth-first search over a graph in compressed rows, with the parameters of the driver's
// bfs_program.c: every vertex of the frontier marks its unvisited neighbours.
#include "weft/workloads/device.h"

extern "C" __global__ void bfs(const int* row, const int* neighbour, int* level, int current, int* changed,
                               int vertices) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= vertices || level[vertex] != current) return;
  const int end = row[vertex + 1];
  for (int edge = row[vertex]; edge < end; ++edge) {
    const int next = neighbour[edge];
    if (level[next] >= 0) continue;
    level[next] = current + 1;
    *changed = 1;
  }
}
