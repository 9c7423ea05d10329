// The threads of one SM as GDB sees them: which there are, and which instruction each of them executes next.
#ifndef WEFT_DEBUGGER_SM_THREADS_H
#define WEFT_DEBUGGER_SM_THREADS_H

#include <cstdint>
#include <vector>

#include "debugger/code_space.h"
#include "sm/sm_observer.h"
#include "sm/stages/core.h"

namespace weft::debugger {

class SmThreads;

// A resident thread.
struct Thread {
  SmThreads* sm = nullptr;
  std::uint16_t slot = 0;    // of its block
  std::uint32_t number = 0;  // in its block
  unsigned chunk = 0, lane = 0;
  explicit operator bool() const { return sm != nullptr; }
};
inline bool operator==(const Thread& a, const Thread& b) {
  return a.sm == b.sm && a.chunk == b.chunk && a.lane == b.lane;
}

// Told what happens on an SM where the simulation may stop. Simulated time stands until a call returns.
class SmEvents {
 public:
  virtual ~SmEvents() = default;
  virtual void kernel_started(SmThreads& sm, const execute::Kernel& kernel) = 0;
  // Before an instruction reads its operands. (Guards have been read.)
  virtual void issuing(SmThreads& sm, const sm::InFlight& flight) = 0;
  // A memory instruction has been executed, and made these accesses.
  virtual void accessed(SmThreads& sm, const sm::InFlight& flight, const execute::LaneAccess* accesses,
                        unsigned count) = 0;
  virtual void faulted(SmThreads& sm, const Fault& why) = 0;
  // The SM's step is over.
  virtual void stepped(SmThreads& sm) = 0;
  // False: nobody wants to know.
  virtual bool wanted() const = 0;
};

class SmThreads final : public sm::SmObserver {
 public:
  static constexpr ptx::Pc kEnded = ptx::kNoPc;
  static constexpr unsigned kLanes = warp_formation::kChunk;

  SmThreads(SmEvents& events, unsigned number) : events_(events), number_(number) {}

  unsigned number() const { return number_; }
  const sm::Core& core() const { return *core_; }
  sm::Core& core() { return *core_; }
  // The kernel that the SM holds; nullptr: none.
  const execute::Kernel* kernel() const { return core_ == nullptr ? nullptr : core_->kernel(); }
  // That kernel's code. Set by who is told of its start.
  const Code* code = nullptr;
  // GDB's number of the first thread of the block in a slot; 0: it has none yet.
  std::uint64_t& first_id(unsigned slot) { return first_ids_[slot]; }

  const execute::ResidentBlock& block(unsigned slot) const { return core_->state.blocks[slot]; }
  unsigned slots() const { return kernel() == nullptr ? 0 : kernel()->occupancy.resident; }
  Thread thread(unsigned slot, std::uint32_t number) {
    return {this, static_cast<std::uint16_t>(slot), number, block(slot).chunk_of(number / kLanes),
            number % kLanes};
  }
  // The thread of a block that is in `slot`.
  Thread thread_at(unsigned slot, unsigned chunk, unsigned lane) {
    return {this, static_cast<std::uint16_t>(slot), block(slot).thread_of(chunk, lane), chunk, lane};
  }
  // What the thread executes next; kEnded: nothing more.
  ptx::Pc pc(const Thread& thread) const { return next_[thread.chunk * kLanes + thread.lane]; }

  // Where the functions that the thread has called, and not left, return to; the kernel's own call first.
  const std::vector<ptx::Pc>& calls(const Thread& thread) const {
    static const std::vector<ptx::Pc> kNone;
    return calls_.empty() ? kNone : calls_[thread.chunk * kLanes + thread.lane];
  }
  // Where a thread stands, if that is not what it does next.
  void stand(const Thread& thread, ptx::Pc pc) { set(thread.chunk, 1u << thread.lane, pc); }

  void attached(sm::Core& core) override { core_ = &core; }
  void kernel_started(const KernelStart& start) override;
  void issued(const Issue& issue) override;
  void accessed(const sm::InFlight& flight, const execute::LaneAccess* accesses, unsigned count) override;
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle now) override;
  void retired(std::uint16_t slot) override;
  void faulted(const Fault& why) override;
  void stepped(Cycle now, bool issued) override;

 private:
  void set(unsigned chunk, std::uint32_t mask, ptx::Pc pc);
  void expect(const sm::InFlight& flight);
  void follow_calls(const sm::InFlight& flight);

  SmEvents& events_;
  const unsigned number_;
  sm::Core* core_ = nullptr;
  std::vector<ptx::Pc> next_;                // by position
  std::vector<std::vector<ptx::Pc>> calls_;  // by position, of kernels that call functions
  std::vector<std::uint64_t> first_ids_;     // by slot
};

}  // namespace weft::debugger

#endif
