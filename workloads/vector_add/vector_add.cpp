#include "workloads/host.h"

namespace weft::workloads::vector_add {
namespace {

constexpr std::uint32_t kBlock = 256;

class VectorAdd : public Workload {
 public:
  std::string name() const override { return "vector_add"; }
  std::string summary() const override { return "c = a + b: streaming, limited by memory bandwidth"; }
  std::vector<Option> options() const override { return {{"n", 1, 1u << 28, 1, "elements of each vector"}}; }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"n", 10'000}}}, {"default", {{"n", 1u << 20}}}, {"large", {{"n", 1u << 24}}}};
  }
  std::uint64_t device_bytes(const Size& values) const override { return 3 * sizeof(float) * values.at("n"); }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const std::uint64_t n = values.at("n");
    std::vector<float> a(n), b(n), sum(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i % (1u << 20) == 0) device.stop_if_interrupted();
      a[i] = static_cast<float>(i % 1000);
      b[i] = static_cast<float>(2 * (i % 77));
      sum[i] = a[i] + b[i];
    }
    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<float> device_a(device, a), device_b(device, b), device_c(device, n);
    device.launch(module, kernel_of(module, code), {blocks_for(n, kBlock), 1, 1}, {kBlock, 1, 1},
                  runtime::Arguments()
                      .add(device_a.address())
                      .add(device_b.address())
                      .add(device_c.address())
                      .add(static_cast<std::int32_t>(n)));
    device.synchronise();
    return compare_equal("sums", device_c.read(), sum);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<VectorAdd>();
}

}  // namespace weft::workloads::vector_add
