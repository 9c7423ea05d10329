// Sums of products and differences: sad, mul24, mad24, dp2a, dp4a. PTX ISA 9.0, 9.7.1.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

struct Sad {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b, V c) {
    using U = std::conditional_t<sizeof(V) == 8, u64, u32>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    return static_cast<V>(static_cast<U>(c) + (a < b ? y - x : x - y));
  }
};

// The low 24 bits of both factors make a product of 48; .hi takes its bits 47 to 16, .lo 31 to 0.
template <bool kHigh, class V>
WEFT_ALWAYS_INLINE V product24(V a, V b) {
  using Wide = std::conditional_t<std::is_signed_v<V>, s64, u64>;
  const auto narrow = [](V x) { return static_cast<V>(static_cast<u32>(x) << 8) >> 8; };
  const Wide product = static_cast<Wide>(narrow(a)) * static_cast<Wide>(narrow(b));
  return static_cast<V>(kHigh ? product >> 16 : product);
}
template <bool kHigh>
struct Mul24 {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return product24<kHigh>(a, b);
  }
};
template <bool kHigh>
struct Mad24 {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b, V c) {
    return static_cast<V>(static_cast<u32>(product24<kHigh>(a, b)) + static_cast<u32>(c));
  }
};
struct Mad24Saturated {
  static WEFT_ALWAYS_INLINE s32 of(s32 a, s32 b, s32 c) {
    constexpr s64 low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
    const s64 sum = static_cast<s64>(product24<true>(a, b)) + c;
    return static_cast<s32>(sum < low ? low : sum > high ? high : sum);
  }
};

// Part k of a word, kBits wide, extended as V is: 32-bit products and sums of them wrap alike for both signs.
template <class V, unsigned kBits>
WEFT_ALWAYS_INLINE u32 part(V word, unsigned k) {
  return static_cast<u32>(static_cast<V>(static_cast<u32>(word) << (32 - kBits - kBits * k)) >> (32 - kBits));
}
struct DotProduct4 {
  template <class V, class W>
  static WEFT_ALWAYS_INLINE u32 of(V a, W b, u32 c) {
    for (unsigned k = 0; k < 4; ++k) c += part<V, 8>(a, k) * part<W, 8>(b, k);
    return c;
  }
};
// Both halves of a with the two low or the two high bytes of b.
template <unsigned kFirst>
struct DotProduct2 {
  template <class V, class W>
  static WEFT_ALWAYS_INLINE u32 of(V a, W b, u32 c) {
    for (unsigned k = 0; k < 2; ++k) c += part<V, 16>(a, k) * part<W, 8>(b, k + kFirst);
    return c;
  }
};

template <class Op>
LaneFunction find_dot_product(Type a, Type b) {
  if (a == Type::kU32 && b == Type::kU32) return &apply<Op, u32, u32, u32, u32>;
  if (a == Type::kU32 && b == Type::kS32) return &apply<Op, u32, u32, s32, u32>;
  if (a == Type::kS32 && b == Type::kU32) return &apply<Op, u32, s32, u32, u32>;
  if (a == Type::kS32 && b == Type::kS32) return &apply<Op, u32, s32, s32, u32>;
  return nullptr;
}

bool is_word(Type type) {
  return type == Type::kU32 || type == Type::kS32;
}

}  // namespace

LaneFunction find_sum(const Instruction& in) {
  const bool high = in.width == Width::kHi, low = in.width == Width::kLo;
  switch (in.op) {
    case Opcode::kSad:
      return choose<u16, s16, u32, s32, u64, s64>(in.type, Ternary<Sad>{});
    case Opcode::kMul24:
      if (!is_word(in.type)) return nullptr;
      if (high) return choose<u32, s32>(in.type, Binary<Mul24<true>>{});
      return low ? choose<u32, s32>(in.type, Binary<Mul24<false>>{}) : nullptr;
    case Opcode::kMad24:
      if (!is_word(in.type)) return nullptr;
      if (in.sat) {
        return high && in.type == Type::kS32 ? &apply<Mad24Saturated, s32, s32, s32, s32> : nullptr;
      }
      if (high) return choose<u32, s32>(in.type, Ternary<Mad24<true>>{});
      return low ? choose<u32, s32>(in.type, Ternary<Mad24<false>>{}) : nullptr;
    case Opcode::kDp4a:
      return find_dot_product<DotProduct4>(in.type, in.from);
    case Opcode::kDp2a:
      if (high) return find_dot_product<DotProduct2<2>>(in.type, in.from);
      return low ? find_dot_product<DotProduct2<0>>(in.type, in.from) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
