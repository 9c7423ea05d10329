#include "weft/common/error.h"
#include "workloads/graph.h"
#include "workloads/host.h"

namespace weft::workloads::bfs {
namespace {

constexpr std::uint32_t kBlock = 256, kMaskedBlock = 512;
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
            {"masks", 0, 1, 1, "1: two kernels per level with masks, as in Rodinia; 0: one kernel"},
            {"symmetric", 0, 1, 1, "1: degree - 1 to degree + 1 edges are drawn for both directions"},
            {"seed", 0, UINT32_MAX, 1, "of the graph"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size printed{{"n", 4096}, {"degree", 3}, {"masks", 1}, {"symmetric", 1}, {"seed", 12345}};
    return {{"small", {{"n", 2'000}, {"degree", 6}, {"masks", 0}, {"symmetric", 0}, {"seed", 12345}}},
            {"default", {{"n", 65'536}, {"degree", 6}, {"masks", 0}, {"symmetric", 0}, {"seed", 12345}}},
            {"large", {{"n", 1u << 20}, {"degree", 6}, {"masks", 0}, {"symmetric", 0}, {"seed", 12345}}},
            {"dwr", printed},
            {"crown", printed},
            {"harp", printed},
            {"stsimt", {{"n", 1'000'000}, {"degree", 3}, {"masks", 1}, {"symmetric", 1}, {"seed", 12345}}}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=20"}},
            {"crown", {"sm.registers_per_thread=20"}},
            {"stsimt", {"sm.registers_per_thread=16"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    // Each vertex has one edge at least, or, where they go both ways, two per edge drawn.
    const std::uint64_t vertices = values.at("n");
    const std::uint64_t edges = values.at("symmetric") == 0 ? 1 : 2 * (values.at("degree") - 1);
    return sizeof(std::int32_t) * (2 * vertices + vertices * edges);
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto vertices = static_cast<std::uint32_t>(values.at("n"));
    const auto degree = static_cast<std::uint32_t>(values.at("degree")),
               seed = static_cast<std::uint32_t>(values.at("seed"));
    const bool symmetric = values.at("symmetric") != 0;
    if (symmetric && std::uint64_t{vertices} * (degree + 1) * 2 > INT32_MAX) {
      throw InputError("size of bfs", "n=" + std::to_string(vertices) +
                                          " with degree=" + std::to_string(degree) +
                                          " may have more edges than the 2^31 - 1 that are allowed");
    }
    const Graph graph = symmetric ? both_ways(random_graph(device, vertices, degree - 1, degree + 1, seed))
                                  : random_graph(device, vertices, 1, 2 * degree, seed);
    const auto levels =
        values.at("masks") == 0 ? search(device, graph, code) : search_masked(device, graph, code);
    return compare_equal("levels", levels, levels_from_vertex_0(graph));
  }

 private:
  // Calls `pass(changed, level)` for level after level, until one leaves the device's `changed` at 0. A graph
  // of n vertices has at most n levels: a kernel that claims more is wrong, and must not keep us here.
  template <class Pass>
  static void while_changed(runtime::Device& device, std::size_t vertices, Pass pass) {
    DeviceArray<std::int32_t> changed(device, 1);
    std::size_t level = 0;
    do {
      changed.write({0});
      pass(changed.address(), static_cast<std::int32_t>(level));
      device.synchronise();
      ++level;
    } while (changed.read().front() != 0 && level <= vertices);
  }

  static std::vector<std::int32_t> search(runtime::Device& device, const Graph& graph, const Code& code) {
    std::vector<std::int32_t> level(graph.row.size() - 1, kUnvisited);
    level[0] = 0;
    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code, "bfs");
    DeviceArray<std::int32_t> row(device, graph.row), neighbour(device, graph.neighbour),
        levels(device, level);
    while_changed(device, level.size(), [&](runtime::Address changed, std::int32_t current) {
      device.launch(module, kernel, {blocks_for(level.size(), kBlock), 1, 1}, {kBlock, 1, 1},
                    runtime::Arguments()
                        .add(row.address())
                        .add(neighbour.address())
                        .add(levels.address())
                        .add(current)
                        .add(changed)
                        .add(static_cast<std::int32_t>(level.size())));
    });
    return levels.read();
  }

  static std::vector<std::int32_t> search_masked(runtime::Device& device, const Graph& graph,
                                                 const Code& code) {
    takes_no_kernel(code);
    const std::size_t count = graph.row.size() - 1;
    std::vector<std::int32_t> level(count, kUnvisited), first_and_edges;
    std::vector<std::uint8_t> start(count, 0);
    level[0] = 0;
    start[0] = 1;
    for (std::size_t vertex = 0; vertex < count; ++vertex) {
      first_and_edges.push_back(graph.row[vertex]);
      first_and_edges.push_back(graph.row[vertex + 1] - graph.row[vertex]);
    }
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<std::int32_t> vertices(device, first_and_edges), neighbour(device, graph.neighbour),
        levels(device, level);
    DeviceArray<std::uint8_t> frontier(device, start), visited(device, start),
        reached(device, std::vector<std::uint8_t>(count, 0));
    const dispatch::Dim3 grid{blocks_for(count, kMaskedBlock), 1, 1}, block{kMaskedBlock, 1, 1};
    while_changed(device, count, [&](runtime::Address changed, std::int32_t) {
      device.launch(module, "bfs_expand", grid, block,
                    runtime::Arguments()
                        .add(vertices.address())
                        .add(neighbour.address())
                        .add(frontier.address())
                        .add(reached.address())
                        .add(visited.address())
                        .add(levels.address())
                        .add(static_cast<std::int32_t>(count)));
      device.launch(module, "bfs_advance", grid, block,
                    runtime::Arguments()
                        .add(frontier.address())
                        .add(reached.address())
                        .add(visited.address())
                        .add(changed)
                        .add(static_cast<std::int32_t>(count)));
    });
    return levels.read();
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Bfs>();
}

}  // namespace weft::workloads::bfs
