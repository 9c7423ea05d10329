// Groups of asynchronous copies (cp.async) per thread: how many copies of each group are under way.
//
// A thread has kDepth groups at most; one more joins the oldest, so that a wait may take longer than needed
// but never shorter.
#ifndef WEFT_SM_COPY_GROUPS_H
#define WEFT_SM_COPY_GROUPS_H

#include <array>
#include <cstdint>
#include <vector>

#include "isa/isa.h"
#include "warp_formation/warp_formation.h"

namespace weft::sm {

class CopyGroups {
 public:
  static constexpr unsigned kDepth = 8;

  // Makes room if the kernel copies at all.
  void configure(bool used, unsigned chunks, unsigned issues) {
    threads_.assign(used ? std::size_t{chunks} * isa::kLanes : 0, Thread());
    group_of_.assign(used ? std::size_t{issues} * warp_formation::kMaxGroups : 0, {});
  }
  void start_thread_block(unsigned first_chunk, unsigned chunks) {
    if (threads_.empty()) return;
    for (unsigned t = first_chunk * isa::kLanes; t < (first_chunk + chunks) * isa::kLanes; ++t)
      threads_[t] = Thread();
  }

  // Group `g` of issue `id` starts a copy for each of the lanes.
  void start(std::uint16_t id, unsigned g, unsigned chunk, std::uint32_t lanes) {
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = first(lanes);
      Thread& thread = at(chunk, lane);
      ++thread.under_way[thread.open];
      groups_of(id, g)[lane] = thread.open;
    }
  }
  void finish(std::uint16_t id, unsigned g, unsigned chunk, std::uint32_t lanes) {
    for (; lanes != 0; lanes &= lanes - 1) {
      const unsigned lane = first(lanes);
      --at(chunk, lane).under_way[groups_of(id, g)[lane]];
    }
  }
  // What the threads have started since the last commit becomes a group.
  void commit(unsigned chunk, std::uint32_t lanes) {
    if (threads_.empty()) return;
    for (; lanes != 0; lanes &= lanes - 1) {
      Thread& thread = at(chunk, first(lanes));
      thread.open = static_cast<std::uint8_t>((thread.open + 1) % kDepth);
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
};

}  // namespace weft::sm

#endif
