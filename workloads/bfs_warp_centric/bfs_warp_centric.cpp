#include "workloads/graph.h"
#include "workloads/host.h"

namespace weft::workloads::bfs_warp_centric {
namespace {

constexpr std::uint32_t kThreads = 128, kVertices = 1024;  // as in bfs_warp_centric.cu

class BfsWarpCentric : public Workload {
 public:
  std::string name() const override { return "bfs_warp_centric"; }
  std::string summary() const override {
    return "breadth-first search by groups of threads: less divergence than a thread per vertex";
  }
  std::vector<Option> options() const override {
    // 2^23 vertices x 2 x 64 edges stay below 2^31 edges.
    return {{"n", 1, 1u << 23, 1, "vertices"},
            {"degree", 1, 63, 1, "edges drawn per vertex, one more or less, for both directions"},
            {"log2width", 1, 5, 1, "binary logarithm of the threads of a group"},
            {"seed", 0, UINT32_MAX, 1, "of the graph"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n) {
      return Size{{"n", n}, {"degree", 3}, {"log2width", 2}, {"seed", 12345}};
    };
    return {{"small", size(5'000)},
            {"default", size(65'536)},
            {"large", size(1u << 20)},
            {"stsimt", size(1'000'000)}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    // Two edges for each that is drawn, the row and the level of each vertex.
    return sizeof(std::int32_t) * values.at("n") * (2 * (values.at("degree") - 1) + 2);
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto vertices = static_cast<std::uint32_t>(values.at("n"));
    const auto degree = static_cast<std::uint32_t>(values.at("degree"));
    const Graph graph = both_ways(random_graph(device, vertices, degree - 1, degree + 1,
                                               static_cast<std::uint32_t>(values.at("seed"))));
    std::vector<std::int32_t> level(vertices, kUnvisited);
    level[0] = 0;

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    DeviceArray<std::int32_t> row(device, graph.row), neighbour(device, graph.neighbour),
        levels(device, level), changed(device, 1);
    std::int32_t current = 0;
    do {
      changed.write({0});
      device.launch(module, kernel, {blocks_for(vertices, kVertices), 1, 1}, {kThreads, 1, 1},
                    runtime::Arguments()
                        .add(row.address())
                        .add(neighbour.address())
                        .add(levels.address())
                        .add(current)
                        .add(changed.address())
                        .add(static_cast<std::int32_t>(vertices))
                        .add(static_cast<std::int32_t>(values.at("log2width"))));
      device.synchronise();
      ++current;
      // There are at most as many levels as vertices; a kernel that claims more is wrong.
    } while (changed.read().front() != 0 && static_cast<std::uint32_t>(current) <= vertices);
    return compare_equal("levels", levels.read(), levels_from_vertex_0(graph));
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<BfsWarpCentric>();
}

}  // namespace weft::workloads::bfs_warp_centric
