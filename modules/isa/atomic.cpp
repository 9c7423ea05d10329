// atom and red, lane by lane in ascending order. PTX ISA, "atom": inc and dec wrap at b; f32 addition flushes
// subnormals except in shared memory.
#include "isa/floating.h"

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Atomic;

namespace {

struct Add {
  template <class V>
  static V of(V old, V b, V) {
    return static_cast<V>(static_cast<std::make_unsigned_t<V>>(old) +
                          static_cast<std::make_unsigned_t<V>>(b));
  }
};
template <bool kFtz>
struct AddFloat {
  static float of(float old, float b, float) {
    return kFtz ? canonical(flush(flush(old) + flush(b))) : canonical(old + b);
  }
  static double of(double old, double b, double) { return propagate(old + b, old, b); }
};
struct Min {
  template <class V>
  static V of(V old, V b, V) {
    return b < old ? b : old;
  }
};
struct Max {
  template <class V>
  static V of(V old, V b, V) {
    return b > old ? b : old;
  }
};
struct Inc {
  template <class V>
  static V of(V old, V b, V) {
    return old >= b ? V{0} : old + 1;
  }
};
struct Dec {
  template <class V>
  static V of(V old, V b, V) {
    return old == 0 || old > b ? b : old - 1;
  }
};
struct Exch {
  template <class V>
  static V of(V, V b, V) {
    return b;
  }
};
struct Cas {
  template <class V>
  static V of(V old, V b, V c) {
    return old == b ? c : old;
  }
};
struct And {
  template <class V>
  static V of(V old, V b, V) {
    return old & b;
  }
};
struct Or {
  template <class V>
  static V of(V old, V b, V) {
    return old | b;
  }
};
struct Xor {
  template <class V>
  static V of(V old, V b, V) {
    return old ^ b;
  }
};

template <class Op, class V>
void update(const MemoryLanes& lanes) {
  using Cell = typename Port<V>::Cell;
  for (u32 left = lanes.active; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    u8* p = lanes.base + lanes.offset[i];
    Cell old;
    __builtin_memcpy(&old, p, sizeof old);
    const V b = read<V>(lanes.src[0], i);
    const V c = std::is_same_v<Op, Cas> ? read<V>(lanes.src[1], i) : V{};
    const Cell updated = Port<V>::put(Op::of(Port<V>::get(old), b, c));
    __builtin_memcpy(p, &updated, sizeof updated);
    if (lanes.dst[0] != nullptr) static_cast<Aliased<Cell>*>(lanes.dst[0])[i] = old;
  }
}

// min and max of 16-bit floats, as the instructions of that name: a number wins over a NaN, -0 is less than
// +0.
template <bool kMax, bool kBf16, class Memory>
void extremum_of_halves(const MemoryLanes& lanes) {
  for (u32 left = lanes.active; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    u8* p = lanes.base + lanes.offset[i];
    Memory old;
    __builtin_memcpy(&old, p, sizeof old);
    const auto updated = static_cast<Memory>(
        extremum_halves(kMax, kBf16, sizeof(Memory) == 4, old, read<u32>(lanes.src[0], i)));
    __builtin_memcpy(p, &updated, sizeof updated);
    if (lanes.dst[0] != nullptr) static_cast<Aliased<u32>*>(lanes.dst[0])[i] = old;
  }
}
template <bool kMax>
MemoryFunction find_extremum_of_halves(Type type) {
  switch (type) {
    case Type::kF16:
      return &extremum_of_halves<kMax, false, u16>;
    case Type::kBf16:
      return &extremum_of_halves<kMax, true, u16>;
    case Type::kF16x2:
      return &extremum_of_halves<kMax, false, u32>;
    default:
      return &extremum_of_halves<kMax, true, u32>;
  }
}

template <Type kType, class Memory>
void add_to_halves(const MemoryLanes& lanes) {
  for (u32 left = lanes.active; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    u8* p = lanes.base + lanes.offset[i];
    Memory old;
    __builtin_memcpy(&old, p, sizeof old);
    const auto updated = static_cast<Memory>(add_halves(kType, old, read<u32>(lanes.src[0], i)));
    __builtin_memcpy(p, &updated, sizeof updated);
    if (lanes.dst[0] != nullptr) static_cast<Aliased<u32>*>(lanes.dst[0])[i] = old;
  }
}

void compare_and_swap_short(const MemoryLanes& lanes) {
  for (u32 left = lanes.active; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(__builtin_ctz(left));
    u8* p = lanes.base + lanes.offset[i];
    u16 old;
    __builtin_memcpy(&old, p, sizeof old);
    const u16 updated = Cas::of(old, read<u16>(lanes.src[0], i), read<u16>(lanes.src[1], i));
    __builtin_memcpy(p, &updated, sizeof updated);
    if (lanes.dst[0] != nullptr) static_cast<Aliased<u32>*>(lanes.dst[0])[i] = old;
  }
}

template <class Op>
struct Update {
  template <class V>
  MemoryFunction make() const {
    return &update<Op, V>;
  }
};

}  // namespace

MemoryFunction find_atomic(const Instruction& in) {
  switch (in.atomic) {
    case Atomic::kAdd:
      if (in.type == Type::kF32 && in.space != ptx::Space::kShared) return &update<AddFloat<true>, float>;
      if (in.type == Type::kF32 || in.type == Type::kF64) {
        return choose<float, double>(in.type, Update<AddFloat<false>>{});
      }
      if (in.type == Type::kF16) return &add_to_halves<Type::kF16, u16>;
      if (in.type == Type::kBf16) return &add_to_halves<Type::kBf16, u16>;
      if (in.type == Type::kF16x2) return &add_to_halves<Type::kF16x2, u32>;
      if (in.type == Type::kBf16x2) return &add_to_halves<Type::kBf16x2, u32>;
      return choose<u32, s32, u64, s64>(in.type, Update<Add>{});
    case Atomic::kMin:
      if (is_half(in.type)) return find_extremum_of_halves<false>(in.type);
      return choose<u32, s32, u64, s64>(in.type, Update<Min>{});
    case Atomic::kMax:
      if (is_half(in.type)) return find_extremum_of_halves<true>(in.type);
      return choose<u32, s32, u64, s64>(in.type, Update<Max>{});
    case Atomic::kInc:
      return choose<u32>(in.type, Update<Inc>{});
    case Atomic::kDec:
      return choose<u32>(in.type, Update<Dec>{});
    case Atomic::kExch:
      return choose<u32, u64>(as_bits(in.type), Update<Exch>{});
    case Atomic::kCas:
      if (in.type == Type::kB16) return &compare_and_swap_short;
      return choose<u32, u64>(as_bits(in.type), Update<Cas>{});
    case Atomic::kAnd:
      return choose<u32, u64>(in.type, Update<And>{});
    case Atomic::kOr:
      return choose<u32, u64>(in.type, Update<Or>{});
    case Atomic::kXor:
      return choose<u32, u64>(in.type, Update<Xor>{});
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
