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

template <class Format, Rounding kRounding, bool kFtz, bool kSat>
struct ToHalf {
  template <class S>
  static WEFT_ALWAYS_INLINE u16 of(S a) {
    if constexpr (kFtz) a = flush(a);
    const double x = to_integral<kRounding, double>(through_double(a));
    return narrow<Format, kRounding>(kSat ? saturate(x) : x);
  }
};
template <bool kSat>
struct ToSingle {
  static WEFT_ALWAYS_INLINE float of(float a) { return kSat ? saturate(a) : canonical(a); }
};
template <bool kSat>
struct ToDouble {
  static WEFT_ALWAYS_INLINE double of(float a) {
    const double x = a;
    return kSat ? saturate(x) : propagate(x, x);
  }
};

template <class S, Rounding kRounding>
struct ToIntegers {
  template <class D>
  LaneFunction make() const {
    return &apply<ToInteger<D, kRounding, false>, D, S>;
  }
};
template <class S>
LaneFunction to_integer(const Instruction& in) {
  const auto among = [&in](const auto& maker) {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.type, maker);
  };
  switch (in.rounding) {
    case Rounding::kRni:
      return among(ToIntegers<S, Rounding::kRni>{});
    case Rounding::kRzi:
      return among(ToIntegers<S, Rounding::kRzi>{});
    case Rounding::kRmi:
      return among(ToIntegers<S, Rounding::kRmi>{});
    case Rounding::kRpi:
      return among(ToIntegers<S, Rounding::kRpi>{});
    default:
      return nullptr;
  }
}

template <class Format, Rounding kRounding, bool kFtz, class S>
LaneFunction with_sat(bool sat) {
  return sat ? &apply<ToHalf<Format, kRounding, kFtz, true>, u16, S>
             : &apply<ToHalf<Format, kRounding, kFtz, false>, u16, S>;
}
template <class Format, bool kFtz, class S>
LaneFunction with_direction(const Instruction& in) {
  switch (in.rounding) {
    case Rounding::kRn:
      return with_sat<Format, Rounding::kRn, kFtz, S>(in.sat);
    case Rounding::kRz:
      return with_sat<Format, Rounding::kRz, kFtz, S>(in.sat);
    case Rounding::kRm:
      return with_sat<Format, Rounding::kRm, kFtz, S>(in.sat);
    case Rounding::kRp:
      return with_sat<Format, Rounding::kRp, kFtz, S>(in.sat);
    default:
      return nullptr;
  }
}
template <class Format>
LaneFunction to_integral_half(const Instruction& in) {
  switch (in.rounding) {
    case Rounding::kDefault:
      return with_sat<Format, Rounding::kDefault, false, Format>(in.sat);
    case Rounding::kRni:
      return with_sat<Format, Rounding::kRni, false, Format>(in.sat);
    case Rounding::kRzi:
      return with_sat<Format, Rounding::kRzi, false, Format>(in.sat);
    case Rounding::kRmi:
      return with_sat<Format, Rounding::kRmi, false, Format>(in.sat);
    case Rounding::kRpi:
      return with_sat<Format, Rounding::kRpi, false, Format>(in.sat);
    default:
      return nullptr;
  }
}

template <class Format>
struct FromIntegers {
  const Instruction& in;
  template <class S>
  LaneFunction make() const {
    return with_direction<Format, false, S>(in);
  }
};

template <class Format, class Other>
LaneFunction to_half(const Instruction& in, Type self) {
  if (in.from == self) return to_integral_half<Format>(in);
  switch (in.from) {
    case Type::kF16:
    case Type::kBf16:
      return with_direction<Format, false, Other>(in);
    case Type::kF32:
      return in.ftz ? with_direction<Format, true, float>(in) : with_direction<Format, false, float>(in);
    case Type::kF64:
      return with_direction<Format, false, double>(in);
    default:
      return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.from, FromIntegers<Format>{in});
  }
}
template <class Format>
LaneFunction from_half(const Instruction& in) {
  if (in.type != Type::kF32 && in.type != Type::kF64) return to_integer<Format>(in);
  if (in.rounding != Rounding::kDefault) return nullptr;
  if (in.type == Type::kF32) {
    return in.sat ? &apply<ToSingle<true>, float, Format> : &apply<ToSingle<false>, float, Format>;
  }
  return in.sat ? &apply<ToDouble<true>, double, Format> : &apply<ToDouble<false>, double, Format>;
}

}  // namespace

// .ftz concerns f32 only: decode allows it where f32 is the source or the destination, and no half is
// subnormal as f32.
LaneFunction find_convert_half(const Instruction& in) {
  if (in.ftz && in.from != Type::kF32 && in.type != Type::kF32) return nullptr;
  if (in.type == Type::kF16) return to_half<F16, Bf16>(in, Type::kF16);
  if (in.type == Type::kBf16) return to_half<Bf16, F16>(in, Type::kBf16);
  return in.from == Type::kF16 ? from_half<F16>(in) : in.from == Type::kBf16 ? from_half<Bf16>(in) : nullptr;
}

}  // namespace weft::isa::WEFT_ISA_VERSION
