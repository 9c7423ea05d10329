#include "workloads/host.h"

namespace weft::workloads::scan {
namespace {

constexpr std::uint32_t kThreads = 256, kPerArray = 4 * kThreads;  // as in scan.cu

class Scan : public Workload {
 public:
  std::string name() const override { return "scan"; }
  std::string summary() const override {
    return "prefix sums of arrays of 1024 numbers: barriers, shared memory, no divergence";
  }
  std::vector<Option> options() const override {
    return {{"arrays", 1, 1u << 18, 1, "of 1024 numbers, a block each"},
            {"seed", 0, UINT32_MAX, 1, "of the numbers"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size printed{{"arrays", 64}, {"seed", 2}};
    return {{"small", {{"arrays", 8}, {"seed", 2}}},
            {"default", {{"arrays", 512}, {"seed", 2}}},
            {"large", {{"arrays", 16384}, {"seed", 2}}},
            {"dwr", printed},
            {"crown", printed}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}}, {"crown", {"sm.registers_per_thread=16"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 2 * sizeof(std::uint32_t) * 1024 * values.at("arrays");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t arrays = values.at("arrays");
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::uint32_t> numbers(arrays * kPerArray), sums(numbers.size());
    for (auto& number : numbers) number = random.next();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      sums[i] = i % kPerArray == 0 ? 0 : sums[i - 1] + numbers[i - 1];
    }
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<std::uint32_t> input(device, numbers), output(device, numbers.size());
    device.launch(module, kernel_of(module, code), {static_cast<std::uint32_t>(arrays), 1, 1},
                  {kThreads, 1, 1}, runtime::Arguments().add(input.address()).add(output.address()));
    device.synchronise();
    return compare_equal("sums", output.read(), sums);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Scan>();
}

}  // namespace weft::workloads::scan
