#include "workloads/host.h"

namespace weft::workloads {
namespace {

constexpr std::uint32_t kTile = 16;  // as in matrix_multiply.cu

// Entries are multiples of 1/4 below 3.25 and of 1/2 below 3.5, so every partial sum is a multiple of 1/8
// below 11.375 n. Up to n = 2048 that fits the 24 bits of a float: sums are exact in any order, and compared
// exactly.
class MatrixMultiply : public Workload {
 public:
  std::string name() const override { return "matrix_multiply"; }
  std::string summary() const override {
    return "C = A B in 16 x 16 tiles: shared memory, barriers, arithmetic";
  }
  std::vector<Option> options() const override {
    return {{"n", kTile, 2048, kTile, "rows and columns of each matrix"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 48}}}, {"default", {{"n", 256}}}, {"large", {{"n", 1024}}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t n = values.at("n");
    std::vector<float> a(n * n), b(n * n), product(n * n);
    for (std::uint64_t i = 0; i < n * n; ++i) {
      a[i] = static_cast<float>(i % 13) * 0.25f;
      b[i] = static_cast<float>(i % 7) * 0.5f;
    }
    for (std::uint64_t row = 0; row < n; ++row) {
      for (std::uint64_t k = 0; k < n; ++k) {
        const float factor = a[row * n + k];
        for (std::uint64_t column = 0; column < n; ++column) {
          product[row * n + column] += factor * b[k * n + column];
        }
      }
    }
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<float> device_a(device, a), device_b(device, b), device_c(device, n * n);
    const auto tiles = static_cast<std::uint32_t>(n / kTile);
    device.launch(module, kernel_of(module, code), {tiles, tiles, 1}, {kTile, kTile, 1},
                  runtime::Arguments()
                      .add(device_a.address())
                      .add(device_b.address())
                      .add(device_c.address())
                      .add(static_cast<std::int32_t>(n)));
    device.synchronise();
    return compare_equal("products", device_c.read(), product);
  }
};

}  // namespace

std::unique_ptr<Workload> make_matrix_multiply() {
  return std::make_unique<MatrixMultiply>();
}

}  // namespace weft::workloads
