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

// Op on f32 with its modifiers.
template <class Op, bool kFtz, bool kSat>
struct Single {
  template <class... A>
  static WEFT_ALWAYS_INLINE float of(A... a) {
    const float result = kFtz ? flush(Op::of(flush(a)...)) : Op::of(a...);
    return kSat ? saturate(result) : canonical(result);
  }
};

// Op on f64, with one operand for each n. NaNs are rare: they are put right in a second pass.
template <class Op, std::size_t... n>
void apply_double(Lanes& lanes) {
  alignas(64) u64 computed[kLanes];
  const void* const src[] = {lanes.src[n]...};
  u64 any_nan = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const double result = Op::of(read<double>(src[n], i)...);
    computed[i] = bit_cast<u64>(result);
    any_nan |= result != result ? ~u64{0} : u64{0};
  }
  if (__builtin_expect(any_nan != 0, 0)) {
    for (unsigned i = 0; i < kLanes; ++i) {
      computed[i] = bit_cast<u64>(propagate(bit_cast<double>(computed[i]), read<double>(src[n], i)...));
    }
  }
  commit(lanes.dst, computed, lanes.active);
}

// The host's rounding mode while it lives. Setting the x87 control word as <cfenv> does takes most of its
// time, and only libm (the fma of the base version) looks at that.
class RoundingMode {
 public:
#ifdef __AVX2__
  static constexpr u32 kTowardZero = 0x6000, kDownward = 0x2000, kUpward = 0x4000;  // MXCSR.RC
  explicit RoundingMode(u32 mode) : before_(__builtin_ia32_stmxcsr()) {
    __builtin_ia32_ldmxcsr((before_ & ~0x6000u) | mode);
  }
  ~RoundingMode() { __builtin_ia32_ldmxcsr(before_); }

 private:
  u32 before_;
#else
  static constexpr int kTowardZero = FE_TOWARDZERO, kDownward = FE_DOWNWARD, kUpward = FE_UPWARD;
  explicit RoundingMode(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(before_); }

 private:
  int before_;
#endif
};

// kKernel under a rounding mode of the host. The fences keep the reading of operands and the writing of
// results, and with them the arithmetic between, inside. No kernel has arithmetic on constants that could be
// done beforehand.
template <LaneKernel kKernel, auto kMode>
void in_rounding_mode(Lanes& lanes) {
  const RoundingMode mode(kMode);
  asm volatile("" ::: "memory");
  kKernel(lanes);
  asm volatile("" ::: "memory");
}
template <LaneKernel kKernel>
LaneFunction with_rounding(Rounding rounding) {
  switch (rounding) {
    case Rounding::kDefault:
    case Rounding::kRn:
      return kKernel;
    case Rounding::kRz:
      return &in_rounding_mode<kKernel, RoundingMode::kTowardZero>;
    case Rounding::kRm:
      return &in_rounding_mode<kKernel, RoundingMode::kDownward>;
    case Rounding::kRp:
      return &in_rounding_mode<kKernel, RoundingMode::kUpward>;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION

#endif
