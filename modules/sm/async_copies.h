// Asynchronous copies (cp.async): how many of each group of each thread are under way, and which instructions
// wait for some.
//
// A thread has kDepth groups at most; one more joins the oldest, so that a wait may take longer than needed
// but never shorter.
#ifndef WEFT_SM_ASYNC_COPIES_H
#define WEFT_SM_ASYNC_COPIES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/isa.h"
#include "sm/in_flight.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class AsyncCopies {
 public:
  static constexpr unsigned kDepth = 8;

  // As after construction.
  void reset() {
    threads_.clear();
    group_of_.clear();
    waiters_.clear();
  }
  // Makes room if the kernel copies at all.
  void start_kernel(bool used, unsigned chunks, unsigned issues) {
    threads_.assign(used ? std::size_t{chunks} * isa::kLanes : 0, Thread());
    group_of_.assign(used ? std::size_t{issues} * warp_formation::kMaxGroups : 0, {});
  }
  void start_block(unsigned first_chunk, unsigned chunks) {
    if (threads_.empty()) return;
    for (unsigned t = first_chunk * isa::kLanes; t < (first_chunk + chunks) * isa::kLanes; ++t)
      threads_[t] = Thread();
  }

  // The executing threads of the issue start a copy each.
  void start(std::uint16_t id, const InFlight& flight) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      const unsigned chunk = flight.groups[g].chunk;
      for (std::uint32_t lanes = flight.executing[g]; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = first(lanes);
        Thread& thread = at(chunk, lane);
        ++thread.under_way[thread.open];
        groups_of(id, g)[lane] = thread.open;
      }
    }
  }
  // The copies of these threads of the issue are there.
  void finish(std::uint16_t id, const InFlight& flight, unsigned chunk, std::uint32_t mask) {
    for (unsigned g = 0; g < flight.group_count; ++g) {
      if (flight.groups[g].chunk != chunk) continue;
      for (std::uint32_t lanes = mask & flight.executing[g]; lanes != 0; lanes &= lanes - 1) {
        const unsigned lane = first(lanes);
        --at(chunk, lane).under_way[groups_of(id, g)[lane]];
      }
    }
  }
  // What the executing threads have started since the last commit becomes a group.
  void commit(const InFlight& flight) {
    if (threads_.empty()) return;
    for (unsigned g = 0; g < flight.group_count; ++g) {
      for (std::uint32_t lanes = flight.executing[g]; lanes != 0; lanes &= lanes - 1) {
        Thread& thread = at(flight.groups[g].chunk, first(lanes));
        thread.open = static_cast<std::uint8_t>((thread.open + 1) % kDepth);
      }
    }
  }
  // Those of the lanes that have no copy under way: of any group (`all`), or of those committed before the
  // last `but`.
  std::uint32_t done(unsigned chunk, std::uint32_t lanes, bool all, std::uint64_t but) const {
    if (threads_.empty()) return lanes;
    std::uint32_t result = 0;
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = first(lanes);
      const Thread& thread = threads_[std::size_t{chunk} * isa::kLanes + lane];
      unsigned copies = 0;
      for (std::uint64_t age = all ? 0 : but + 1; age < kDepth; ++age)
        copies += thread.under_way[(thread.open + kDepth - age) % kDepth];
      if (copies == 0) result |= 1u << lane;
    }
    return result;
  }

  // Instructions with threads that wait for copies.
  void add_waiter(std::uint16_t id) { waiters_.push_back(id); }
  // Calls done(id) for each, oldest first, and forgets those for which it is true.
  template <class Done>
  void resume(Done&& done) {
    for (std::size_t i = 0; i < waiters_.size();) {
      if (!done(waiters_[i])) {
        ++i;
        continue;
      }
      waiters_.erase(waiters_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  struct Thread {
    std::array<std::uint16_t, kDepth> under_way{};
    std::uint8_t open = 0;  // the group that copies join now
  };
  static unsigned first(std::uint32_t lanes) { return static_cast<unsigned>(__builtin_ctz(lanes)); }
  Thread& at(unsigned chunk, unsigned lane) { return threads_[std::size_t{chunk} * isa::kLanes + lane]; }
  std::array<std::uint8_t, isa::kLanes>& groups_of(std::uint16_t id, unsigned g) {
    return group_of_[std::size_t{id} * warp_formation::kMaxGroups + g];
  }

  std::vector<Thread> threads_;  // by position
  std::vector<std::array<std::uint8_t, isa::kLanes>> group_of_;
  std::vector<std::uint16_t> waiters_;
};

}  // namespace weft::sm

#endif
