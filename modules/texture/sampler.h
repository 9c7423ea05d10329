// How a texture is read: addressing beyond its borders, filtering, conversion.
#ifndef WEFT_TEXTURE_SAMPLER_H
#define WEFT_TEXTURE_SAMPLER_H

#include <array>
#include <cstdint>

#include "texture/image.h"

namespace weft::texture {

enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };
enum class Filter : std::uint8_t { kPoint, kLinear };

struct Sampler {
  std::array<AddressMode, 3> address{AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
  Filter filter = Filter::kPoint;
  bool normalized_coordinates = false;  // 0 to 1 over the image instead of 0 to its size
  bool normalized_values = false;  // 8- and 16-bit integers are read as floats (cudaReadModeNormalizedFloat)
  std::array<float, 4> border{};   // what kBorder reads outside; of integer textures: converted, truncating
  Filter level_filter = Filter::kPoint;  // between mip levels
  float level_bias = 0, least_level = 0, greatest_level = kMaxLevels;
};

struct Texture {
  Image image;
  Sampler sampler;
};

// Throws InputError for what hardware cannot do: filtered integers, normalised 32-bit integers, wrapping or
// mip levels without normalised coordinates, a filter on linear memory.
void check(const Texture& texture);

// A sampler of PTX's independent mode as the value of a .samplerref: addressing, filter and normalised
// coordinates only; the rest stays with the texture.
std::uint64_t encode(const Sampler& sampler);
bool is_encoded_sampler(std::uint64_t value);
// Sets the encoded properties of `sampler`.
void decode(std::uint64_t value, Sampler& sampler);

}  // namespace weft::texture

#endif
