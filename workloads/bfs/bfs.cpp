#include "workloads/host.h"

namespace weft::workloads {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::int32_t kUnvisited = -1;

struct Graph {
  std::vector<std::int32_t> row,
      neighbour;  // compressed rows: edges of v are neighbour[row[v] .. row[v + 1])
};

// Every vertex gets 1 to 2 x degree edges to vertices drawn uniformly.
Graph random_graph(std::uint32_t vertices, std::uint32_t degree, std::uint32_t seed) {
  Random random(seed);
  Graph graph;
  graph.row.reserve(vertices + 1);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    graph.row.push_back(static_cast<std::int32_t>(graph.neighbour.size()));
    const std::uint32_t edges = random.next() % (2 * degree) + 1;
    for (std::uint32_t i = 0; i < edges; ++i) {
      graph.neighbour.push_back(static_cast<std::int32_t>(random.next() % vertices));
    }
  }
  graph.row.push_back(static_cast<std::int32_t>(graph.neighbour.size()));
  return graph;
}

std::vector<std::int32_t> levels_from_vertex_0(const Graph& graph) {
  std::vector<std::int32_t> level(graph.row.size() - 1, kUnvisited), queue{0};
  level[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::int32_t vertex = queue[head];
    for (std::int32_t edge = graph.row[vertex]; edge < graph.row[vertex + 1]; ++edge) {
      const std::int32_t next = graph.neighbour[edge];
      if (level[next] != kUnvisited) continue;
      level[next] = level[vertex] + 1;
      queue.push_back(next);
    }
  }
  return level;
}

class Bfs : public Workload {
 public:
  std::string name() const override { return "bfs"; }
  std::string summary() const override {
    return "breadth-first search, level by level: divergence, scattered loads";
  }
  std::vector<Option> options() const override {
    // 2^24 vertices x 2 x 64 edges stay below 2^31 edges.
    return {{"n", 1, 1u << 24, 1, "vertices"},
            {"degree", 1, 63, 1, "half of the most edges of a vertex"},
            {"seed", 0, UINT32_MAX, 1, "of the graph"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 2'000}, {"degree", 6}, {"seed", 12345}}},
            {"default", {{"n", 65'536}, {"degree", 6}, {"seed", 12345}}},
            {"large", {{"n", 1u << 20}, {"degree", 6}, {"seed", 12345}}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto vertices = static_cast<std::uint32_t>(values.at("n"));
    const Graph graph = random_graph(vertices, static_cast<std::uint32_t>(values.at("degree")),
                                     static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::int32_t> level(vertices, kUnvisited);
    level[0] = 0;

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    DeviceArray<std::int32_t> row(device, graph.row), neighbour(device, graph.neighbour),
        levels(device, level);
    DeviceArray<std::int32_t> changed(device, 1);
    std::int32_t current = 0;
    do {
      changed.write({0});
      device.launch(module, kernel, {blocks_for(vertices, kBlock), 1, 1}, {kBlock, 1, 1},
                    runtime::Arguments()
                        .add(row.address())
                        .add(neighbour.address())
                        .add(levels.address())
                        .add(current)
                        .add(changed.address())
                        .add(static_cast<std::int32_t>(vertices)));
      device.synchronise();
      ++current;
      // A graph of n vertices has at most n levels: a kernel that claims more is wrong, and must not keep us
      // here.
    } while (changed.read().front() != 0 && static_cast<std::uint32_t>(current) <= vertices);
    return compare_equal("levels", levels.read(), levels_from_vertex_0(graph));
  }
};

}  // namespace

std::unique_ptr<Workload> make_bfs() {
  return std::make_unique<Bfs>();
}

}  // namespace weft::workloads
