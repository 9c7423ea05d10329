#include <algorithm>

#include "weft/common/error.h"
#include "workloads/host.h"

namespace weft::workloads::hotspot {
namespace {

constexpr std::uint32_t kTile = 16;  // as in hotspot.cu

struct Coefficients {  // as in hotspot.cu
  float step_over_capacity, across, down, up, ambient;
};

// A silicon chip of 16 x 16 x 0.5 mm, cut into cells: heat capacity and thermal resistances of a cell, and a
// step short enough for the explicit method.
Coefficients coefficients(std::uint32_t side) {
  constexpr float kThickness = 0.0005f, kSide = 0.016f;     // m
  constexpr float kHeat = 1.75e6f, kConductivity = 100.0f;  // J / (m³ K), W / (m K)
  constexpr float kLargestDensity = 3.0e6f;                 // W / m³ at which a step may warm by kPrecision
  constexpr float kPrecision = 0.001f, kCapacityShare = 0.5f;  // K, lumped for distributed
  const float cell = kSide / static_cast<float>(side);
  const float capacity = kCapacityShare * kHeat * kThickness * cell * cell;
  const float largest_slope = kLargestDensity / (kCapacityShare * kThickness * kHeat);
  return {kPrecision / largest_slope / capacity, 2.0f * kConductivity * kThickness,
          2.0f * kConductivity * kThickness, kConductivity * cell * cell / kThickness, 80.0f};
}

// One step everywhere; the sums in the kernel's order, so that the results are the same bits.
std::vector<float> step(const std::vector<float>& t, const std::vector<float>& power, std::size_t side,
                        const Coefficients& with) {
  std::vector<float> next(t.size());
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const auto cell = [&](std::size_t row, std::size_t column) { return t[row * side + column]; };
      const float here = cell(y, x);
      const float north = cell(y == 0 ? 0 : y - 1, x), south = cell(std::min(y + 1, side - 1), x);
      const float west = cell(y, x == 0 ? 0 : x - 1), east = cell(y, std::min(x + 1, side - 1));
      next[y * side + x] =
          here + with.step_over_capacity *
                     (power[y * side + x] + (south + north - 2.0f * here) * with.down +
                      (east + west - 2.0f * here) * with.across + (with.ambient - here) * with.up);
    }
  }
  return next;
}

class Hotspot : public Workload {
 public:
  std::string name() const override { return "hotspot"; }
  std::string summary() const override {
    return "heat on a chip, several steps a launch in tiles with ghost zones: shared memory, barriers";
  }
  std::vector<Option> options() const override {
    return {{"n", 1, 8192, 1, "cells along each side of the chip"},
            {"steps", 1, 1000, 1, "of time"},
            {"height", 1, 7, 1, "steps a launch"},
            {"seed", 0, UINT32_MAX, 1, "of temperatures and power"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n, std::uint64_t steps) {
      return Size{{"n", n}, {"steps", steps}, {"height", 2}, {"seed", 12345}};
    };
    return {{"small", size(60, 4)},  {"default", size(512, 2)}, {"large", size(1024, 8)},
            {"dwr", size(512, 2)},   {"crown", size(512, 2)},   {"harp", size(512, 2)},
            {"stsimt", size(512, 2)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    const std::vector<std::string> two_blocks{"sm.registers_per_thread=28"};
    return {{"dwr", two_blocks},
            {"crown", two_blocks},
            {"harp", two_blocks},
            {"stsimt", {"sm.registers_per_thread=40"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 3 * sizeof(float) * values.at("n") * values.at("n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto side = static_cast<std::uint32_t>(values.at("n"));
    const auto steps = static_cast<std::uint32_t>(values.at("steps"));
    const auto height = static_cast<std::uint32_t>(values.at("height"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<float> temperature(std::size_t{side} * side), power(temperature.size());
    for (float& t : temperature) t = 320.0f + static_cast<float>(random.next() % 20'000) / 1000.0f;
    for (float& watts : power) watts = static_cast<float>(random.next() % 1000) * 1e-6f;
    const Coefficients with = coefficients(side);

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    const DeviceArray<float> device_power(device, power), a(device, temperature), b(device, temperature);
    runtime::Address from = a.address(), to = b.address();
    for (std::uint32_t done = 0; done < steps; done += height) {
      const std::uint32_t here = std::min(height, steps - done);
      const std::uint32_t blocks = blocks_for(side, kTile - 2 * here);
      device.launch(module, kernel, {blocks, blocks, 1}, {kTile, kTile, 1},
                    runtime::Arguments()
                        .add(static_cast<std::int32_t>(here))
                        .add(device_power.address())
                        .add(from)
                        .add(to)
                        .add(static_cast<std::int32_t>(side))
                        .add(static_cast<std::int32_t>(side))
                        .add(with));
      std::swap(from, to);
    }
    device.synchronise();
    for (std::uint32_t done = 0; done < steps; ++done) temperature = step(temperature, power, side, with);
    return compare_equal("temperatures", (from == a.address() ? a : b).read(), temperature);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Hotspot>();
}

}  // namespace weft::workloads::hotspot
