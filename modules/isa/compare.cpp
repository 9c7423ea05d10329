// setp, set, testp: comparisons of 32 lanes into a mask. PTX ISA, "Comparison and Selection Instructions": an
// ordered comparison with a NaN is false, an unordered one (equ, neu, ltu ...) true; p is the comparison
// combined with c, q the combination of its complement.
#include "isa/address_windows.h"
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Combine;
using ptx::Compare;
using ptx::Mode;

namespace {

template <Compare kCompare, class V>
WEFT_ALWAYS_INLINE bool holds(V a, V b) {
  // ne is ordered for floats: a < b || a > b.
  if constexpr (kCompare == Compare::kEq) return a == b;
  if constexpr (kCompare == Compare::kNe) return (a < b) | (a > b);
  if constexpr (kCompare == Compare::kLt) return a < b;
  if constexpr (kCompare == Compare::kLe) return a <= b;
  if constexpr (kCompare == Compare::kGt) return a > b;
  if constexpr (kCompare == Compare::kGe) return a >= b;
  if constexpr (kCompare == Compare::kEqu) return !((a < b) | (a > b));
  if constexpr (kCompare == Compare::kNeu) return !(a == b);
  if constexpr (kCompare == Compare::kLtu) return !(a >= b);
  if constexpr (kCompare == Compare::kLeu) return !(a > b);
  if constexpr (kCompare == Compare::kGtu) return !(a <= b);
  if constexpr (kCompare == Compare::kGeu) return !(a < b);
  if constexpr (kCompare == Compare::kNum) return (a == a) & (b == b);
  if constexpr (kCompare == Compare::kNan) return (a != a) | (b != b);
}

// .ftz: subnormal operands are zeros; equality ignores the sign of zero, so the sign need not be kept.
struct Flushed {};
template <class V>
struct Operand {
  using Type = V;
  static WEFT_ALWAYS_INLINE V get(const void* lanes, unsigned i) { return read<V>(lanes, i); }
};
template <>
struct Operand<Flushed> {
  using Type = float;
  static WEFT_ALWAYS_INLINE float get(const void* lanes, unsigned i) {
    const u32 bits = read<u32>(lanes, i);
    return bit_cast<float>((bits & 0x7f800000u) != 0 ? bits : 0u);
  }
};

// Halves are compared as floats; kShift: which of two in a word.
template <class Format, bool kFtz = false, unsigned kShift = 0>
struct Half {};
template <class Format, bool kFtz, unsigned kShift>
struct Operand<Half<Format, kFtz, kShift>> {
  using Type = float;
  static WEFT_ALWAYS_INLINE float get(const void* lanes, unsigned i) {
    const u32 bits = (read<u32>(lanes, i) >> kShift) & 0xffff;
    return Format::widen(kFtz ? flush_half<Format>(bits) : bits);
  }
};
template <class Format, bool kFtz = false>
struct Two {};
template <class V>
inline constexpr bool kIsTwo = false;
template <class Format, bool kFtz>
inline constexpr bool kIsTwo<Two<Format, kFtz>> = true;

template <class V, Compare kCompare>
WEFT_ALWAYS_INLINE u32 compare_lanes(const Lanes& lanes) {
  using Cell = typename Port<typename Operand<V>::Type>::Cell;
  const void *a = lanes.src[0], *b = lanes.src[1];
  Cell mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool held = holds<kCompare>(Operand<V>::get(a, i), Operand<V>::get(b, i));
    mask |= held ? kBitTable<Cell>.bit[i] : Cell{0};
  }
  return static_cast<u32>(mask);
}

// p and its complement q; of two halves p is the lower one's result and q the upper one's.
template <class V, Compare kCompare>
struct Flags {
  static WEFT_ALWAYS_INLINE void set(Lanes& lanes) {
    const u32 p = compare_lanes<V, kCompare>(lanes);
    lanes.result[0] = p;
    lanes.result[1] = ~p;
  }
};
template <class Format, bool kFtz, Compare kCompare>
struct Flags<Two<Format, kFtz>, kCompare> {
  static WEFT_ALWAYS_INLINE void set(Lanes& lanes) {
    lanes.result[0] = compare_lanes<Half<Format, kFtz, 0>, kCompare>(lanes);
    lanes.result[1] = compare_lanes<Half<Format, kFtz, 16>, kCompare>(lanes);
  }
};
// Not inlined: combined and to_register have hundreds of instances, which call it.
template <class V, Compare kCompare>
__attribute__((noinline)) void set(Lanes& lanes) {
  Flags<V, kCompare>::set(lanes);
}

template <LaneFunction kSet, Combine kCombine>
void combined(Lanes& lanes) {
  kSet(lanes);
  const u32 c = lanes.predicate[2];
  for (u32& result : lanes.result) {
    if (kCombine == Combine::kAnd) result &= c;
    if (kCombine == Combine::kOr) result |= c;
    if (kCombine == Combine::kXor) result ^= c;
  }
}

// What set writes for true, by its type; for false it is 0. kPredicate: setp, which has no register.
constexpr u32 kPredicate = 0, kOnes = 0xffffffffu, kOnes16 = 0xffffu, kOneF32 = 0x3f800000u;

// Not inlined: the many instances of to_register are little more than a call of it.
__attribute__((noinline)) void write_flags(const Lanes& lanes, u32 value) {
  const u32 mask = lanes.result[0];
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) computed[i] = (mask & kBitTable<u32>.bit[i]) != 0 ? value : 0;
  commit(lanes.dst, computed, lanes.active);
}
__attribute__((noinline)) void write_both_flags(const Lanes& lanes, u32 value) {
  const u32 low = lanes.result[0], high = lanes.result[1];
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 bit = kBitTable<u32>.bit[i];
    computed[i] = ((low & bit) != 0 ? value : 0) | ((high & bit) != 0 ? value << 16 : 0);
  }
  commit(lanes.dst, computed, lanes.active);
}
template <LaneFunction kSet, bool kTwo, u32 kTrue>
void to_register(Lanes& lanes) {
  kSet(lanes);
  if (kTwo) {
    write_both_flags(lanes, kTrue);
  } else {
    write_flags(lanes, kTrue);
  }
}

struct Wanted {
  Compare compare;
  Combine combine;
  u32 value;  // for true
};

template <LaneFunction kSet, bool kTwo>
LaneFunction with_value(u32 value) {
  switch (value) {
    case kPredicate:
      return kSet;
    case kOnes:
      return &to_register < kSet, kTwo, kTwo ? kOnes16 : kOnes > ;
    case kOnes16:
      return &to_register<kSet, kTwo, kOnes16>;
    case F16::kOne:
      return &to_register<kSet, kTwo, F16::kOne>;
    case Bf16::kOne:
      return &to_register<kSet, kTwo, Bf16::kOne>;
    case kOneF32:
      return kTwo ? nullptr : &to_register<kSet, kTwo, kOneF32>;
    default:
      return nullptr;
  }
}

template <LaneFunction kSet, bool kTwo>
LaneFunction with_combine(const Wanted& wanted) {
  switch (wanted.combine) {
    case Combine::kAnd:
      return with_value<&combined<kSet, Combine::kAnd>, kTwo>(wanted.value);
    case Combine::kOr:
      return with_value<&combined<kSet, Combine::kOr>, kTwo>(wanted.value);
    case Combine::kXor:
      return with_value<&combined<kSet, Combine::kXor>, kTwo>(wanted.value);
    default:
      return with_value<kSet, kTwo>(wanted.value);
  }
}

// The one of kCompare... that was asked for.
template <class V, Compare... kCompare>
LaneFunction with_compare(const Wanted& wanted) {
  LaneFunction found = nullptr;
  (void)((wanted.compare == kCompare &&
          ((found = with_combine<&set<V, kCompare>, kIsTwo<V>>(wanted)), true)) ||
         ...);
  return found;
}

template <class V>
LaneFunction integer_set(const Wanted& wanted) {
  return with_compare<V, Compare::kEq, Compare::kNe, Compare::kLt, Compare::kLe, Compare::kGt, Compare::kGe>(
      wanted);
}
template <class V>
LaneFunction float_set(const Wanted& wanted) {
  return with_compare<V, Compare::kEq, Compare::kNe, Compare::kLt, Compare::kLe, Compare::kGt, Compare::kGe,
                      Compare::kEqu, Compare::kNeu, Compare::kLtu, Compare::kLeu, Compare::kGtu,
                      Compare::kGeu, Compare::kNum, Compare::kNan>(wanted);
}

struct Set {
  Wanted wanted;
  bool ftz;
  template <class V>
  LaneFunction make() const {
    if constexpr (std::is_same_v<V, float>) {
      return ftz ? float_set<Flushed>(wanted) : float_set<float>(wanted);
    } else if constexpr (std::is_floating_point_v<V>) {
      return float_set<V>(wanted);
    } else {
      return integer_set<V>(wanted);
    }
  }
};

// lo, ls, hi, hs are the unsigned names of lt, le, gt, ge.
Compare plain_name(Compare compare) {
  switch (compare) {
    case Compare::kLo:
      return Compare::kLt;
    case Compare::kLs:
      return Compare::kLe;
    case Compare::kHi:
      return Compare::kGt;
    case Compare::kHs:
      return Compare::kGe;
    default:
      return compare;
  }
}

// testp looks at the exponent and the fraction.
template <Mode kMode, class V>
void test(Lanes& lanes) {
  using Cell = typename Port<V>::Cell;
  constexpr unsigned kFraction = sizeof(V) == 8 ? 52 : 23;
  constexpr Cell kInfinity = sizeof(V) == 8 ? Cell(0x7ff0000000000000u) : Cell(0x7f800000u);
  constexpr Cell kSmallest = Cell{1} << kFraction;  // normal
  const void* a = lanes.src[0];
  Cell mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const Cell x = read<Cell>(a, i) << 1 >> 1;
    bool held = false;
    if constexpr (kMode == Mode::kFinite) held = x < kInfinity;
    if constexpr (kMode == Mode::kInfinite) held = x == kInfinity;
    if constexpr (kMode == Mode::kNumber) held = x <= kInfinity;
    if constexpr (kMode == Mode::kNotANumber) held = x > kInfinity;
    // PTX ISA, testp: zeros are normal.
    if constexpr (kMode == Mode::kNormal) held = (x == 0) | ((x >= kSmallest) & (x < kInfinity));
    if constexpr (kMode == Mode::kSubnormal) held = (x != 0) & (x < kSmallest);
    mask |= held ? kBitTable<Cell>.bit[i] : Cell{0};
  }
  lanes.result[0] = static_cast<u32>(mask);
}
template <Mode kMode>
struct Test {
  template <class V>
  LaneFunction make() const {
    return &test<kMode, V>;
  }
};
LaneFunction find_test(const Instruction& in) {
  switch (in.mode) {
    case Mode::kFinite:
      return choose<float, double>(in.type, Test<Mode::kFinite>{});
    case Mode::kInfinite:
      return choose<float, double>(in.type, Test<Mode::kInfinite>{});
    case Mode::kNumber:
      return choose<float, double>(in.type, Test<Mode::kNumber>{});
    case Mode::kNotANumber:
      return choose<float, double>(in.type, Test<Mode::kNotANumber>{});
    case Mode::kNormal:
      return choose<float, double>(in.type, Test<Mode::kNormal>{});
    case Mode::kSubnormal:
      return choose<float, double>(in.type, Test<Mode::kSubnormal>{});
    default:
      return nullptr;
  }
}

// What set writes for true; kPredicate: no such type of result for these operands. PTX ISA 9.0, 9.7.6.1
// and 9.7.7.1.
u32 true_value(Type result, Type operands) {
  const bool two = operands == Type::kF16x2 || operands == Type::kBf16x2;
  switch (result) {
    case Type::kU32:
    case Type::kS32:
      return kOnes;
    case Type::kU16:
      return operands == Type::kF16 || operands == Type::kBf16 ? kOnes16 : kPredicate;
    case Type::kS16:
      return operands == Type::kF16 || operands == Type::kBf16 ? kOnes : kPredicate;
    case Type::kF32:
      return is_half(operands) ? kPredicate : kOneF32;
    case Type::kF16:
      return two ? kPredicate : F16::kOne;
    case Type::kBf16:
      return two ? kPredicate : Bf16::kOne;
    case Type::kF16x2:
      return operands == Type::kF16x2 ? F16::kOne : kPredicate;
    case Type::kBf16x2:
      return operands == Type::kBf16x2 ? Bf16::kOne : kPredicate;
    default:
      return kPredicate;
  }
}

// isspacep: what lies in neither window is global memory.
template <ptx::Space kSpace>
void lies_in(Lanes& lanes) {
  u32 mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const u64 address = read<u64>(lanes.src[0], i);
    const bool shared = address - kSharedWindow < kWindowBytes, local = address - kLocalWindow < kWindowBytes;
    const bool held = kSpace == ptx::Space::kShared  ? shared
                      : kSpace == ptx::Space::kLocal ? local
                                                     : !shared && !local;
    mask |= static_cast<u32>(held) << i;
  }
  lanes.result[0] = mask;
}
LaneFunction find_space(const Instruction& in) {
  if (in.type != Type::kU64) return nullptr;
  switch (in.space) {
    case ptx::Space::kGlobal:
      return &lies_in<ptx::Space::kGlobal>;
    case ptx::Space::kShared:
      return &lies_in<ptx::Space::kShared>;
    case ptx::Space::kLocal:
      return &lies_in<ptx::Space::kLocal>;
    default:
      return nullptr;
  }
}

}  // namespace

LaneFunction find_compare(const Instruction& in) {
  if (in.op == Opcode::kIsspacep) return find_space(in);
  if (in.op == Opcode::kTestp) return find_test(in);
  const Type operands = in.op == Opcode::kSet ? in.from : in.type;
  const u32 value = in.op == Opcode::kSet ? true_value(in.type, operands) : kPredicate;
  if (in.op == Opcode::kSet && value == kPredicate) return nullptr;
  const Wanted wanted{plain_name(in.compare), in.combine, value};
  switch (operands) {
    case Type::kF16:
      return in.ftz ? float_set<Half<F16, true>>(wanted) : float_set<Half<F16>>(wanted);
    case Type::kF16x2:
      return in.ftz ? float_set<Two<F16, true>>(wanted) : float_set<Two<F16>>(wanted);
    case Type::kBf16:
      return in.ftz ? nullptr : float_set<Half<Bf16>>(wanted);
    case Type::kBf16x2:
      return in.ftz ? nullptr : float_set<Two<Bf16>>(wanted);
    default:
      return choose<u16, s16, u32, s32, u64, s64, float, double>(operands, Set{wanted, in.ftz});
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
