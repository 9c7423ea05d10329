#include "workloads/host.h"

namespace weft::workloads::matrix_multiply {
namespace {

constexpr std::uint32_t kTile = 16;  // as in matrix_multiply.cu

// Entries are multiples of 1/4 below 3.25 and of 1/2 below 3.5, so every partial sum is a multiple of 1/8
// below 11.375 times the terms. Up to 2048 of them that fits the 24 bits of a float: sums are exact in any
// order, and compared exactly.
class MatrixMultiply : public Workload {
 public:
  std::string name() const override { return "matrix_multiply"; }
  std::string summary() const override {
    return "C = A B in 16 x 16 tiles: shared memory, barriers, arithmetic";
  }
  std::vector<Option> options() const override {
    return {{"n", kTile, 2048, kTile, "rows of A and C"},
            {"columns", 0, 2048, kTile, "columns of B and C; 0: n"},
            {"inner", 0, 2048, kTile, "columns of A and rows of B; 0: n"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto square = [](std::uint64_t n) { return Size{{"n", n}, {"columns", 0}, {"inner", 0}}; };
    const Size printed{{"n", 128}, {"columns", 80}, {"inner", 48}};
    return {{"small", square(48)}, {"default", square(256)}, {"large", square(1024)},
            {"dwr", printed},      {"crown", printed},       {"harp", printed}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}},
            {"crown", {"sm.registers_per_thread=16"}},
            {"harp", {"sm.registers_per_thread=20"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t n = values.at("n");
    const std::uint64_t columns = values.at("columns") == 0 ? n : values.at("columns");
    const std::uint64_t inner = values.at("inner") == 0 ? n : values.at("inner");
    std::vector<float> a(n * inner), b(inner * columns), product(n * columns);
    for (std::uint64_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) * 0.25f;
    for (std::uint64_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 7) * 0.5f;
    for (std::uint64_t row = 0; row < n; ++row) {
      device.stop_if_interrupted();
      for (std::uint64_t k = 0; k < inner; ++k) {
        const float factor = a[row * inner + k];
        for (std::uint64_t column = 0; column < columns; ++column) {
          product[row * columns + column] += factor * b[k * columns + column];
        }
      }
    }
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<float> device_a(device, a), device_b(device, b), device_c(device, product.size());
    auto arguments = runtime::Arguments()
                         .add(device_a.address())
                         .add(device_b.address())
                         .add(device_c.address())
                         .add(static_cast<std::int32_t>(inner));
    const bool square = columns == n && inner == n;
    if (!square) {
      takes_no_kernel(code);
      arguments.add(static_cast<std::int32_t>(columns));
    }
    device.launch(module, square ? kernel_of(module, code, "matrix_multiply") : "matrix_multiply_rectangular",
                  {static_cast<std::uint32_t>(columns / kTile), static_cast<std::uint32_t>(n / kTile), 1},
                  {kTile, kTile, 1}, arguments);
    device.synchronise();
    return compare_equal("products", device_c.read(), product);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<MatrixMultiply>();
}

}  // namespace weft::workloads::matrix_multiply
