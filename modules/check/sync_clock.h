// What each thread of a block knows about the others: vector clocks, cheap as long as all threads of the
// block meet at the same barriers.
//
// Every thread has a clock of its own, which moves when the thread synchronises. `known(t, u)` is the clock
// of u up to which t knows what u has done: an access of u at clock c comes before what t does now if and
// only if c <= known(t, u). A barrier of the whole block tells everybody everything and costs one pass over
// the threads. Only where a part of a block synchronises, knowledge differs from thread to thread; the matrix
// for that is made then. (Flanagan and Freund, FastTrack, PLDI 2009, use the same clocks; the matrix is
// plain.)
#ifndef WEFT_CHECK_SYNC_CLOCK_H
#define WEFT_CHECK_SYNC_CLOCK_H

#include <array>
#include <cstdint>
#include <vector>

namespace weft::check {

// Threads of a block, 32 to a word.
using ThreadSet = std::array<std::uint32_t, 32>;

class SyncClock {
 public:
  using Clock = std::uint32_t;

  void start(std::uint32_t threads);
  Clock own(std::uint32_t thread) const { return own_[thread]; }
  Clock known(std::uint32_t thread, std::uint32_t other) const {
    const Clock base = base_[other];
    if (extra_.empty()) return base;
    const Clock extra = extra_[thread * threads_ + other];
    return extra > base ? extra : base;
  }

  // Threads arrive at a barrier: what they have done until now is known to who waits there.
  void arrive(unsigned barrier, unsigned word, std::uint32_t mask, bool waits);
  // The barrier opens. `whole`: all threads have come that have not exited, and none only arrived; who has
  // exited has done everything before.
  void release(unsigned barrier, bool whole);
  // The threads of the mask synchronise with each other.
  void synchronise(unsigned word, std::uint32_t mask);

  // What the thread knows of each.
  std::vector<Clock> all_known(std::uint32_t thread) const;
  // The thread learns what another one has published.
  void learn(std::uint32_t thread, const std::vector<Clock>& joined);
  // What the thread does from here on is apart from what it has done until now, at the clock returned.
  Clock tick(std::uint32_t thread) { return own_[thread]++; }

 private:
  struct Barrier {
    ThreadSet waiting{};
    std::uint32_t waiting_count = 0;
    std::vector<Clock> joined;  // by thread: known to who arrived early and went on; empty: nobody did
  };
  void join(std::vector<Clock>& into, std::uint32_t thread) const;

  std::uint32_t threads_ = 0;
  std::vector<Clock> own_;    // from 1
  std::vector<Clock> base_;   // what every thread knows of each
  std::vector<Clock> extra_;  // [thread][other], empty until a part of the block synchronises
  std::array<Barrier, 16> barriers_;
  std::vector<Clock> scratch_;
};

}  // namespace weft::check

#endif
