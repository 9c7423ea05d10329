// The banks of shared memory: how many cycles an instruction takes them.
//
// What counts is where the threads stand in the issued warp: an access is of 32 places, and is served in
// passes of as many threads as the load-store unit has lanes. Each pass takes as many cycles as one bank has
// distinct words to deliver; threads that read the same word share it (broadcast).
#ifndef WEFT_SM_SHARED_BANKS_H
#define WEFT_SM_SHARED_BANKS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "execute/executor.h"
#include "sm/places.h"
#include "weft/common/popcount.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

class SharedBanks {
 public:
  explicit SharedBanks(const machine::SmConfig& config);

  // Calls visit(cycles) for each access of 32 places among the shared ones of an instruction. `groups` are
  // those of its issue. Atomics take a cycle per thread at least.
  template <class Visit>
  void each_access(const execute::LaneAccess* accesses, unsigned count,
                   const warp_formation::ThreadGroup* groups, bool atomic, Visit&& visit) {
    unsigned end = 0;  // places of threads that share their rows with those of other chunks
    for (unsigned i = 0; i < count; ++i) {
      if (accesses[i].space != ptx::Space::kShared) continue;
      const warp_formation::ThreadGroup& group = groups[accesses[i].group];
      if (group.spread) {
        visit(at_least_threads(cycles(accesses[i]), accesses[i].mask, atomic));
      } else {
        end = std::max(end, places_.end(group));
      }
    }
    for (unsigned first = 0; first < end; first += isa::kLanes) {
      const std::uint32_t taken = cycles(accesses, count, groups, first, atomic);
      if (taken != 0) visit(taken);
    }
  }

  // The same of threads that have a row of places, or several, for their chunk alone.
  std::uint32_t cycles(const execute::LaneAccess& access);

 private:
  static constexpr unsigned kMostWords = 64;  // of one bank in a pass: 32 lanes of two words

  static std::uint32_t at_least_threads(std::uint32_t cycles, std::uint32_t mask, bool atomic) {
    return atomic ? std::max(cycles, count_of(mask)) : cycles;
  }
  std::uint32_t cycles(const execute::LaneAccess* accesses, unsigned count,
                       const warp_formation::ThreadGroup* groups, unsigned first, bool atomic);
  void begin_pass() {
    std::fill(counts_.begin(), counts_.end(), std::uint8_t{0});
    worst_ = 1;
  }
  // Fewer words than banks from the first address to the last: no two distinct ones in a bank.
  bool within_the_banks(std::uint64_t low, std::uint64_t high, std::uint32_t words_per_lane) const {
    return (high >> word_shift_) - (low >> word_shift_) + words_per_lane <= banks_;
  }
  void add_words(const execute::LaneAccess& access, std::uint32_t lanes, std::uint32_t words_per_lane);
  unsigned pass_lanes(std::uint32_t words_per_lane) const {
    return std::max<unsigned>(1, std::min<unsigned>(isa::kLanes, pass_threads_) / words_per_lane);
  }

  const std::uint32_t banks_;
  const unsigned word_shift_;
  const unsigned pass_threads_;
  const Places places_;
  std::vector<std::uint32_t> words_;  // scratch: words seen, kMostWords for each bank
  std::vector<std::uint8_t> counts_;
  std::uint32_t worst_ = 1;  // of the pass: the most words of one bank
};

}  // namespace weft::sm

#endif
