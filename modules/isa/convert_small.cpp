// cvt from and to the formats of 8, 6 and 4 bits (two numbers in a register), exponents alone, and tf32. PTX
// ISA 9.0, 9.7.9.21. They are rounded by integer operations on the bits of an f32, so both versions of the
// kernels agree.
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

// A format with a sign, an exponent and a fraction. `kLargest`: the code of the largest finite number;
// `kNan`: what a NaN becomes. The formats without one take the largest number (PTX ISA, .satfinite).
template <u32 kExponentBits, u32 kFractionBits, u32 kExponentBias, u32 kLargestCode, u32 kNanCode, u32 kWidth>
struct Small {
  static constexpr u32 kFraction = kFractionBits, kBias = kExponentBias, kBits = kWidth;
  static constexpr u32 kLargest = kLargestCode, kNan = kNanCode,
                       kSign = 1u << (kExponentBits + kFractionBits);
};
using E4m3 = Small<4, 3, 7, 0x7e, 0x7f, 8>;
using E5m2 = Small<5, 2, 15, 0x7b, 0x7f, 8>;
using E2m3 = Small<2, 3, 1, 0x1f, 0x1f, 8>;
using E3m2 = Small<3, 2, 3, 0x1f, 0x1f, 8>;
using E2m1 = Small<2, 1, 1, 0x7, 0x7, 4>;

constexpr u32 kMagnitude32 = 0x7fffffffu, kInfinity32 = 0x7f800000u;

// x to the nearest number of the format, ties to even, at most the largest one.
template <class Format>
WEFT_ALWAYS_INLINE u32 narrow_small(u32 bits, bool relu) {
  constexpr u32 kHidden = 1u << 23, kSmallest = 127 - Format::kBias + 1;
  const u32 magnitude = bits & kMagnitude32, field = magnitude >> 23;
  const u32 significand = (magnitude & (kHidden - 1)) | (field != 0 ? kHidden : 0);
  const u32 lost = 23 - Format::kFraction + (field < kSmallest ? kSmallest - field : 0);
  const u32 shift = lost < 31 ? lost : 31;
  const u32 kept = significand >> shift, rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  const u32 up = (rest > half) | ((rest == half) & ((kept & 1) != 0));
  const u32 exponent = field > kSmallest ? field - kSmallest : 0;
  const u32 rounded = (exponent << Format::kFraction) + kept + up;
  const u32 code = rounded > Format::kLargest ? Format::kLargest : rounded;
  const bool negative = magnitude != bits;
  const u32 number = !negative ? code : relu ? 0 : code | Format::kSign;
  return magnitude > kInfinity32 ? Format::kNan : number;
}

// The bits of the f32 of a code, exact. f16 holds all of them.
template <class Format>
WEFT_ALWAYS_INLINE u16 widen_small(u32 code, bool relu) {
  // 2^(127 - bias) moves the exponent from one bias to the other, of subnormals as well.
  const float scale = bit_cast<float>((254 - Format::kBias) << 23);
  const u32 magnitude = code & (Format::kSign - 1);
  const bool negative = (code & Format::kSign) != 0;
  const float finite = bit_cast<float>(magnitude << (23 - Format::kFraction)) * scale;
  const bool has_infinity = std::is_same_v<Format, E5m2>, has_nan = Format::kNan > Format::kLargest;
  const bool infinite = has_infinity && magnitude == Format::kLargest + 1;
  const bool nan = has_nan && magnitude > Format::kLargest && !infinite;
  const u16 half = infinite ? F16::kInfinity : narrow<F16>(finite);
  const auto number = static_cast<u16>(!negative ? half : relu ? 0 : half | 0x8000);
  return nan ? kNan16 : number;
}

// Exponents alone: 2^(code - 127), 0xff for a NaN. The sign is dropped; toward zero or up, at most 2^127.
struct Ue8m0 {};
WEFT_ALWAYS_INLINE u32 exponent_of(u32 bits, bool up, bool finite) {
  const u32 magnitude = bits & kMagnitude32, field = magnitude >> 23, fraction = magnitude & 0x7fffffu;
  // Of subnormals those up to 2^-127 are that number.
  const bool next = up && fraction > (field == 0 ? 0x400000u : 0);
  const u32 code = field + (next ? 1 : 0);
  const u32 bounded = code > 0xfe ? (finite ? 0xfe : 0xff) : code;
  return magnitude > kInfinity32 ? 0xff : bounded;
}

constexpr u32 kRelu = 1, kUp = 2, kFinite = 4;  // Lanes::variant

template <class Format>
WEFT_ALWAYS_INLINE u32 code_of(u32 bits, u32 variant) {
  if constexpr (std::is_same_v<Format, Ue8m0>) {
    return exponent_of(bits, (variant & kUp) != 0, (variant & kFinite) != 0);
  } else {
    return narrow_small<Format>(bits, (variant & kRelu) != 0);
  }
}
template <class Format>
constexpr u32 bits_of_format() {
  if constexpr (std::is_same_v<Format, Ue8m0>) return 8;
  if constexpr (!std::is_same_v<Format, Ue8m0>) return Format::kBits;
}

// The first operand, or the upper half of the only one, becomes the upper number.
template <class Format>
void from_singles(Lanes& lanes) {
  constexpr u32 kShift = bits_of_format<Format>();
  const void *upper = lanes.src[0], *lower = lanes.src[1];
  const u32 variant = lanes.variant;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    computed[i] = code_of<Format>(read<u32>(upper, i), variant) << kShift |
                  code_of<Format>(read<u32>(lower, i), variant);
  }
  commit(lanes.dst, computed, lanes.active);
}
template <class Format, class Half>
void from_halves(Lanes& lanes) {
  constexpr u32 kShift = bits_of_format<Format>();
  const void* a = lanes.src[0];
  const u32 variant = lanes.variant;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 word = read<u32>(a, i);
    const u32 upper = bit_cast<u32>(Half::widen(word >> 16)),
              lower = bit_cast<u32>(Half::widen(word & 0xffff));
    computed[i] = code_of<Format>(upper, variant) << kShift | code_of<Format>(lower, variant);
  }
  commit(lanes.dst, computed, lanes.active);
}
template <class Format>
void to_halves(Lanes& lanes) {
  constexpr u32 kMask = (1u << Format::kBits) - 1;
  const void* a = lanes.src[0];
  const bool relu = (lanes.variant & kRelu) != 0;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 codes = read<u32>(a, i);
    computed[i] = static_cast<u32>(widen_small<Format>(codes >> Format::kBits & kMask, relu)) << 16 |
                  widen_small<Format>(codes & kMask, relu);
  }
  commit(lanes.dst, computed, lanes.active);
}
// 2^-127 is a subnormal number of bf16.
WEFT_ALWAYS_INLINE u32 power(u32 code) {
  return code == 0xff ? u32{kNan16} : code == 0 ? 0x40 : code << 7;
}
void to_bf16_powers(Lanes& lanes) {
  const void* a = lanes.src[0];
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 codes = read<u32>(a, i);
    computed[i] = power(codes >> 8 & 0xff) << 16 | power(codes & 0xff);
  }
  commit(lanes.dst, computed, lanes.active);
}

// tf32: the lowest 13 bits of the fraction are rounded off.
template <Rounding kRounding>
void to_tf32(Lanes& lanes) {
  constexpr u32 kLost = 0x1fff, kLargest = kInfinity32 - kLost - 1;
  const void* a = lanes.src[0];
  const bool relu = (lanes.variant & kRelu) != 0, finite = (lanes.variant & kFinite) != 0;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 bits = read<u32>(a, i), magnitude = bits & kMagnitude32;
    const u32 added = kRounding == Rounding::kRz    ? 0
                      : kRounding == Rounding::kRna ? (kLost + 1) / 2
                                                    : kLost / 2 + ((magnitude >> 13) & 1);
    const u32 rounded = (magnitude + added) & ~kLost;
    const u32 bounded = finite && rounded > kLargest ? kLargest : rounded;
    const u32 number = magnitude == bits ? bounded : relu ? 0 : bounded | ~kMagnitude32;
    computed[i] = magnitude > kInfinity32 ? kNan32 : number;
  }
  commit(lanes.dst, computed, lanes.active);
}

template <class Format>
LaneFunction to_pair(const Instruction& in, u32 variant) {
  const bool exponents = std::is_same_v<Format, Ue8m0>;
  const bool directed = in.rounding == Rounding::kRz || in.rounding == Rounding::kRp;
  if (exponents ? !directed || in.relu : in.rounding != Rounding::kRn || !in.saturates_finite) return nullptr;
  if (in.from == Type::kF32) return {&from_singles<Format>, variant};
  if (!exponents && in.from == Type::kF16x2) return {&from_halves<Format, F16>, variant};
  if (exponents && in.from == Type::kBf16x2) return {&from_halves<Format, Bf16>, variant};
  return nullptr;
}
template <class Format>
LaneFunction from_pair(const Instruction& in, u32 variant) {
  if (in.type != Type::kF16x2 || in.rounding != Rounding::kRn || in.saturates_finite) return nullptr;
  return {&to_halves<Format>, variant};
}

LaneFunction find_tf32(const Instruction& in, u32 variant) {
  if (in.from != Type::kF32) return nullptr;
  switch (in.rounding) {
    case Rounding::kRna:
      return {&to_tf32<Rounding::kRna>, variant};
    case Rounding::kRn:
      return {&to_tf32<Rounding::kRn>, variant};
    case Rounding::kRz:
      return {&to_tf32<Rounding::kRz>, variant};
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction find_convert_small(const Instruction& in) {
  if (in.ftz || in.sat) return nullptr;
  const u32 variant =
      (in.relu ? kRelu : 0) | (in.rounding == Rounding::kRp ? kUp : 0) | (in.saturates_finite ? kFinite : 0);
  switch (in.type) {
    case Type::kTf32:
      return find_tf32(in, variant);
    case Type::kE4m3x2:
      return to_pair<E4m3>(in, variant);
    case Type::kE5m2x2:
      return to_pair<E5m2>(in, variant);
    case Type::kE2m3x2:
      return to_pair<E2m3>(in, variant);
    case Type::kE3m2x2:
      return to_pair<E3m2>(in, variant);
    case Type::kE2m1x2:
      return to_pair<E2m1>(in, variant);
    case Type::kUe8m0x2:
      return to_pair<Ue8m0>(in, variant);
    default:
      break;
  }
  switch (in.from) {
    case Type::kE4m3x2:
      return from_pair<E4m3>(in, variant);
    case Type::kE5m2x2:
      return from_pair<E5m2>(in, variant);
    case Type::kE2m3x2:
      return from_pair<E2m3>(in, variant);
    case Type::kE3m2x2:
      return from_pair<E3m2>(in, variant);
    case Type::kE2m1x2:
      return from_pair<E2m1>(in, variant);
    case Type::kUe8m0x2: {
      const bool plain = in.rounding == Rounding::kRn && !in.relu && !in.saturates_finite;
      return in.type == Type::kBf16x2 && plain ? LaneFunction(&to_bf16_powers) : nullptr;
    }
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
