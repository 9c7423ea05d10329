#include <algorithm>

#include "workloads/host.h"

namespace weft::workloads::srad {
namespace {

constexpr std::uint32_t kTile = 16;  // as in srad.cu
constexpr float kRate = 0.5f;

// Variance over squared mean of the whole image: how rough speckle is that should go.
float speckle_of(const std::vector<float>& image) {
  float sum = 0, squares = 0;
  for (const float value : image) sum += value, squares += value * value;
  const float mean = sum / static_cast<float>(image.size());
  const float variance = squares / static_cast<float>(image.size()) - mean * mean;
  return variance / (mean * mean);
}

// One step on the CPU. The operations are those of the kernels, which are compiled without contraction, in
// their order, so that the results are the same bits.
void step(std::vector<float>& image, std::size_t side, float speckle) {
  struct Cell {
    float n, s, w, e, c;
  };
  std::vector<Cell> cells(image.size());
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const float value = image[y * side + x];
      const auto from = [&](std::size_t row, std::size_t column) {
        return image[row * side + column] - value;
      };
      const float n = from(y == 0 ? 0 : y - 1, x), s = from(std::min(y + 1, side - 1), x);
      const float w = from(y, x == 0 ? 0 : x - 1), e = from(y, std::min(x + 1, side - 1));
      const float gradient = (n * n + s * s + w * w + e * e) / (value * value);
      const float laplacian = (n + s + w + e) / value;
      const float numerator = 0.5f * gradient - 1.0f / 16.0f * (laplacian * laplacian);
      const float denominator = 1.0f + 0.25f * laplacian;
      const float q = numerator / (denominator * denominator);
      const float c = 1.0f / (1.0f + (q - speckle) / (speckle * (1.0f + speckle)));
      cells[y * side + x] = {n, s, w, e, std::clamp(c, 0.0f, 1.0f)};
    }
  }
  for (std::size_t y = 0; y < side; ++y) {
    for (std::size_t x = 0; x < side; ++x) {
      const Cell& cell = cells[y * side + x];
      const float south = cells[std::min(y + 1, side - 1) * side + x].c;
      const float east = cells[y * side + std::min(x + 1, side - 1)].c;
      const float divergence = cell.c * cell.n + south * cell.s + cell.c * cell.w + east * cell.e;
      image[y * side + x] += 0.25f * kRate * divergence;
    }
  }
}

class Srad : public Workload {
 public:
  std::string name() const override { return "srad"; }
  std::string summary() const override {
    return "speckle-reducing diffusion of an image: shared memory, barriers, divisions";
  }
  std::vector<Option> options() const override {
    return {{"n", kTile, 8192, kTile, "pixels along each side of the image"},
            {"steps", 1, 1000, 1, "of diffusion, two launches each"},
            {"seed", 0, UINT32_MAX, 1, "of the image"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n, std::uint64_t steps) {
      return Size{{"n", n}, {"steps", steps}, {"seed", 12345}};
    };
    return {{"small", size(32, 2)},
            {"default", size(512, 2)},
            {"large", size(1024, 4)},
            {"crown", size(128, 2)},
            {"crown_small", size(64, 2)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"crown", {"sm.registers_per_thread=16"}}, {"crown_small", {"sm.registers_per_thread=16"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 6 * sizeof(float) * values.at("n") * values.at("n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto side = static_cast<std::uint32_t>(values.at("n"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    // exp(J / 255) of a picture with 256 greys, to second order.
    std::vector<float> image(std::size_t{side} * side);
    for (float& value : image) {
      const float grey = static_cast<float>(random.next() % 256) / 255.0f;
      value = 1.0f + grey + 0.5f * grey * grey;
    }
    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<float> device_image(device, image), north(device, image), south(device, image),
        west(device, image), east(device, image), coefficient(device, image);
    const std::uint32_t tiles = side / kTile;
    for (std::uint64_t done = 0; done < values.at("steps"); ++done) {
      const float speckle = speckle_of(device_image.read());
      const auto launch = [&](const char* kernel, float number) {
        device.launch(module, kernel, {tiles, tiles, 1}, {kTile, kTile, 1},
                      runtime::Arguments()
                          .add(device_image.address())
                          .add(north.address())
                          .add(south.address())
                          .add(west.address())
                          .add(east.address())
                          .add(coefficient.address())
                          .add(static_cast<std::int32_t>(side))
                          .add(static_cast<std::int32_t>(side))
                          .add(number));
      };
      launch("coefficients", speckle);
      launch("diffuse", kRate);
      device.synchronise();
      step(image, side, speckle_of(image));
    }
    return compare_equal("pixels", device_image.read(), image);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Srad>();
}

}  // namespace weft::workloads::srad
