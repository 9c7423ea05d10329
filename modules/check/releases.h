// What threads hand over to each other by fences, and by accesses that release and acquire: the pairs that
// the PTX memory consistency model calls synchronizing [PTX ISA, 8.8].
//
// A thread releases by a store or atomic with .release or .acq_rel, or by any strong write (atomic, volatile,
// .relaxed) behind a fence. It acquires what was released there by a load or atomic with .acquire or
// .acq_rel, or by any strong read before a fence, or, as the last-block pattern of the CUDA guide does,
// before a block barrier. An atomic goes on with what others have released at its word; another write ends
// that. A fence of scope .cta hands over within its block; the scope of an access is not looked at.
//
// Knowledge is a vector of clocks per block; it is shared and never changed, so that handing it on copies
// pointers.
#ifndef WEFT_CHECK_RELEASES_H
#define WEFT_CHECK_RELEASES_H

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/sync_clock.h"

namespace weft::check {

using Clocks = std::shared_ptr<const std::vector<SyncClock::Clock>>;
// By block: what is known of its threads. Null: nothing.
using Knowledge = std::shared_ptr<const std::map<std::uint64_t, Clocks>>;

Knowledge joined(const Knowledge& a, const Knowledge& b);
// The clock up to which a thread of the block is known.
SyncClock::Clock clock_in(const Knowledge& knowledge, std::uint64_t block, std::uint32_t thread);

// What is released at the words of a memory.
struct Released {
  Knowledge to_all;
  Knowledge to_the_block;  // behind a fence of scope .cta: of one block
};
using ReleasedWords = std::unordered_map<std::uint64_t, Released>;

// The threads of one block.
class BlockReleases {
 public:
  using Clock = SyncClock::Clock;

  void start(std::uint64_t block, std::uint32_t threads);
  // Of threads of other blocks: the clock up to which the thread knows them.
  Clock known(std::uint32_t thread, std::uint64_t block, std::uint32_t other) const {
    return clock_in(threads_[thread].foreign, block, other);
  }

  // The thread reads or writes a word by a strong access.
  struct Strong {
    bool reads = false, writes = false;
    bool acquires = false, releases = false;
  };
  // Whether the access leaves something at its word.
  bool publishes(std::uint32_t thread, const Strong& how) const {
    return how.writes && (how.releases || threads_[thread].fence != 0);
  }
  void access(std::uint32_t thread, const Strong& how, Released& word, SyncClock& clock);
  // `wide`: the scope of the fence.
  void fence(std::uint32_t thread, bool wide, SyncClock& clock);

  // At barriers, before the clocks are told. What it has read before is acquired.
  void arrive(unsigned barrier, std::uint32_t thread, bool waits, SyncClock& clock);
  void release(unsigned barrier);
  // A barrier of the warp: threads of this mask from thread `first` on.
  void synchronise(std::uint32_t first, std::uint32_t mask, SyncClock& clock);

 private:
  struct Thread {
    Knowledge foreign;                    // of other blocks
    Knowledge pending, pending_in_block;  // has been read, and awaits a fence
    Clock fence = 0, wide_fence = 0;      // own clock at the last one; 0: there was none
  };
  struct Barrier {
    Knowledge joined;
    std::vector<std::uint32_t> waiting;
  };
  void learn(std::uint32_t thread, const Knowledge& what, bool others, SyncClock& clock);
  void settle(std::uint32_t thread, bool wide, SyncClock& clock);

  std::uint64_t block_ = 0;
  std::vector<Thread> threads_;
  std::vector<Barrier> barriers_;
};

}  // namespace weft::check

#endif
