// Integer arithmetic. PTX ISA, "Integer Arithmetic Instructions": results wrap except with .sat (add, sub and
// mad.hi on s32). Where PTX leaves a result open this follows NVIDIA hardware: a division or remainder by
// zero has all bits set, and the most negative number divided by -1 is itself, remainder 0.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class V>
using Unsigned = std::make_unsigned_t<V>;

// The type of twice the width, for mul.wide and mul.hi.
template <class V>
struct Doubled;
template <>
struct Doubled<u16> {
  using Type = u32;
};
template <>
struct Doubled<s16> {
  using Type = s32;
};
template <>
struct Doubled<u32> {
  using Type = u64;
};
template <>
struct Doubled<s32> {
  using Type = s64;
};
template <>
struct Doubled<u64> {
  using Type = u128;
};
template <>
struct Doubled<s64> {
  using Type = s128;
};
template <class V>
using Twice = typename Doubled<V>::Type;

template <class V>
inline constexpr unsigned kBits = 8 * sizeof(V);

// Arithmetic modulo 2^n is done unsigned and in at least 32 bits, where no promotion can make it signed.
template <class V>
using Modular = std::conditional_t<sizeof(V) == 8, u64, u32>;

struct Add {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(static_cast<Modular<V>>(a) + static_cast<Modular<V>>(b));
  }
};
struct Sub {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(static_cast<Modular<V>>(a) - static_cast<Modular<V>>(b));
  }
};
struct MulLo {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(static_cast<Modular<V>>(a) * static_cast<Modular<V>>(b));
  }
};
struct MulHi {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>((static_cast<Twice<V>>(a) * static_cast<Twice<V>>(b)) >> kBits<V>);
  }
};
struct MulWide {
  template <class V>
  static WEFT_ALWAYS_INLINE Twice<V> of(V a, V b) {
    return static_cast<Twice<V>>(a) * static_cast<Twice<V>>(b);
  }
};
template <class Product>
struct MulAdd {
  template <class V, class W>
  static WEFT_ALWAYS_INLINE W of(V a, V b, W c) {
    return Add::of<W>(Product::of(a, b), c);
  }
};

WEFT_ALWAYS_INLINE s32 saturate(s64 x) {
  constexpr s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
  return static_cast<s32>(x < low ? low : x > high ? high : x);
}
struct AddSaturated {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return saturate(static_cast<s64>(a) + b); }
};
struct SubSaturated {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b) { return saturate(static_cast<s64>(a) - b); }
};
struct MulHiAddSaturated {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b, s32 c) {
    return saturate(static_cast<s64>(MulHi::of(a, b)) + c);
  }
};

// b == -1 is a case of its own: the host traps on the most negative number divided by -1.
struct Div {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    if (b == 0) return static_cast<V>(~V{0});
    if (std::is_signed_v<V> && b == static_cast<V>(-1)) return Sub::of<V>(0, a);
    return static_cast<V>(a / b);
  }
};
struct Rem {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    if (b == 0) return static_cast<V>(~V{0});
    if (std::is_signed_v<V> && b == static_cast<V>(-1)) return 0;
    return static_cast<V>(a % b);
  }
};
struct Neg {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return Sub::of<V>(0, a);
  }
};
struct Abs {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return a < 0 ? Neg::of(a) : a;
  }
};
struct Min {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a < b ? a : b;
  }
};
struct Max {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return a > b ? a : b;
  }
};

struct WideProduct {
  template <class V>
  LaneFunction make() const {
    return &apply<MulWide, Twice<V>, V, V>;
  }
};
struct WideProductSum {
  template <class V>
  LaneFunction make() const {
    return &apply<MulAdd<MulWide>, Twice<V>, V, V, Twice<V>>;
  }
};

template <class Maker>
LaneFunction any_integer(Type type, const Maker& maker) {
  return choose<u16, s16, u32, s32, u64, s64>(type, maker);
}
template <class Maker>
LaneFunction signed_integer(Type type, const Maker& maker) {
  return choose<s16, s32, s64>(type, maker);
}
template <class Maker>
LaneFunction narrow_integer(Type type, const Maker& maker) {
  return choose<u16, s16, u32, s32>(type, maker);
}

LaneFunction find_saturated(const Instruction& in) {
  if (in.type != Type::kS32) return nullptr;
  if (in.op == Opcode::kAdd) return &apply<AddSaturated, s32, s32, s32>;
  if (in.op == Opcode::kSub) return &apply<SubSaturated, s32, s32, s32>;
  if (in.op == Opcode::kMad && in.width == Width::kHi) return &apply<MulHiAddSaturated, s32, s32, s32, s32>;
  return nullptr;
}

}  // namespace

LaneFunction find_integer(const Instruction& in) {
  if (in.sat) return find_saturated(in);
  switch (in.op) {
    case Opcode::kAdd:
      return any_integer(in.type, Binary<Add>{});
    case Opcode::kSub:
      return any_integer(in.type, Binary<Sub>{});
    case Opcode::kMul:
      if (in.width == Width::kHi) return any_integer(in.type, Binary<MulHi>{});
      if (in.width == Width::kWide) return narrow_integer(in.type, WideProduct{});
      return any_integer(in.type, Binary<MulLo>{});
    case Opcode::kMad:
      if (in.width == Width::kHi) return any_integer(in.type, Ternary<MulAdd<MulHi>>{});
      if (in.width == Width::kWide) return narrow_integer(in.type, WideProductSum{});
      return any_integer(in.type, Ternary<MulAdd<MulLo>>{});
    case Opcode::kDiv:
      return any_integer(in.type, Binary<Div>{});
    case Opcode::kRem:
      return any_integer(in.type, Binary<Rem>{});
    case Opcode::kNeg:
      return signed_integer(in.type, Unary<Neg>{});
    case Opcode::kAbs:
      return signed_integer(in.type, Unary<Abs>{});
    case Opcode::kMin:
      return any_integer(in.type, Binary<Min>{});
    case Opcode::kMax:
      return any_integer(in.type, Binary<Max>{});
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
