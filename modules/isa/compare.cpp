// setp, set, testp: comparisons of 32 lanes into a mask. PTX ISA, "Comparison and Selection Instructions": an
// ordered comparison with a NaN is false, an unordered one (equ, neu, ltu ...) true; p is the comparison
// combined with c, q the combination of its complement.
#include "isa/half.h"

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Combine;
using ptx::Compare;
using ptx::Mode;

namespace {

// What is computed; the other comparisons are these with operands exchanged, complemented, or both.
enum class Relation { kEq, kNe, kLt, kLe, kNum };

template <Relation kRelation, class V>
WEFT_ALWAYS_INLINE bool holds(V a, V b) {
  // ne is ordered for floats: a < b || a > b.
  if constexpr (kRelation == Relation::kEq) return a == b;
  if constexpr (kRelation == Relation::kNe) return (a < b) | (a > b);
  if constexpr (kRelation == Relation::kLt) return a < b;
  if constexpr (kRelation == Relation::kLe) return a <= b;
  if constexpr (kRelation == Relation::kNum) return (a == a) & (b == b);
}

// Operands of type V, of which a word has kParts; `shift` leads to one of two.
template <class V>
struct Operand {
  using Type = V;
  static constexpr unsigned kParts = 1;
  static WEFT_ALWAYS_INLINE V get(const void* lanes, unsigned i, unsigned) { return read<V>(lanes, i); }
};
// .ftz: subnormal operands are zeros; equality ignores the sign of zero, so the sign need not be kept.
struct Flushed {};
template <>
struct Operand<Flushed> {
  using Type = float;
  static constexpr unsigned kParts = 1;
  static WEFT_ALWAYS_INLINE float get(const void* lanes, unsigned i, unsigned) {
    const u32 bits = read<u32>(lanes, i);
    return bit_cast<float>((bits & 0x7f800000u) != 0 ? bits : 0u);
  }
};
// Halves are compared as floats.
template <class Format, bool kFtz = false>
struct Half {};
template <class Format, bool kFtz>
struct Operand<Half<Format, kFtz>> {
  using Type = float;
  static constexpr unsigned kParts = 2;
  static WEFT_ALWAYS_INLINE float get(const void* lanes, unsigned i, unsigned shift) {
    const u32 bits = (read<u32>(lanes, i) >> shift) & 0xffff;
    return Format::widen(kFtz ? flush_half<Format>(bits) : bits);
  }
};

// What set writes for true, by the type of its result; for false it is 0. kNothing: setp, which has no
// register.
enum Truth : u32 { kNothing, kOnes, kOnes16, kOneF16, kOneBf16, kOneF32 };
constexpr u32 kTrue[] = {0, 0xffffffffu, 0xffffu, F16::kOne, Bf16::kOne, 0x3f800000u};

// Lanes::variant of a comparison. What is not plain setp has a bit from kMore on.
constexpr u32 kExchanged = 1, kComplemented = 2, kTwo = 4, kMore = 8;
constexpr u32 kCombineShift = 3, kTruthShift = 8;
static_assert(kMore == 1u << kCombineShift && static_cast<u32>(Combine::kNone) == 0);

// Combines with c, and writes the register of set.
__attribute__((noinline)) void finish(Lanes& lanes) {
  const u32 c = lanes.predicate[2];
  for (u32& result : lanes.result) {
    switch (static_cast<Combine>((lanes.variant >> kCombineShift) & 0xf)) {
      case Combine::kAnd:
        result &= c;
        break;
      case Combine::kOr:
        result |= c;
        break;
      case Combine::kXor:
        result ^= c;
        break;
      case Combine::kNone:
        break;
    }
  }
  if (lanes.variant >> kTruthShift == kNothing) return;
  const u32 value = kTrue[lanes.variant >> kTruthShift];
  const u32 low = lanes.result[0], high = (lanes.variant & kTwo) != 0 ? lanes.result[1] : 0;
  alignas(64) u32 computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const u32 bit = kBitTable<u32>.bit[i];
    computed[i] = ((low & bit) != 0 ? value : 0) | ((high & bit) != 0 ? value << 16 : 0);
  }
  commit(lanes.dst, computed, lanes.active);
}

template <class V, Relation kRelation>
WEFT_ALWAYS_INLINE u32 compare_lanes(const void* a, const void* b, unsigned shift) {
  using Cell = typename Port<typename Operand<V>::Type>::Cell;
  Cell mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool held = holds<kRelation>(Operand<V>::get(a, i, shift), Operand<V>::get(b, i, shift));
    mask |= held ? kBitTable<Cell>.bit[i] : Cell{0};
  }
  return static_cast<u32>(mask);
}

// p and its complement q; of two halves p is the lower one's result and q the upper one's.
template <class V, Relation kRelation>
void compare(Lanes& lanes) {
  const u32 variant = lanes.variant, exchanged = variant & kExchanged;
  const u32 complement = (variant & kComplemented) != 0 ? 0xffffffffu : 0;
  const void *a = lanes.src[exchanged], *b = lanes.src[1 - exchanged];
  if constexpr (Operand<V>::kParts == 2) {
    const unsigned parts = (variant & kTwo) != 0 ? 2 : 1;
    for (unsigned part = 0; part < parts; ++part)
      lanes.result[part] = compare_lanes<V, kRelation>(a, b, 16 * part) ^ complement;
    if (parts == 1) lanes.result[1] = ~lanes.result[0];
  } else {
    const u32 p = compare_lanes<V, kRelation>(a, b, 0) ^ complement;
    lanes.result[0] = p;
    lanes.result[1] = ~p;
  }
  if (variant >= kMore) finish(lanes);
}

struct Wanted {
  Compare compare;
  u32 variant;  // without exchange and complement
};

template <class V, Relation kRelation>
LaneFunction found(const Wanted& wanted, u32 changes = 0) {
  return LaneFunction(&compare<V, kRelation>, wanted.variant | changes);
}

template <class V>
LaneFunction integer_set(const Wanted& wanted) {
  switch (wanted.compare) {
    case Compare::kEq:
      return found<std::make_unsigned_t<V>, Relation::kEq>(wanted);
    case Compare::kNe:
      return found<std::make_unsigned_t<V>, Relation::kEq>(wanted, kComplemented);
    case Compare::kLt:
      return found<V, Relation::kLt>(wanted);
    case Compare::kLe:
      return found<V, Relation::kLt>(wanted, kExchanged | kComplemented);
    case Compare::kGt:
      return found<V, Relation::kLt>(wanted, kExchanged);
    case Compare::kGe:
      return found<V, Relation::kLt>(wanted, kComplemented);
    default:
      return nullptr;
  }
}
template <class V>
LaneFunction float_set(const Wanted& wanted) {
  switch (wanted.compare) {
    case Compare::kEq:
      return found<V, Relation::kEq>(wanted);
    case Compare::kNe:
      return found<V, Relation::kNe>(wanted);
    case Compare::kLt:
      return found<V, Relation::kLt>(wanted);
    case Compare::kLe:
      return found<V, Relation::kLe>(wanted);
    case Compare::kGt:
      return found<V, Relation::kLt>(wanted, kExchanged);
    case Compare::kGe:
      return found<V, Relation::kLe>(wanted, kExchanged);
    case Compare::kEqu:
      return found<V, Relation::kNe>(wanted, kComplemented);
    case Compare::kNeu:
      return found<V, Relation::kEq>(wanted, kComplemented);
    case Compare::kLtu:
      return found<V, Relation::kLe>(wanted, kExchanged | kComplemented);
    case Compare::kLeu:
      return found<V, Relation::kLt>(wanted, kExchanged | kComplemented);
    case Compare::kGtu:
      return found<V, Relation::kLe>(wanted, kComplemented);
    case Compare::kGeu:
      return found<V, Relation::kLt>(wanted, kComplemented);
    case Compare::kNum:
      return found<V, Relation::kNum>(wanted);
    case Compare::kNan:
      return found<V, Relation::kNum>(wanted, kComplemented);
    default:
      return nullptr;
  }
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

// testp looks at exponent and fraction: it asks whether they lie between two numbers. Lanes::variant says
// which.
template <class Cell>
struct Range {
  Cell first, last;
  bool zero;  // zero is a further one
};
template <class Cell>
struct Ranges {
  static constexpr Cell kInfinity = sizeof(Cell) == 8 ? Cell(0x7ff0000000000000u) : Cell(0x7f800000u);
  static constexpr Cell kSmallest = Cell{1} << (sizeof(Cell) == 8 ? 52 : 23);  // normal
  static constexpr Range<Cell> kOf[] = {
      {0, kInfinity - 1, false},
      {kInfinity, kInfinity, false},
      {0, kInfinity, false},
      {kInfinity + 1, ~Cell{0}, false},
      {kSmallest, kInfinity - 1, true},  // PTX ISA, testp: zeros are
                                         // normal.
      {1, kSmallest - 1, false},
  };
};
constexpr Mode kTests[] = {Mode::kFinite,     Mode::kInfinite, Mode::kNumber,
                           Mode::kNotANumber, Mode::kNormal,   Mode::kSubnormal};

template <class V>
void test(Lanes& lanes) {
  using Cell = typename Port<V>::Cell;
  const Range<Cell>& range = Ranges<Cell>::kOf[lanes.variant];
  const Cell first = range.first, width = range.last - first, zero = range.zero ? 0 : ~Cell{0};
  const void* a = lanes.src[0];
  Cell mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const Cell x = read<Cell>(a, i) << 1 >> 1;
    const bool held = (x - first <= width) | (x == zero);
    mask |= held ? kBitTable<Cell>.bit[i] : Cell{0};
  }
  lanes.result[0] = static_cast<u32>(mask);
}
struct Test {
  u32 variant;
  template <class V>
  LaneFunction make() const {
    return LaneFunction(&test<V>, variant);
  }
};
LaneFunction find_test(const Instruction& in) {
  for (u32 i = 0; i < sizeof kTests / sizeof *kTests; ++i) {
    if (in.mode == kTests[i]) return choose<float, double>(in.type, Test{i});
  }
  return nullptr;
}

// kNothing: no such type of result for these operands. PTX ISA 9.0, 9.7.6.1 and 9.7.7.1.
Truth truth(Type result, Type operands) {
  const bool two = operands == Type::kF16x2 || operands == Type::kBf16x2;
  switch (result) {
    case Type::kU32:
    case Type::kS32:
      return two ? kOnes16 : kOnes;
    case Type::kU16:
      return operands == Type::kF16 || operands == Type::kBf16 ? kOnes16 : kNothing;
    case Type::kS16:
      return operands == Type::kF16 || operands == Type::kBf16 ? kOnes : kNothing;
    case Type::kF32:
      return is_half(operands) ? kNothing : kOneF32;
    case Type::kF16:
      return two ? kNothing : kOneF16;
    case Type::kBf16:
      return two ? kNothing : kOneBf16;
    case Type::kF16x2:
      return operands == Type::kF16x2 ? kOneF16 : kNothing;
    case Type::kBf16x2:
      return operands == Type::kBf16x2 ? kOneBf16 : kNothing;
    default:
      return kNothing;
  }
}

// isspacep: whether the address a lies in the window of shared memory, at b, or of local memory, at c, of d
// bytes each; what lies in neither is global memory.
template <ptx::Space kSpace>
void lies_in(Lanes& lanes) {
  u32 mask = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const u64 address = read<u64>(lanes.src[0], i);
    const u64 bytes = read<u64>(lanes.src[3], i);
    const bool shared = address - read<u64>(lanes.src[1], i) < bytes;
    const bool local = address - read<u64>(lanes.src[2], i) < bytes;
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
  const Truth value = in.op == Opcode::kSet ? truth(in.type, operands) : kNothing;
  if (in.op == Opcode::kSet && value == kNothing) return nullptr;
  const bool two = operands == Type::kF16x2 || operands == Type::kBf16x2;
  const Wanted wanted{plain_name(in.compare), (two ? kTwo : 0) |
                                                  static_cast<u32>(in.combine) << kCombineShift |
                                                  value << kTruthShift};
  switch (operands) {
    case Type::kF16:
    case Type::kF16x2:
      return in.ftz ? float_set<Half<F16, true>>(wanted) : float_set<Half<F16>>(wanted);
    case Type::kBf16:
    case Type::kBf16x2:
      return in.ftz ? nullptr : float_set<Half<Bf16>>(wanted);
    default:
      return choose<u16, s16, u32, s32, u64, s64, float, double>(operands, Set{wanted, in.ftz});
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
