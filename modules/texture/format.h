// Formats of texels: one, two or four channels of 8, 16 or 32 bits. What a channel becomes in a 32-bit
// register, and back.
#ifndef WEFT_TEXTURE_FORMAT_H
#define WEFT_TEXTURE_FORMAT_H

#include <array>
#include <cstdint>
#include <string>

namespace weft::texture {

enum class ChannelKind : std::uint8_t { kUnsigned, kSigned, kFloat };

struct Format {
  ChannelKind kind = ChannelKind::kUnsigned;
  std::uint8_t bits = 32;     // of a channel: 8, 16 or 32; floats 16 or 32
  std::uint8_t channels = 4;  // 1, 2 or 4
  unsigned bytes() const { return bits / 8u * channels; }
};
inline bool operator==(const Format& a, const Format& b) {
  return a.kind == b.kind && a.bits == b.bits && a.channels == b.channels;
}
// "f16 x 4"
std::string name_of(const Format& format);
// Throws InputError for a combination that does not exist.
void check(const Format& format, const std::string& where);

using Channels = std::array<std::uint32_t, 4>;  // register bits: r, g, b, a

// Integers are extended by their signedness, f16 becomes f32. Channels that the format lacks are 0, alpha is
// 1: 1.0 for floats and for `normalised` integers, which become floats: c / (2^bits - 1), or, if they are
// signed, max(c / (2^(bits-1) - 1), -1), rounded to nearest.
Channels load(const Format& format, bool normalised, const std::uint8_t* texel);

// sust.p (PTX ISA, 9.7.11): register bits to channels. Integers saturate to the format's range; f32 is
// rounded to nearest for f16. Channels beyond the format's are dropped.
void store(const Format& format, const Channels& channels, std::uint8_t* texel);

float half_to_float(std::uint16_t half);
std::uint16_t float_to_half(float value);  // to nearest even

}  // namespace weft::texture

#endif
