// Variable warp sizing (Rogers, Johnson, O'Connor, Keckler: A variable warp size architecture, ISCA 2015).
//
// The lanes are slices, and the threads of a warp in one slice are a slice-warp with a reconvergence stack of
// its own. The slice-warps of a warp start as a gang: one PC, one instruction fetch, one issue. A gang splits
// where its slice-warps go on at different places, and gangs issue in the same cycle into the slices that are
// free. Gangs of a warp that meet may become one again.
//
// A gang moves as a whole as long as its slice-warps agree: then only the gang's own place is kept, and the
// tops of their stacks are brought up to date when something else happens.
//
// Each gang that runs has a context. A warp has one of its own; the others are shared, and where they run out
// gangs take turns.
#ifndef WEFT_WARP_FORMATION_VARIABLE_WARPS_H
#define WEFT_WARP_FORMATION_VARIABLE_WARPS_H

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "warp_formation/sbr_warp.h"
#include "warp_formation/variable_warps_options.h"
#include "warp_formation/warp_place.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {

class VariableWarps final : public WarpFormation {
 public:
  VariableWarps(const VariableWarpsOptions& options, const CommonConfig& config, const Geometry& geometry);

  void attach(const ptx::Program& program, const SmView& sm) override;
  bool can_launch(const Block& block) const override { return warps() - live_ >= warps_of(block); }
  void launch(const Block& block) override;
  // Warps leave one by one, when their last thread exits.
  void retire(const Block&) override {}
  void reset() override;

  void advance(Cycle) override {}
  Stall pick(unsigned scheduler, Issue& issue) override;
  unsigned issues_at_once() const override { return std::max(1u, geometry_.lanes / slice_); }
  Stall pick_beside(unsigned scheduler, Issue& issue) override;
  void issued(IssueId id, const Issue& issue) override;
  void memory_issued(IssueId id) override;
  void resolved(IssueId id, Outcomes outcomes) override;
  std::uint32_t waiting_to_exit(std::uint16_t slot) const override;
  std::uint32_t ending(unsigned chunk) const override;
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override;
  void barrier_released(std::uint16_t slot, unsigned barrier) override;
  void warp_sync_released(Groups threads) override;
  // With a single slice it is sbr.
  bool keeps_warps() const override { return slices_ == 1 && size_ % kChunk == 0; }
  unsigned warp_width() const override { return size_; }

  Census census() const override;
  Cycle next_event(Cycle) const override { return kNoEvent; }
  // A gang changes only with others of its warp, which are the same scheduler's.
  bool keeps_contexts_apart() const override { return true; }
  ContextTable& contexts() override { return table_; }
  Next next(unsigned context, Issue& issue) const override;
  unsigned ready_warps() const override;
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override;

 private:
  using Index = std::uint16_t;
  static constexpr Index kNone = UINT16_MAX;
  using Slices = std::uint32_t;  // of a warp, or of the lanes: one bit each
  static constexpr unsigned kMostSlices = 32;

  struct Place {
    ptx::Pc pc = 0;
    std::uint16_t depth = 0;
    friend bool operator==(const Place& a, const Place& b) { return a.pc == b.pc && a.depth == b.depth; }
  };

  // Gang g is of warp g / slices_.
  struct Gang {
    enum class State : std::uint8_t { kFree, kForming, kReady, kInFlight, kStands };
    State state = State::kFree;
    bool in_memory = false;
    bool untouched = true;  // none of its threads in flight has been resolved
    bool stalled = false;   // others left it because its data had not come
    bool lockstep = true;   // its slice-warps all reconverge at `meets`, and have no other threads that wait
    bool at_barrier = false;  // it stands: at a block barrier, or else at a warp-level primitive
    bool queued = false;      // for a context
    Index context = kNone;
    Slices members = 0;
    Place at, meets;
    std::uint32_t group_count = 0;
    WarpGroups groups{};
  };
  struct Warp : WarpPlace {
    bool live = false;
    std::uint8_t lanes = 0;  // its first slice of the lanes
    std::uint16_t gangs = 0, queued = 0;
    Slices ready = 0;  // bit i: its gang i is
    Slices deep = 0;   // slice-warps with more than one entry on their stacks
  };
  struct Scheduler : WaitingWarps {  // gangs
    Scheduler(const CommonConfig& config, unsigned contexts)
        : policy(config, contexts), beside(config, contexts) {}
    WarpScheduler policy, beside;  // the first instruction of a cycle; those beside it
    ContextSet eligible;
    ContextSet far;            // waits at a barrier or, in barrel mode, for memory
    ContextSet free;           // shared contexts that nobody has
    ContextSet to_part;        // waits for memory, perhaps not with all of its threads
    std::vector<Index> queue;  // gangs that want a context
    Slices taken = 0;          // slices of the lanes into which it has issued in this cycle
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, beside, at_rest(eligible), far, free, set_anew(to_part), at_rest(queue),
              set_anew(taken));
    }
  };
  struct Statistics {
    std::uint64_t control_splits = 0, memory_splits = 0, reformed = 0, most_gangs = 0;
    std::uint64_t beside_issues = 0, context_waits = 0;
    std::vector<std::uint64_t> issues_by_size;  // bin b: of gangs of b slice-warps
    TableAccesses gangs;
  };

  unsigned warps() const { return static_cast<unsigned>(warps_.size()); }
  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }
  Scheduler& scheduler_of(unsigned warp) { return schedulers_[warp % schedulers_.size()]; }
  unsigned warp_of(Index gang) const { return gang / slices_; }
  SbrWarp& slice(unsigned warp, unsigned k) { return slice_warps_[warp * slices_ + k]; }
  const SbrWarp& slice(unsigned warp, unsigned k) const { return slice_warps_[warp * slices_ + k]; }
  bool is_own(unsigned context) const { return context < warps(); }
  template <class Visit>
  static void each(Slices slices, Visit&& visit) {
    for (; slices != 0; slices &= slices - 1) visit(static_cast<unsigned>(__builtin_ctz(slices)));
  }

  void start(unsigned w, const Block& block, unsigned number);
  void end(unsigned w);
  void fill(Issue& issue, unsigned context) const;
  ContextSet candidates(const Scheduler& s) const;
  Stall pick_one(Scheduler& s, unsigned scheduler, Issue& issue);
  Stall judge(Scheduler& s, const Issue& issue, Stall stall);
  ContextSet far_of(const Scheduler& s) const;
  void deposit(Index g, const Outcome& outcome);
  Slices resolved_members(Index g);
  void land(Index g);
  void commit_together(Index g, const Outcome& outcome);
  void commit(Index g);
  bool choose(SbrWarp& slice);

  void set_ready(Index g) {
    gangs_[g].state = Gang::State::kReady;
    warps_[warp_of(g)].ready |= Slices{1} << g % slices_;
  }
  void set_state(Index g, Gang::State state) {
    gangs_[g].state = state;
    warps_[warp_of(g)].ready &= ~(Slices{1} << g % slices_);
  }
  Index form(unsigned w, Slices members, const Place& at);
  void disband(Index g);
  void show(Index g);
  void regroup(Index g);
  void recall(Index g);
  void release(unsigned w, Slices released);
  void make_ready(Index g);
  void stand(Index g);
  Index meet(Index g);
  Index join(Index a, Index b);
  bool waits_for_data(const Gang& gang) const;
  bool split_by_memory(Scheduler& s);

  void acquire(Index g);
  bool has_context_for(unsigned w) const;
  bool is_wanted(unsigned context) const;
  void give(unsigned context, Index g);
  void give_up(Index g);
  void enqueue(Index g);
  void dequeue(Index g);
  void describe(std::ostream& out, Index g) const;
  storage::Array gang_table() const;

  const CommonConfig config_;
  const VariableWarpsOptions options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned size_;
  const unsigned slice_;   // lanes of a slice
  const unsigned slices_;  // of a warp
  std::vector<Warp> warps_;
  const unsigned contexts_;
  const unsigned words_;  // of a ContextSet that are in use
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<std::uint32_t> pattern_;  // by slice: its threads, of each 32 of the warp
  std::vector<SbrWarp> slice_warps_;
  std::vector<Gang> gangs_;
  std::vector<Scheduler> schedulers_;
  std::vector<Index> gang_at_;    // by context
  std::vector<Slices> lanes_at_;  // ... the slices of the lanes into which that gang issues
  std::vector<Index> gang_of_;    // by issue id
  ContextTable table_;
  ContextSet changed_;  // contexts whose threads have changed since the SM last judged them
  unsigned live_ = 0;
  StackStatistics stack_statistics_;
  Statistics statistics_;
};

}  // namespace weft::warp_formation

#endif
