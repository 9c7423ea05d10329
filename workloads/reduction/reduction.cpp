#include <numeric>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads {
namespace {

constexpr std::uint32_t kThreads = 256, kPerThread = 8,
                        kPerBlock = kThreads * kPerThread;  // as in reduction.cu

class Reduction : public Workload {
 public:
  std::string name() const override { return "reduction"; }
  std::string summary() const override {
    return "sum modulo 2^32 by trees in shared memory: barriers, tail divergence";
  }
  std::vector<Option> options() const override {
    return {{"n", 1, 1u << 28, 1, "numbers to add"}, {"seed", 0, UINT32_MAX, 1, "of the numbers"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 20'000}, {"seed", 1}}},
            {"default", {{"n", 1u << 20}, {"seed", 1}}},
            {"large", {{"n", 1u << 24}, {"seed", 1}}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t n = values.at("n");
    Random random(static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::uint32_t> numbers(n);
    for (auto& number : numbers) number = random.next();

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    std::uint32_t left = static_cast<std::uint32_t>(n);
    DeviceArray<std::uint32_t> input(device, numbers);
    DeviceArray<std::uint32_t> first(device, blocks_for(left, kPerBlock));
    DeviceArray<std::uint32_t> second(device, blocks_for(left, kPerBlock));

    // One pass always runs, so that a single number is copied to where the result is read. Passes follow one
    // another on the device without the host looking at what lies between.
    runtime::Address from = input.address(), to = first.address(), other = second.address();
    do {
      const std::uint32_t blocks = blocks_for(left, kPerBlock);
      device.launch(module, kernel, {blocks, 1, 1}, {kThreads, 1, 1},
                    runtime::Arguments().add(from).add(to).add(left));
      left = blocks;
      from = std::exchange(to, other);
      other = from;
    } while (left > 1);
    device.synchronise();

    std::vector<std::uint32_t> sum(1);
    device.copy_from(sum.data(), from, sizeof(std::uint32_t));
    return compare_equal("sums", sum, {std::accumulate(numbers.begin(), numbers.end(), std::uint32_t{0})});
  }
};

}  // namespace

std::unique_ptr<Workload> make_reduction() {
  return std::make_unique<Reduction>();
}

}  // namespace weft::workloads
