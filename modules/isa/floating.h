// Rules that all floating-point kernels share: subnormals, saturation, NaNs, rounding modes.
#ifndef WEFT_ISA_FLOATING_H
#define WEFT_ISA_FLOATING_H

#include <cfenv>

#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

// The NaN that an invalid operation makes: of f32 the one that PTX calls canonical and CUDA CUDART_NAN_F, of
// f64 CUDART_NAN.
inline constexpr u32 kNan32 = 0x7fffffffu;
inline constexpr u64 kNan64 = 0xfff8000000000000u;

// .ftz: subnormals become zeros of the same sign.
WEFT_ALWAYS_INLINE float flush(float x) {
  const u32 bits = bit_cast<u32>(x);
  return bit_cast<float>((bits & 0x7f800000u) != 0 ? bits : bits & 0x80000000u);
}
WEFT_ALWAYS_INLINE double flush(double x) {
  const u64 bits = bit_cast<u64>(x);
  return bit_cast<double>((bits & 0x7ff0000000000000u) != 0 ? bits : bits & 0x8000000000000000u);
}

// .sat: into [0, 1]; NaN and -0 become +0.
template <class V>
WEFT_ALWAYS_INLINE V saturate(V x) {
  const V low = x > V{0} ? x : V{0};
  return low < V{1} ? low : V{1};
}

WEFT_ALWAYS_INLINE float canonical(float x) {
  return x == x ? x : bit_cast<float>(kNan32);
}

// Single precision: every NaN result is the canonical one. Double precision: NaN operands go through with
// their payload, quiet, the first operand before the second. The order is stated rather than left to the
// host, whose choice depends on how the compiler ordered a commutative operation.
WEFT_ALWAYS_INLINE double quiet(double x) {
  return bit_cast<double>(bit_cast<u64>(x) | 0x0008000000000000u);
}
WEFT_ALWAYS_INLINE double propagate(double result) {
  return result == result ? result : bit_cast<double>(kNan64);
}
template <class... Rest>
WEFT_ALWAYS_INLINE double propagate(double result, double first, Rest... rest) {
  return first == first ? propagate(result, rest...) : quiet(first);
}

// Op on f32 with its modifiers, and on f64.
template <class Op, bool kFtz, bool kSat>
struct Single {
  template <class... A>
  static WEFT_ALWAYS_INLINE float of(A... a) {
    float result = kFtz ? flush(Op::of(flush(a)...)) : Op::of(a...);
    return kSat ? saturate(result) : canonical(result);
  }
};
template <class Op>
struct Double {
  template <class... A>
  static WEFT_ALWAYS_INLINE double of(A... a) {
    return propagate(Op::of(a...), a...);
  }
};

// kKernel under a rounding mode of the host. Its operands come from memory and its results go there, so the
// compiler cannot move the arithmetic across the calls; its source file is compiled with -frounding-math.
template <LaneFunction kKernel, int kMode>
void in_rounding_mode(Lanes& lanes) {
  const int before = std::fegetround();
  std::fesetround(kMode);
  kKernel(lanes);
  std::fesetround(before);
}
template <LaneFunction kKernel>
LaneFunction with_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::kDefault:
    case Rounding::kRn:
      return kKernel;
    case Rounding::kRz:
      return &in_rounding_mode<kKernel, FE_TOWARDZERO>;
    case Rounding::kRm:
      return &in_rounding_mode<kKernel, FE_DOWNWARD>;
    case Rounding::kRp:
      return &in_rounding_mode<kKernel, FE_UPWARD>;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION

#endif
