#include <array>
#include <cmath>
#include <functional>

#include "workloads/host.h"

namespace weft::workloads::neural_network {
namespace {

constexpr std::size_t kImageSide = 29, kMap1Side = 13, kMap2Side = 5,
                      kWindowSide = 5;  // as in neural_network.cu
constexpr std::size_t kMaps1 = 6, kMaps2 = 50, kUnits3 = 100, kUnits4 = 10;
constexpr std::size_t kWindow = kWindowSide * kWindowSide;

// A layer: how many values of how many inputs each, and which input the k-th weight of a value is for.
struct Layer {
  const char* kernel;
  std::array<std::uint32_t, 2> blocks_per_image, block;
  std::size_t inputs, outputs;  // values of an image
  std::size_t maps, terms;      // the values of a map share 1 + terms weights
  std::function<std::size_t(std::size_t cell, std::size_t term)> input_of;
};

std::vector<Layer> layers(std::uint32_t blocks_2) {
  const auto windowed = [](std::size_t columns, std::size_t side, std::size_t maps) {
    return [=](std::size_t cell, std::size_t term) {
      const std::size_t at = term / maps, x = cell % side * 2 + at % kWindowSide,
                        y = cell / side * 2 + at / kWindowSide;
      return term % maps * columns * columns + y * columns + x;
    };
  };
  const auto all = [](std::size_t, std::size_t term) { return term; };
  const std::size_t map1 = kMap1Side * kMap1Side, map2 = kMap2Side * kMap2Side;
  return {{"layer_1",
           {kMaps1, 1},
           {13, 13},
           kImageSide * kImageSide,
           kMaps1 * map1,
           kMaps1,
           kWindow,
           windowed(kImageSide, kMap1Side, 1)},
          {"layer_2",
           {blocks_2, 1},
           {5, 5},
           kMaps1 * map1,
           kMaps2 * map2,
           kMaps2,
           kWindow * kMaps1,
           windowed(kMap1Side, kMap2Side, kMaps1)},
          {"layer_3", {kUnits3, 1}, {1, 1}, kMaps2 * map2, kUnits3, kUnits3, kMaps2 * map2, all},
          {"layer_4", {kUnits4, 1}, {1, 1}, kUnits3, kUnits4, kUnits4, kUnits3, all}};
}

// What a layer makes of its inputs, in double precision, and how far floats may lie from it.
//
// Recursive summation of m products errs by less than (m + 1) u times the sum of their magnitudes (Higham,
// Accuracy and Stability of Numerical Algorithms, section 4.2; u = 2^-24), and the activation's slope is at
// most 1.7159 * 2/3 < 1.15. The activation itself: e = exp(4/3 x) has a relative error of 2^-22 (ex2.approx)
// plus that of its argument, 3 u |4/3 x| log2 e; 1 - 2 / (e + 1) turns a relative error r of e into at most 2
// e / (e + 1)^2 r, and |x| e / (e + 1)^2 < 0.24, so both parts and the roundings of the quotient, the
// difference and the product stay below 2^-20.
struct Reference {
  double value = 0, tolerance = 0;
};
Reference reference(const Layer& layer, const float* input, const std::vector<float>& weights,
                    std::size_t output) {
  const std::size_t cells = layer.outputs / layer.maps, map = output / cells;
  const float* weight = weights.data() + map * (layer.terms + 1);
  double sum = weight[0], magnitude = std::abs(sum);
  for (std::size_t term = 0; term < layer.terms; ++term) {
    const double product = double{weight[1 + term]} * input[layer.input_of(output % cells, term)];
    sum += product;
    magnitude += std::abs(product);
  }
  const double unit = std::ldexp(1.0, -24), terms = static_cast<double>(layer.terms) + 2;
  return {1.7159 * std::tanh(0.66666667 * sum), 1.15 * terms * unit * magnitude + std::ldexp(1.0, -20)};
}

std::vector<float> random_values(std::size_t count, float limit, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = limit * (static_cast<float>(random.next() % 2001) - 1000.0f) / 1000.0f;
  return values;
}

std::vector<std::int32_t> window_offsets(std::int32_t columns) {
  std::vector<std::int32_t> offsets(kWindow);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(kWindow); ++i) offsets[i] = i / 5 * columns + i % 5;
  return offsets;
}

class NeuralNetwork : public Workload {
 public:
  std::string name() const override { return "neural_network"; }
  std::string summary() const override {
    return "a convolutional network over images: small blocks, down to one thread each";
  }
  std::vector<Option> options() const override {
    return {{"images", 1, 4096, 1, "to classify"},
            {"blocks_2", 1, kMaps2, 1, "thread blocks of an image that share the 50 maps of layer 2"},
            {"seed", 0, UINT32_MAX, 1, "of images and weights"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t images, std::uint64_t blocks_2) {
      return Size{{"images", images}, {"blocks_2", blocks_2}, {"seed", 12345}};
    };
    return {
        {"small", size(1, 50)}, {"default", size(28, 50)}, {"large", size(256, 50)}, {"crown", size(28, 25)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"crown", {"sm.registers_per_thread=16"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto images = static_cast<std::uint32_t>(values.at("images"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    auto& module = device.load_module(code.ptx, code.file);
    const auto wide = window_offsets(29), narrow = window_offsets(13);
    device.copy_to(device.symbol(module, "window_29"), wide.data(), wide.size() * sizeof(std::int32_t));
    device.copy_to(device.symbol(module, "window_13"), narrow.data(), narrow.size() * sizeof(std::int32_t));

    std::vector<float> input = random_values(images * kImageSide * kImageSide, 1.0f, random);
    Result result;
    std::size_t checked = 0;
    for (const Layer& layer : layers(static_cast<std::uint32_t>(values.at("blocks_2")))) {
      const float limit = 2.0f / std::sqrt(static_cast<float>(layer.terms));
      const std::vector<float> weights = random_values(layer.maps * (layer.terms + 1), limit, random);
      const DeviceArray<float> device_input(device, input), device_weights(device, weights);
      const DeviceArray<float> output(device, std::vector<float>(images * layer.outputs));
      device.launch(module, layer.kernel, {layer.blocks_per_image[0], images, 1},
                    {layer.block[0], layer.block[1], 1},
                    runtime::Arguments()
                        .add(device_input.address())
                        .add(device_weights.address())
                        .add(output.address()));
      device.synchronise();
      // Each layer is compared by itself: what it got is what the device made before.
      const std::vector<float> got = output.read();
      Reference want;
      result = compare(
          layer.kernel + std::string(": outputs"), got.size(),
          [&](std::size_t i) {
            want =
                reference(layer, input.data() + i / layer.outputs * layer.inputs, weights, i % layer.outputs);
            return std::abs(got[i] - want.value) <= want.tolerance;
          },
          [&](std::size_t i) {
            return "got " + std::to_string(got[i]) + ", want " + std::to_string(want.value) + " within " +
                   std::to_string(want.tolerance);
          });
      if (!result.verified) return result;
      checked += got.size();
      input = got;
    }
    return {true, "outputs of four layers: " + std::to_string(checked) + " values agree with the CPU"};
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<NeuralNetwork>();
}

}  // namespace weft::workloads::neural_network
