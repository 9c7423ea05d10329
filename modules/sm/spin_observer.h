// Tells threads that spin from threads that work, for the watchdog.
//
// Over a span of cycles it remembers, per thread, the registers with which the thread first took a backward
// branch. A thread that comes back to that branch with the same registers again and again spins: it reads
// memory that nobody changes. When every thread that issued anything spins, nothing will ever change.
#ifndef WEFT_SM_SPIN_OBSERVER_H
#define WEFT_SM_SPIN_OBSERVER_H

#include <cstdint>
#include <vector>

#include "execute/register_file.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class SpinObserver {
 public:
  bool active() const { return active_; }
  // A span begins, for `chunks` chunks of threads.
  void start(unsigned chunks) {
    threads_.assign(std::size_t{chunks} * execute::RegisterFile::kLanes, Thread());
    issued_.assign(chunks, 0);
    active_ = true;
  }
  void stop() { active_ = false; }

  void issued(const warp_formation::ThreadGroup& group) { issued_[group.chunk] |= group.mask; }
  // Threads took a backward branch from `pc`.
  void branched(ptx::Pc pc, const warp_formation::ThreadGroup& group,
                const execute::RegisterFile& registers) {
    for (std::uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      Thread& thread = threads_[group.chunk * execute::RegisterFile::kLanes + lane];
      if (thread.changed || (thread.visits != 0 && thread.pc != pc)) continue;
      const std::uint64_t state = registers.hash(group.chunk, lane);
      if (thread.visits != 0 && thread.state != state) thread.changed = true;
      thread.pc = pc;
      thread.state = state;
      if (thread.visits < kEnough) ++thread.visits;
    }
  }

  struct Verdict {
    unsigned issued = 0;      // threads that issued something
    unsigned spinning = 0;    // of them, those that only repeat themselves
    ptx::Pc pc = ptx::kNoPc;  // the branch of one that spins
    unsigned position = 0;    // ... and which
  };
  Verdict verdict() const {
    Verdict verdict;
    for (std::size_t chunk = 0; chunk < issued_.size(); ++chunk) {
      for (std::uint32_t rest = issued_[chunk]; rest != 0; rest &= rest - 1) {
        const std::size_t position =
            chunk * execute::RegisterFile::kLanes + static_cast<unsigned>(__builtin_ctz(rest));
        const Thread& thread = threads_[position];
        ++verdict.issued;
        if (thread.visits < kEnough || thread.changed) continue;
        if (verdict.spinning++ == 0) {
          verdict.pc = thread.pc;
          verdict.position = static_cast<unsigned>(position);
        }
      }
    }
    return verdict;
  }
  // Whether one of these threads issued nothing: an instruction from before the span keeps it busy.
  bool silent(const warp_formation::ThreadGroup& group) const {
    return (group.mask & ~issued_[group.chunk]) != 0;
  }

 private:
  // So many turns with the same registers are no accident of the first ones.
  static constexpr std::uint8_t kEnough = 4;
  struct Thread {
    std::uint64_t state = 0;
    ptx::Pc pc = ptx::kNoPc;
    std::uint8_t visits = 0;
    bool changed = false;
  };
  std::vector<Thread> threads_;        // by position
  std::vector<std::uint32_t> issued_;  // by chunk
  bool active_ = false;
};

}  // namespace weft::sm

#endif
