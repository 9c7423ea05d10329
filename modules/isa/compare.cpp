// setp: comparisons of 32 lanes into a mask. PTX ISA, "Comparison and Selection Instructions": an ordered
// comparison with a NaN is false, an unordered one (equ, neu, ltu ...) true; p is the comparison combined
// with c, q the combination of its complement.
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Combine;
using ptx::Compare;

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

template <class V, Compare kCompare>
void set(Lanes& lanes) {
  const u32 p = compare_lanes<V, kCompare>(lanes);
  lanes.result[0] = p;
  lanes.result[1] = ~p;
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

template <LaneFunction kSet>
LaneFunction with_combine(Combine combine) {
  switch (combine) {
    case Combine::kAnd:
      return &combined<kSet, Combine::kAnd>;
    case Combine::kOr:
      return &combined<kSet, Combine::kOr>;
    case Combine::kXor:
      return &combined<kSet, Combine::kXor>;
    default:
      return kSet;
  }
}

// The one of kCompare... that was asked for.
template <class V, Compare... kCompare>
LaneFunction with_compare(Compare compare, Combine combine) {
  LaneFunction found = nullptr;
  (void)((compare == kCompare && ((found = with_combine<&set<V, kCompare>>(combine)), true)) || ...);
  return found;
}

template <class V>
LaneFunction integer_set(Compare compare, Combine combine) {
  return with_compare<V, Compare::kEq, Compare::kNe, Compare::kLt, Compare::kLe, Compare::kGt, Compare::kGe>(
      compare, combine);
}
template <class V>
LaneFunction float_set(Compare compare, Combine combine) {
  return with_compare<V, Compare::kEq, Compare::kNe, Compare::kLt, Compare::kLe, Compare::kGt, Compare::kGe,
                      Compare::kEqu, Compare::kNeu, Compare::kLtu, Compare::kLeu, Compare::kGtu,
                      Compare::kGeu, Compare::kNum, Compare::kNan>(compare, combine);
}

struct Set {
  Compare compare;
  Combine combine;
  bool ftz;
  template <class V>
  LaneFunction make() const {
    if constexpr (std::is_same_v<V, float>) {
      return ftz ? float_set<Flushed>(compare, combine) : float_set<float>(compare, combine);
    } else if constexpr (std::is_floating_point_v<V>) {
      return float_set<V>(compare, combine);
    } else {
      return integer_set<V>(compare, combine);
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

}  // namespace

LaneFunction find_compare(const Instruction& in) {
  const Set set_of{plain_name(in.compare), in.combine, in.ftz};
  return choose<u16, s16, u32, s32, u64, s64, float, double>(in.type, set_of);
}

}  // namespace weft::isa::WEFT_ISA_VERSION
