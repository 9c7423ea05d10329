// One of the 16 barriers of a thread block (bar.sync, bar.arrive, bar.red): who has arrived, and what an
// arrival may not be. The SM and the functional engine share it.
//
// Barriers count threads, not warps. A barrier for a given number counts in original warps of 32, as PTX
// does: once a thread of such a warp has arrived, those of its threads that never will (exited, ending, never
// there) count as arrived.
#ifndef WEFT_EXECUTE_BLOCK_BARRIER_H
#define WEFT_EXECUTE_BLOCK_BARRIER_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "execute/kernel.h"
#include "weft/common/popcount.h"

namespace weft::execute {

class BlockBarrier {
 public:
  static constexpr unsigned kPerBlock = 16;

  // Threads whose instruction wants the votes (bar.red). `chunk` as the executor numbers it.
  struct Part {
    const Operation* op = nullptr;
    std::uint16_t chunk = 0;
    std::uint32_t lanes = 0;
    bool operator==(const Part& other) const {
      return op == other.op && chunk == other.chunk && lanes == other.lanes;
    }
  };
  // Whether the same threads have arrived, with the same votes.
  bool operator==(const BlockBarrier& other) const {
    return arrived_ == other.arrived_ && expected_ == other.expected_ && votes_ == other.votes_ &&
           kind_ == other.kind_ && masks_ == other.masks_ && parts_ == other.parts_;
  }

  // Threads of one chunk that arrive with one number and one count.
  struct Arrival {
    const Operation* op = nullptr;
    std::uint32_t number = 0;
    std::uint32_t count = 0;  // for how many threads, where the instruction says so
    unsigned chunk = 0;       // of the block, from 0
    std::uint16_t executor_chunk = 0;
    std::uint32_t lanes = 0;
    std::uint32_t votes = 0;  // lanes whose predicate holds (bar.red)
  };

  // Empty again, for a block of `chunks` x 32 threads. Allocates only for the largest block so far.
  void start(unsigned chunks) {
    masks_.assign(chunks, 0);
    clear();
  }
  void clear() {
    arrived_ = expected_ = votes_ = 0;
    parts_.clear();
    std::fill(masks_.begin(), masks_.end(), 0u);
  }

  std::uint32_t arrived() const { return arrived_; }
  // Lanes of a chunk of the block that have arrived.
  std::uint32_t arrived_of(unsigned chunk) const { return masks_[chunk]; }
  // The number of threads that the barrier is for; 0: all that live.
  std::uint32_t expected() const { return expected_; }
  std::uint32_t votes() const { return votes_; }
  const std::vector<Part>& parts() const { return parts_; }

  // Empty, or what is wrong; then the barrier is of no use any more. gone(chunk): lanes of the block's chunk
  // that will never arrive.
  template <class Gone>
  std::string arrive(const Arrival& arrival, const Gone& gone) {
    std::string wrong = check(arrival);
    if (!wrong.empty()) return wrong;
    const ptx::BarrierKind kind = arrival.op->instruction->barrier;
    kind_ = kind;
    if (counted(arrival)) expected_ = arrival.count;
    masks_[arrival.chunk] |= arrival.lanes;
    arrived_ += count_of(arrival.lanes);
    if (reduces(kind)) {
      votes_ += count_of(arrival.votes & arrival.lanes);
      parts_.push_back({arrival.op, arrival.executor_chunk, arrival.lanes});
    }
    if (expected_ != 0 && arrived_in_warps(gone) > expected_) {
      wrong = "found " + std::to_string(arrived_in_warps(gone)) + " threads at " + name_of(arrival) +
              ", which is for " + std::to_string(expected_);
    }
    return wrong;
  }

  // Threads that have arrived; of original warps that have begun to, also those that never will.
  template <class Gone>
  std::uint32_t arrived_in_warps(const Gone& gone) const {
    std::uint32_t sum = 0;
    for (unsigned chunk = 0; chunk < masks_.size(); ++chunk) {
      if (masks_[chunk] != 0) sum += count_of(masks_[chunk] | gone(chunk));
    }
    return sum;
  }

  static bool reduces(ptx::BarrierKind kind) {
    return kind != ptx::BarrierKind::kSync && kind != ptx::BarrierKind::kArrive;
  }

 private:
  static bool counted(const Arrival& arrival) { return arrival.op->src[1].kind != Source::Kind::kNone; }
  static std::string name_of(const Arrival& arrival) { return "barrier " + std::to_string(arrival.number); }

  std::string check(const Arrival& arrival) const {
    if (counted(arrival) && (arrival.count == 0 || arrival.count % isa::kLanes != 0)) {
      return "found " + name_of(arrival) + " for " + std::to_string(arrival.count) +
             " threads; allowed: multiples of 32, the warp size of PTX";
    }
    if (arrived_ != 0) {
      const auto all = static_cast<std::uint32_t>(masks_.size()) * isa::kLanes;
      const std::uint32_t before = expected_ == 0 ? all : expected_,
                          after = counted(arrival) ? arrival.count : all;
      if (before != after) {
        return name_of(arrival) + " waits for " + std::to_string(before) + " threads already, found " +
               std::to_string(after);
      }
      const ptx::BarrierKind kind = arrival.op->instruction->barrier;
      if (kind_ != kind && (reduces(kind) || reduces(kind_)))
        return "threads wait at " + name_of(arrival) + " in another kind of bar.red, or in bar.sync";
    }
    if ((masks_[arrival.chunk] & arrival.lanes) != 0)
      return "the thread arrives at " + name_of(arrival) + " again before the others have come";
    return "";
  }

  std::uint32_t arrived_ = 0, expected_ = 0, votes_ = 0;
  ptx::BarrierKind kind_ = ptx::BarrierKind::kSync;
  std::vector<std::uint32_t> masks_;  // who has arrived, by chunk of the block
  std::vector<Part> parts_;
};

// The thread is told where it went wrong: "found barrier 16, allowed are 0 to 15".
inline std::string no_such_barrier(std::uint32_t number) {
  return "found barrier " + std::to_string(number) + "; allowed: 0 to " +
         std::to_string(BlockBarrier::kPerBlock - 1);
}

}  // namespace weft::execute

#endif
