// Bits moved and found across whole words: prmt, lop3, shf, bfind, bmsk, fns. PTX ISA 9.0, 9.7.1 and 9.7.8.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Mode;

namespace {

// prmt: which of the eight bytes of {b, a} becomes byte k. With a mode, two bits of c choose s.
template <Mode kMode>
WEFT_ALWAYS_INLINE u32 source_byte(u32 k, u32 s) {
  if constexpr (kMode == Mode::kF4e) return s + k;
  if constexpr (kMode == Mode::kB4e) return (s - k) & 7;
  if constexpr (kMode == Mode::kRc8) return s;
  if constexpr (kMode == Mode::kEcl) return k > s ? k : s;
  if constexpr (kMode == Mode::kEcr) return k < s ? k : s;
  if constexpr (kMode == Mode::kRc16) return 2 * (s & 1) + (k & 1);
}
template <Mode kMode>
struct Permute {
  static WEFT_ALWAYS_INLINE u32 of(u32 a, u32 b, u32 c) {
    const u64 bytes = static_cast<u64>(b) << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) {
      if constexpr (kMode == Mode::kNone) {
        const u32 selector = c >> (4 * k);
        const u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xff;
        const u32 sign = (byte & 0x80) != 0 ? 0xff : 0;  // selector bit 3: the byte's sign, eight times
        result |= ((selector & 8) != 0 ? sign : byte) << (8 * k);
      } else {
        const u32 byte = static_cast<u32>(bytes >> (8 * source_byte<kMode>(k, c & 3))) & 0xff;
        result |= byte << (8 * k);
      }
    }
    return result;
  }
};

// lop3: bit (4a + 2b + c) of the table is the result for bits a, b, c. The table is a literal, the same in
// all lanes: its bits, each spread over a word, are the leaves of a tree of multiplexers.
void look_up(Lanes& lanes) {
  const u32 table = read<u32>(lanes.src[3], 0);
  const auto leaf = [table](unsigned k) { return 0u - ((table >> k) & 1); };
  const u32 leaf0 = leaf(0), leaf2 = leaf(2), leaf4 = leaf(4), leaf6 = leaf(6);
  const u32 by_c0 = leaf0 ^ leaf(1), by_c2 = leaf2 ^ leaf(3), by_c4 = leaf4 ^ leaf(5),
            by_c6 = leaf6 ^ leaf(7);
  const void *a = lanes.src[0], *b = lanes.src[1], *c = lanes.src[2];
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 x = read<u32>(a, i), y = read<u32>(b, i), z = read<u32>(c, i);
    const u32 ab00 = leaf0 ^ (by_c0 & z), ab01 = leaf2 ^ (by_c2 & z);
    const u32 ab10 = leaf4 ^ (by_c4 & z), ab11 = leaf6 ^ (by_c6 & z);
    const u32 a0 = (ab00 & ~y) | (ab01 & y), a1 = (ab10 & ~y) | (ab11 & y);
    computed[i] = (a0 & ~x) | (a1 & x);
  }
  commit(lanes.dst, computed, lanes.active);
}

template <bool kLeft, bool kWrap>
struct Funnel {
  static WEFT_ALWAYS_INLINE u32 of(u32 a, u32 b, u32 c) {
    const u64 both = static_cast<u64>(b) << 32 | a;
    const u32 amount = kWrap ? c & 31 : c < 32 ? c : 32;
    return static_cast<u32>(kLeft ? (both << amount) >> 32 : both >> amount);
  }
};

// The highest bit that differs from the sign (of unsigned types: that is set), or all ones.
template <bool kShiftAmount>
struct FindBit {
  template <class V>
  static WEFT_ALWAYS_INLINE u32 of(V a) {
    using U = std::make_unsigned_t<V>;
    const U bits = static_cast<U>(std::is_signed_v<V> && a < 0 ? ~a : a);
    if (bits == 0) return 0xffffffffu;
    constexpr u32 top = 8 * sizeof(V) - 1;
    u32 zeros = 0;
    if constexpr (sizeof(V) == 8) {
      zeros = static_cast<u32>(__builtin_clzll(bits));
    } else {
      zeros = static_cast<u32>(__builtin_clz(bits));
    }
    return kShiftAmount ? zeros : top - zeros;
  }
};
template <bool kShiftAmount>
struct Find {
  template <class V>
  LaneFunction make() const {
    return &apply<FindBit<kShiftAmount>, u32, V>;
  }
};

// b ones from bit a up; bits beyond the top are lost.
template <bool kWrap>
struct BitMask {
  static WEFT_ALWAYS_INLINE u32 of(u32 a, u32 b) {
    const u32 position = a & 31, width = b & 31, end = position + width;
    const bool past_top = end > 31 || (!kWrap && b > 31);
    const u32 from = ~0u << position, above = past_top ? 0 : ~0u << (end & 31);
    return !kWrap && a > 31 ? 0 : from & ~above;
  }
};

// The |offset|-th bit that is set, from bit `base` on upwards or downwards; offset 0: bit `base` itself.
struct FindNth {
  static WEFT_ALWAYS_INLINE u32 of(u32 mask, u32 base, s32 offset) {
    if (base > 31) return 0xffffffffu;
    if (offset == 0) return ((mask >> base) & 1) != 0 ? base : 0xffffffffu;
    const bool up = offset > 0;
    u32 left = up ? mask >> base << base : mask << (31 - base) >> (31 - base);
    const u32 count = up ? static_cast<u32>(offset) : 0u - static_cast<u32>(offset);
    if (count > 32) return 0xffffffffu;
    for (u32 k = 1; k < count; ++k) {
      if (left == 0) return 0xffffffffu;
      left &= up ? left - 1 : ~(0x80000000u >> __builtin_clz(left));
    }
    if (left == 0) return 0xffffffffu;
    return static_cast<u32>(up ? __builtin_ctz(left) : 31 - __builtin_clz(left));
  }
};

LaneFunction find_permute_mode(Mode mode) {
  switch (mode) {
    case Mode::kNone:
      return &apply<Permute<Mode::kNone>, u32, u32, u32, u32>;
    case Mode::kF4e:
      return &apply<Permute<Mode::kF4e>, u32, u32, u32, u32>;
    case Mode::kB4e:
      return &apply<Permute<Mode::kB4e>, u32, u32, u32, u32>;
    case Mode::kRc8:
      return &apply<Permute<Mode::kRc8>, u32, u32, u32, u32>;
    case Mode::kEcl:
      return &apply<Permute<Mode::kEcl>, u32, u32, u32, u32>;
    case Mode::kEcr:
      return &apply<Permute<Mode::kEcr>, u32, u32, u32, u32>;
    case Mode::kRc16:
      return &apply<Permute<Mode::kRc16>, u32, u32, u32, u32>;
    default:
      return nullptr;
  }
}

LaneFunction find_funnel(Mode mode) {
  switch (mode) {
    case Mode::kLeftClamp:
      return &apply<Funnel<true, false>, u32, u32, u32, u32>;
    case Mode::kLeftWrap:
      return &apply<Funnel<true, true>, u32, u32, u32, u32>;
    case Mode::kRightClamp:
      return &apply<Funnel<false, false>, u32, u32, u32, u32>;
    case Mode::kRightWrap:
      return &apply<Funnel<false, true>, u32, u32, u32, u32>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction find_permute(const Instruction& in) {
  if (in.op == Opcode::kBfind) {
    if (in.mode == Mode::kShiftAmount) return choose<u32, s32, u64, s64>(in.type, Find<true>{});
    return in.mode == Mode::kNone ? choose<u32, s32, u64, s64>(in.type, Find<false>{}) : nullptr;
  }
  if (in.type != Type::kB32) return nullptr;
  switch (in.op) {
    case Opcode::kPrmt:
      return find_permute_mode(in.mode);
    case Opcode::kLop3:
      return &look_up;
    case Opcode::kShf:
      return find_funnel(in.mode);
    case Opcode::kBmsk:
      if (in.mode == Mode::kWrap) return &apply<BitMask<true>, u32, u32, u32>;
      return in.mode == Mode::kClamp ? &apply<BitMask<false>, u32, u32, u32> : nullptr;
    case Opcode::kFns:
      return &apply<FindNth, u32, u32, u32, s32>;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
