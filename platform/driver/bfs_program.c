#include "bfs_program.h"

enum { kBlock = 256 };

/* Parameters of the kernel `bfs` of workloads/bfs/bfs.cu. */
typedef struct arguments {
  uint64_t row, neighbour, level;
  int32_t current, reserved;
  uint64_t changed;
  int32_t vertices;
} arguments;
enum { kArgumentBytes = 44 };

typedef struct graph {
  uint32_t vertices;
  int32_t *row, *neighbour, *level, *expected, *pending;
} graph;

/* The generator of the workloads, so that the graphs are theirs. */
static uint32_t draw(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static int make_graph(weft_gpu* gpu, const bfs_options* options, graph* g) {
  const uint32_t n = options->vertices, most = 2 * options->degree;
  uint32_t state = 12345, vertex, edges = 0;
  g->vertices = n;
  g->row = weft_allocate(gpu, (uint64_t)(n + 1) * 4);
  g->neighbour = weft_allocate(gpu, (uint64_t)n * most * 4);
  g->level = weft_allocate(gpu, (uint64_t)n * 4);
  g->expected = weft_allocate(gpu, (uint64_t)n * 4);
  g->pending = weft_allocate(gpu, (uint64_t)n * 4);
  if (g->row == 0 || g->neighbour == 0 || g->level == 0 || g->expected == 0 || g->pending == 0)
    return WEFT_NO_MEMORY;
  for (vertex = 0; vertex < n; ++vertex) {
    const uint32_t count = draw(&state) % most + 1;
    uint32_t i;
    g->row[vertex] = (int32_t)edges;
    for (i = 0; i < count; ++i) g->neighbour[edges++] = (int32_t)(draw(&state) % n);
    g->level[vertex] = g->expected[vertex] = -1;
  }
  g->row[n] = (int32_t)edges;
  g->level[0] = 0;
  return 0;
}

static void search_here(const graph* g) {
  uint32_t head = 0, tail = 0;
  g->expected[0] = 0;
  g->pending[tail++] = 0;
  while (head < tail) {
    const int32_t vertex = g->pending[head++];
    int32_t edge;
    for (edge = g->row[vertex]; edge < g->row[vertex + 1]; ++edge) {
      const int32_t next = g->neighbour[edge];
      if (g->expected[next] >= 0) continue;
      g->expected[next] = g->expected[vertex] + 1;
      g->pending[tail++] = next;
    }
  }
}

/* A place in device memory with a copy of what is at `from`. */
static int copy_in(weft_queue* queue, uint64_t* to, const void* from, uint64_t bytes) {
  *to = weft_allocate_device(queue->gpu, bytes);
  if (*to == 0) return WEFT_NO_MEMORY;
  return weft_copy(queue, *to, weft_address(queue->gpu, from), bytes, 0);
}

static int search_there(weft_queue* queue, uint64_t kernel, const graph* g, int shared, uint32_t* levels) {
  weft_gpu* gpu = queue->gpu;
  struct weft_signal* signal = weft_new_signal(gpu);
  volatile int32_t* flag = weft_allocate(gpu, 4);
  const uint64_t level_bytes = (uint64_t)g->vertices * 4;
  const uint32_t grid[3] = {(g->vertices + kBlock - 1) / kBlock, 1, 1}, block[3] = {kBlock, 1, 1};
  arguments a;
  int error = 0, changed;
  if (signal == 0 || flag == 0) return WEFT_NO_MEMORY;
  a.reserved = 0;
  a.vertices = (int32_t)g->vertices;
  if (shared) {
    a.row = weft_address(gpu, g->row);
    a.neighbour = weft_address(gpu, g->neighbour);
    a.level = weft_address(gpu, g->level);
    a.changed = weft_address(gpu, (const void*)(uintptr_t)flag);
  } else {
    a.changed = weft_allocate_device(gpu, 4);
    if ((error = copy_in(queue, &a.row, g->row, (uint64_t)(g->vertices + 1) * 4)) != 0 ||
        (error = copy_in(queue, &a.neighbour, g->neighbour, (uint64_t)g->row[g->vertices] * 4)) != 0 ||
        (error = copy_in(queue, &a.level, g->level, level_bytes)) != 0)
      return error;
  }
  *levels = 0;
  do {
    a.current = (int32_t)(*levels)++;
    signal->value = 1;
    if (shared) {
      *flag = 0;
    } else {
      weft_write_device(gpu, a.changed, 0);
    }
    if ((error = weft_dispatch(queue, kernel, grid, block, &a, kArgumentBytes, signal)) != 0) return error;
    if ((error = weft_wait(gpu, signal)) != 0) return error;
    changed = shared ? *flag : (int32_t)weft_read_device(gpu, a.changed);
  } while (changed != 0 && *levels <= g->vertices);
  if (shared) return 0;
  signal->value = 1;
  if ((error = weft_copy(queue, weft_address(gpu, g->level), a.level, level_bytes, signal)) != 0)
    return error;
  return weft_wait(gpu, signal);
}

int bfs_run(weft_queue* queue, uint64_t kernel, const bfs_options* options, bfs_result* result) {
  weft_gpu* gpu = queue->gpu;
  const uint64_t system_used = gpu->system_used, device_used = gpu->device_used;
  const uint32_t interrupts = gpu->interrupts;
  graph g;
  uint32_t vertex;
  int error = make_graph(gpu, options, &g);
  if (error == 0) error = search_there(queue, kernel, &g, options->shared, &result->levels);
  if (error == 0) {
    search_here(&g);
    result->reached = result->wrong = 0;
    for (vertex = 0; vertex < g.vertices; ++vertex) {
      result->reached += g.expected[vertex] >= 0;
      result->wrong += ((volatile int32_t*)g.level)[vertex] != g.expected[vertex];
    }
  }
  result->interrupts = gpu->interrupts - interrupts;
  gpu->system_used = system_used;
  gpu->device_used = device_used;
  return error;
}
