// Which texels a texture fetch reads, and what it makes of them: CUDA C++ programming guide, appendix
// "Texture fetching".
//
// Exact where the guide is: coordinates are scaled and compared without rounding (as doubles, which hold
// every product of an f32 and a size). The weights of a linear filter have 8 bits of fraction, rounded to
// nearest, halves up (the guide's 9-bit fixed-point format, in which 1.0 exists). Weighted texels are added
// as doubles in ascending order of x, then y, then z, then level, and rounded once to f32. A texel of weight
// 0 takes no part in the sum.
#ifndef WEFT_TEXTURE_SAMPLE_H
#define WEFT_TEXTURE_SAMPLE_H

#include <array>
#include <cstdint>

#include "texture/sampler.h"

namespace weft::texture {

struct Coordinates {
  bool whole = false;        // texel numbers in `texel` instead of `x`: no filter, no normalised coordinates
  std::array<float, 3> x{};  // cube: the direction
  std::array<std::int32_t, 3> texel{};
  std::uint32_t layer = 0;  // beyond the last: the last
  float level = 0;          // as given by .level, or of the slopes (level_of)
};

struct Tap {
  std::uint64_t address = 0;  // device address; unless `border`
  std::uint64_t weight = 0;   // of 2^Footprint::weight_bits
  bool border = false;
};

// Two in each of three axes, on two levels.
inline constexpr unsigned kMaxTaps = 16;
struct Footprint {
  unsigned count = 0, weight_bits = 0;
  bool filtered = false;  // the sum of the taps; else the only tap as it is
  std::array<Tap, kMaxTaps> taps;
};

// `sampler`: the texture's, or one of independent mode.
void locate(const Image& image, const Sampler& sampler, const Coordinates& at, Footprint& result);

// The four register values of a fetch. `memory` is where device address `base` lies.
Channels sample(const Image& image, const Sampler& sampler, const Footprint& footprint,
                const std::uint8_t* memory, std::uint64_t base);

// tld4 (PTX ISA, 9.7.9): component `component` of the four texels that a linear filter in 2d would read, from
// the lower left counter-clockwise: (0,1), (1,1), (1,0), (0,0).
void locate_gather(const Image& image, const Sampler& sampler, const Coordinates& at, Footprint& result);
Channels gather(const Image& image, const Sampler& sampler, const Footprint& footprint, unsigned component,
                const std::uint8_t* memory, std::uint64_t base);

// The mip level for slopes of the coordinates along x and y of the screen: log2 of the longer slope in texels
// (OpenGL 4.6, 8.14.1).
float level_of(const Image& image, const Sampler& sampler, const std::array<float, 3>& dx,
               const std::array<float, 3>& dy);

}  // namespace weft::texture

#endif
