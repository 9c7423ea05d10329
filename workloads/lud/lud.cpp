#include <cmath>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads::lud {
namespace {

constexpr std::size_t kTile = 16;  // as in lud.cu

// The tiles' operations in their order, in floats; a - b c and a + b c are one fused operation in the
// kernels.
class Reference {
 public:
  Reference(std::vector<float> a, std::size_t n) : a_(std::move(a)), n_(n) {}

  const std::vector<float>& factorize() {
    for (std::size_t offset = 0; offset < n_; offset += kTile) {
      diagonal(offset);
      for (std::size_t at = offset + kTile; at < n_; at += kTile) {
        right(offset, at);
        below(offset, at);
      }
      for (std::size_t row = offset + kTile; row < n_; ++row) {
        for (std::size_t column = offset + kTile; column < n_; ++column) internal(offset, row, column);
      }
    }
    return a_;
  }

 private:
  float& at(std::size_t row, std::size_t column) { return a_[row * n_ + column]; }
  // a(row, column) less the products with `terms` elements left of it and above it.
  void subtract(std::size_t row, std::size_t column, std::size_t first, std::size_t terms) {
    for (std::size_t k = first; k < first + terms; ++k) {
      at(row, column) = std::fma(-at(row, k), at(k, column), at(row, column));
    }
  }
  void diagonal(std::size_t offset) {
    for (std::size_t i = 0; i + 1 < kTile; ++i) {
      for (std::size_t j = i + 1; j < kTile; ++j) {
        subtract(offset + j, offset + i, offset, i);
        at(offset + j, offset + i) /= at(offset + i, offset + i);
      }
      for (std::size_t j = i + 1; j < kTile; ++j) subtract(offset + i + 1, offset + j, offset, i + 1);
    }
  }
  void right(std::size_t offset, std::size_t column) {
    for (std::size_t i = 1; i < kTile; ++i) {
      for (std::size_t j = 0; j < kTile; ++j) subtract(offset + i, column + j, offset, i);
    }
  }
  void below(std::size_t offset, std::size_t row) {
    for (std::size_t i = 0; i < kTile; ++i) {
      for (std::size_t j = 0; j < kTile; ++j) {
        subtract(row + j, offset + i, offset, i);
        at(row + j, offset + i) /= at(offset + i, offset + i);
      }
    }
  }
  void internal(std::size_t offset, std::size_t row, std::size_t column) {
    float sum = 0;
    for (std::size_t k = offset; k < offset + kTile; ++k) sum = std::fma(at(row, k), at(k, column), sum);
    at(row, column) -= sum;
  }

  std::vector<float> a_;
  std::size_t n_;
};

class Lud : public Workload {
 public:
  std::string name() const override { return "lud"; }
  std::string summary() const override {
    return "LU decomposition by tiles: blocks of 16, 32 and 256 threads, triangular loops";
  }
  std::vector<Option> options() const override {
    return {{"n", kTile, 4096, kTile, "rows and columns"}, {"seed", 0, UINT32_MAX, 1, "of the matrix"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 48}, {"seed", 6}}},
            {"default", {{"n", 128}, {"seed", 6}}},
            {"large", {{"n", 512}, {"seed", 6}}},
            {"stsimt", {{"n", 256}, {"seed", 6}}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return sizeof(float) * values.at("n") * values.at("n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const std::size_t n = values.at("n");
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<float> matrix(n * n);
    for (auto& value : matrix) value = static_cast<float>(random.next() % 2048) / 1024 - 1;
    // Diagonally dominant, so that it can be decomposed without exchanging rows.
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] += static_cast<float>(n);

    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<float> device_matrix(device, matrix);
    for (std::size_t offset = 0; offset < n; offset += kTile) {
      const auto arguments = runtime::Arguments()
                                 .add(device_matrix.address())
                                 .add(static_cast<std::int32_t>(n))
                                 .add(static_cast<std::int32_t>(offset));
      const auto tiles = static_cast<std::uint32_t>((n - offset) / kTile - 1);
      device.launch(module, "lud_diagonal", {1, 1, 1}, {kTile, 1, 1}, arguments);
      if (tiles == 0) break;
      device.launch(module, "lud_perimeter", {tiles, 1, 1}, {2 * kTile, 1, 1}, arguments);
      device.launch(module, "lud_internal", {tiles, tiles, 1}, {kTile, kTile, 1}, arguments);
    }
    device.synchronise();
    return compare_equal("factors", device_matrix.read(), Reference(std::move(matrix), n).factorize());
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Lud>();
}

}  // namespace weft::workloads::lud
