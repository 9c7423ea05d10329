// One level of a breadth-first search over a graph in compressed rows: every vertex of the frontier marks its
// unvisited neighbours. Several threads may mark the same vertex; they all write the same value.
#include "weft/workloads/device.h"

__global__ void bfs(const int* row, const int* neighbour, int* level, int current, int* changed,
                    int vertices) {
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

// The same level as the Rodinia suite searches it, in two kernels over bytes that say which vertices are on
// the frontier: one walks the edges of the frontier, one turns what was reached into the next frontier.
extern "C" __global__ void bfs_expand(const int2* vertices, const int* neighbour, unsigned char* frontier,
                                      unsigned char* reached, const unsigned char* visited, int* level,
                                      int count) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= count || !frontier[vertex]) return;
  frontier[vertex] = 0;
#pragma unroll 1  // the end is loaded in each turn, as the original's source reads: its stores might change
                  // it
  for (int edge = vertices[vertex].x; edge < vertices[vertex].y + vertices[vertex].x; ++edge) {
    const int next = neighbour[edge];
    if (visited[next]) continue;
    level[next] = level[vertex] + 1;
    reached[next] = 1;
  }
}

extern "C" __global__ void bfs_advance(unsigned char* frontier, unsigned char* reached,
                                       unsigned char* visited, int* changed, int count) {
  const int vertex = blockIdx.x * blockDim.x + threadIdx.x;
  if (vertex >= count || !reached[vertex]) return;
  frontier[vertex] = 1;
  visited[vertex] = 1;
  *changed = 1;
  reached[vertex] = 0;
}
