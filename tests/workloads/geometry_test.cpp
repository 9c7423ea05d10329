// The papers' sizes: each runs the grids and blocks that its paper prints (Lashgar et al. 2012, Table 1;
// thesis slides 2012, slide 46; HARP, TECS 2014, Table 5; TACO 2015, Table II), in the order of the program,
// and gets the right result.
#include <gtest/gtest.h>

#include <set>

#include "platform/gpu_config.h"
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
      {"bfs", "crown", 16 * one(8, 512)},
      {"bfs", "dwr", 16 * one(8, 512)},
      {"bfs", "harp", 16 * one(8, 512)},
      {"bfs", "stsimt", 8 * one(1954, 512), 8},
      {"coulombic_potential", "crown", one({8, 32}, {16, 8})},
      {"coulombic_potential", "dwr", one({8, 32}, {16, 8})},
      {"coulombic_potential", "harp", one({8, 32}, {16, 8})},
      {"coulombic_potential", "stsimt", one({8, 32}, {16, 8})},
      {"dyn_proc", "crown", 13 * one(35, 256)},
      {"dyn_proc", "dwr", 13 * one(35, 256)},
      {"fast_walsh_transform", "crown", walsh(256)},
      {"fast_walsh_transform", "dwr", walsh(256)},
      {"fast_walsh_transform", "harp", walsh(512)},
      {"gaussian_elimination", "crown", 48 * one({3, 3}, {16, 16})},
      {"gaussian_elimination", "dwr", 48 * one({3, 3}, {16, 16})},
      {"gaussian_elimination", "stsimt", 207 * (one(1, 512) + one({52, 52}, {4, 4}))},  // 2704 blocks of 16
      {"lud", "stsimt", lu_steps(15)},
      {"matrix_multiply", "crown", one({5, 8}, {16, 16})},
      {"matrix_multiply", "dwr", one({5, 8}, {16, 16})},
      {"matrix_multiply", "harp", one({5, 8}, {16, 16})},
      {"reduction", "stsimt", one(64, 256) + one(1, 32)},
      {"scan", "crown", one(64, 256)},
      {"scan", "dwr", one(64, 256)},
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
