#include "texture/format.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/bits.h"
#include "weft/common/error.h"

namespace weft::texture {
namespace {

constexpr std::uint32_t kOneAsFloat = 0x3f80'0000;

std::uint32_t raw(const Format& format, unsigned channel, const std::uint8_t* texel) {
  std::uint32_t value = 0;
  std::memcpy(&value, texel + channel * (format.bits / 8u), format.bits / 8u);
  return value;
}

std::uint32_t extend(const Format& format, std::uint32_t value) {
  const unsigned unused = 32u - format.bits;
  if (format.kind != ChannelKind::kSigned) return value;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << unused) >> unused);
}

// The quotient of two integers below 2^24 is rounded once.
float normalise(const Format& format, std::uint32_t extended) {
  if (format.kind == ChannelKind::kUnsigned) {
    return static_cast<float>(extended) / static_cast<float>((1u << format.bits) - 1);
  }
  const auto value = static_cast<float>(static_cast<std::int32_t>(extended));
  return std::max(value / static_cast<float>((1u << (format.bits - 1u)) - 1), -1.0f);
}

std::uint32_t saturate(const Format& format, std::uint32_t value) {
  if (format.bits == 32) return value;
  if (format.kind == ChannelKind::kUnsigned) return std::min(value, (1u << format.bits) - 1);
  const auto limit = static_cast<std::int32_t>(1u << (format.bits - 1u));
  return static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -limit, limit - 1));
}

}  // namespace

std::string name_of(const Format& format) {
  const char* kind = format.kind == ChannelKind::kFloat    ? "f"
                     : format.kind == ChannelKind::kSigned ? "s"
                                                           : "u";
  return kind + std::to_string(format.bits) + " x " + std::to_string(format.channels);
}

void check(const Format& format, const std::string& where) {
  const bool channels = format.channels == 1 || format.channels == 2 || format.channels == 4;
  const bool bits =
      format.bits == 16 || format.bits == 32 || (format.bits == 8 && format.kind != ChannelKind::kFloat);
  if (channels && bits) return;
  throw InputError(where, "found texels of " + name_of(format) +
                              "; allowed: 1, 2 or 4 channels of u8, s8, u16, s16, f16, u32, s32 or f32");
}

// The exponent moves from bias 15 to 127 by a multiplication, which is exact for subnormals as well.
float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, magnitude = (half & 0x7fffu) << 13;
  if ((half & 0x7c00u) == 0x7c00u) return float_of(sign | magnitude | 0x7f80'0000u);
  return float_of(sign | bits_of(float_of(magnitude) * 0x1p112f));
}

std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = bits_of(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = float_of(bits & 0x7fff'ffffu);
  if (std::isnan(magnitude)) return 0x7fff;
  if (magnitude >= 65520.0f) return sign | 0x7c00u;  // rounds to 2^16
  // The distance of neighbours at this magnitude; the quotient is an integer of at most 11 bits after
  // rounding.
  const int exponent = std::max(magnitude > 0 ? std::ilogb(magnitude) : -14, -14);
  const double steps = std::nearbyint(std::ldexp(static_cast<double>(magnitude), 10 - exponent));
  // `steps` includes the hidden bit where there is one, which adds one to the exponent field.
  const std::uint32_t result =
      (static_cast<std::uint32_t>(exponent + 14) << 10) + static_cast<std::uint32_t>(steps);
  return static_cast<std::uint16_t>(sign | result);
}

Channels load(const Format& format, bool normalised, const std::uint8_t* texel) {
  const bool floats = format.kind == ChannelKind::kFloat;
  Channels result = {0, 0, 0, floats || normalised ? kOneAsFloat : 1u};
  for (unsigned c = 0; c < format.channels; ++c) {
    const std::uint32_t value = raw(format, c, texel);
    if (floats) {
      result[c] = format.bits == 16 ? bits_of(half_to_float(static_cast<std::uint16_t>(value))) : value;
    } else {
      const std::uint32_t extended = extend(format, value);
      result[c] = normalised ? bits_of(normalise(format, extended)) : extended;
    }
  }
  return result;
}

void store(const Format& format, const Channels& channels, std::uint8_t* texel) {
  for (unsigned c = 0; c < format.channels; ++c) {
    std::uint32_t value = channels[c];
    if (format.kind != ChannelKind::kFloat) {
      value = saturate(format, value);
    } else if (format.bits == 16) {
      value = float_to_half(float_of(value));
    }
    std::memcpy(texel + c * (format.bits / 8u), &value, format.bits / 8u);
  }
}

}  // namespace weft::texture
