#include <algorithm>
#include <array>

#include "workloads/host.h"
#include "workloads/texture.h"

namespace weft::workloads::h264_motion_compensation {
namespace {

constexpr std::int32_t kMacroblock = 16;
constexpr std::uint32_t kThreads = 64;

struct Vector {
  std::int32_t x, y;  // quarters of a luma sample
};

// A plane whose edge samples are repeated outwards.
struct Plane {
  std::int32_t width, height;
  std::vector<std::uint8_t> samples;
  std::int32_t at(std::int32_t x, std::int32_t y) const {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    return samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                   static_cast<std::size_t>(x)];
  }
};

// Luma at a place in quarters of a sample, by the letters of ITU-T H.264, figure 8-4: G is the sample at or
// before the place, b and h halves right of it and below it, j both; s is b one row lower, m is h one column
// further, H and M are the samples there.
class Luma {
 public:
  explicit Luma(const Plane& plane) : plane_(plane) {}
  std::uint8_t at(std::int32_t x4, std::int32_t y4) const {
    const std::int32_t x = x4 >> 2, y = y4 >> 2;
    const auto mean = [](std::int32_t a, std::int32_t b) { return (a + b + 1) >> 1; };
    const auto whole = [&](std::int32_t dx, std::int32_t dy) { return plane_.at(x + dx, y + dy); };
    const auto b = [&](std::int32_t dy) { return clip((across(x, y + dy) + 16) >> 5); };
    const auto h = [&](std::int32_t dx) { return clip((down(x + dx, y) + 16) >> 5); };
    const auto j = [&] { return clip((both(x, y) + 512) >> 10); };
    switch ((y4 & 3) * 4 + (x4 & 3)) {
      case 0:
        return narrow(whole(0, 0));  // G
      case 1:
        return narrow(mean(whole(0, 0), b(0)));  // a
      case 2:
        return narrow(b(0));
      case 3:
        return narrow(mean(b(0), whole(1, 0)));  // c
      case 4:
        return narrow(mean(whole(0, 0), h(0)));  // d
      case 5:
        return narrow(mean(b(0), h(0)));  // e
      case 6:
        return narrow(mean(b(0), j()));  // f
      case 7:
        return narrow(mean(b(0), h(1)));  // g
      case 8:
        return narrow(h(0));
      case 9:
        return narrow(mean(h(0), j()));  // i
      case 10:
        return narrow(j());
      case 11:
        return narrow(mean(j(), h(1)));  // k
      case 12:
        return narrow(mean(h(0), whole(0, 1)));  // n
      case 13:
        return narrow(mean(h(0), b(1)));  // p
      case 14:
        return narrow(mean(j(), b(1)));  // q
      default:
        return narrow(mean(b(1), h(1)));  // r
    }
  }

 private:
  static std::int32_t clip(std::int32_t value) { return std::clamp(value, 0, 255); }
  static std::uint8_t narrow(std::int32_t value) { return static_cast<std::uint8_t>(value); }
  static constexpr std::array<std::int32_t, 6> kTaps{1, -5, 20, 20, -5, 1};
  std::int32_t across(std::int32_t x, std::int32_t y) const {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < 6; ++i) sum += kTaps[static_cast<std::size_t>(i)] * plane_.at(x + i - 2, y);
    return sum;
  }
  std::int32_t down(std::int32_t x, std::int32_t y) const {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < 6; ++i) sum += kTaps[static_cast<std::size_t>(i)] * plane_.at(x, y + i - 2);
    return sum;
  }
  // Down first here, across first on the device: without rounding in between it is the same sum.
  std::int32_t both(std::int32_t x, std::int32_t y) const {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < 6; ++i) sum += kTaps[static_cast<std::size_t>(i)] * down(x + i - 2, y);
    return sum;
  }
  const Plane& plane_;
};

// At a place in eighths of a chroma sample.
std::uint8_t chroma_at(const Plane& plane, std::int32_t x8, std::int32_t y8) {
  const std::int32_t x = x8 >> 3, y = y8 >> 3, dx = x8 & 7, dy = y8 & 7;
  const std::int32_t upper = (8 - dx) * plane.at(x, y) + dx * plane.at(x + 1, y);
  const std::int32_t lower = (8 - dx) * plane.at(x, y + 1) + dx * plane.at(x + 1, y + 1);
  return static_cast<std::uint8_t>(((8 - dy) * upper + dy * lower + 32) >> 6);
}

// Noise that neighbours share in part, so that interpolation has something to do, up to extremes.
Plane random_plane(Random& random, std::int32_t width, std::int32_t height) {
  Plane plane{width, height,
              std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height))};
  std::int32_t value = 128;
  for (auto& sample : plane.samples) {
    value = std::clamp(value + static_cast<std::int32_t>(random.next() % 161) - 80, 0, 255);
    sample = static_cast<std::uint8_t>(value);
  }
  return plane;
}

class H264MotionCompensation : public Workload {
 public:
  std::string name() const override { return "h264_motion_compensation"; }
  std::string summary() const override {
    return "motion compensation of H.264: textures, shared memory, sixteen ways to interpolate";
  }
  std::vector<Option> options() const override {
    return {{"across", 1, 256, 1, "macroblocks of 16 x 16 samples in a row"},
            {"down", 1, 256, 1, "rows of macroblocks"},
            {"whole", 0, 100, 1, "percentage of macroblocks that move as a whole"},
            {"seed", 0, UINT32_MAX, 1, "of picture and vectors"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t across, std::uint64_t down) {
      return Size{{"across", across}, {"down", down}, {"whole", 60}, {"seed", 10}};
    };
    return {{"small", size(8, 5)},
            {"default", size(40, 30)},
            {"large", size(240, 135)},
            {"stsimt", size(120, 68)}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"stsimt", {"sm.registers_per_thread=21"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    const auto across = static_cast<std::int32_t>(values.at("across"));
    const auto down = static_cast<std::int32_t>(values.at("down"));
    const std::int32_t width = across * kMacroblock, height = down * kMacroblock;
    const Plane luma = random_plane(random, width, height);
    const std::array<Plane, 2> chroma{random_plane(random, width / 2, height / 2),
                                      random_plane(random, width / 2, height / 2)};
    std::vector<std::uint8_t> pairs(luma.samples.size() / 2);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = chroma[i % 2].samples[i / 2];
    const std::vector<Vector> vectors = random_vectors(random, values);

    auto& module = device.load_module(code.ptx, code.file);
    const ArrayTexture<std::uint8_t> luma_reference(device, {texture::ChannelKind::kUnsigned, 8, 1},
                                                    static_cast<std::uint32_t>(width), luma.samples);
    const ArrayTexture<std::uint16_t> chroma_reference(device, {texture::ChannelKind::kUnsigned, 8, 2},
                                                       static_cast<std::uint32_t>(width / 2), joined(pairs));
    const DeviceArray<Vector> device_vectors(device, vectors);
    const DeviceArray<std::uint8_t> luma_out(device, luma.samples.size()), chroma_out(device, pairs.size());
    const dispatch::Dim3 grid{static_cast<std::uint32_t>(across * down), 1, 1}, block{kThreads, 1, 1};
    device.launch(module, "motion_luma", grid, block,
                  runtime::Arguments()
                      .add(luma_reference.object())
                      .add(device_vectors.address())
                      .add(luma_out.address())
                      .add(across));
    device.launch(module, "motion_chroma", grid, block,
                  runtime::Arguments()
                      .add(chroma_reference.object())
                      .add(device_vectors.address())
                      .add(chroma_out.address())
                      .add(across));
    device.synchronise();

    std::vector<std::uint8_t> want_luma(luma.samples.size()), want_chroma(pairs.size());
    const Luma interpolated(luma);
    for (std::size_t i = 0; i < want_luma.size(); ++i) {
      const auto x = static_cast<std::int32_t>(i) % width, y = static_cast<std::int32_t>(i) / width;
      const Vector move = vector_at(vectors, across, x, y);
      want_luma[i] = interpolated.at(4 * x + move.x, 4 * y + move.y);
    }
    for (std::size_t i = 0; i < want_chroma.size(); ++i) {
      const auto place = static_cast<std::int32_t>(i / 2);
      const std::int32_t x = place % (width / 2), y = place / (width / 2);
      const Vector move = vector_at(vectors, across, 2 * x, 2 * y);
      want_chroma[i] = chroma_at(chroma[i % 2], 8 * x + move.x, 8 * y + move.y);
    }
    Result result = compare_equal("luma samples", luma_out.read(), want_luma);
    return result.verified ? compare_equal("chroma samples", chroma_out.read(), want_chroma) : result;
  }

 private:
  // Two interleaved bytes are a texel.
  static std::vector<std::uint16_t> joined(const std::vector<std::uint8_t>& pairs) {
    std::vector<std::uint16_t> texels(pairs.size() / 2);
    for (std::size_t i = 0; i < texels.size(); ++i) {
      texels[i] = static_cast<std::uint16_t>(pairs[2 * i] | pairs[2 * i + 1] << 8);
    }
    return texels;
  }

  // Four to a macroblock, up to 16 samples long.
  static std::vector<Vector> random_vectors(Random& random, const Size& values) {
    std::vector<Vector> vectors;
    const auto component = [&] { return static_cast<std::int32_t>(random.next() % 129) - 64; };
    for (std::uint64_t i = 0; i < values.at("across") * values.at("down"); ++i) {
      const bool whole = random.next() % 100 < values.at("whole");
      for (int quarter = 0; quarter < 4; ++quarter) {
        const Vector fresh{component(), component()};
        vectors.push_back(whole && quarter > 0 ? vectors.back() : fresh);
      }
    }
    return vectors;
  }

  static Vector vector_at(const std::vector<Vector>& vectors, std::int32_t across, std::int32_t x,
                          std::int32_t y) {
    const std::int32_t macroblock = y / kMacroblock * across + x / kMacroblock;
    const std::int32_t quarter = y / 8 % 2 * 2 + x / 8 % 2;
    return vectors[4 * static_cast<std::size_t>(macroblock) + static_cast<std::size_t>(quarter)];
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<H264MotionCompensation>();
}

}  // namespace weft::workloads::h264_motion_compensation
