// What each instruction does to a set of 32 lanes.
//
// Registers are structure-of-arrays: an operand is a pointer to 32 lanes, 4 bytes each, or 8 bytes each for
// 64-bit types; 8- and 16-bit values live zero-extended or sign-extended in their 4 bytes (an instruction of
// a narrow type reads only the low bits and writes the value extended according to its own type). Predicates
// are masks of 32 bits, bit i = lane i. A function computes all its lanes and writes the active ones. It
// never allocates and never throws. Every function exists in a base version and one for x86-64-v3, chosen at
// run time; both give the same bits (no contraction of floating-point operations).
#ifndef WEFT_ISA_ISA_H
#define WEFT_ISA_ISA_H

#include <cstddef>
#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::isa {

inline constexpr unsigned kLanes = 32;

enum class InstructionSet : std::uint8_t { kBase, kX86_64_v3 };
InstructionSet
best_instruction_set();  // what this processor has; WEFT_ISA=base in the environment forces the base

struct Lanes {
  void* dst = nullptr;              // 32 lanes, may equal a source
  const void* src[4] = {};          // a, b, c, d (bfi has four operands)
  std::uint32_t predicate[3] = {};  // where operand a, b or c is a predicate: its mask, negation applied
  std::uint32_t active = 0;         // lanes to write
  std::uint32_t result[2] =
      {};                     // out: predicate results p and q (setp, and.pred ...); only active bits count
  std::uint32_t variant = 0;  // which of its instructions the kernel executes; LaneFunction sets it
};

using LaneKernel = void (*)(Lanes&);

// A kernel, and where it serves several instructions, which of them. Nothing is out of line here: this header
// is compiled for several instruction sets, and one copy would have to do for all.
class LaneFunction {
 public:
  constexpr LaneFunction() = default;
  // Implicit: to those who have one kernel for one instruction it is a pointer to a function.
  // NOLINTBEGIN(google-explicit-constructor)
  [[gnu::always_inline]] constexpr LaneFunction(std::nullptr_t) {}
  [[gnu::always_inline]] constexpr LaneFunction(LaneKernel kernel, std::uint32_t variant = 0)
      : kernel_(kernel), variant_(variant) {}
  // NOLINTEND(google-explicit-constructor)

  [[gnu::always_inline]] void operator()(Lanes& lanes) const {
    lanes.variant = variant_;
    kernel_(lanes);
  }
  [[gnu::always_inline]] friend constexpr bool operator==(const LaneFunction& function, std::nullptr_t) {
    return function.kernel_ == nullptr;
  }
  [[gnu::always_inline]] friend constexpr bool operator!=(const LaneFunction& function, std::nullptr_t) {
    return function.kernel_ != nullptr;
  }

 private:
  LaneKernel kernel_ = nullptr;
  std::uint32_t variant_ = 0;
};

// Across lanes (shfl, vote, match, redux, activemask, elect, bar.warp.sync): the 32 lanes are those of the
// original warp, `active` (not empty) are the threads that take part, and only their operands are looked at.
// The caller has gathered them; threads with different member masks are different calls. Predicates: vote
// gives result[0]; shfl, match.all and elect give result[1].

// From which lane a thread takes its value by a shuffle, and whether that lies in its segment; if not it
// keeps its own. From a lane inside that does not take part comes 0.
struct ShuffleSource {
  unsigned lane = 0;
  bool inside = false;
};
ShuffleSource shuffle_source(ptx::Mode mode, unsigned lane, std::uint32_t b, std::uint32_t c);

// The function of an arithmetic, logic, move, compare or conversion instruction, or nullptr if there is none
// (memory and control instructions, and what is not executable). cvta between generic and other spaces is
// done by adding or subtracting the window base: src[0] = address, src[1] = broadcast window base (prepared
// by the caller).
LaneFunction find(const ptx::Instruction& instruction, InstructionSet set = best_instruction_set());

// Memory: lane i accesses base + offset[i]. The caller has checked bounds and alignment.
// Loads write `vector` destinations (32 lanes each); narrow types are extended per type. Atomics are done
// lane by lane in ascending order; `dst` (may be nullptr) gets the old values.
struct MemoryLanes {
  std::uint8_t* base = nullptr;
  const std::uint64_t* offset = nullptr;  // 32 lanes
  std::uint32_t active = 0;
  void* dst[4] = {};        // load: destinations; atomic: dst[0]
  const void* src[4] = {};  // store: data; atomic: src[0] = b, src[1] = c
};
using MemoryFunction = void (*)(const MemoryLanes&);
// For kLd, kSt, kAtom, kRed; nullptr if the type or operation has none.
MemoryFunction find_memory(const ptx::Instruction& instruction, InstructionSet set = best_instruction_set());

// How register and immediate make an address. Spaces of 32-bit addresses (shared, local, parameters, and
// every space that a 32-bit register can name) know the sum modulo 2^32 and of a 64-bit register its low
// half, as the code does that ptxas makes; global, generic and constant addresses in 64-bit registers are
// sums modulo 2^64.
enum class AddressKind : std::uint8_t {
  kWide,    // 64-bit lanes, modulo 2^64
  kLow,     // 64-bit lanes, modulo 2^32
  kNarrow,  // 32-bit lanes, modulo 2^32
};
AddressKind address_kind(const ptx::Instruction& instruction);

// address[i] = base[i] + offset.
void addresses(const void* base, AddressKind kind, std::int64_t offset, std::uint64_t* address);

}  // namespace weft::isa

#endif
