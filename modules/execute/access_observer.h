// Who watches what the threads of a kernel do to memory, before they do it: the checks of `weft run --check`.
//
// The SMs and the functional engine call the same observer. Without one they test a pointer per memory
// instruction and nothing else.
#ifndef WEFT_EXECUTE_ACCESS_OBSERVER_H
#define WEFT_EXECUTE_ACCESS_OBSERVER_H

#include <array>
#include <cstdint>
#include <string>

#include "execute/access.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "weft/ptx/program.h"

namespace weft::execute {

// An access of up to 32 threads in one space, which is never kGeneric.
struct ObservedAccess : Access {
  enum class Kind : std::uint8_t { kLoad, kStore, kAtomic };

  ObservedAccess(const Access& access, Kind k, const Kernel* of, unsigned on_sm, std::uint32_t each,
                 const std::uint8_t* behind, const std::uint32_t* rows)
      : Access(access), kind(k), kernel(of), sm(on_sm), bytes(each), memory(behind), registers(rows) {}

  Kind kind;
  const Kernel* kernel;
  unsigned sm;
  std::uint32_t bytes;             // of each thread: a power of two up to 16
  const std::uint8_t* memory;      // device memory; kShared: the block's shared memory
  const std::uint32_t* registers;  // of the chunk: operands of stores are at Source::offset
};

// Threads that read by a shuffle from threads that do not take part in it.
struct ObservedShuffle {
  const Kernel* kernel = nullptr;
  ptx::Pc pc = 0;
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;      // of the SM's positions
  std::uint32_t mask = 0;  // threads that read so
  // By lane: the lane that it reads.
  std::array<std::uint8_t, isa::kLanes> from{};
  // The members that the instruction names; without .sync it names none.
  bool names_members = false;
  std::uint32_t members = 0;
};

// Threads that execute a warp-level primitive without members that live.
struct ObservedAbsence {
  const Kernel* kernel = nullptr;
  ptx::Pc pc = 0;
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;         // of the SM's positions
  std::uint32_t mask = 0;     // threads that execute it
  std::uint32_t members = 0;  // that it names
  std::uint32_t absent = 0;   // of those, who waits for threads that execute it
};

// Threads that execute a fence (membar, fence), or cp.async.commit_group, .wait_group or .wait_all.
struct ObservedOrder {
  const Kernel* kernel = nullptr;
  ptx::Pc pc = 0;
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;      // of the SM's positions
  std::uint32_t mask = 0;  // threads that execute it
};

// Threads that arrive at a block barrier.
struct ObservedArrival {
  const Kernel* kernel = nullptr;
  ptx::Pc pc = 0;
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;      // of the SM's positions
  std::uint32_t mask = 0;  // threads that arrive
  unsigned barrier = 0;
};

// An instruction of an SM, for threads of one chunk.
struct ObservedInstruction {
  const Kernel* kernel = nullptr;
  ptx::Pc pc = 0;
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;                     // of the SM's positions
  std::uint32_t mask = 0, executing = 0;  // threads of the issue; those whose guard holds
  RegisterFile* registers = nullptr;
};

// Whether the instruction is shown by `ordered`.
inline bool orders(const ptx::Instruction& in) {
  return in.op == ptx::Opcode::kMembar || in.op == ptx::Opcode::kCopyCommit ||
         in.op == ptx::Opcode::kCopyWait;
}

class AccessObserver {
 public:
  virtual ~AccessObserver() = default;

  // Whether instructions of SMs are shown at all. May not change.
  virtual bool sees_instructions() const { return false; }
  // Before its operands are read, and when its results are in the registers.
  virtual void instruction_starts(const ObservedInstruction& /*instruction*/) {}
  virtual void instruction_done(const ObservedInstruction& /*instruction*/) {}

  // A launch begins on `sms` SMs; nothing of the one before is left.
  virtual void kernel_started(const Kernel& kernel, unsigned sms) = 0;
  virtual void block_started(unsigned sm, const ResidentBlock& block) = 0;
  // Returns the threads of `access.mask` that may go on; the others skip the instruction.
  virtual std::uint32_t access(const ObservedAccess& access) = 0;
  // Before the shuffle executes.
  virtual void shuffle_from_outside(const ObservedShuffle& shuffle) = 0;
  // Before the primitive executes, once for each place that its threads have come from.
  virtual void members_absent(const ObservedAbsence& /*absence*/) {}
  // A function of the device runtime has written its result into the thread's local memory.
  virtual void result_written(unsigned sm, const ResidentBlock& block, unsigned chunk, unsigned lane,
                              std::uint64_t offset, std::uint64_t bytes) = 0;
  // Why the launch has to end now; empty: it need not.
  virtual const std::string& stop_reason() const = 0;

  // A thread is about to call malloc.
  virtual void allocates(const Kernel& /*kernel*/, ptx::Pc /*pc*/) {}
  // Accesses of the threads are put in order with each other, or their copies waited for.
  virtual void ordered(const ObservedOrder& /*order*/) {}
  // From which instruction threads come to a block barrier, before barrier_arrived.
  virtual void barrier_reached(const ObservedArrival& /*arrival*/) {}
  // Threads arrive at a block barrier; `waits`: until it is released (bar.sync), else they go on
  // (bar.arrive).
  virtual void barrier_arrived(unsigned sm, const ResidentBlock& block, unsigned barrier, unsigned chunk,
                               std::uint32_t mask, bool waits) = 0;
  // The barrier opens; `whole`: it was for all threads of the block that have not exited, without a count.
  virtual void barrier_released(unsigned sm, const ResidentBlock& block, unsigned barrier, bool whole) = 0;
  // Threads of one warp have synchronised with each other (bar.warp.sync).
  virtual void warp_synchronised(unsigned sm, const ResidentBlock& block, unsigned chunk,
                                 std::uint32_t mask) = 0;
};

}  // namespace weft::execute

#endif
