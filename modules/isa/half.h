// The 16-bit floating-point formats: values of them are computed with as float or double, and rounded once,
// by integer operations, so that both versions of the kernels agree on every host.
#ifndef WEFT_ISA_HALF_H
#define WEFT_ISA_HALF_H

#include "isa/floating.h"

namespace weft::isa::WEFT_ISA_VERSION {

inline constexpr u16 kNan16 = 0x7fff;  // PTX ISA: the canonical NaN of f16 and of bf16

struct F16 {
  static constexpr u32 kFraction = 10, kBias = 15;
  static constexpr u16 kInfinity = 0x7c00, kOne = 0x3c00;
  static WEFT_ALWAYS_INLINE float widen(u32 bits) {
    const u32 magnitude = (bits & 0x7fff) << 13, sign = (bits & 0x8000) << 16;
    // 2^112 moves the exponent from one bias to the other, of subnormals as well.
    const u32 finite = bit_cast<u32>(bit_cast<float>(magnitude) * 0x1p112f);
    return bit_cast<float>(((bits & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000u : finite) | sign);
  }
};
struct Bf16 {
  static constexpr u32 kFraction = 7, kBias = 127;
  static constexpr u16 kInfinity = 0x7f80, kOne = 0x3f80;
  static WEFT_ALWAYS_INLINE float widen(u32 bits) { return bit_cast<float>(bits << 16); }
};

// In a register: read as float. Results are written as bits (u16, or u32 for two).
template <class Format>
struct HalfPort {
  using Value = float;
  using Cell = u32;
  static WEFT_ALWAYS_INLINE Value get(Cell cell) { return Format::widen(cell & 0xffff); }
};
template <>
struct Port<F16> : HalfPort<F16> {};
template <>
struct Port<Bf16> : HalfPort<Bf16> {};

template <class Format>
WEFT_ALWAYS_INLINE u16 flush_half(u32 bits) {
  return static_cast<u16>((bits & Format::kInfinity) != 0 ? bits : bits & 0x8000);
}

// x in the format, rounded. With e the exponent of x, or that of the smallest normal number, the fraction of
// x is shifted to the format's last place; the bits that fall off decide.
template <class Format, Rounding kRounding = Rounding::kRn>
WEFT_ALWAYS_INLINE u16 narrow(double x) {
  constexpr u64 kHidden = u64{1} << 52, kInfinity64 = 0x7ff0000000000000u;
  constexpr u64 kSmallest = 1023 - Format::kBias + 1;  // exponent field of the smallest normal number
  const u64 bits = bit_cast<u64>(x), magnitude = bits & ~(u64{1} << 63);
  const bool negative = magnitude != bits;
  const u64 field = magnitude >> 52;
  const u64 significand = (magnitude & (kHidden - 1)) | (field != 0 ? kHidden : 0);
  const u64 lost = 52 - Format::kFraction + (field < kSmallest ? kSmallest - field : 0);
  const u64 shift = lost < 63 ? lost : 63;
  const u64 kept = significand >> shift, rest = significand & ((u64{1} << shift) - 1);
  const u64 half = u64{1} << (shift - 1);
  bool up = false, to_infinity = true;
  switch (kRounding) {
    case Rounding::kRz:
      to_infinity = false;
      break;
    case Rounding::kRm:
      up = negative && rest != 0;
      to_infinity = negative;
      break;
    case Rounding::kRp:
      up = !negative && rest != 0;
      to_infinity = !negative;
      break;
    default:
      up = rest > half || (rest == half && (kept & 1) != 0);
  }
  // `kept` has the hidden bit, which counts as one in the exponent.
  const u64 exponent = field > kSmallest ? field - kSmallest : 0;
  u64 result = (exponent << Format::kFraction) + kept + (up ? 1 : 0);
  const u64 overflow = to_infinity || magnitude == kInfinity64 ? Format::kInfinity : Format::kInfinity - 1;
  if (result >= Format::kInfinity) result = overflow;
  if (magnitude > kInfinity64) return kNan16;
  return static_cast<u16>(result | (negative ? 0x8000 : 0));
}

// Op on each half of a word.
template <class Op>
struct Both {
  template <class... A>
  static WEFT_ALWAYS_INLINE u32 of(A... a) {
    return Op::of(static_cast<u16>(a)...) | static_cast<u32>(Op::of(static_cast<u16>(a >> 16)...)) << 16;
  }
};

}  // namespace weft::isa::WEFT_ISA_VERSION

#endif
