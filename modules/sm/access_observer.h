// Who watches what the threads of a kernel do to memory, before they do it: the checks of `weft run --check`.
//
// The SMs and the functional engine call the same observer. Without one they test a pointer per memory
// instruction and nothing else.
#ifndef WEFT_SM_ACCESS_OBSERVER_H
#define WEFT_SM_ACCESS_OBSERVER_H

#include <array>
#include <cstdint>
#include <string>

#include "ptx/program.h"
#include "sm/kernel.h"

namespace weft::sm {

struct ResidentBlock;

// One access of up to 32 threads in one space.
struct ObservedAccess {
  enum class Kind : std::uint8_t { kLoad, kStore, kAtomic };
  Kind kind = Kind::kLoad;
  const Kernel* kernel = nullptr;
  const Operation* operation = nullptr;
  ptx::Pc pc = 0;
  ptx::Space space = ptx::Space::kGlobal;  // never kGeneric
  unsigned sm = 0;
  const ResidentBlock* block = nullptr;
  unsigned chunk = 0;       // of the SM's positions
  std::uint32_t mask = 0;   // threads that access
  std::uint32_t bytes = 0;  // of each thread: a power of two up to 16
  // 32 lanes; kShared, kLocal, kParam: offsets in the block's, the thread's, the kernel's own; else device
  // addresses.
  const std::uint64_t* address = nullptr;
  const std::uint8_t* memory = nullptr;      // device memory; kShared: the block's shared memory
  const std::uint32_t* registers = nullptr;  // of the chunk: operands of stores are at Source::offset
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

class AccessObserver {
 public:
  virtual ~AccessObserver() = default;

  // A launch begins on `sms` SMs; nothing of the one before is left.
  virtual void kernel_started(const Kernel& kernel, unsigned sms) = 0;
  virtual void block_started(unsigned sm, const ResidentBlock& block) = 0;
  // Returns the threads of `access.mask` that may go on; the others skip the instruction.
  virtual std::uint32_t access(const ObservedAccess& access) = 0;
  // Before the shuffle executes.
  virtual void shuffle_from_outside(const ObservedShuffle& shuffle) = 0;
  // A function of the device runtime has written its result into the thread's local memory.
  virtual void result_written(unsigned sm, const ResidentBlock& block, unsigned chunk, unsigned lane,
                              std::uint64_t offset, std::uint64_t bytes) = 0;
  // Why the launch has to end now; empty: it need not.
  virtual const std::string& stop_reason() const = 0;

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

}  // namespace weft::sm

#endif
