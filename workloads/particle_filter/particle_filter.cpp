#include <algorithm>
#include <cmath>

#include "workloads/host.h"

namespace weft::workloads::particle_filter {
namespace {

constexpr std::uint32_t kBlock = 128;
constexpr std::int32_t kSide = 128;  // pixels of the video
constexpr std::int32_t kRadius = 5;  // of the object

// A number like a normal one of variance 1: the sum of twelve uniform ones, less 6.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() % 65'536) / 65'536.0;
  return sum;
}

// A bright disk on a dark ground, one pixel right and two up a frame, and noise.
std::vector<double> picture(std::uint32_t frame, Random& random) {
  std::vector<double> pixels(std::size_t{kSide} * kSide);
  const std::int32_t x0 = kSide / 2 + static_cast<std::int32_t>(frame);
  const std::int32_t y0 = kSide / 2 - 2 * static_cast<std::int32_t>(frame);
  for (std::int32_t y = 0; y < kSide; ++y) {
    for (std::int32_t x = 0; x < kSide; ++x) {
      const bool object = (x - x0) * (x - x0) + (y - y0) * (y - y0) <= kRadius * kRadius;
      pixels[y * kSide + x] = (object ? 228.0 : 100.0) + 5.0 * normal(random);
    }
  }
  return pixels;
}

// How much better the pixels around a place fit the object than the ground, on average.
double fit_of(const std::vector<double>& pixels, double x, double y) {
  double sum = 0;
  int count = 0;
  for (std::int32_t dy = -kRadius; dy <= kRadius; ++dy) {
    for (std::int32_t dx = -kRadius; dx <= kRadius; ++dx) {
      if (dx * dx + dy * dy > kRadius * kRadius) continue;
      const std::int32_t px = std::clamp(static_cast<std::int32_t>(x) + dx, 0, kSide - 1);
      const std::int32_t py = std::clamp(static_cast<std::int32_t>(y) + dy, 0, kSide - 1);
      const double pixel = pixels[py * kSide + px];
      sum += ((pixel - 100) * (pixel - 100) - (pixel - 228) * (pixel - 228)) / 5000.0;
      ++count;
    }
  }
  return sum / count;
}

// Running sums of the particles' normalised weights, which are better the better a particle fits the picture.
std::vector<double> cumulative_weights(const std::vector<double>& pixels, const std::vector<double>& x,
                                       const std::vector<double>& y) {
  std::vector<double> sums(x.size());
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] = total += std::exp(fit_of(pixels, x[i], y[i]));
  for (double& sum : sums) sum /= total;
  return sums;
}

class ParticleFilter : public Workload {
 public:
  std::string name() const override { return "particle_filter"; }
  std::string summary() const override {
    return "resampling of particles by searches from the front: loops of different lengths, few threads";
  }
  std::vector<Option> options() const override {
    return {{"particles", 1, 1u << 20, 1, "that follow the object"},
            {"frames", 2, 32, 1, "of the video; the first only begins"},
            {"seed", 0, UINT32_MAX, 1, "of the video and the particles"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t particles, std::uint64_t frames) {
      return Size{{"particles", particles}, {"frames", frames}, {"seed", 12345}};
    };
    return {{"small", size(200, 4)},
            {"default", size(1000, 10)},
            {"large", size(8000, 10)},
            {"harp", size(1000, 10)}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto particles = static_cast<std::uint32_t>(values.at("particles"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    std::vector<double> x(particles, kSide / 2.0), y(particles, kSide / 2.0), drawn(particles);
    const DeviceArray<double> device_x(device, particles), device_y(device, particles),
        new_x(device, particles), new_y(device, particles), cumulative(device, particles),
        device_drawn(device, particles);
    auto write = [](const DeviceArray<double>& to, runtime::Device& on, const std::vector<double>& from) {
      on.copy_to(to.address(), from.data(), from.size() * sizeof(double));
    };
    Result result;
    for (std::uint32_t frame = 1; frame < values.at("frames"); ++frame) {
      // The object moves by one to the right and by two up; where exactly, nobody knows.
      for (double& place : x) place += 1 + 2 * normal(random);
      for (double& place : y) place += -2 + 2 * normal(random);
      const std::vector<double> sums = cumulative_weights(picture(frame, random), x, y);
      const double first = static_cast<double>(random.next() % 65'536) / 65'536.0;
      for (std::uint32_t i = 0; i < particles; ++i) drawn[i] = (first + i) / particles;
      write(device_x, device, x), write(device_y, device, y);
      write(cumulative, device, sums), write(device_drawn, device, drawn);
      device.launch(module, kernel, {blocks_for(particles, kBlock), 1, 1}, {kBlock, 1, 1},
                    runtime::Arguments()
                        .add(device_x.address())
                        .add(device_y.address())
                        .add(cumulative.address())
                        .add(device_drawn.address())
                        .add(new_x.address())
                        .add(new_y.address())
                        .add(static_cast<std::int32_t>(particles)));
      device.synchronise();
      std::vector<double> want_x, want_y;
      for (const double number : drawn) {
        const auto found = std::lower_bound(sums.begin(), sums.end(), number);  // running sums never fall
        const auto at = std::min<std::size_t>(found - sums.begin(), particles - 1);
        want_x.push_back(x[at]), want_y.push_back(y[at]);
      }
      x = new_x.read(), y = new_y.read();
      result = compare_equal("columns after frame " + std::to_string(frame), x, want_x);
      if (result.verified) result = compare_equal("rows after frame " + std::to_string(frame), y, want_y);
      if (!result.verified) return result;
    }
    return result;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<ParticleFilter>();
}

}  // namespace weft::workloads::particle_filter
