// cvt from and to f16 and bf16. PTX ISA 9.0, 9.7.9.21. What is wider than a double is rounded to odd on its
// way through it, so that the second rounding sees on which side of a tie it was.
#include "isa/conversion.h"
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

WEFT_ALWAYS_INLINE double through_double(float a) {
  return a;
}
WEFT_ALWAYS_INLINE double through_double(double a) {
  return a;
}
template <class S, class = std::enable_if_t<std::is_integral_v<S>>>
WEFT_ALWAYS_INLINE double through_double(S a) {
  if constexpr (sizeof(S) < 8) {
    return static_cast<double>(static_cast<s64>(a));
  } else {
    const bool negative = std::is_signed_v<S> && a < 0;
    const u64 magnitude = negative ? u64{0} - static_cast<u64>(a) : static_cast<u64>(a);
    constexpr u64 kLow = 0x7ff;  // beyond 53 bits
    const u64 high = (magnitude >> 11) | ((magnitude & kLow) != 0 ? 1 : 0);
    // Numbers below 2^53 are exact as they are; of others the lowest bit kept says whether any was lost.
    const double value = magnitude >> 53 == 0 ? static_cast<double>(static_cast<s64>(magnitude))
                                              : static_cast<double>(static_cast<s64>(high)) * 2048.0;
    return negative ? -value : value;
  }
}

// To a half: operands become doubles, which are rounded to integers if asked for, bounded, and rounded to the
// format. Lanes::variant: how the last two are done, and the format.
using Doubles = double[kLanes];
constexpr u32 kFtz = 1, kSat = 2, kBf16 = 4, kFinite = 8, kRoundingShift = 8;

template <Rounding kRounding>
void round_to_integral(Doubles& x) {
  for (double& value : x) value = to_integral<kRounding>(value);
}
template <class Format, Rounding kRounding>
void narrow_lanes(Lanes& lanes, const Doubles& x) {
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) computed[i] = narrow<Format, kRounding>(x[i]);
  commit(lanes.dst, computed, lanes.active);
}
template <class Format>
void narrow_lanes(Lanes& lanes, const Doubles& x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRz:
      return narrow_lanes<Format, Rounding::kRz>(lanes, x);
    case Rounding::kRm:
      return narrow_lanes<Format, Rounding::kRm>(lanes, x);
    case Rounding::kRp:
      return narrow_lanes<Format, Rounding::kRp>(lanes, x);
    default:
      return narrow_lanes<Format, Rounding::kRn>(lanes, x);
  }
}
__attribute__((noinline)) void finish(Lanes& lanes, Doubles& x) {
  const auto rounding = static_cast<Rounding>(lanes.variant >> kRoundingShift);
  if (rounding == Rounding::kRni) round_to_integral<Rounding::kRni>(x);
  if (rounding == Rounding::kRzi) round_to_integral<Rounding::kRzi>(x);
  if (rounding == Rounding::kRmi) round_to_integral<Rounding::kRmi>(x);
  if (rounding == Rounding::kRpi) round_to_integral<Rounding::kRpi>(x);
  if ((lanes.variant & kSat) != 0) {
    for (double& value : x) value = saturate(value);
  }
  if ((lanes.variant & kFinite) != 0) {  // a NaN stays one
    const double largest = (lanes.variant & kBf16) != 0 ? 0x1.fep127 : 65504;
    for (double& value : x) value = value > largest ? largest : value < -largest ? -largest : value;
  }
  if ((lanes.variant & kBf16) != 0) {
    narrow_lanes<Bf16>(lanes, x, rounding);
  } else {
    narrow_lanes<F16>(lanes, x, rounding);
  }
}
template <class S>
void to_half(Lanes& lanes) {
  const void* a = lanes.src[0];
  // What .ftz keeps of a subnormal; f32 only.
  const u32 kept = (lanes.variant & kFtz) != 0 ? 0x80000000u : 0xffffffffu;
  alignas(64) Doubles x;
  for (unsigned i = 0; i < kLanes; ++i) {
    if constexpr (std::is_same_v<S, float>) {
      const u32 bits = read<u32>(a, i);
      x[i] = bit_cast<float>((bits & 0x7f800000u) != 0 ? bits : bits & kept);
    } else {
      x[i] = through_double(read<S>(a, i));
    }
  }
  finish(lanes, x);
}
struct ToHalf {
  u32 variant;
  template <class S>
  LaneFunction make() const {
    return {&to_half<S>, variant};
  }
};

template <bool kSat, bool kFtz = false>
struct ToSingle {
  static WEFT_ALWAYS_INLINE float of(float a) {
    const float x = kFtz ? flush(a) : a;
    return kSat ? saturate(x) : canonical(x);
  }
};
template <bool kSat>
struct ToDouble {
  static WEFT_ALWAYS_INLINE double of(float a) {
    const double x = a;
    return kSat ? saturate(x) : propagate(x, x);
  }
};

LaneFunction find_to_half(const Instruction& in, Type self) {
  const bool integral = in.rounding >= Rounding::kRni && in.rounding <= Rounding::kRpi;
  const bool directed = in.rounding >= Rounding::kRn && in.rounding <= Rounding::kRp;
  // Only within a format it may be rounded to integers, and nothing else.
  if (in.from == self ? !integral && in.rounding != Rounding::kDefault : !directed) return nullptr;
  if (in.saturates_finite && in.from != Type::kF32) return nullptr;
  const u32 variant = (in.ftz ? kFtz : 0) | (in.sat ? kSat : 0) | (in.saturates_finite ? kFinite : 0) |
                      (self == Type::kBf16 ? kBf16 : 0) | static_cast<u32>(in.rounding) << kRoundingShift;
  if (in.from == Type::kF16) return {&to_half<F16>, variant};
  if (in.from == Type::kBf16) return {&to_half<Bf16>, variant};
  return choose<u8, s8, u16, s16, u32, s32, u64, s64, float, double>(in.from, ToHalf{variant});
}
template <class Format>
LaneFunction from_half(const Instruction& in) {
  if (in.type != Type::kF32 && in.type != Type::kF64) {
    return find_float_to_integer(in);
  }
  if (in.rounding != Rounding::kDefault) return nullptr;
  if (in.type == Type::kF32 && in.ftz) {
    return in.sat ? &apply<ToSingle<true, true>, float, Format>
                  : &apply<ToSingle<false, true>, float, Format>;
  }
  if (in.type == Type::kF32) {
    return in.sat ? &apply<ToSingle<true>, float, Format> : &apply<ToSingle<false>, float, Format>;
  }
  return in.sat ? &apply<ToDouble<true>, double, Format> : &apply<ToDouble<false>, double, Format>;
}

}  // namespace

// .ftz concerns f32 only: decode allows it where f32 is the source or the destination.
LaneFunction find_convert_half(const Instruction& in) {
  if (in.ftz && in.from != Type::kF32 && in.type != Type::kF32) return nullptr;
  if (in.type == Type::kF16) return find_to_half(in, Type::kF16);
  if (in.type == Type::kBf16) return find_to_half(in, Type::kBf16);
  return in.from == Type::kF16 ? from_half<F16>(in) : in.from == Type::kBf16 ? from_half<Bf16>(in) : nullptr;
}

}  // namespace weft::isa::WEFT_ISA_VERSION
