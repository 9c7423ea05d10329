#include <cmath>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads::fast_walsh_transform {
namespace {

// As in fast_walsh_transform.cu and in the SDK.
constexpr unsigned kLog2Shared = 11;
constexpr std::uint32_t kGlobalThreads = 256, kModulateBlocks = 128;
constexpr std::size_t kFilter = 128;  // numbers that are not zero

// Stage by stage, the longest distance first: the order in which the kernels add, hence the same roundings.
void transform(std::vector<float>& data) {
  for (std::size_t distance = data.size() / 2; distance > 0; distance /= 2) {
    for (std::size_t i = 0; i < data.size(); ++i) {
      if ((i & distance) != 0) continue;
      const float a = data[i], b = data[i + distance];
      data[i] = a + b;
      data[i + distance] = a - b;
    }
  }
}

std::vector<float> convolve(std::vector<float> data, std::vector<float> filter, float scale) {
  transform(data);
  transform(filter);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] *= filter[i] * scale;
  transform(data);
  return data;
}

class FastWalshTransform : public Workload {
 public:
  std::string name() const override { return "fast_walsh_transform"; }
  std::string summary() const override {
    return "dyadic convolution by Walsh transforms: strided memory, shared memory, barriers";
  }
  std::vector<Option> options() const override {
    return {{"log2n", 8, 24, 1, "binary logarithm of the numbers to transform"},
            {"modulate_threads", 32, 1024, 32, "threads of a block that multiplies the transforms"},
            {"seed", 0, UINT32_MAX, 1, "of the numbers"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t log2n, std::uint64_t threads) {
      return Size{{"log2n", log2n}, {"modulate_threads", threads}, {"seed", 5}};
    };
    return {{"small", size(13, 256)}, {"default", size(16, 256)}, {"large", size(20, 256)},
            {"dwr", size(15, 256)},   {"crown", size(15, 256)},   {"harp", size(15, 512)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}},
            {"crown", {"sm.registers_per_thread=16"}},
            {"harp", {"sm.registers_per_thread=20"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 2 * sizeof(float) << values.at("log2n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto log2n = static_cast<unsigned>(values.at("log2n"));
    const std::size_t n = std::size_t{1} << log2n;
    const float scale = std::ldexp(1.0f, -static_cast<int>(log2n));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    const auto number = [&] { return static_cast<float>(random.next() % 4096) / 4096; };
    std::vector<float> data(n), filter(n, 0.0f);
    for (auto& value : data) value = number();
    for (std::size_t i = 0; i < kFilter; ++i) filter[i] = number();

    auto& module = device.load_module(code.ptx, code.file);
    DeviceArray<float> device_data(device, data), device_filter(device, filter);
    const auto transform_on_device = [&](runtime::Address at) {
      unsigned left = log2n;
      for (; left > kLog2Shared; left -= 2) {
        device.launch(module, "fwt_global", {blocks_for(n / 4, kGlobalThreads), 1, 1}, {kGlobalThreads, 1, 1},
                      runtime::Arguments().add(at).add(std::int32_t{1} << (left - 2)));
      }
      device.launch(module, "fwt_shared", {1u << (log2n - left), 1, 1}, {1u << (left - 2), 1, 1},
                    runtime::Arguments().add(at).add(static_cast<std::int32_t>(left)));
    };
    transform_on_device(device_data.address());
    transform_on_device(device_filter.address());
    device.launch(module, "fwt_modulate", {kModulateBlocks, 1, 1},
                  {static_cast<std::uint32_t>(values.at("modulate_threads")), 1, 1},
                  runtime::Arguments()
                      .add(device_data.address())
                      .add(device_filter.address())
                      .add(static_cast<std::int32_t>(n))
                      .add(scale));
    transform_on_device(device_data.address());
    device.synchronise();
    return compare_equal("convolutions", device_data.read(),
                         convolve(std::move(data), std::move(filter), scale));
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<FastWalshTransform>();
}

}  // namespace weft::workloads::fast_walsh_transform
