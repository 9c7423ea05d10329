// The kernels of the workloads vector_add and bfs, as `weft run` runs them: the same PTX, sizes and order of
// allocations. Prints nothing; the statistics say how many cycles they took.
//
//   driver_workloads FOLDER_OF_PTX VECTOR_ELEMENTS VERTICES
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "driver_program.h"

namespace {

CUfunction kernel_of(const std::string& file, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_OK(cuModuleLoad(&module, file.c_str()));
  EXPECT_OK(cuModuleGetFunction(&function, module, name));
  return function;
}

template <class T>
CUdeviceptr on_device(const std::vector<T>& values) {
  CUdeviceptr memory = 0;
  EXPECT_OK(cuMemAlloc_v2(&memory, values.size() * sizeof(T)));
  EXPECT_OK(cuMemcpyHtoD_v2(memory, values.data(), values.size() * sizeof(T)));
  return memory;
}

void launch(CUfunction kernel, std::size_t threads, void** parameters) {
  EXPECT_OK(cuLaunchKernel(kernel, static_cast<unsigned>((threads + 255) / 256), 1, 1, 256, 1, 1, 0, nullptr,
                           parameters, nullptr));
}

void add_vectors(const std::string& folder, std::size_t count) {
  std::vector<float> a(count), b(count), c(count);
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = static_cast<float>(2 * (i % 77));
  }
  const CUfunction kernel = kernel_of(folder + "/vector_add.ptx", "_Z10vector_addPKfS0_Pfi");
  CUdeviceptr device_a = on_device(a), device_b = on_device(b), device_c = 0;
  EXPECT_OK(cuMemAlloc_v2(&device_c, count * sizeof(float)));
  auto n = static_cast<int>(count);
  void* parameters[] = {&device_a, &device_b, &device_c, &n};
  launch(kernel, count, parameters);
  EXPECT_OK(cuMemcpyDtoH_v2(c.data(), device_c, count * sizeof(float)));
  for (std::size_t i = 0; i < count; ++i) EXPECT(c[i] == a[i] + b[i]);
  for (const CUdeviceptr memory : {device_a, device_b, device_c}) EXPECT_OK(cuMemFree_v2(memory));
}

// workloads/graph.h draws the same: 1 to 12 edges for every vertex.
struct Graph {
  std::vector<int> row, neighbour;
};
Graph random_graph(std::uint32_t vertices) {
  std::uint32_t state = 12345;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  Graph graph;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    graph.row.push_back(static_cast<int>(graph.neighbour.size()));
    for (std::uint32_t left = next() % 12 + 1; left > 0; --left)
      graph.neighbour.push_back(static_cast<int>(next() % vertices));
  }
  graph.row.push_back(static_cast<int>(graph.neighbour.size()));
  return graph;
}

std::vector<int> levels_of(const Graph& graph) {
  std::vector<int> levels(graph.row.size() - 1, -1), queue{0};
  levels[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto vertex = static_cast<std::size_t>(queue[head]);
    for (int edge = graph.row[vertex]; edge < graph.row[vertex + 1]; ++edge) {
      const int next = graph.neighbour[static_cast<std::size_t>(edge)];
      int& level = levels[static_cast<std::size_t>(next)];
      if (level >= 0) continue;
      level = levels[vertex] + 1;
      queue.push_back(next);
    }
  }
  return levels;
}

void search(const std::string& folder, std::uint32_t count) {
  const Graph graph = random_graph(count);
  std::vector<int> levels(count, -1);
  levels[0] = 0;
  const CUfunction kernel = kernel_of(folder + "/bfs.ptx", "_Z3bfsPKiS0_PiiS1_i");
  CUdeviceptr row = on_device(graph.row), neighbour = on_device(graph.neighbour), level = on_device(levels),
              changed = 0;
  EXPECT_OK(cuMemAlloc_v2(&changed, 4));
  auto vertices = static_cast<int>(count);
  int again = 1;
  for (int current = 0; again != 0; ++current) {
    EXPECT_OK(cuMemsetD32_v2(changed, 0, 1));
    void* parameters[] = {&row, &neighbour, &level, &current, &changed, &vertices};
    launch(kernel, count, parameters);
    EXPECT_OK(cuMemcpyDtoH_v2(&again, changed, 4));
  }
  EXPECT_OK(cuMemcpyDtoH_v2(levels.data(), level, count * sizeof(int)));
  EXPECT(levels == levels_of(graph));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  CUcontext context = nullptr;
  EXPECT_OK(cuInit(0));
  EXPECT_OK(cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_OK(cuCtxSetCurrent(context));
  const std::string folder = argv[1];
  if (std::atoi(argv[2]) > 0) add_vectors(folder, static_cast<std::size_t>(std::atoi(argv[2])));
  if (std::atoi(argv[3]) > 0) search(folder, static_cast<std::uint32_t>(std::atoi(argv[3])));
  return verdict();
}
