// From floats to integers and integral floats, for the cvt of all formats.
#ifndef WEFT_ISA_CONVERSION_H
#define WEFT_ISA_CONVERSION_H

#include "isa/floating.h"

namespace weft::isa::WEFT_ISA_VERSION {

template <Rounding kRounding, class V>
WEFT_ALWAYS_INLINE V to_integral(V x) {
  if constexpr (kRounding == Rounding::kRni) {
    return sizeof(V) == 8 ? static_cast<V>(__builtin_rint(x))
                          : static_cast<V>(__builtin_rintf(static_cast<float>(x)));
  } else if constexpr (kRounding == Rounding::kRzi) {
    return sizeof(V) == 8 ? static_cast<V>(__builtin_trunc(x))
                          : static_cast<V>(__builtin_truncf(static_cast<float>(x)));
  } else if constexpr (kRounding == Rounding::kRmi) {
    return sizeof(V) == 8 ? static_cast<V>(__builtin_floor(x))
                          : static_cast<V>(__builtin_floorf(static_cast<float>(x)));
  } else if constexpr (kRounding == Rounding::kRpi) {
    return sizeof(V) == 8 ? static_cast<V>(__builtin_ceil(x))
                          : static_cast<V>(__builtin_ceilf(static_cast<float>(x)));
  } else {
    return x;
  }
}

// 2^n as a float, exact.
template <class V>
constexpr V power_of_two(unsigned n) {
  V power = 1;
  while (n-- > 0) power *= 2;
  return power;
}

// The integer part of x, which D can hold. Hosts convert to signed 32-bit integers in vectors.
template <class D, class S>
WEFT_ALWAYS_INLINE D truncate(S x) {
  if constexpr (sizeof(D) == 8) return static_cast<D>(x);
  if constexpr (std::is_same_v<D, u32>) {
    constexpr S half = power_of_two<S>(31);
    const bool upper = x >= half;
    return static_cast<u32>(static_cast<s32>(upper ? x - half : x)) ^ (upper ? 0x80000000u : 0u);
  }
  if constexpr (sizeof(D) < 8 && !std::is_same_v<D, u32>) return static_cast<D>(static_cast<s32>(x));
}

// Of a number without a fraction, or cutting it off.
template <class D>
struct ToInteger {
  template <class S>
  static WEFT_ALWAYS_INLINE D of(S a) {
    using Limits = std::numeric_limits<D>;
    constexpr S low = std::is_signed_v<D> ? -power_of_two<S>(8 * sizeof(D) - 1) : S{0};
    constexpr S high = power_of_two<S>(Limits::digits);
    constexpr bool zero = sizeof(S) != 8 && sizeof(D) != 8;
    constexpr D nan = zero ? D{0} : static_cast<D>(u64{1} << (8 * sizeof(D) - 1));
    const S x = to_integral<Rounding::kRzi>(a);
    const bool inside = (x >= low) & (x < high);
    const D number = truncate<D>(inside ? x : S{0});
    const D outside = x >= high ? Limits::max() : x < low ? Limits::min() : nan;
    return inside ? number : outside;
  }
};

// cvt to an integer from f32, f64, f16 or bf16.
LaneFunction find_float_to_integer(const Instruction& in);

}  // namespace weft::isa::WEFT_ISA_VERSION

#endif
