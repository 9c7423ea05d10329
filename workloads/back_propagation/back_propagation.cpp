#include <cmath>

#include "workloads/host.h"

namespace weft::workloads::back_propagation {
namespace {

constexpr std::uint32_t kSide = 16, kColumns = kSide + 1;  // as in back_propagation.cu
constexpr float kRate = 0.3f, kMomentum = 0.3f;

struct Network {
  std::vector<float> input, weights, changes, output_weights;  // input[0]: of the bias
};

Network random_network(std::size_t inputs, std::uint32_t seed) {
  Random random(seed);
  const auto unit = [&] { return static_cast<float>(random.next() % 10'000) / 10'000.0f; };
  Network network;
  network.input.push_back(1.0f);
  for (std::size_t i = 0; i < inputs; ++i) network.input.push_back(unit());
  for (std::size_t i = 0; i < (inputs + 1) * kColumns; ++i) {
    network.weights.push_back(0.02f * unit() - 0.01f);
    network.changes.push_back(0.001f * unit());
  }
  for (std::size_t i = 0; i <= kSide; ++i) network.output_weights.push_back(unit());
  return network;
}

// The sums of 16 products each as the blocks form them: neighbours first, then pairs of pairs. The operations
// are those of the kernel, which is compiled without contraction, so the results are the same bits.
std::vector<float> partial_sums(const Network& network) {
  std::vector<float> sums;
  for (std::size_t first = 1; first < network.input.size(); first += kSide) {
    for (std::size_t unit = 1; unit <= kSide; ++unit) {
      std::vector<float> terms;
      for (std::size_t row = first; row < first + kSide; ++row) {
        terms.push_back(network.weights[row * kColumns + unit] * network.input[row]);
      }
      while (terms.size() > 1) {
        for (std::size_t i = 0; i < terms.size() / 2; ++i) terms[i] = terms[2 * i] + terms[2 * i + 1];
        terms.resize(terms.size() / 2);
      }
      sums.push_back(terms.front());
    }
  }
  return sums;
}

float squashed(float sum) {
  return 1.0f / (1.0f + std::exp(-sum));
}

// The rest of the forward pass, the errors of the output and of the hidden units (index 0 unused): on the
// host.
std::vector<float> hidden_deltas(const Network& network, const std::vector<float>& sums, float target) {
  std::vector<float> hidden(kSide + 1, 1.0f), deltas(kSide + 1, 0.0f);
  float output = network.output_weights[0];
  for (std::size_t unit = 1; unit <= kSide; ++unit) {
    float sum = network.weights[unit];
    for (std::size_t block = 0; block < sums.size() / kSide; ++block) sum += sums[block * kSide + unit - 1];
    hidden[unit] = squashed(sum);
    output += hidden[unit] * network.output_weights[unit];
  }
  output = squashed(output);
  const float error = output * (1.0f - output) * (target - output);
  for (std::size_t unit = 1; unit <= kSide; ++unit) {
    deltas[unit] = hidden[unit] * (1.0f - hidden[unit]) * error * network.output_weights[unit];
  }
  return deltas;
}

void adjust(Network& network, const std::vector<float>& deltas) {
  for (std::size_t row = 0; row < network.input.size(); ++row) {
    for (std::size_t unit = 1; unit <= kSide; ++unit) {
      const std::size_t at = row * kColumns + unit;
      const float change = kRate * deltas[unit] * network.input[row] + kMomentum * network.changes[at];
      network.weights[at] += change;
      network.changes[at] = change;
    }
  }
}

class BackPropagation : public Workload {
 public:
  std::string name() const override { return "back_propagation"; }
  std::string summary() const override {
    return "a training step of a perceptron: sums by trees in shared memory, barriers, half-idle warps";
  }
  std::vector<Option> options() const override {
    return {{"inputs", kSide, 65'535 * kSide, kSide, "of the network"},
            {"seed", 0, UINT32_MAX, 1, "of inputs and weights"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t inputs) { return Size{{"inputs", inputs}, {"seed", 12345}}; };
    return {{"small", size(256)},  {"default", size(65'536)}, {"large", size(262'144)}, {"dwr", size(1024)},
            {"crown", size(1024)}, {"harp", size(1024)},      {"stsimt", size(65'536)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"dwr", {"sm.registers_per_thread=16"}},
            {"crown", {"sm.registers_per_thread=16"}},
            {"stsimt", {"sm.registers_per_thread=20"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto inputs = static_cast<std::uint32_t>(values.at("inputs"));
    Network network = random_network(inputs, static_cast<std::uint32_t>(values.at("seed")));
    const std::uint32_t blocks = inputs / kSide;

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<float> input(device, network.input), weights(device, network.weights),
        changes(device, network.changes), device_sums(device, std::vector<float>(inputs));
    device.launch(
        module, "forward", {1, blocks, 1}, {kSide, kSide, 1},
        runtime::Arguments().add(input.address()).add(weights.address()).add(device_sums.address()));
    device.synchronise();
    const std::vector<float> sums = device_sums.read();
    const std::vector<float> deltas = hidden_deltas(network, sums, 0.1f);
    const DeviceArray<float> device_deltas(device, deltas);
    device.launch(module, "adjust", {1, blocks, 1}, {kSide, kSide, 1},
                  runtime::Arguments()
                      .add(device_deltas.address())
                      .add(input.address())
                      .add(weights.address())
                      .add(changes.address()));
    device.synchronise();

    Result forward = compare_equal("sums", sums, partial_sums(network));
    if (!forward.verified) return forward;
    adjust(network, deltas);
    Result changed = compare_equal("changes", changes.read(), network.changes);
    return changed.verified ? compare_equal("weights", weights.read(), network.weights) : changed;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<BackPropagation>();
}

}  // namespace weft::workloads::back_propagation
