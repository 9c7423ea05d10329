// The papers' sizes: each runs the grids and blocks that its paper prints (Lashgar et al. 2012, Table 1;
// thesis slides 2012, slide 46; HARP, TECS 2014, Table 5; TACO 2015, Table II), in the order of the program,
// and gets the right result.
#include <gtest/gtest.h>

#include <set>

#include "weft/platform/gpu_config.h"
#include "workloads/workload.h"

namespace weft::workloads {
namespace {

using dispatch::Dim3;

struct Shape {
  Dim3 grid, block;
  bool operator==(const Shape& other) const { return grid == other.grid && block == other.block; }
};
using Shapes = std::vector<Shape>;

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  for (const Dim3& size : {shape.grid, shape.block}) {
    out << (&size == &shape.grid ? "" : " x ") << "(" << size[0] << "," << size[1] << "," << size[2] << ")";
  }
  return out;
}

// (8) x (512), (8, 32) x (16, 8)
Shapes one(std::uint32_t grid, std::uint32_t block) {
  return {{{grid, 1, 1}, {block, 1, 1}}};
}
Shapes one(std::array<std::uint32_t, 2> grid, std::array<std::uint32_t, 2> block) {
  return {{{grid[0], grid[1], 1}, {block[0], block[1], 1}}};
}
Shapes operator+(Shapes first, const Shapes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
Shapes operator*(std::size_t times, const Shapes& shapes) {
  Shapes all;
  for (std::size_t i = 0; i < times; ++i) all = all + shapes;
  return all;
}

// Two transforms, the product with blocks of `modulate` threads, a transform.
Shapes walsh(std::uint32_t modulate) {
  const Shapes transform = 2 * one(32, 256) + one(16, 512);
  return 2 * transform + one(128, modulate) + transform;
}

// 1 diagonal, n perimeter, n x n internal blocks; then n - 1 ...; 1 diagonal.
Shapes lu_steps(std::uint32_t most) {
  Shapes all;
  for (std::uint32_t n = most; n > 0; --n) all = all + one(1, 16) + one(n, 32) + one({n, n}, {16, 16});
  return all + one(1, 16);
}

// Needleman-Wunsch: diagonals of 1, 2 ... most ... 2, 1 tiles.
Shapes diagonals(std::uint32_t most) {
  Shapes all;
  for (std::uint32_t n = 1; n <= most; ++n) all = all + one(n, 16);
  for (std::uint32_t n = most - 1; n >= 1; --n) all = all + one(n, 16);
  return all;
}

// StoreGPU: files of 2 to 64 chunks in one block, then of blocks of 64.
Shapes growing_files() {
  Shapes all;
  for (std::uint32_t block = 2; block < 64; block *= 2) all = all + one(1, block);
  for (std::uint32_t grid = 1; grid <= 256; grid *= 2) all = all + one(grid, 64);
  return all + one(260, 64);
}

struct Row {
  std::string workload, size;
  Shapes launches;
  std::size_t only_first = 0;  // compare so many launches: where the paper does not print how many there are
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.workload << " " << row.size;
}

// Sorted; one line each.
std::vector<Row> rows() {
  return {
      // clang-format off
      {"aes", "stsimt", one(257, 256)},
      {"back_propagation", "crown", 2 * one({1, 64}, {16, 16})},
      {"back_propagation", "dwr", 2 * one({1, 64}, {16, 16})},
      {"back_propagation", "harp", 2 * one({1, 64}, {16, 16})},
      {"back_propagation", "stsimt", 2 * one({1, 4096}, {16, 16})},
      {"bfs", "crown", 16 * one(8, 512)},
      {"bfs", "dwr", 16 * one(8, 512)},
      {"bfs", "harp", 16 * one(8, 512)},
      {"bfs", "stsimt", 8 * one(1954, 512), 8},
      {"bfs_warp_centric", "stsimt", 8 * one(977, 128), 8},
      {"coulombic_potential", "crown", one({8, 32}, {16, 8})},
      {"coulombic_potential", "dwr", one({8, 32}, {16, 8})},
      {"coulombic_potential", "harp", one({8, 32}, {16, 8})},
      {"coulombic_potential", "stsimt", one({8, 32}, {16, 8})},
      {"discontinuous_galerkin", "stsimt", 5 * (one(268, 84) + one(268, 112) + one(603, 256))},
      {"dyn_proc", "crown", 13 * one(35, 256)},
      {"dyn_proc", "dwr", 13 * one(35, 256)},
      {"fast_walsh_transform", "crown", walsh(256)},
      {"fast_walsh_transform", "dwr", walsh(256)},
      {"fast_walsh_transform", "harp", walsh(512)},
      {"gaussian_elimination", "crown", 48 * one({3, 3}, {16, 16})},
      {"gaussian_elimination", "dwr", 48 * one({3, 3}, {16, 16})},
      {"gaussian_elimination", "stsimt", 207 * (one(1, 512) + one({52, 52}, {4, 4}))},  // 2704 blocks of 16
      {"h264_idct", "stsimt", one(252, 192) + one(100, 192) + one(231, 192) + one(130, 192)},
      {"h264_motion_compensation", "stsimt", 2 * one(8160, 64)},
      {"hotspot", "crown", one({43, 43}, {16, 16})},
      {"hotspot", "dwr", one({43, 43}, {16, 16})},
      {"hotspot", "harp", one({43, 43}, {16, 16})},
      {"hotspot", "stsimt", one({43, 43}, {16, 16})},
      {"laplace_3d", "crown", one({4, 25}, {32, 4})},
      {"laplace_3d", "harp", one({4, 25}, {32, 4})},
      {"laplace_3d", "stsimt", one({4, 25}, {32, 4})},
      {"libor", "stsimt", 2 * one(64, 64)},
      {"lud", "stsimt", lu_steps(15)},
      {"matrix_multiply", "crown", one({5, 8}, {16, 16})},
      {"matrix_multiply", "dwr", one({5, 8}, {16, 16})},
      {"matrix_multiply", "harp", one({5, 8}, {16, 16})},
      {"merge_sort", "stsimt", one(256, 512) + 8 * (3 * one(4, 256) + one(2048, 128))},
      {"mummer_gpu", "crown", one(196, 256)},
      {"mummer_gpu", "crown_small", one(1, 100)},
      {"mummer_gpu", "dwr", one(196, 256)},
      {"mummer_gpu", "harp", one(1, 100)},
      {"mummer_gpu", "stsimt", one(196, 256) + one(316, 256)},
      {"mummer_gpu_plus", "crown", one(196, 256)},
      {"mummer_gpu_plus", "crown_small", one(1, 256)},
      {"mummer_gpu_plus", "dwr", one(196, 256)},
      {"mummer_gpu_plus", "harp", one(1, 256)},
      {"n_queens", "crown", one(256, 96)},
      {"n_queens", "dwr", one(256, 96)},
      {"n_queens", "harp", one(256, 96)},
      {"nearest_neighbor", "crown", 4 * one(938, 16)},
      {"nearest_neighbor", "dwr", 4 * one(938, 16)},
      {"nearest_neighbor", "stsimt", one(168, 256)},
      {"needleman_wunsch", "crown", diagonals(32)},
      {"needleman_wunsch", "dwr", diagonals(32)},
      {"needleman_wunsch", "harp", diagonals(128)},
      {"needleman_wunsch", "stsimt", diagonals(128)},
      {"neural_network", "crown", one({6, 28}, {13, 13}) + one({25, 28}, {5, 5}) + one({100, 28}, {1, 1}) + one({10, 28}, {1, 1})},
      {"particle_filter", "harp", 9 * one(8, 128)},
      {"ray_tracing", "crown", one({16, 32}, {16, 8})},
      {"ray_tracing", "harp", one({16, 32}, {16, 8})},
      {"ray_tracing", "stsimt", one({16, 32}, {16, 8})},
      {"reduction", "stsimt", one(64, 256) + one(1, 32)},
      {"scan", "crown", one(64, 256)},
      {"scan", "dwr", one(64, 256)},
      {"srad", "crown", 4 * one({8, 8}, {16, 16})},
      {"srad", "crown_small", 4 * one({4, 4}, {16, 16})},
      {"storegpu", "stsimt", growing_files()},
      {"visibility", "stsimt", one(24, 256)},
      // clang-format on
  };
}

class Recorder : public runtime::LaunchObserver {
 public:
  void launching(const dispatch::Launch& launch, const runtime::LoadedModule&) override {
    shapes.push_back({launch.grid, launch.block});
  }
  void synchronised() override {}
  Shapes shapes;
};

class Geometry : public ::testing::TestWithParam<Row> {};
TEST_P(Geometry, IsAsPrinted) {
  const Row& row = GetParam();
  const auto workload = find(row.workload);
  Recorder recorder;
  runtime::DeviceOptions options;
  options.functional.all = true;
  options.observer = &recorder;
  runtime::Device device(load_config("gtx480", {}), options);
  const Result result = workload->run(device, values_of(*workload, row.size), workload->code());
  EXPECT_TRUE(result.verified) << result.message;
  if (row.only_first != 0) {
    ASSERT_GE(recorder.shapes.size(), row.only_first);
    recorder.shapes.resize(row.only_first);
  }
  ASSERT_EQ(recorder.shapes.size(), row.launches.size());
  for (std::size_t i = 0; i < row.launches.size(); ++i) {
    ASSERT_EQ(recorder.shapes[i], row.launches[i]) << "launch " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Papers, Geometry, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return info.param.workload + "_" + info.param.size; });

TEST(GeometryTable, HasEveryPaperSize) {
  std::set<std::pair<std::string, std::string>> listed, present;
  for (const Row& row : rows()) listed.insert({row.workload, row.size});
  for (const auto& workload : all()) {
    for (const auto& [size, values] : workload->sizes()) {
      if (size != "small" && size != "default" && size != "large") present.insert({workload->name(), size});
    }
  }
  EXPECT_EQ(listed, present);
}

}  // namespace
}  // namespace weft::workloads
