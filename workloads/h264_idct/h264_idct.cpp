#include <algorithm>
#include <array>

#include "workloads/host.h"

namespace weft::workloads::h264_idct {
namespace {

constexpr std::uint32_t kThreads = 192;  // as in h264_idct.cu

// One line of samples from one of coefficients: ITU-T H.264, 8.5.12.2 and 8.5.13, in the standard's names.
template <std::size_t size>
using Line = std::array<std::int32_t, size>;

Line<4> inverse(const Line<4>& d) {
  const std::int32_t e0 = d[0] + d[2], e1 = d[0] - d[2], e2 = (d[1] >> 1) - d[3], e3 = d[1] + (d[3] >> 1);
  return {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
}

Line<8> inverse(const Line<8>& d) {
  const Line<8> e{d[0] + d[4],        -d[3] + d[5] - d[7] - (d[7] >> 1),
                  d[0] - d[4],        d[1] + d[7] - d[3] - (d[3] >> 1),
                  (d[2] >> 1) - d[6], -d[1] + d[7] + d[5] + (d[5] >> 1),
                  d[2] + (d[6] >> 1), d[3] + d[5] + d[1] + (d[1] >> 1)};
  const Line<8> f{e[0] + e[6], e[1] + (e[7] >> 2), e[2] + e[4], e[3] + (e[5] >> 2),
                  e[2] - e[4], (e[3] >> 2) - e[5], e[0] - e[6], e[7] - (e[1] >> 2)};
  return {f[0] + f[7], f[2] + f[5], f[4] + f[3], f[6] + f[1],
          f[6] - f[1], f[4] - f[3], f[2] - f[5], f[0] - f[7]};
}

// Coefficients of the blocks that have some, and where in the picture they lie.
struct Residual {
  std::vector<std::int16_t> coefficients;
  std::vector<std::int32_t> corner;
};

template <std::size_t size>
void add_residual(const Residual& residual, std::vector<std::uint8_t>& picture, std::size_t width) {
  for (std::size_t block = 0; block < residual.corner.size(); ++block) {
    std::array<Line<size>, size> lines{};  // rows, then columns
    for (std::size_t row = 0; row < size; ++row) {
      Line<size> line{};
      for (std::size_t i = 0; i < size; ++i) line[i] = residual.coefficients[(block * size + row) * size + i];
      line = inverse(line);
      for (std::size_t i = 0; i < size; ++i) lines[i][row] = line[i];
    }
    for (std::size_t column = 0; column < size; ++column) {
      const Line<size> line = inverse(lines[column]);
      for (std::size_t row = 0; row < size; ++row) {
        auto& sample = picture[static_cast<std::size_t>(residual.corner[block]) + row * width + column];
        sample = static_cast<std::uint8_t>(std::clamp(sample + ((line[row] + 32) >> 6), 0, 255));
      }
    }
  }
}

// `blocks` blocks of size x size, spread over the `lines` lines from `first` on; most coefficients are of low
// frequency, as a quantiser leaves them.
Residual random_residual(Random& random, std::size_t size, std::size_t blocks, std::size_t width,
                         std::size_t first, std::size_t lines) {
  const std::size_t across = width / size, places = across * (lines / size);
  Residual residual;
  residual.coefficients.assign(blocks * size * size, 0);
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t place = block * places / blocks;
    residual.corner.push_back(
        static_cast<std::int32_t>((first + place / across * size) * width + place % across * size));
    for (std::size_t row = 0; row < size; ++row) {
      for (std::size_t column = 0; column < size; ++column) {
        if (random.next() % (1 + row + column) != 0) continue;
        const auto range = static_cast<std::int32_t>(2048 / (1 + row + column));
        residual.coefficients[(block * size + row) * size + column] =
            static_cast<std::int16_t>(static_cast<std::int32_t>(random.next() % (2 * range)) - range);
      }
    }
  }
  return residual;
}

class H264Idct : public Workload {
 public:
  std::string name() const override { return "h264_idct"; }
  std::string summary() const override {
    return "inverse transforms of H.264 on the blocks with coefficients: integers, shared memory";
  }
  std::vector<Option> options() const override {
    const std::string meaning = "blocks of threads for the ";
    return {{"small0", 1, 300, 1, meaning + "4 x 4 transforms of picture 0"},
            {"small1", 1, 300, 1, meaning + "4 x 4 transforms of picture 1"},
            {"large0", 1, 300, 1, meaning + "8 x 8 transforms of picture 0"},
            {"large1", 1, 300, 1, meaning + "8 x 8 transforms of picture 1"},
            {"seed", 0, UINT32_MAX, 1, "of the coefficients"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::array<std::uint64_t, 4> blocks) {
      return Size{{"small0", blocks[0]},
                  {"small1", blocks[1]},
                  {"large0", blocks[2]},
                  {"large1", blocks[3]},
                  {"seed", 3}};
    };
    return {{"small", size({5, 3, 2, 4})},
            {"default", size({60, 50, 25, 30})},
            {"large", size({300, 300, 300, 300})},
            {"stsimt", size({252, 231, 100, 130})}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"stsimt", {"sm.registers_per_thread=21"}}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    auto& module = device.load_module(code.ptx, code.file);
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    Result result;
    for (const char* picture : {"0", "1"}) {
      result = transform(device, module, random, values.at(std::string("small") + picture),
                         values.at(std::string("large") + picture));
      if (!result.verified) break;
    }
    return result;
  }

 private:
  // A picture whose upper half has 4 x 4 transforms and whose lower half 8 x 8 ones; of the last block of
  // threads, one transform is missing.
  static Result transform(runtime::Device& device, runtime::LoadedModule& module, Random& random,
                          std::uint64_t small, std::uint64_t large) {
    constexpr std::size_t kWidth = 1920, kHeight = 1088, kHalf = kHeight / 2;
    std::vector<std::uint8_t> picture(kWidth * kHeight);
    for (auto& sample : picture) sample = static_cast<std::uint8_t>(random.next());
    const Residual fine = random_residual(random, 4, small * (kThreads / 4) - 1, kWidth, 0, kHalf);
    const Residual coarse = random_residual(random, 8, large * (kThreads / 8) - 1, kWidth, kHalf, kHalf);
    const DeviceArray<std::uint8_t> samples(device, picture);
    const auto launch = [&](const std::string& kernel, const Residual& residual, std::uint64_t blocks) {
      const DeviceArray<std::int16_t> coefficients(device, residual.coefficients);
      const DeviceArray<std::int32_t> corner(device, residual.corner);
      device.launch(module, kernel, {static_cast<std::uint32_t>(blocks), 1, 1}, {kThreads, 1, 1},
                    runtime::Arguments()
                        .add(coefficients.address())
                        .add(corner.address())
                        .add(samples.address())
                        .add(static_cast<std::int32_t>(kWidth))
                        .add(static_cast<std::int32_t>(residual.corner.size())));
      device.synchronise();
    };
    launch("idct_4x4", fine, small);
    launch("idct_8x8", coarse, large);
    add_residual<4>(fine, picture, kWidth);
    add_residual<8>(coarse, picture, kWidth);
    return compare_equal("samples", samples.read(), picture);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<H264Idct>();
}

}  // namespace weft::workloads::h264_idct
