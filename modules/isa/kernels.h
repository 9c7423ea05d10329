// What the kernel sources share. They are compiled once per instruction set, each time into the namespace
// that WEFT_ISA_VERSION names; this header and they must not use inline functions of the standard library,
// whose one surviving copy could be the one compiled for the larger instruction set.
//
// A kernel is `apply<Op, R, A...>`: Op::of on 32 lanes, results of type R, operands of types A. It computes
// all lanes into a local array, so loops vectorise without alias checks and a destination may overlap its
// sources (mul.wide into the pair that holds its operand), and then writes the active ones.
#ifndef WEFT_ISA_KERNELS_H
#define WEFT_ISA_KERNELS_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "isa/isa.h"

#define WEFT_ALWAYS_INLINE inline __attribute__((always_inline))
#ifdef __clang__
#define WEFT_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace weft::isa::WEFT_ISA_VERSION {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;
using ptx::Width;

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

// Each source file answers for its opcodes; nullptr: none of ours, or a type that the opcode does not have.
LaneFunction find_integer(const Instruction& in);
LaneFunction find_bits(const Instruction& in);
LaneFunction find_float(const Instruction& in);
LaneFunction find_approximate(const Instruction& in);
LaneFunction find_approximate_half(const Instruction& in);  // ex2, tanh of f16, bf16 and pairs
LaneFunction find_permute(const Instruction& in);
LaneFunction find_sum(const Instruction& in);
LaneFunction find_video(const Instruction& in);
LaneFunction find_video_scalar(const Instruction& in);
LaneFunction find_carry(const Instruction& in);
LaneFunction find_compare(const Instruction& in);          // setp, set, testp
LaneFunction find_convert_integer(const Instruction& in);  // cvt to an integer from an integer
LaneFunction find_convert_float(const Instruction& in);    // cvt from or to f32 or f64, no halves
LaneFunction find_half(const Instruction& in);             // arithmetic on f16, bf16 and pairs
LaneFunction find_convert_half(const Instruction& in);
LaneFunction find_convert_small(const Instruction& in);  // formats of 8 bits and fewer, tf32
LaneFunction find_warp(const Instruction& in);           // shfl, vote, match, redux, activemask, elect
u32 add_halves(Type type, u32 a, u32 b);                 // for atomics
u32 extremum_halves(bool max, bool bf16, bool two, u32 a, u32 b);
MemoryFunction find_access(const Instruction& in);  // ld, st
MemoryFunction find_atomic(const Instruction& in);  // atom, red

template <class To, class From>
WEFT_ALWAYS_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// How a value of type A lies in a register: 4 bytes per lane, 8 for 64-bit types.
template <class A>
struct Port {
  using Value = A;
  using Cell = std::conditional_t<sizeof(A) == 8, u64, u32>;
  static WEFT_ALWAYS_INLINE Value get(Cell cell) {
    if constexpr (std::is_floating_point_v<A>) {
      return bit_cast<A>(cell);
    } else {
      return static_cast<A>(cell);
    }
  }
  static WEFT_ALWAYS_INLINE Cell put(Value value) {
    if constexpr (std::is_floating_point_v<A>) {
      return bit_cast<Cell>(value);
    } else {
      return static_cast<Cell>(static_cast<std::conditional_t<std::is_signed_v<A>, s64, u64>>(value));
    }
  }
};
// Register lanes are seen as integers and as floats.
template <class Cell>
using Aliased __attribute__((may_alias)) = Cell;

template <class A>
WEFT_ALWAYS_INLINE typename Port<A>::Value read(const void* lanes, unsigned i) {
  return Port<A>::get(static_cast<const Aliased<typename Port<A>::Cell>*>(lanes)[i]);
}

// bit_of<Cell>[i] = 1 << i: expands a mask, and gathers comparison results into one, with plain vector
// operations.
template <class Cell>
struct BitTable {
  Cell bit[kLanes];
};
template <class Cell>
constexpr BitTable<Cell> make_bit_table() {
  BitTable<Cell> table{};
  for (unsigned i = 0; i < kLanes; ++i) table.bit[i] = Cell{1} << i;
  return table;
}
template <class Cell>
inline constexpr BitTable<Cell> kBitTable = make_bit_table<Cell>();

// dst and computed do not overlap, which a caller knows and the compiler does not.
template <class Cell>
__attribute__((noinline)) void blend(void* dst, const Cell* computed, u32 active) {
  auto* out = static_cast<Aliased<Cell>*>(dst);
  const Cell mask = active;
  WEFT_INDEPENDENT_ITERATIONS
  for (unsigned i = 0; i < kLanes; ++i) {
    out[i] = (mask & kBitTable<Cell>.bit[i]) != 0 ? computed[i] : out[i];
  }
}

template <class Cell>
WEFT_ALWAYS_INLINE void commit(void* dst, const Cell (&computed)[kLanes], u32 active) {
  if (__builtin_expect(active == 0xffffffffu, 1)) {
    __builtin_memcpy(dst, computed, sizeof computed);
  } else {
    blend<Cell>(dst, computed, active);
  }
}

template <class Op, class R, class... A, std::size_t... k>
WEFT_ALWAYS_INLINE void apply_indexed(Lanes& lanes, std::index_sequence<k...>) {
  using Cell = typename Port<R>::Cell;
  alignas(64) Cell computed[kLanes];
  const void* const src[] = {lanes.src[k]...};
  for (unsigned i = 0; i < kLanes; ++i) computed[i] = Port<R>::put(Op::of(read<A>(src[k], i)...));
  commit(lanes.dst, computed, lanes.active);
}
template <class Op, class R, class... A>
void apply(Lanes& lanes) {
  apply_indexed<Op, R, A...>(lanes, std::index_sequence_for<A...>{});
}

// Which PTX types a C++ type stands for. Untyped bits are unsigned.
template <class V>
constexpr bool stands_for(Type type) {
  if constexpr (std::is_same_v<V, u8>) return type == Type::kU8 || type == Type::kB8;
  if constexpr (std::is_same_v<V, u16>) return type == Type::kU16 || type == Type::kB16;
  if constexpr (std::is_same_v<V, u32>) return type == Type::kU32 || type == Type::kB32;
  if constexpr (std::is_same_v<V, u64>) return type == Type::kU64 || type == Type::kB64;
  if constexpr (std::is_same_v<V, s8>) return type == Type::kS8;
  if constexpr (std::is_same_v<V, s16>) return type == Type::kS16;
  if constexpr (std::is_same_v<V, s32>) return type == Type::kS32;
  if constexpr (std::is_same_v<V, s64>) return type == Type::kS64;
  if constexpr (std::is_same_v<V, float>) return type == Type::kF32;
  if constexpr (std::is_same_v<V, double>) return type == Type::kF64;
  return false;
}

constexpr bool is_half(Type type) {
  return type >= Type::kF16 && type <= Type::kBf16x2;
}

// Formats of 8 bits and fewer, and tf32.
constexpr bool is_small(Type type) {
  return type >= Type::kTf32;
}

// The type as which plain copies treat a value: only its width and, for 16 bits, its extension matter.
constexpr Type as_bits(Type type) {
  if (type == Type::kF16 || type == Type::kBf16) return Type::kB16;
  if (type == Type::kF32 || type == Type::kF16x2 || type == Type::kBf16x2) return Type::kB32;
  return type == Type::kF64 ? Type::kB64 : type;
}

// choose<V...>(type, maker): maker.template make<V>() of the one V that stands for `type`, or nullptr.
template <class... V, class Maker>
auto choose(Type type, const Maker& maker) -> decltype(maker.template make<u32>()) {
  decltype(maker.template make<u32>()) found = nullptr;
  (void)((stands_for<V>(type) && ((found = maker.template make<V>()), true)) || ...);
  return found;
}

// The common makers: operands and result of one type.
template <class Op>
struct Unary {
  template <class V>
  LaneFunction make() const {
    return &apply<Op, V, V>;
  }
};
template <class Op>
struct Binary {
  template <class V>
  LaneFunction make() const {
    return &apply<Op, V, V, V>;
  }
};
template <class Op>
struct Ternary {
  template <class V>
  LaneFunction make() const {
    return &apply<Op, V, V, V, V>;
  }
};

}  // namespace weft::isa::WEFT_ISA_VERSION

#endif
