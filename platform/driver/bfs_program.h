/* A breadth-first search as a host program of the GPU: makes a random graph, has the GPU search it level by
 * level, and compares with a search of its own. The same code is firmware and a process outside the
 * simulation. */
#ifndef WEFT_BFS_PROGRAM_H
#define WEFT_BFS_PROGRAM_H

#include "weft_driver.h"

typedef struct bfs_options {
  uint32_t vertices, degree; /* a vertex has 1 to 2 * degree edges */
  /* 0: the graph is copied to device memory, and the levels back. 1: the GPU works on the host's memory. */
  int shared;
} bfs_options;

typedef struct bfs_result {
  uint32_t levels, reached, wrong; /* wrong: vertices whose level differs */
  uint32_t interrupts;
} bfs_result;

/* Uses memory of the GPU's windows, and gives it back. 0, or an error of the driver. */
int bfs_run(weft_queue* queue, uint64_t kernel, const bfs_options* options, bfs_result* result);

#endif
