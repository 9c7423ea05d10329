#include <cmath>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads::gaussian_elimination {
namespace {

constexpr std::uint32_t kJordanSide = 16, kRowsSide = 4, kFactorThreads = 512;

struct System {
  std::size_t n = 0;
  std::vector<float> a, b;
};

// Diagonally dominant, so that no rows need to be exchanged.
System random_system(std::size_t n, std::uint32_t seed) {
  Random random(seed);
  System system{n, std::vector<float>(n * n), std::vector<float>(n)};
  const auto number = [&] { return static_cast<float>(random.next() % 2048) / 1024 - 1; };
  for (auto& value : system.a) value = number();
  for (auto& value : system.b) value = number();
  for (std::size_t i = 0; i < n; ++i) system.a[i * n + i] += static_cast<float>(n);
  return system;
}

// The operations of the kernels, in floats: a - factor * b is one fused operation there. Rows above the pivot
// are changed only if `above`.
void eliminate(System& system, bool above) {
  const std::size_t n = system.n;
  for (std::size_t pivot = 0; pivot < n; ++pivot) {
    const float* const pivot_row = &system.a[pivot * n];
    for (std::size_t row = above ? 0 : pivot + 1; row < n; ++row) {
      if (row == pivot) continue;
      float* const values = &system.a[row * n];
      const float factor = values[pivot] / pivot_row[pivot];
      for (std::size_t column = pivot; column < n; ++column) {
        values[column] = std::fma(-factor, pivot_row[column], values[column]);
      }
      if (above) values[pivot] = 0;
      system.b[row] = std::fma(-factor, system.b[pivot], system.b[row]);
    }
  }
}

// The solution of an upper triangular system; Rodinia does this on the host, too.
std::vector<float> substitute_back(const System& system) {
  const std::size_t n = system.n;
  std::vector<float> x(n);
  for (std::size_t row = n; row-- > 0;) {
    double sum = system.b[row];
    for (std::size_t column = row + 1; column < n; ++column) {
      sum -= double{system.a[row * n + column]} * x[column];
    }
    x[row] = static_cast<float>(sum / system.a[row * n + row]);
  }
  return x;
}

class GaussianElimination : public Workload {
 public:
  std::string name() const override { return "gaussian_elimination"; }
  std::string summary() const override {
    return "linear equations by elimination: many short launches, ever less to do";
  }
  std::vector<Option> options() const override {
    return {
        {"n", 2, 2048, 1, "equations"},
        {"kernels", 1, 2, 1, "per pivot; 1: of 16 x 16 threads, all rows; 2: factors, then the rows below"},
        {"seed", 0, UINT32_MAX, 1, "of the equations"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n, std::uint64_t kernels) {
      return Size{{"n", n}, {"kernels", kernels}, {"seed", 4}};
    };
    return {{"small", size(40, 2)}, {"default", size(64, 2)}, {"large", size(512, 2)},
            {"dwr", size(48, 1)},   {"crown", size(48, 1)},   {"stsimt", size(208, 2)}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    System system = random_system(values.at("n"), static_cast<std::uint32_t>(values.at("seed")));
    const bool above = values.at("kernels") == 1;
    const System got =
        above ? on_device_in_one(device, system, code) : on_device_in_two(device, system, code);
    eliminate(system, above);
    Result coefficients = compare_equal("coefficients", upper(got), upper(system));
    if (!coefficients.verified) return coefficients;
    return compare_equal("solutions", substitute_back(got), substitute_back(system));
  }

 private:
  // What is left of A: below the diagonal lies what elimination no longer reads.
  static std::vector<float> upper(const System& system) {
    std::vector<float> values;
    for (std::size_t row = 0; row < system.n; ++row) {
      const auto at = system.a.begin() + static_cast<std::ptrdiff_t>(row * system.n);
      values.insert(values.end(), at + static_cast<std::ptrdiff_t>(row),
                    at + static_cast<std::ptrdiff_t>(system.n));
    }
    return values;
  }

  static System on_device_in_one(runtime::Device& device, const System& system, const Code& code) {
    auto& module = device.load_module(code.ptx, code.file);
    const auto n = static_cast<std::int32_t>(system.n);
    DeviceArray<float> a0(device, system.a), b0(device, system.b), a1(device, system.a.size()),
        b1(device, system.n);
    auto a = std::pair(a0.address(), a1.address()), b = std::pair(b0.address(), b1.address());
    const std::uint32_t side = blocks_for(system.n, kJordanSide);
    for (std::int32_t pivot = 0; pivot < n; ++pivot) {
      device.launch(
          module, "eliminate_column", {side, side, 1}, {kJordanSide, kJordanSide, 1},
          runtime::Arguments().add(a.first).add(a.second).add(b.first).add(b.second).add(n).add(pivot));
      std::swap(a.first, a.second);
      std::swap(b.first, b.second);
    }
    device.synchronise();
    return n % 2 == 0 ? System{system.n, a0.read(), b0.read()} : System{system.n, a1.read(), b1.read()};
  }

  static System on_device_in_two(runtime::Device& device, const System& system, const Code& code) {
    auto& module = device.load_module(code.ptx, code.file);
    const auto n = static_cast<std::int32_t>(system.n);
    DeviceArray<float> a(device, system.a), b(device, system.b);
    DeviceArray<float> factors(device, std::vector<float>(system.a.size(), 0.0f));
    const std::uint32_t side = blocks_for(system.n, kRowsSide);
    for (std::int32_t pivot = 0; pivot + 1 < n; ++pivot) {
      device.launch(module, "eliminate_factors", {blocks_for(system.n, kFactorThreads), 1, 1},
                    {kFactorThreads, 1, 1},
                    runtime::Arguments().add(factors.address()).add(a.address()).add(n).add(pivot));
      device.launch(
          module, "eliminate_rows", {side, side, 1}, {kRowsSide, kRowsSide, 1},
          runtime::Arguments().add(factors.address()).add(a.address()).add(b.address()).add(n).add(pivot));
    }
    device.synchronise();
    return {system.n, a.read(), b.read()};
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<GaussianElimination>();
}

}  // namespace weft::workloads::gaussian_elimination
