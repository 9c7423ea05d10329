// Executes instructions on the threads of one SM: registers, shared memory, and the image of device memory.
//
// Function only; time is the business of the units and the load-store unit. A memory instruction leaves
// behind the addresses that its lanes touched, for the coalescer and the bank-conflict logic.
//
//   executor.start_kernel(kernel, memory);
//   executor.start_block(block);
//   executor.arithmetic(op, groups, cycle);
//   if (!executor.memory(op, pc, groups, block)) stop(executor.fault());
//
// This is the front only: each kind of instruction is a class of its own.
#ifndef WEFT_EXECUTE_EXECUTOR_H
#define WEFT_EXECUTE_EXECUTOR_H

#include <cstdint>
#include <string>

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/address_spaces.h"
#include "execute/arithmetic.h"
#include "execute/calls.h"
#include "execute/copy_instructions.h"
#include "execute/device_calls.h"
#include "execute/faults.h"
#include "execute/image_instructions.h"
#include "execute/memory_instructions.h"
#include "execute/operands.h"
#include "execute/system_accesses.h"
#include "execute/warp_primitives.h"
#include "execute/watch.h"

namespace weft::execute {

class Executor {
 public:
  Executor(const machine::SmConfig& config, unsigned sm, double core_megahertz, RegisterFile& registers);
  Executor(const Executor&) = delete;  // its parts refer to each other
  Executor& operator=(const Executor&) = delete;

  // Nothing is left of the kernel before but the observer.
  void start_kernel(const Kernel& kernel, const DeviceMemoryView& memory);
  // Fills the special registers of the block's threads and clears its shared memory.
  void start_block(const ResidentBlock& block);
  // No kernel. Registers stay as they are.
  void reset();
  // Shows every access to `observer` before it happens; nullptr: to nobody.
  void observe(AccessObserver* observer) { watch_.set(observer); }
  bool is_observed() const { return watch_.on(); }

  // Threads of `group` whose guard holds.
  std::uint32_t guarded(const ptx::Instruction& in, const warp_formation::ThreadGroup& group) const {
    return operands_.guarded(in, group);
  }
  // 32 lanes of a 32-bit operand; nullptr: there is none.
  const std::uint32_t* words_of(const Source& source, unsigned chunk) const {
    return operands_.words_of(source, chunk);
  }
  std::uint32_t predicates_of(const Source& source, unsigned chunk) const {
    return operands_.predicates_of(source, chunk);
  }

  // `cycle`: the core cycle, for %clock.
  void arithmetic(const Operation& op, const warp_formation::Groups& groups, std::uint64_t cycle) {
    arithmetic_.run(op, groups, cycle);
  }

  // A scalar instruction, for threads of one warp: the first whose guard holds executes it, and what it
  // writes is written for all positions of the warp.
  void arithmetic_once(const Operation& op, const warp_formation::ThreadGroup& group, std::uint32_t warp,
                       std::uint64_t cycle);
  bool memory_once(const Operation& op, ptx::Pc pc, const warp_formation::ThreadGroup& group,
                   std::uint32_t warp, const ResidentBlock& block);

  // Reads or writes memory for all groups. `accesses()` then says where. False: a fault, explained by
  // `fault()`.
  bool memory(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
              const ResidentBlock& block);
  const LaneAccess* accesses() const { return record_.data(); }
  unsigned access_count() const { return record_.count(); }
  // Threads of group g of the last memory() that the observer kept from their access.
  std::uint32_t refused(unsigned g) const { return watch_.refused(g); }
  // Of accesses to system memory, whose bytes transactions move (SystemAccesses). `warp`: of a scalar
  // instruction, all positions of its warp.
  void capture(const Operation& op, SystemLanes& lanes) const { system_.capture(op, lanes); }
  void transfer(const Operation& op, const SystemLanes& lanes, std::uint32_t mask, std::uint8_t* bytes,
                std::uint32_t warp = 0) const {
    system_.transfer(op, lanes, mask, bytes);
    if (warp != 0) {
      operands_.broadcast(op, lanes.chunk, static_cast<unsigned>(__builtin_ctz(lanes.mask)), warp);
    }
  }

  // Where a space lies, and byte 0 of its recorded addresses (AddressSpaces).
  AddressSpaces::Region region(ptx::Space space, const ResidentBlock& block) {
    return spaces_.region(space, block);
  }
  const std::uint8_t* bytes_of(ptx::Space space, const ResidentBlock& block) const {
    return spaces_.bytes_of(space, block);
  }

  // The host's bytes behind one aligned word, or part of it, at a thread's generic address, for a debugger;
  // nullptr: there is no memory of the GPU.
  std::uint8_t* word_at(std::uint64_t address, unsigned bytes, const ResidentBlock& block, unsigned chunk,
                        unsigned lane) {
    return spaces_.word_at(address, bytes, {block, chunk, lane});
  }

  // A call leaves its way back in the link register.
  void link(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask) const {
    calls_.link(op, pc, chunk, mask);
  }
  // Where a thread goes by a return, an indexed branch or a call through a register. kNoPc: nowhere, a fault
  // that `fault()` explains.
  ptx::Pc target(const Operation& op, ptx::Pc pc, unsigned chunk, unsigned lane,
                 const ResidentBlock& block) const {
    return calls_.target(*kernel_, {op, block, pc, chunk, 0, 1u << lane}, lane);
  }
  // A kSystem instruction for the threads of the mask, in ascending order. False: a fault, or the end of the
  // kernel that the program asked for.
  bool system(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
              const ResidentBlock& block) {
    return device_calls_.run({op, block, pc, chunk, 0, mask});
  }
  // A warp-level primitive for all its participants in a chunk, which came from `count` places. False: the
  // observer wants the launch to end.
  bool across_lanes(const Participants* parts, unsigned count, unsigned chunk, const ResidentBlock& block) {
    primitives_.run(parts, count, chunk, block);
    return watch_.goes_on();
  }
  // The result of bar.red for these lanes: `votes` of `threads` predicates were true.
  void barrier_result(const Operation& op, unsigned chunk, std::uint32_t lanes, std::uint32_t votes,
                      std::uint32_t threads) const {
    primitives_.barrier_result(op, chunk, lanes, votes, threads);
  }

  // How often the kernel has used what is neither its registers nor its memory: a clock, system memory, the
  // device runtime, a surface.
  std::uint64_t outside_uses() const {
    return arithmetic_.clock_reads() + memory_.system_uses() + device_calls_.count() + images_.surface_uses();
  }
  const Fault& fault() const { return faults_.fault(); }
  // Threads in words, for messages (Faults).
  std::string thread_name(const ResidentBlock& block, unsigned chunk, unsigned lane) const {
    return faults_.thread_name(block, chunk, lane);
  }
  std::string place_name(ptx::Pc pc, unsigned chunk, unsigned lane, const ResidentBlock& block) const {
    return faults_.place_name(pc, chunk, lane, block);
  }
  Fault fault_at(FaultKind kind, const Faults::Place& place, const std::string& what) const {
    return faults_.at(kind, place, what);
  }

 private:
  warp_formation::ThreadGroup first_of(const ptx::Instruction& in,
                                       const warp_formation::ThreadGroup& group) const;

  const machine::SmConfig& config_;
  const unsigned sm_;
  RegisterFile& registers_;
  const Kernel* kernel_ = nullptr;
  Operands operands_;
  AddressSpaces spaces_;
  Faults faults_;
  AccessRecord record_;
  Watch watch_;
  Arithmetic arithmetic_;
  SystemAccesses system_;
  MemoryInstructions memory_;
  CopyInstructions copies_;
  ImageInstructions images_;
  WarpPrimitives primitives_;
  Calls calls_;
  DeviceCalls device_calls_;
};

}  // namespace weft::execute

#endif
