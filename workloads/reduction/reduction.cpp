#include <numeric>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads::reduction {
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
    return {
        {"n", 1, 1u << 28, 1, "numbers to add"},
        {"blocks", 0, 1024, 1, "of the first pass, which strides over the numbers; 0: one per 2048 numbers"},
        {"seed", 0, UINT32_MAX, 1, "of the numbers"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 20'000}, {"blocks", 0}, {"seed", 1}}},
            {"default", {{"n", 1u << 20}, {"blocks", 0}, {"seed", 1}}},
            {"large", {{"n", 1u << 24}, {"blocks", 0}, {"seed", 1}}},
            {"stsimt", {{"n", 1u << 24}, {"blocks", 64}, {"seed", 1}}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return sizeof(std::uint32_t) * values.at("n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t n = values.at("n");
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::uint32_t> numbers(n);
    for (auto& number : numbers) number = random.next();

    const std::uint32_t sum =
        values.at("blocks") == 0
            ? halve_by_passes(device, numbers, code)
            : stride(device, numbers, static_cast<std::uint32_t>(values.at("blocks")), code);
    return compare_equal<std::uint32_t>("sums", {sum},
                                        {std::accumulate(numbers.begin(), numbers.end(), std::uint32_t{0})});
  }

 private:
  static std::uint32_t number_at(const runtime::Device& device, runtime::Address address) {
    std::uint32_t number = 0;
    device.copy_from(&number, address, sizeof number);
    return number;
  }

  static std::uint32_t halve_by_passes(runtime::Device& device, const std::vector<std::uint32_t>& numbers,
                                       const Code& code) {
    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code, "reduction");
    auto left = static_cast<std::uint32_t>(numbers.size());
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
    return number_at(device, from);
  }

  // As in the CUDA SDK: a pass of `blocks` blocks of 256 threads, and one of a single warp over their sums.
  static std::uint32_t stride(runtime::Device& device, const std::vector<std::uint32_t>& numbers,
                              std::uint32_t blocks, const Code& code) {
    takes_no_kernel(code);
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<std::uint32_t> input(device, numbers), sums(device, blocks), sum(device, 1);
    device.launch(module, "reduction_256", {blocks, 1, 1}, {kThreads, 1, 1},
                  runtime::Arguments()
                      .add(input.address())
                      .add(sums.address())
                      .add(static_cast<std::uint32_t>(numbers.size())));
    device.launch(module, "reduction_32", {1, 1, 1}, {32, 1, 1},
                  runtime::Arguments().add(sums.address()).add(sum.address()).add(blocks));
    device.synchronise();
    return number_at(device, sum.address());
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Reduction>();
}

}  // namespace weft::workloads::reduction
