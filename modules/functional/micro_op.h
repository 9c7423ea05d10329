// An operation in the form in which the engine runs it: one cache line, operands as offsets or addresses, the
// guard and the kind decided once per launch.
#ifndef WEFT_FUNCTIONAL_MICRO_OP_H
#define WEFT_FUNCTIONAL_MICRO_OP_H

#include <array>
#include <cstdint>
#include <vector>

#include "execute/kernel.h"

namespace weft::functional {

struct alignas(64) MicroOp {
  enum class Kind : std::uint8_t {
    kArithmetic,  // register rows and constants in, a row out
    kPredicates,  // the same, with predicates among sources or results
    kExecutor,    // arithmetic with a clock among its sources: through execute::Executor
    kMemory,
    kBranch,
    kExit,
    kCall,     // to a known function
    kTargets,  // where every thread goes by itself: returns, indexed branches, calls through registers
    kSystem,   // the device runtime
    kBarrier,
    kWarp,     // across the lanes of a warp
    kControl,  // fences and others without effect here
  };

  isa::LaneFunction function = nullptr;  // kArithmetic, kPredicates
  // Operands a to d: bytes from the chunk's base where the bit of `rows` is set, else the address of 32
  // lanes.
  std::array<std::uintptr_t, 4> src{};
  std::int32_t dst = -1;    // bytes from the chunk's base, -1: none
  std::int16_t guard = -1;  // predicate number, -1: unguarded
  Kind kind = Kind::kControl;
  std::uint8_t rows = 0;
  std::uint8_t sources = 0;                   // how many of src are used
  std::array<std::int8_t, 2> result{-1, -1};  // kPredicates: predicate numbers below 128, -1: none
  bool guard_negated = false;
  bool absolute = false;                               // kMemory: no address base
  bool direct = false;                                 // kMemory: global, shared, constant or parameter space
  std::uint8_t data = 0;                               // kMemory: how many data operands may be used
  isa::AddressKind address = isa::AddressKind::kWide;  // kMemory

  // An offset in the chunk, or the address of a constant: one sum without a branch.
  const void* operand(unsigned i, const std::uint8_t* chunk) const {
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<const void*>(src[i] + (rows >> i & 1u) * reinterpret_cast<std::uintptr_t>(chunk));
  }
  // The operands for the lane function, of the chunk of registers that starts at `chunk`.
  void operands(std::uint8_t* chunk, isa::Lanes& lanes) const {
    for (unsigned i = 0; i < sources; ++i) lanes.src[i] = operand(i, chunk);
    lanes.dst = chunk + dst;
  }
};
static_assert(sizeof(MicroOp) == 64);

// Throws InputError, with the place, for an instruction that the engine does not execute.
void check(const ptx::Program& program);

// One per PC. They point into the kernel.
std::vector<MicroOp> micro_ops(const execute::Kernel& kernel);

}  // namespace weft::functional

#endif
