// cvt between integers: the value extended or cut to the destination type, or with .sat clamped to its range.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

template <class D>
struct Resize {
  template <class S>
  static WEFT_ALWAYS_INLINE D of(S a) {
    return static_cast<D>(a);
  }
};

// Comparisons are made in the source's type: a bound that it cannot exceed costs nothing.
template <class D>
struct Clamp {
  template <class S>
  static WEFT_ALWAYS_INLINE D of(S a) {
    using Limits = std::numeric_limits<D>;
    if constexpr (std::is_signed_v<S>) {
      if (static_cast<s64>(a) < static_cast<s64>(std::is_signed_v<D> ? Limits::min() : D{0}))
        return Limits::min();
      if (a > 0 && static_cast<u64>(a) > static_cast<u64>(Limits::max())) return Limits::max();
    } else {
      if (static_cast<u64>(a) > static_cast<u64>(Limits::max())) return Limits::max();
    }
    return static_cast<D>(a);
  }
};

template <class D>
struct From {
  bool saturated;
  template <class S>
  LaneFunction make() const {
    return saturated ? &apply<Clamp<D>, D, S> : &apply<Resize<D>, D, S>;
  }
};
struct To {
  Type from;
  bool saturated;
  template <class D>
  LaneFunction make() const {
    return choose<u8, s8, u16, s16, u32, s32, u64, s64>(from, From<D>{saturated});
  }
};

}  // namespace

LaneFunction find_convert_integer(const Instruction& in) {
  return choose<u8, s8, u16, s16, u32, s32, u64, s64>(in.type, To{in.from, in.sat});
}

}  // namespace weft::isa::WEFT_ISA_VERSION
