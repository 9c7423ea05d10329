// The table of re-convergence barriers of HARP (4.2.2) and CROWN: set-associative, one entry gathers at most
// one thread of each lane at a reconvergence point.
//
//   barriers.reserve(threads, place);              // a divergence: these threads are expected at place.rpc
//   arrived = barriers.arrive(threads, place);     // a commit: lanes whose thread now waits here
//   for (auto& warp : barriers.completed()) ...    // barriers that everyone has reached: revive them
//   barriers.park(threads, true);                  // they wait at a block barrier: nobody waits for them
//   here barriers.unpark(threads);
//
// A thread's set is its row modulo the number of sets. A thread that finds its set full is not registered: it
// will run through the reconvergence point (a miss).
//
// A branch may have a likely-convergence point before its reconvergence point. Threads are registered there
// as well. The table must never keep a thread from running because another one does not come to such a point.
// A thread therefore leaves the barrier there as soon as it has come to its reconvergence point, has exited,
// waits at a block barrier or for its original warp, or is on a way that does not lead to the point:
//
//   barriers.reserve_likely(threads, point, place);
//   barriers.leave_likely(threads, [](const Place& point) { ... });  // from points for which this holds
//   barriers.leave_likely_in_vain();                                 // what waits for threads that wait
#ifndef WEFT_WARP_FORMATION_RECONVERGENCE_BARRIERS_H
#define WEFT_WARP_FORMATION_RECONVERGENCE_BARRIERS_H

#include <cstdint>
#include <string>
#include <vector>

#include "warp_formation/reincarnating_options.h"
#include "weft/common/archive.h"
#include "weft/common/popcount.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/lanes.h"
#include "weft/warp_formation/table_accesses.h"

namespace weft::warp_formation {

class ReconvergenceBarriers {
 public:
  // Where threads gather: a reconvergence point belongs to a call depth and to a block.
  struct Place {
    ptx::Pc rpc = ptx::kNoPc;
    std::uint16_t depth = 0, slot = 0;
    friend bool operator==(const Place& a, const Place& b) {
      return a.rpc == b.rpc && a.depth == b.depth && a.slot == b.slot;
    }
  };
  struct Completed {
    Place place;
    bool alone = false;  // not all that were expected: the others wait elsewhere, and are still expected
    LaneSet threads;
  };
  struct Counters {
    std::uint64_t reserved = 0, missed = 0;  // threads
    std::uint64_t opened = 0;                // entries
    std::uint64_t multiset = 0;              // divergences that opened entries in several sets
    std::uint64_t peak = 0;                  // entries in use
    std::uint64_t conflicts = 0, conflict_cycles = 0;
    TableAccesses uses;
  };

  // `likely`: some branches may have likely-convergence points.
  ReconvergenceBarriers(const ReincarnationTables& config, unsigned width, bool likely = false);

  void reset();
  // When nobody is expected. Numbers of entries go on.
  void archive(Archive& archive) {
    archive(at_rest(waiting_), at_rest(in_use_), at_rest(completed_), opened_, likely_made_, likely_joins_);
  }
  // A program of so many instructions will run; those for which `ends(pc)` holds end their threads.
  template <class Ends>
  void attach(std::size_t instructions, Ends&& ends) {
    at_pc_.assign(instructions, 0);
    ends_.resize(instructions);
    for (ptx::Pc pc = 0; pc < instructions; ++pc) ends_[pc] = ends(pc) ? 1 : 0;
  }
  // Rows below `rows` will be used.
  void hold_rows(std::size_t rows);

  // The threads diverge, each at most once registered per place.
  void reserve(const LaneSet& threads, const Place& place) { reserve(threads, place, false); }
  // ... and may meet at `point` before `place`: only those that found room at `place`, so that they leave the
  // point's barrier when they come there. `place` has no PC if the branch has no reconvergence point.
  void reserve_likely(LaneSet threads, const Place& point, const Place& place);
  // Lanes whose thread was expected at `place`; they wait there from now on. Who is there has left the
  // regions of branches further in: a point before a block barrier is none that all threads come to.
  std::uint32_t arrive(const LaneSet& threads, const Place& place);
  // Threads end: nobody waits for them any more.
  void exit(const LaneSet& threads);
  // Threads wait at a block barrier, or for others of their original warp, and go on again. A block barrier
  // waits for all threads of the block, so where nobody else is missing, those that have reached a
  // reconvergence point go on without such threads. Not if they end there and were there first: a block
  // barrier counts them as gone.
  void park(const LaneSet& threads, bool at_block_barrier);
  void unpark(const LaneSet& threads);
  // Nobody waits for the threads any more at those likely-convergence points for which `test(place)` holds.
  template <class Test>
  void leave_likely(const LaneSet& threads, Test&& test) {
    if (likely_in_use_ == 0) return;
    each_registration(threads, [&](Index e, std::uint32_t lane) {
      if (!entries_[e].likely || !test(entries_[e].place)) return;
      abandon(e, lane);
      ++counters_.uses.writes;
    });
  }
  // Threads that have come to a likely-convergence point do not wait there for threads that cannot go on
  // before others, which wait elsewhere, have been released.
  void leave_likely_in_vain();
  // Barriers completed by the last calls, in order; the caller clears it.
  std::vector<Completed>& completed() { return completed_; }

  // Threads go on somewhere: the table is asked whether they are expected there.
  void searched() { ++counters_.uses.searches; }
  // Can a commit's threads be in more sets of a bank than it has ports?
  bool may_conflict() const { return may_conflict_; }
  // Cycles beyond the first in which the banks get to the sets of a commit's threads. They work at once, each
  // on as many sets as it has ports.
  unsigned further_cycles(const LaneSet& threads) { return may_conflict_ ? conflict(threads) : 0; }
  std::size_t entries() const { return entries_.size(); }
  // Is any barrier in use at this PC?
  bool any_at(ptx::Pc pc) const { return at_pc_[pc] != 0; }
  // Is any of these threads expected somewhere?
  bool expects(const LaneSet& threads) const;
  std::uint32_t waiting() const { return waiting_; }
  bool any_likely() const { return likely_in_use_ != 0; }
  // Entries made for likely-convergence points, and times that threads joined one.
  std::uint64_t likely_made() const { return likely_made_; }
  std::uint64_t likely_joins() const { return likely_joins_; }
  // Threads of the block slot that wait at an instruction for which `test(pc)` holds.
  template <class Test>
  std::uint32_t waiting_at(std::uint16_t slot, Test&& test) const {
    std::uint32_t threads = 0;
    for (const Entry& entry : entries_) {
      if (entry.lanes == 0 || entry.place.slot != slot || !test(entry.place.rpc)) continue;
      threads += count_of(entry.reached);
    }
    return threads;
  }

  // The same, of one chunk, as bits.
  template <class Test>
  std::uint32_t waiting_in(unsigned chunk, Test&& test) const {
    std::uint32_t threads = 0;
    for (const Entry& entry : entries_) {
      if (entry.reached == 0 || !test(entry.place.rpc)) continue;
      for (unsigned lane = 0; lane < width_; ++lane) {
        const unsigned position = entry.row[lane] * width_ + lane;
        if ((entry.reached >> lane & 1) != 0 && position / kChunk == chunk)
          threads |= 1u << (position % kChunk);
      }
    }
    return threads;
  }

  // WarpFormation::held_back.
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const;

  // Data bits as HARP Table 7 counts them: RPC, and per lane a thread identifier and the reached bit. With
  // likely-convergence points a bit says that the entry is of such a point.
  std::uint64_t bits(unsigned thread_bits) const;
  // What linking adds: the number of the next entry of the same barrier.
  std::uint64_t link_bits() const;

  std::uint64_t in_use() const { return in_use_; }  // entries
  Counters& counters() { return counters_; }
  // One line per entry in use.
  std::string dump() const;

 private:
  using Index = std::uint16_t;

  struct Entry {
    std::uint32_t lanes = 0;    // expected threads, here or on their way; 0: free
    std::uint32_t reached = 0;  // of these, who is here
    std::uint32_t parked = 0;   // ... and who waits elsewhere ...
    std::uint32_t blocked = 0;  // ... at a block barrier
    bool likely = false;        // at a likely-convergence point
    Place place;
    Index next = 0;            // the next entry of the same barrier, a ring
    std::uint64_t number = 0;  // of those opened so far
    std::array<std::uint16_t, kMaxLanes> row{};
  };

  unsigned conflict(const LaneSet& threads);
  Index set_of(unsigned row) const { return static_cast<Index>(row % sets_ * ways_); }
  bool registered(std::uint16_t row, unsigned lane, const Place& place) const;
  void reserve(const LaneSet& threads, const Place& place, bool likely);
  int older(std::uint16_t row, unsigned lane, const Place& place, bool likely) const;
  int open(std::uint16_t row, const Place& place, bool likely);
  std::uint32_t ring_lanes(Index entry) const;
  void release(Index entry);
  void leave(Index entry, std::uint32_t lane, bool leaving);
  void leave_inner(Index outer, std::uint16_t row, unsigned lane);
  void abandon(Index entry, std::uint32_t lane);
  // Visits the entries that expect a thread, and its lane.
  template <class Visit>
  void each_registration(const LaneSet& threads, Visit&& visit) {
    if (sets_ == 0) return;
    each_lane(threads.mask, [&](unsigned lane) {
      const std::uint16_t row = threads.row[lane];
      if (expected(row, lane) == 0) return;
      for (Index e = set_of(row); e < set_of(row) + ways_; ++e) {
        Entry& entry = entries_[e];
        if (((entry.lanes & ~entry.reached) >> lane & 1) != 0 && entry.row[lane] == row) visit(e, 1u << lane);
      }
    });
  }
  // Which threads wait at points for others that stand, or that wait for such: held_. `stands(entry, lane)`:
  // the thread in this lane, which the entry expects, stands.
  template <class Stands>
  void find_held(Stands&& stands) const;
  bool held(const Entry& entry, unsigned lane) const {
    const unsigned position = entry.row[lane] * width_ + lane;
    return (held_[position / kChunk] >> position % kChunk & 1) != 0;
  }
  // `leaving`: those that end here go on without parked ones too. (No need where the SM asks anew whether a
  // block barrier may open: at an exit, and at an arrival there.)
  void complete_if_all_reached(Index first, bool leaving = true);
  void take_reached(Index first, bool alone);
  std::uint16_t& expected(unsigned row, unsigned lane) { return expected_[row * width_ + lane]; }

  const unsigned width_, ways_;
  const unsigned sets_;
  const unsigned banks_, ports_;
  const bool may_conflict_;
  const bool linked_, join_any_, likely_;
  std::vector<Entry> entries_;
  std::vector<Index> fresh_;             // entries that this divergence opened
  std::vector<std::uint16_t> at_pc_;     // entries in use, by PC
  std::vector<std::uint8_t> ends_;       // by PC
  std::vector<std::uint16_t> expected_;  // by position: entries that expect the thread
  std::vector<Completed> completed_;
  mutable std::vector<std::uint32_t> held_;  // by chunk; of find_held
  std::uint32_t waiting_ = 0;
  std::uint64_t in_use_ = 0;
  std::uint64_t likely_in_use_ = 0;  // of these, at likely-convergence points
  std::uint64_t likely_made_ = 0, likely_joins_ = 0;
  std::uint64_t opened_ = 0;  // entries
  Counters counters_;
};

}  // namespace weft::warp_formation

#endif
