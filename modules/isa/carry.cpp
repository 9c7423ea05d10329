// Extended precision: add, sub, mad with a carry in or out. PTX ISA 9.0, 9.7.2. The carry in is predicate 2,
// the carry out is predicate result 1; the addend of mad is operand 3.
//
// A subtraction adds the complement: sub is a + ~b + 1, subc is a + ~b + CC.CF, and CC.CF is the carry of
// that sum, which is set if nothing is borrowed. The manual calls CC.CF a borrow there. The two differ where
// chains mix additions and subtractions (sub.cc, then addc). Hardware keeps the carry, as two published
// measurements found: Stack Overflow, question 66403252, and ZLUDA's test subc_cc_s32 (vosen/ZLUDA, pull
// request 609).
#include "isa/kernels.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

__extension__ using s128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class V>
using Twice = std::conditional_t<sizeof(V) == 8, std::conditional_t<std::is_signed_v<V>, s128, u128>,
                                 std::conditional_t<std::is_signed_v<V>, s64, u64>>;

template <class U>
struct Sum {
  U value;
  bool carry;
};

template <class U>
WEFT_ALWAYS_INLINE Sum<U> add(U a, U b, U carry) {
  const U sum = a + b, value = sum + carry;
  return {value, sum < a || value < sum};
}

struct Add {
  static constexpr unsigned kFirstCarry = 0;  // of an instruction that reads none
  template <class V, class U>
  static WEFT_ALWAYS_INLINE Sum<U> of(const Lanes& lanes, unsigned i, U carry) {
    return add<U>(read<U>(lanes.src[0], i), read<U>(lanes.src[1], i), carry);
  }
};
struct Sub {
  static constexpr unsigned kFirstCarry = 1;
  template <class V, class U>
  static WEFT_ALWAYS_INLINE Sum<U> of(const Lanes& lanes, unsigned i, U carry) {
    return add<U>(read<U>(lanes.src[0], i), ~read<U>(lanes.src[1], i), carry);
  }
};
template <bool kHigh>
struct Mad {
  static constexpr unsigned kFirstCarry = 0;
  template <class V, class U>
  static WEFT_ALWAYS_INLINE Sum<U> of(const Lanes& lanes, unsigned i, U carry) {
    const auto a = static_cast<Twice<V>>(read<V>(lanes.src[0], i));
    const auto b = static_cast<Twice<V>>(read<V>(lanes.src[1], i));
    const auto product = static_cast<U>(kHigh ? (a * b) >> (8 * sizeof(V)) : a * b);
    return add<U>(product, read<U>(lanes.src[3], i), carry);
  }
};

template <class Op, class V, bool kCarryIn>
void with_carry(Lanes& lanes) {
  using U = std::make_unsigned_t<V>;
  const U in = lanes.predicate[2];
  U out = 0;
  alignas(64) U computed[kLanes];
  for (unsigned i = 0; i < kLanes; ++i) {
    const U carry = kCarryIn ? ((in & kBitTable<U>.bit[i]) != 0 ? 1 : 0) : Op::kFirstCarry;
    const Sum<U> sum = Op::template of<V, U>(lanes, i, carry);
    computed[i] = sum.value;
    out |= sum.carry ? kBitTable<U>.bit[i] : U{0};
  }
  commit(lanes.dst, computed, lanes.active);
  lanes.result[1] = static_cast<u32>(out);
}

template <class Op>
struct WithCarry {
  bool carry_in;
  template <class V>
  LaneFunction make() const {
    return carry_in ? &with_carry<Op, V, true> : &with_carry<Op, V, false>;
  }
};

template <class Op>
LaneFunction any_word(const Instruction& in, bool carry_in) {
  if (!in.carry_out && !carry_in) return nullptr;
  // Only the high half of a product depends on the sign.
  return choose<u32, s32, u64, s64>(in.type, WithCarry<Op>{carry_in});
}

}  // namespace

LaneFunction find_carry(const Instruction& in) {
  switch (in.op) {
    case Opcode::kAdd:
    case Opcode::kAddc:
      return any_word<Add>(in, in.op == Opcode::kAddc);
    case Opcode::kSub:
    case Opcode::kSubc:
      return any_word<Sub>(in, in.op == Opcode::kSubc);
    case Opcode::kMad:
    case Opcode::kMadc:
      if (in.width == Width::kLo) return any_word<Mad<false>>(in, in.op == Opcode::kMadc);
      return in.width == Width::kHi ? any_word<Mad<true>>(in, in.op == Opcode::kMadc) : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
