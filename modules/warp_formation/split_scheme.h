// Schemes that let several splits of a warp (warp_splits.h) be under way at a time. Each split that may run
// has a context, with its own instruction buffer, and a scheduler takes it for a warp.
//
// A warp has a context of its own as long as it lives. The others are shared: where they run out, splits wait
// for one, and a split gives its own up after each instruction.
//
// A scheme derives from this class, says by SplitRules how its warps part, and binds its tables.
#ifndef WEFT_WARP_FORMATION_SPLIT_SCHEME_H
#define WEFT_WARP_FORMATION_SPLIT_SCHEME_H

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "warp_formation/sbr_warp.h"
#include "warp_formation/warp_place.h"
#include "warp_formation/warp_splits.h"
#include "weft/warp_formation/scheduling.h"

namespace weft::warp_formation {

// When threads whose data have come run ahead of others of their split.
enum class MemorySplits : std::uint8_t {
  kNone,
  kAggressive,  // always
  kLazy,        // if nobody else could be issued when the split first had to wait
  kRevive,      // if nobody else can be issued now
};

// Where they wait for these.
enum class RunAhead : std::uint8_t { kToBranch, kBeyondBranches };

struct SplitRules {
  WarpSplits::AtATime at_a_time = WarpSplits::AtATime::kAll;
  SbrOrder order = SbrOrder::kFallthroughFirst;
  Cycle timeout = 0;             // threads at a point to which nobody comes for so long go on; 0: never
  unsigned shared_contexts = 0;  // beside one for each warp
  // Splits of warps that have been divided for good; 0: warps part at branches only by `at_a_time`.
  unsigned divided = 0;
  unsigned short_block = 0;  // a branch divides a warp if what follows its point is no longer than that
  bool merges = false;       // ready splits of a divided warp become one where they meet
  MemorySplits memory = MemorySplits::kNone;
  RunAhead run_ahead = RunAhead::kBeyondBranches;
  // So many splits of a warp run at a time, those in the first blocks by priority (ptx/frontiers.h). Branches
  // have no points then; splits meet where they come to one place. 0: they run by points and lines.
  unsigned frontier = 0;
  bool awaits_first = false;  // others wait where paths of a branch meet, until the first split is there
  // An instruction may begin beside another one: of a split that runs as well, and, unless this is 0, of
  // other warps of its scheduler, which are in so many sets: only those of its set.
  bool beside = false;
  unsigned sets = 0;
};

class SplitScheme : public WarpFormation {
 public:
  void attach(const ptx::Program& program, const SmView& sm) override;
  bool can_launch(const Block& block) const override;
  void launch(const Block& block) override;
  // Warps leave one by one, when their last thread exits.
  void retire(const Block&) override {}
  void reset() override;

  void advance(Cycle now) override;
  Stall pick(unsigned scheduler, Issue& issue) override;
  unsigned issues_at_once() const override { return rules_.beside ? 2 : 1; }
  Stall pick_beside(unsigned scheduler, Issue& issue) override;
  void issued(IssueId id, const Issue& issue) override;
  void memory_issued(IssueId id) override;
  void resolved(IssueId id, Outcomes outcomes) override;
  std::uint32_t waiting_to_exit(std::uint16_t slot) const override;
  std::uint32_t ending(unsigned chunk) const override;
  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override;
  void barrier_released(std::uint16_t slot, unsigned barrier) override;
  void warp_sync_released(Groups threads) override;

  // Not if threads may pass the point of their branch without others.
  bool keeps_warps() const override {
    return size_ % kChunk == 0 && rules_.divided == 0 && rules_.timeout == 0 && rules_.frontier <= 1;
  }
  unsigned warp_width() const override { return size_; }
  Census census() const override;
  Cycle next_event(Cycle now) const override;
  ContextTable& contexts() override { return table_; }
  Next next(unsigned context, Issue& issue) const override;
  unsigned ready_warps() const override;
  void bind(statistics::Group& group) override;
  std::string dump() const override;
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override;

 protected:
  SplitScheme(const SplitRules& rules, const CommonConfig& config, const Geometry& geometry);

  struct Statistics {
    std::uint64_t divergent_branches = 0, uniform_branches = 0, barriers_in_divergence = 0;
    std::uint64_t path_switches = 0, lone_departures = 0, merges = 0, timeouts = 0, context_waits = 0;
    std::uint64_t most_splits = 0, most_points = 0;
    std::uint64_t branch_divisions = 0, memory_divisions = 0, full = 0, most_divided = 0;
    std::uint64_t constrained = 0, beside_own = 0, beside_others = 0;
    TableAccesses splits, points, masks;
  };
  // Binds what only this scheme counts.
  virtual void bind_tables(statistics::Group& group) = 0;
  static void bind_table(statistics::Group& group, const storage::Array& table, TableAccesses& accesses) {
    accesses.bind(
        group, table.part, [entries = table.entries] { return static_cast<double>(entries); },
        [bits = table.bits] { return static_cast<double>(bits); });
  }
  static void bind_storage(statistics::Group& group, std::string_view meaning, std::function<double()> bits) {
    group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits, meaning, std::move(bits));
  }

  unsigned warps() const { return static_cast<unsigned>(warps_.size()); }
  unsigned warp_size() const { return size_; }
  Statistics& statistics() { return statistics_; }

 private:
  using Index = WarpSplits::Index;
  static constexpr Index kNone = WarpSplits::kNone;
  static constexpr unsigned kNobody = ContextSet::kMaxContexts;

  struct Warp : WarpPlace {
    explicit Warp(unsigned size) : splits(size) {}
    bool live = false;
    bool parted = false;                       // threads have gone on without others
    bool at_barrier = false, at_sync = false;  // no split can run
    std::uint16_t wanting = 0;                 // splits without a context that could run
    std::uint16_t divided = 0;                 // splits that run at a time, if there are several
    WarpSplits splits;
  };
  struct Context {
    Index warp = kNone, split = kNone;
    bool in_memory = false;
    bool judged = false;  // whether its threads wait apart
    std::uint16_t threads = 0;
    std::uint32_t group_count = 0;
    WarpGroups groups{};
  };
  struct Scheduler : WaitingWarps {
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible;
    ContextSet far;        // waits for memory, in barrel mode
    ContextSet free;       // shared contexts that nobody has
    unsigned wanting = 0;  // warps with splits that want a context
    unsigned next_wanting = 0;
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far, free, at_rest(wanting), next_wanting);
    }
  };

  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }
  Scheduler& scheduler_of(unsigned warp) { return schedulers_[warp % schedulers_.size()]; }
  void start(unsigned w, const Block& block, unsigned number);
  void fill(Issue& issue, unsigned context) const;
  void land(unsigned context);
  void commit(unsigned context);
  void end(unsigned w);
  WarpSplits::Parting parting(const Warp& warp, Index split, unsigned places);
  void settle(unsigned w);
  void settle_after(unsigned w, Index split);
  void meet(Warp& warp);
  bool still_stalled(const WarpSplits::Split& split) const;
  bool holds_others(const Warp& warp) const;
  void stand(unsigned w, bool runs);
  bool is_wanted(unsigned context) const;
  void hand_out(unsigned w);
  bool keeps_for_waiting(unsigned w) const;
  void keep_for_waiting(unsigned w);
  void serve_others(Scheduler& s);
  void give(unsigned context, unsigned w, Index split);
  void take_away(unsigned context);
  void show(unsigned context);
  void note_news(unsigned w);
  void leave_points(Cycle now);
  bool has_room(const Warp& warp, unsigned parts) const;
  void count_divided(unsigned w);
  void run_ahead(unsigned context);
  void detach(unsigned context);
  ptx::Pc limit_from(ptx::Pc pc) const;
  bool divide_waiting(Scheduler& s, unsigned scheduler, Issue& issue);
  bool may_divide_later(const Scheduler& s) const;
  bool divide_by_operands(unsigned context, unsigned scheduler, Issue& issue);
  Stall judged(const Issue& issue, Stall stall);
  void rank(const ptx::Program& program);
  bool goes_before(const WarpSplits::Split& a, const WarpSplits::Split& b) const;
  bool awaits(const WarpSplits::Split& split, const WarpSplits::Split& first) const;
  void keep_first(Warp& warp);
  bool may_begin_beside(const Context& context) const;
  ContextSet far_of(const Scheduler& s) const;
  template <class Count>
  std::uint64_t count_warps(Count&& count) const {
    std::uint64_t n = 0;
    for (const auto& warp : warps_) n += warp.live ? count(warp) : 0u;
    return n;
  }

  const CommonConfig config_;
  const SplitRules rules_;
  const Geometry geometry_;
  const unsigned size_;
  std::vector<Warp> warps_;
  const unsigned contexts_;
  const unsigned words_;  // of a ContextSet that are in use
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<Context> of_context_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextTable table_;
  ContextSet changed_;  // contexts whose threads have changed since the SM last judged them
  std::vector<ReconvergenceStack::Path> places_;
  std::vector<std::uint32_t> block_length_;  // by PC: instructions from it to the end of its block
  // By PC: the rank of its block; that of the first branch whose paths meet there.
  std::vector<std::uint32_t> rank_, parted_at_;
  std::vector<Index> kept_;  // of `keep_first`
  Index begun_ = kNone;      // the warp whose instruction was issued last
  bool asks_again_ = false;  // the next cycle may offer something, though nothing happens until then
  unsigned live_ = 0, divided_ = 0;
  std::uint64_t last_want_ = 0;
  std::vector<Index> news_;  // warps with points to which somebody has come since the last `advance`
  Cycle due_ = kNoEvent;     // no point is kept waiting too long before
  Statistics statistics_;
};

}  // namespace weft::warp_formation

#endif
