// The formulas of the CUDA C++ programming guide's appendix "Texture fetching", written down once more for
// the tests: fixed-point coordinates in integers, texels from a plain array, sums in 80-bit floats. Shares
// nothing with modules/texture.
#ifndef WEFT_TESTS_TEXTURE_ORACLE_H
#define WEFT_TESTS_TEXTURE_ORACLE_H

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace weft::test {

struct PlainImage {
  unsigned dimensions = 1;           // 1, 2 or 3
  std::array<int, 3> size{1, 1, 1};  // texels
  int layers = 1;
  bool cube = false;  // `layers` counts faces
  char kind = 'u';    // u, s or f
  unsigned bits = 8, channels = 1;
  std::vector<std::uint8_t> texels;  // x fastest, then y, z, layer
};

enum class Beyond { kWrap, kClamp, kMirror, kBorder };
struct PlainSampler {
  std::array<Beyond, 3> beyond{Beyond::kClamp, Beyond::kClamp, Beyond::kClamp};
  bool linear = false, normalised_coordinates = false,
       as_float = false;  // as_float: integers become 0..1 or -1..1
  std::array<float, 4> border{};
};

std::size_t texel_bytes(const PlainImage& image);
// An image with random texels; floats are finite and between -2 and 2.
PlainImage random_image(std::mt19937& random, unsigned dimensions, std::array<int, 3> size, int layers,
                        char kind, unsigned bits, unsigned channels);
// Register bits of the four values.
std::array<std::uint32_t, 4> fetch(const PlainImage& image, const PlainSampler& sampler,
                                   std::array<float, 3> at, int layer);
// A cube map's nearest texel in a direction.
std::array<std::uint32_t, 4> fetch_cube(const PlainImage& image, std::array<float, 3> direction);

}  // namespace weft::test

#endif
