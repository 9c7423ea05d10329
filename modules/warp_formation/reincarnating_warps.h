// The mechanism that HARP and CROWN share: warps as wide as the SIMD group that live until they diverge.
//
// A warp that diverges ends; a barrier is reserved at the reconvergence point for each of its threads; the
// threads of each path merge with warps of the Ready-Lookup or become a new warp. Threads that reach their
// barrier leave their warp, and when the last one is there the warp from before the divergence is born again
// (HARP 4.1). With `likely_convergence` a second barrier is reserved, at the branch's likely-convergence
// point before its reconvergence point (likely_convergence.h). What moves when:
//
//   resolved   a warp commits: goes on, parts (barriers, Ready-Lookup), parks at a block barrier, or exits
//   advance    one step of each table: First-Level <- Second-Level <- revived warp or one of a lookup
//   pick       the oldest warp of the scheduler's First-Level that can be issued
//
// A warp that goes on is ready in the Second-Level as the cycle of its commit begins, and may be issued in
// it: the search of the barriers, and the way out of the Waiting-Lookup, are parts of write-back. Revived
// warps and those of the Ready-Lookup enter the Second-Level in one cycle and leave it in the next at the
// earliest.
//
// Barrel: a load moves its warp to the Waiting-Lookup at decode, where it takes in warps of the same load.
// Scoreboard: a warp whose operands wait for loads does the same at the instruction that waits.
#ifndef WEFT_WARP_FORMATION_REINCARNATING_WARPS_H
#define WEFT_WARP_FORMATION_REINCARNATING_WARPS_H

#include <array>
#include <string>
#include <vector>

#include "warp_formation/lookup_table.h"
#include "warp_formation/reconvergence_barriers.h"
#include "warp_formation/ways_to_points.h"
#include "weft/warp_formation/lanes.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

class ReincarnatingWarps : public WarpFormation {
 public:
  // `likely`: threads also meet at likely-convergence points.
  ReincarnatingWarps(const ReincarnationTables& config, bool likely, Reconvergence rule,
                     const Geometry& geometry);

  void attach(const ptx::Program& program, const SmView& sm) override;
  bool can_launch(const Block& block) const override;
  void launch(const Block& block) override;
  void retire(const Block& block) override;
  void reset() override;

  void advance(Cycle now) override;
  Stall pick(unsigned scheduler, Issue& issue) override;
  void issued(IssueId id, const Issue& issue) override;
  void memory_issued(IssueId id) override;
  void resolved(IssueId id, Outcomes outcomes) override;
  std::uint32_t waiting_to_exit(std::uint16_t slot) const override;
  std::uint32_t ending(unsigned chunk) const override;
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override;
  void barrier_released(std::uint16_t slot, unsigned barrier) override;
  void warp_sync_released(Groups threads) override;

  Census census() const override;
  Cycle next_event(Cycle now) const override;
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override;
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override;

 private:
  using Index = std::uint16_t;
  static constexpr Index kNone = UINT16_MAX;

  enum class State : std::uint8_t {
    kFree,
    kReady,       // Second-Level, may enter a First-Level
    kFirst,       // First-Level
    kInFlight,    // an instruction is in the pipeline
    kWaiting,     // a load is under way; no room in the Waiting-Lookup
    kLookupWait,  // Waiting-Lookup
    kLookupDone,  // Waiting-Lookup, and the data is there
    kReturning,   // committed; on its way to the Second-Level
    kRevived,     // a barrier's threads; on their way to the Second-Level
    kLookup,      // Ready-Lookup
    kBarrier,     // block barrier
    kSync,        // threads of an original warp gather
    kCount
  };
  // Where a thread goes on after its instruction.
  struct Landing {
    Outcome::Kind kind = Outcome::Kind::kGo;
    std::uint16_t depth = 0;
    ptx::Pc pc = ptx::kNoPc;
    std::uint32_t argument = 0;
    bool together(const Landing& other) const {
      return kind == other.kind && depth == other.depth && pc == other.pc && argument == other.argument;
    }
    bool before(const Landing& other) const;
  };
  struct Warp {
    State state = State::kFree;
    bool groups_known = false;  // `groups` are the threads
    bool merged = false;        // of several issues in flight
    bool landed = false, scattered = false;
    std::uint8_t group_count = 0, lookup_slot = 0;
    Index next = kNone, previous = kNone;  // in the list that the state names
    Index context = kNone;                 // front-end buffer, if it has one
    std::uint16_t slot = 0, depth = 0;
    ptx::Pc pc = 0;
    std::uint32_t barrier = 0;  // kBarrier: its number
    std::uint32_t pending = 0;  // lanes of which the instruction in flight is not resolved
    Landing landing;            // of the lanes that are, unless scattered
    IssueId issue = 0;          // the last
    // Instructions issued on the way of its threads: of a merged warp, on the shortest of their ways.
    std::uint32_t progress = 0;
    Cycle due = 0;   // kLookupDone, kReturning, kRevived: the search of the barriers ends
    Cycle wait = 0;  // in committed_: cycles until then, once the ports are free
    LaneSet threads;
    std::array<ThreadGroup, kMaxLanes> groups;
  };
  struct List {
    Index head = kNone, tail = kNone;
    unsigned size = 0;
    bool empty() const { return size == 0; }
  };
  struct Path {
    Landing landing;
    std::uint32_t lanes = 0;
  };

  // reincarnating_warps.cpp: warps and what becomes of them
  // Its progress is that of the warp of which something was resolved last.
  Index create(ptx::Pc pc, std::uint16_t depth, std::uint16_t slot, const LaneSet& threads,
               std::uint32_t lanes);
  void release(Index w);
  void enter(Index w, State state);
  void lose(Index w, std::uint32_t lanes);
  void push(List& list, Index w);
  void drop(List& list, Index w);
  void land(Warp& warp, const ThreadGroup& group, const Landing& landing);
  void scatter(const Warp& warp);
  void commit(Index w);
  void part(Index w);
  void reserve(const Warp& warp, const ptx::Instruction& branch);
  void turn_from_points(const ptx::Instruction& instruction, const LaneSet& threads, const Landing& landing);
  void take_path(const Path& path, const LaneSet& threads, std::uint16_t slot);
  void arrive_or_go_on(Index w, ptx::Pc pc, std::uint16_t depth);
  void go_on(Index w);
  void park(Index w, const Landing& landing);
  void resume(Index w);
  void regroup(const LaneSet& threads, std::uint32_t lanes, ptx::Pc pc, std::uint16_t depth,
               std::uint16_t slot);
  void revive();
  void take_ports(const LaneSet& threads);
  Cycle searched_at_issue() const;
  bool ends(ptx::Pc pc) const;
  void wait_for_memory(Index w);
  bool merge_waiting(Index w);
  void leave_tables(Index w);
  void give_context(Index w);
  void take_context(Index w);

  // reincarnating_transitions.cpp: time
  void to_second_level(Index w);
  void take_turns(Cycle now);
  void end_searches(Cycle now);
  void begin_searches(Cycle now);
  std::uint32_t rank(Index w) const;
  Index next_ready();
  void refill(unsigned scheduler);
  bool leave_waiting_lookup(Cycle now);
  void leave_one_table(Cycle now, bool lookup_may_leave);
  void house_stalled();
  bool promotable() const;
  bool lookup_may_leave() const;
  bool any_waits_for_memory() const;
  Stall reason() const;
  Cycle done_at(Index w) const;
  bool done(Index w) const { return done_at(w) <= now_; }

  // reincarnating_report.cpp
  unsigned thread_bits() const;
  std::uint64_t second_level_bits() const;
  std::uint64_t storage_bits() const;
  std::string describe(Index w) const;

  const ReincarnationTables config_;
  const bool likely_;
  const Reconvergence rule_;
  const Geometry geometry_;
  const LaneMap lanes_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<ptx::Pc> points_;  // likely-convergence points by PC of a branch; empty: not asked for
  WaysToPoints ways_;            // to these

  std::vector<Warp> warps_;
  std::vector<Index> free_warps_;
  std::array<std::uint32_t, static_cast<std::size_t>(State::kCount)> threads_in_{};  // by state
  std::array<std::uint32_t, static_cast<std::size_t>(State::kCount)> warps_in_{};
  List ready_, parked_, stalled_;
  // Committed in this cycle, of which the search of the barriers is to begin; whose search is under way, by
  // `due`: warps that go on, and those that it finds complete; revived ones that may enter the Second-Level.
  List committed_, returning_, reviving_, revived_;
  std::vector<std::vector<Index>> first_;  // First-Level of each scheduler: by rank, then oldest first
  LookupTable ready_lookup_, waiting_lookup_;
  ReconvergenceBarriers barriers_;

  ContextTable table_;
  std::vector<Index> warp_of_context_, free_contexts_;
  ContextSet changed_;  // contexts whose warp has changed since the SM last judged it

  std::vector<Index> warp_of_issue_;
  static constexpr IssueId kNoIssue = UINT16_MAX;
  IssueId immediate_ = kNoIssue;  // just issued, and resolved before anything else happens (scoreboard)
  bool at_issue_ = false;         // ... and that is what is being resolved
  std::uint32_t progress_ = 0;    // of the warp that is being resolved
  // In this cycle the first warp was found to wait for memory, when another scheduler of the domain had said
  // already why it has nothing: in the next cycle it says kMemory.
  bool memory_wait_is_news_ = false;

  std::vector<Landing> landings_;  // by position, of scattered warps
  std::vector<Path> paths_;
  unsigned rows_ = 0;  // of resident blocks
  unsigned capacity_;  // rows
  // Cycles of the search after write-back: of warps that go on, and before others can be revived.
  const Cycle search_after_commit_, search_before_revival_;
  // Cycles of this cycle's commits at the barriers' ports, beyond the first of each; until when those of
  // earlier ones take them.
  Cycle further_ = 0, ports_taken_ = 0;
  bool lookup_committed_ = false;  // warps of the Waiting-Lookup are among them
  Cycle now_ = 0;

  struct Counters {
    std::uint64_t divergent_branches = 0, uniform_branches = 0, bar_in_divergence = 0;
    std::uint64_t ready_merges = 0, ready_merged_threads = 0, ready_bypasses = 0;
    std::uint64_t waiting_merges = 0, waiting_merged_threads = 0, waiting_bypasses = 0, evictions = 0;
    std::uint64_t reincarnations = 0, reincarnated_threads = 0, lone_departures = 0;
    std::uint64_t lookup_to_second = 0, barrier_to_second = 0, second_to_first = 0, first_to_waiting = 0;
    std::uint64_t second_level_peak = 0, spills = 0;
    TableAccesses second_level;
  } counters_;
};

}  // namespace weft::warp_formation

#endif
