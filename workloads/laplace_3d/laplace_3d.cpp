#include <utility>

#include "workloads/host.h"

namespace weft::workloads::laplace_3d {
namespace {

constexpr std::uint32_t kBlockX = 32, kBlockY = 4;  // as in laplace_3d.cu

// One step over the box; the sum in the kernel's order, so that the results are the same bits.
std::vector<float> step(const std::vector<float>& u, std::size_t n) {
  std::vector<float> next = u;
  const std::size_t plane = n * n;
  for (std::size_t z = 1; z + 1 < n; ++z) {
    for (std::size_t y = 1; y + 1 < n; ++y) {
      for (std::size_t x = 1; x + 1 < n; ++x) {
        const std::size_t at = z * plane + y * n + x;
        next[at] =
            (u[at - 1] + u[at + 1] + u[at - n] + u[at + n] + u[at - plane] + u[at + plane]) * (1.0f / 6.0f);
      }
    }
  }
  return next;
}

class Laplace3d : public Workload {
 public:
  std::string name() const override { return "laplace_3d"; }
  std::string summary() const override {
    return "Laplace's equation on a box, planes in shared memory: barriers, borders that diverge";
  }
  std::vector<Option> options() const override {
    return {{"n", 3, 512, 1, "cells along each side of the box"},
            {"steps", 1, 100, 1, "Jacobi steps, one launch each"},
            {"seed", 0, UINT32_MAX, 1, "of the values"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n, std::uint64_t steps) {
      return Size{{"n", n}, {"steps", steps}, {"seed", 12345}};
    };
    return {{"small", size(20, 2)},  {"default", size(100, 1)}, {"large", size(200, 2)},
            {"crown", size(100, 1)}, {"harp", size(100, 1)},    {"stsimt", size(100, 1)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"crown", {"sm.registers_per_thread=20"}}, {"harp", {"sm.registers_per_thread=40"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 2 * sizeof(float) * values.at("n") * values.at("n") * values.at("n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto n = static_cast<std::uint32_t>(values.at("n"));
    const auto steps = static_cast<std::uint32_t>(values.at("steps"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<float> u(std::size_t{n} * n * n);
    for (float& value : u) value = static_cast<float>(random.next() % 10'000) / 100.0f;

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    const DeviceArray<float> a(device, u), b(device, u.size());
    runtime::Address from = a.address(), to = b.address();
    for (std::uint32_t done = 0; done < steps; ++done) {
      device.launch(module, kernel, {blocks_for(n, kBlockX), blocks_for(n, kBlockY), 1},
                    {kBlockX, kBlockY, 1},
                    runtime::Arguments()
                        .add(static_cast<std::int32_t>(n))
                        .add(static_cast<std::int32_t>(n))
                        .add(static_cast<std::int32_t>(n))
                        .add(from)
                        .add(to));
      std::swap(from, to);
    }
    device.synchronise();
    for (std::uint32_t done = 0; done < steps; ++done) u = step(u, n);
    return compare_equal("values", (from == a.address() ? a : b).read(), u);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Laplace3d>();
}

}  // namespace weft::workloads::laplace_3d
