#include <algorithm>
#include <utility>

#include "weft/common/error.h"
#include "workloads/host.h"

namespace weft::workloads::dyn_proc {
namespace {

constexpr std::uint32_t kBlock = 256;  // as in dyn_proc.cu

std::vector<std::int32_t> cheapest_ways(const std::vector<std::int32_t>& wall, std::size_t columns) {
  std::vector<std::int32_t> cost(wall.begin(), wall.begin() + static_cast<std::ptrdiff_t>(columns)),
      next(columns);
  for (std::size_t at = columns; at < wall.size(); at += columns) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t west = c == 0 ? c : c - 1, east = std::min(c + 1, columns - 1);
      next[c] = std::min({cost[west], cost[c], cost[east]}) + wall[at + c];
    }
    cost.swap(next);
  }
  return cost;
}

class DynProc : public Workload {
 public:
  std::string name() const override { return "dyn_proc"; }
  std::string summary() const override {
    return "cheapest way down a grid by dynamic programming: shared memory, barriers, halos";
  }
  std::vector<Option> options() const override {
    return {{"columns", 1, 1u << 20, 1, "of the grid"},
            {"rows", 2, 2048, 1, "of the grid"},
            {"height", 1, 100, 1,
             "rows that a launch computes, and columns by which blocks overlap on each side"},
            {"seed", 0, UINT32_MAX, 1, "of the costs"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size printed{{"columns", 7560}, {"rows", 261}, {"height", 20}, {"seed", 9}};
    return {{"small", {{"columns", 1000}, {"rows", 31}, {"height", 10}, {"seed", 9}}},
            {"default", {{"columns", 20'000}, {"rows", 101}, {"height", 20}, {"seed", 9}}},
            {"large", {{"columns", 200'000}, {"rows", 201}, {"height", 20}, {"seed", 9}}},
            {"dwr", printed},
            {"crown", printed}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}}, {"crown", {"sm.registers_per_thread=16"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return sizeof(std::int32_t) * values.at("columns") * (values.at("rows") + 2);
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t columns = values.at("columns"), rows = values.at("rows"),
                        height = values.at("height");
    if (columns * rows > INT32_MAX) {
      throw InputError("size of dyn_proc", "found " + std::to_string(columns) + " columns x " +
                                               std::to_string(rows) + " rows; allowed: 2^31 - 1 costs");
    }
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::int32_t> wall(columns * rows);
    for (auto& cost : wall) cost = static_cast<std::int32_t>(random.next() % 10);

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    DeviceArray<std::int32_t> costs(device, wall);
    DeviceArray<std::int32_t> first(device,
                                    {wall.begin(), wall.begin() + static_cast<std::ptrdiff_t>(columns)});
    DeviceArray<std::int32_t> second(device, columns);
    runtime::Address from = first.address(), to = second.address();
    const std::uint32_t blocks = blocks_for(columns, kBlock - 2 * height);
    for (std::uint64_t row = 1; row < rows; row += height) {
      device.launch(module, kernel, {blocks, 1, 1}, {kBlock, 1, 1},
                    runtime::Arguments()
                        .add(costs.address())
                        .add(from)
                        .add(to)
                        .add(static_cast<std::int32_t>(columns))
                        .add(static_cast<std::int32_t>(row))
                        .add(static_cast<std::int32_t>(std::min(height, rows - row)))
                        .add(static_cast<std::int32_t>(height)));
      std::swap(from, to);
    }
    device.synchronise();
    std::vector<std::int32_t> got(columns);
    device.copy_from(got.data(), from, columns * sizeof(std::int32_t));
    return compare_equal("costs", got, cheapest_ways(wall, columns));
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<DynProc>();
}

}  // namespace weft::workloads::dyn_proc
