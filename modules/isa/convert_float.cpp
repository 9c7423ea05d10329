// cvt from and to floats. PTX ISA, "cvt": a float becomes an integer by the integer rounding asked for and is
// clamped to the destination's range; a NaN becomes 0, but the most negative (of unsigned types: the middle)
// number where source or destination has 64 bits. Between floats, .rni and its like round to an integral
// float.
#include "isa/conversion.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

template <class D, bool kSat>
struct FromInteger {
  template <class S>
  static WEFT_ALWAYS_INLINE D of(S a) {
    const D value = static_cast<D>(a);
    return kSat ? saturate(value) : value;
  }
};

// Float to float. A NaN keeps its payload into f64 and is canonical in f32.
template <class D, Rounding kRounding, bool kFtz, bool kSat>
struct FloatToFloat {
  template <class S>
  static WEFT_ALWAYS_INLINE D of(S a) {
    const S source = kFtz && sizeof(S) == 4 ? static_cast<S>(flush(a)) : a;
    const D rounded = static_cast<D>(to_integral<kRounding>(source));
    const D value = kFtz && sizeof(D) == 4 ? static_cast<D>(flush(rounded)) : rounded;
    if constexpr (kSat) return saturate(value);
    if constexpr (sizeof(D) == 4) {
      return canonical(value);
    } else {
      return propagate(value, static_cast<D>(a));
    }
  }
};

// Float to integer.
template <class S, Rounding kRounding, bool kFtz>
struct ToIntegers {
  template <class D>
  LaneFunction make() const {
    return &apply<ToInteger<D, kRounding, kFtz>, D, S>;
  }
};
template <class S, bool kFtz>
LaneFunction to_integer(const Instruction& in) {
  const auto among = [&in](const auto& maker) {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.type, maker);
  };
  switch (in.rounding) {
    case Rounding::kRni:
      return among(ToIntegers<S, Rounding::kRni, kFtz>{});
    case Rounding::kDefault:
    case Rounding::kRzi:
      return among(ToIntegers<S, Rounding::kRzi, kFtz>{});
    case Rounding::kRmi:
      return among(ToIntegers<S, Rounding::kRmi, kFtz>{});
    case Rounding::kRpi:
      return among(ToIntegers<S, Rounding::kRpi, kFtz>{});
    default:
      return nullptr;
  }
}

// Integer to float. Where every integer is representable the rounding mode is left alone: the vector form of
// an exact conversion may subtract its way to zero, which is -0 when rounding down.
template <class D>
struct FromIntegers {
  Rounding rounding;
  bool saturated;
  template <class S>
  LaneFunction make() const {
    return saturated ? with<FromInteger<D, true>, S>() : with<FromInteger<D, false>, S>();
  }

 private:
  template <class Op, class S>
  LaneFunction with() const {
    if constexpr (std::numeric_limits<S>::digits <= std::numeric_limits<D>::digits) {
      return &apply<Op, D, S>;
    } else {
      return with_rounding<&apply<Op, D, S>>(rounding);
    }
  }
};

template <class D, class S, Rounding kRounding, bool kFtz>
LaneFunction float_to_float(const Instruction& in) {
  return in.sat ? with_rounding<&apply<FloatToFloat<D, kRounding, kFtz, true>, D, S>>(in.rounding)
                : with_rounding<&apply<FloatToFloat<D, kRounding, kFtz, false>, D, S>>(in.rounding);
}
template <class V, Rounding kRounding, bool kFtz>
LaneFunction integral(const Instruction& in) {
  return in.sat ? &apply<FloatToFloat<V, kRounding, kFtz, true>, V, V>
                : &apply<FloatToFloat<V, kRounding, kFtz, false>, V, V>;
}
template <class V, bool kFtz>
LaneFunction same_float(const Instruction& in) {
  switch (in.rounding) {
    case Rounding::kRni:
      return integral<V, Rounding::kRni, kFtz>(in);
    case Rounding::kRzi:
      return integral<V, Rounding::kRzi, kFtz>(in);
    case Rounding::kRmi:
      return integral<V, Rounding::kRmi, kFtz>(in);
    case Rounding::kRpi:
      return integral<V, Rounding::kRpi, kFtz>(in);
    default:
      return integral<V, Rounding::kDefault, kFtz>(in);
  }
}

}  // namespace

LaneFunction find_convert_float(const Instruction& in) {
  const Type to = in.type, from = in.from;
  if (to == Type::kF32 && from == Type::kF32) {
    return in.ftz ? same_float<float, true>(in) : same_float<float, false>(in);
  }
  if (to == Type::kF64 && from == Type::kF64) return same_float<double, false>(in);
  if (to == Type::kF64 && from == Type::kF32) {
    return in.ftz ? float_to_float<double, float, Rounding::kDefault, true>(in)
                  : float_to_float<double, float, Rounding::kDefault, false>(in);
  }
  if (to == Type::kF32 && from == Type::kF64) {
    return in.ftz ? float_to_float<float, double, Rounding::kDefault, true>(in)
                  : float_to_float<float, double, Rounding::kDefault, false>(in);
  }
  if (from == Type::kF32) return in.ftz ? to_integer<float, true>(in) : to_integer<float, false>(in);
  if (from == Type::kF64) return to_integer<double, false>(in);
  if (to == Type::kF32) {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(from, FromIntegers<float>{in.rounding, in.sat});
  }
  return choose<u8, s8, u16, s16, u32, s32, u64, s64>(from, FromIntegers<double>{in.rounding, in.sat});
}

}  // namespace weft::isa::WEFT_ISA_VERSION
