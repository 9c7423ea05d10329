// Moves, logic, shifts and bit fields. PTX ISA, "Logic and Shift Instructions", bfe, bfi, popc, clz, brev.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

template <class V>
inline constexpr unsigned kBits = 8 * sizeof(V);

struct Copy {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return a;
  }
};
struct And {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(a & b);
  }
};
struct Or {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(a | b);
  }
};
struct Xor {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, V b) {
    return static_cast<V>(a ^ b);
  }
};
struct Not {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return static_cast<V>(~a);
  }
};
struct Cnot {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    return a == 0 ? 1 : 0;
  }
};
struct AddWindow {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V address, V window) {
    return address + window;
  }
};
struct SubWindow {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V address, V window) {
    return address - window;
  }
};

// Shift amounts are unsigned 32-bit and clamp at the width: everything is shifted out, or the sign fills.
struct Shl {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, u32 amount) {
    using Lane = std::conditional_t<sizeof(V) == 8, u64, u32>;
    const Lane shifted = static_cast<Lane>(a) << (amount & (kBits<Lane> - 1));
    return amount < kBits<V> ? static_cast<V>(shifted) : V{0};
  }
};
struct Shr {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, u32 amount) {
    if constexpr (std::is_signed_v<V>) {
      using Lane = std::conditional_t<sizeof(V) == 8, s64, s32>;
      return static_cast<V>(static_cast<Lane>(a) >> (amount < kBits<V> ? amount : kBits<V> - 1));
    } else {
      using Lane = std::conditional_t<sizeof(V) == 8, u64, u32>;
      const Lane shifted = static_cast<Lane>(a) >> (amount & (kBits<Lane> - 1));
      return amount < kBits<V> ? static_cast<V>(shifted) : V{0};
    }
  }
};

// `count` low ones; count may be the width or more.
template <class V>
WEFT_ALWAYS_INLINE V low_ones(u32 count) {
  return count >= kBits<V> ? static_cast<V>(~V{0}) : static_cast<V>((V{1} << (count & (kBits<V> - 1))) - 1);
}

// Bits of the field beyond the top of `a`, and above the field, are 0, or of a signed type the field's top
// bit; where the field passes the top of `a` that is the top bit of `a`.
struct Bfe {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a, u32 position, u32 length) {
    using U = std::make_unsigned_t<V>;
    const u32 pos = position & 0xff, len = length & 0xff;
    const auto bits = static_cast<U>(a);
    const U ones = low_ones<U>(len);
    const U field = pos < kBits<V> ? static_cast<U>((bits >> (pos & (kBits<V> - 1))) & ones) : U{0};
    if constexpr (std::is_signed_v<V>) {
      const u32 last = pos + len - 1;
      const u32 top = last < kBits<V> - 1 ? last : kBits<V> - 1;
      const bool sign = len != 0 && ((bits >> top) & 1) != 0;
      // Bits at and above min(len, width - pos) come from the sign.
      const u32 room = pos < kBits<V> ? kBits<V> - pos : 0;
      const U fill = static_cast<U>(~low_ones<U>(len < room ? len : room));
      return static_cast<V>(sign ? field | fill : field);
    } else {
      return field;
    }
  }
};
struct Bfi {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V inserted, V into, u32 position, u32 length) {
    const u32 pos = position & 0xff, len = length & 0xff;
    const V mask = pos < kBits<V> ? static_cast<V>(low_ones<V>(len) << (pos & (kBits<V> - 1))) : V{0};
    const V moved = inserted << (pos & (kBits<V> - 1));
    return (into & ~mask) | (moved & mask);
  }
};

struct Popc {
  template <class V>
  static WEFT_ALWAYS_INLINE u32 of(V a) {
    if constexpr (sizeof(V) == 8) {
      return Popc::of(static_cast<u32>(a)) + Popc::of(static_cast<u32>(a >> 32));
    } else {  // pairs, nibbles, bytes, and their sum: loops of it become vectors
      a -= (a >> 1) & 0x55555555u;
      a = (a & 0x33333333u) + ((a >> 2) & 0x33333333u);
      a = (a + (a >> 4)) & 0x0f0f0f0fu;
      return (a * 0x01010101u) >> 24;
    }
  }
};
struct Clz {
  template <class V>
  static WEFT_ALWAYS_INLINE u32 of(V a) {
    if (a == 0) return kBits<V>;
    if constexpr (sizeof(V) == 8) {
      return static_cast<u32>(__builtin_clzll(a));
    } else {
      return static_cast<u32>(__builtin_clz(a));
    }
  }
};
struct Brev {
  template <class V>
  static WEFT_ALWAYS_INLINE V of(V a) {
    constexpr V ones = ~V{0};
    a = ((a >> 1) & (ones / 3)) | ((a & (ones / 3)) << 1);
    a = ((a >> 2) & (ones / 5)) | ((a & (ones / 5)) << 2);
    a = ((a >> 4) & (ones / 17)) | ((a & (ones / 17)) << 4);
    if constexpr (sizeof(V) == 8) {
      return __builtin_bswap64(a);
    } else {
      return __builtin_bswap32(a);
    }
  }
};

template <class Op>
struct Shift {
  template <class V>
  LaneFunction make() const {
    return &apply<Op, V, V, u32>;
  }
};
struct Extract {
  template <class V>
  LaneFunction make() const {
    return &apply<Bfe, V, V, u32, u32>;
  }
};
struct Insert {
  template <class V>
  LaneFunction make() const {
    return &apply<Bfi, V, V, V, u32, u32>;
  }
};
template <class Op>
struct Count {
  template <class V>
  LaneFunction make() const {
    return &apply<Op, u32, V>;
  }
};

template <class V>
void select(Lanes& lanes) {
  using Cell = typename Port<V>::Cell;
  const Cell mask = lanes.predicate[2];
  const void *a = lanes.src[0], *b = lanes.src[1];
  alignas(64) Cell computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const V chosen = (mask & kBitTable<Cell>.bit[i]) != 0 ? read<V>(a, i) : read<V>(b, i);
    computed[i] = Port<V>::put(chosen);
  }
  commit(lanes.dst, computed, lanes.active);
}
struct Select {
  template <class V>
  LaneFunction make() const {
    return &select<V>;
  }
};

template <class Op, std::size_t... k>
void apply_predicate(Lanes& lanes) {
  lanes.result[0] = Op::of(lanes.predicate[k]...);
}

LaneFunction find_predicate(Opcode op) {
  switch (op) {
    case Opcode::kMov:
      return &apply_predicate<Copy, 0>;
    case Opcode::kNot:
      return &apply_predicate<Not, 0>;
    case Opcode::kAnd:
      return &apply_predicate<And, 0, 1>;
    case Opcode::kOr:
      return &apply_predicate<Or, 0, 1>;
    case Opcode::kXor:
      return &apply_predicate<Xor, 0, 1>;
    default:
      return nullptr;
  }
}

template <class Maker>
LaneFunction any_width(Type type, const Maker& maker) {
  return choose<u16, s16, u32, s32, u64, s64>(as_bits(type), maker);
}
template <class Maker>
LaneFunction untyped(Type type, const Maker& maker) {
  return choose<u16, u32, u64>(type, maker);
}

}  // namespace

LaneFunction find_bits(const Instruction& in) {
  if (in.type == Type::kPred) return find_predicate(in.op);
  switch (in.op) {
    case Opcode::kMov:
      return any_width(in.type, Unary<Copy>{});
    case Opcode::kSelp:
      return any_width(in.type, Select{});
    case Opcode::kCvta:
      return in.to_space ? choose<u32, u64>(in.type, Binary<SubWindow>{})
                         : choose<u32, u64>(in.type, Binary<AddWindow>{});
    case Opcode::kAnd:
      return untyped(in.type, Binary<And>{});
    case Opcode::kOr:
      return untyped(in.type, Binary<Or>{});
    case Opcode::kXor:
      return untyped(in.type, Binary<Xor>{});
    case Opcode::kNot:
      return untyped(in.type, Unary<Not>{});
    case Opcode::kCnot:
      return untyped(in.type, Unary<Cnot>{});
    case Opcode::kShl:
      return untyped(in.type, Shift<Shl>{});
    case Opcode::kShr:
      return any_width(in.type, Shift<Shr>{});
    case Opcode::kBfe:
      return choose<u32, s32, u64, s64>(in.type, Extract{});
    case Opcode::kBfi:
      return choose<u32, u64>(in.type, Insert{});
    case Opcode::kPopc:
      return choose<u32, u64>(in.type, Count<Popc>{});
    case Opcode::kClz:
      return choose<u32, u64>(in.type, Count<Clz>{});
    case Opcode::kBrev:
      return choose<u32, u64>(in.type, Unary<Brev>{});
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
