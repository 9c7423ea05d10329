// cvt from and to floats. PTX ISA, "cvt": a float becomes an integer by the integer rounding asked for and is
// clamped to the destination's range; a NaN becomes 0, but the most negative (of unsigned types: the middle)
// number where source or destination has 64 bits. Between floats, .rni and its like round to an integral
// float.
#include "isa/conversion.h"
#include "isa/half.h"

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

// Float to integer. What cutting off the fraction does not do is done before: reading halves, which all are
// floats, and rounding in other ways. Lanes::variant is 0 where there is nothing of that; .ftz matters only
// there, since of subnormals nothing is left anyway.
constexpr u32 kFtz = 1, kF16 = 2, kBf16 = 4, kRoundingShift = 8;

template <class V>
__attribute__((noinline)) void prepare(const Lanes& lanes, V (&x)[kLanes]) {
  const void* a = lanes.src[0];
  if constexpr (std::is_same_v<V, float>) {
    if ((lanes.variant & kF16) != 0) {
      for (unsigned i = 0; i < kLanes; ++i) x[i] = read<F16>(a, i);
    } else if ((lanes.variant & kBf16) != 0) {
      for (unsigned i = 0; i < kLanes; ++i) x[i] = read<Bf16>(a, i);
    } else {
      for (unsigned i = 0; i < kLanes; ++i) x[i] = read<V>(a, i);
    }
    if ((lanes.variant & kFtz) != 0) {
      for (V& value : x) value = flush(value);
    }
  } else {
    for (unsigned i = 0; i < kLanes; ++i) x[i] = read<V>(a, i);
  }
  const auto rounding = static_cast<Rounding>(lanes.variant >> kRoundingShift);
  if (rounding == Rounding::kRni) {
    for (V& value : x) value = to_integral<Rounding::kRni>(value);
  } else if (rounding == Rounding::kRmi) {
    for (V& value : x) value = to_integral<Rounding::kRmi>(value);
  } else if (rounding == Rounding::kRpi) {
    for (V& value : x) value = to_integral<Rounding::kRpi>(value);
  }
}
template <class D, class V>
void to_integer(Lanes& lanes) {
  alignas(64) V x[kLanes];
  const void* a = lanes.src[0];
  if (lanes.variant != 0) {
    prepare(lanes, x);
    a = x;
  }
  using Cell = typename Port<D>::Cell;
  alignas(64) Cell computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) computed[i] = Port<D>::put(ToInteger<D>::of(read<V>(a, i)));
  commit(lanes.dst, computed, lanes.active);
}
template <class V>
struct ToIntegers {
  u32 variant;
  template <class D>
  LaneFunction make() const {
    return {&to_integer<D, V>, variant};
  }
};

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

LaneFunction find_float_to_integer(const Instruction& in) {
  const bool half = is_half(in.from);
  u32 variant = in.from == Type::kF16 ? kF16 : in.from == Type::kBf16 ? kBf16 : 0;
  switch (in.rounding) {
    case Rounding::kDefault:
      if (half) return nullptr;
      break;
    case Rounding::kRzi:
      break;
    case Rounding::kRni:
    case Rounding::kRmi:
    case Rounding::kRpi:
      variant |= (in.ftz ? kFtz : 0) | static_cast<u32>(in.rounding) << kRoundingShift;
      break;
    default:
      return nullptr;
  }
  if (in.from == Type::kF64) {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.type, ToIntegers<double>{variant});
  }
  return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.type, ToIntegers<float>{variant});
}

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
  if (from == Type::kF32 || from == Type::kF64) return find_float_to_integer(in);
  if (to == Type::kF32) {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(from, FromIntegers<float>{in.rounding, in.sat});
  }
  return choose<u8, s8, u16, s16, u32, s32, u64, s64>(from, FromIntegers<double>{in.rounding, in.sat});
}

}  // namespace weft::isa::WEFT_ISA_VERSION
