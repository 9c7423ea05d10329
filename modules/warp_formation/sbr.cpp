// Stack-based reconvergence: warps of fixed size, one reconvergence stack each (immediate post-dominators,
// and likely-convergence points before them if asked for).
#include <algorithm>
#include <sstream>

#include "warp_formation/powers.h"
#include "warp_formation/sbr_warp.h"
#include "weft/warp_formation/likely_convergence.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Sbr final : public WarpFormation {
 public:
  Sbr(const SbrOptions& options, const CommonConfig& config, const Geometry& geometry)
      : config_(config),
        options_(options),
        rules_{options.order, config.reconvergence},
        geometry_(geometry),
        size_(static_cast<unsigned>(config.warp_size)),
        contexts_(std::max(1u, std::min(geometry.threads / size_, ContextSet::kMaxContexts))),
        words_((contexts_ + 63) / 64),
        warps_(contexts_, Warp(size_)),
        schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, contexts_)),
        context_of_(geometry.max_issues, 0) {}

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
    if (options_.likely_points()) likely_ = likely_convergence_points(program, config_.reconvergence);
  }

  bool can_launch(const Block& block) const override { return contexts_ - live_ >= warps_of(block); }

  void launch(const Block& block) override {
    const unsigned count = warps_of(block);
    unsigned context = 0;
    for (unsigned w = 0; w < count; ++w, ++context) {
      while (warps_[context].live) ++context;
      start(context, block, w);
    }
  }

  // Warps leave one by one, when their last thread exits.
  void retire(const Block&) override {}

  void reset() override {
    for (auto& warp : warps_) warp = Warp(size_);
    for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, contexts_);
    for (unsigned c = 0; c < contexts_; ++c) table_.set(c, ptx::kNoPc);
    live_ = 0;
    divergence_.changed();
    statistics_ = {};
  }

  void advance(Cycle) override {}

  Stall pick(unsigned scheduler, Issue& issue) override {
    Scheduler& s = schedulers_[scheduler];
    const ContextSet candidates = without_waiting(s.eligible, *sm_, words_);
    const auto attempt = [&](unsigned context) {
      fill(issue, context);
      return sm_->ready(scheduler, issue);
    };
    const Stall stall = candidates.empty()     ? Stall::kEmpty
                        : s.policy.wants_far() ? s.policy.pick(candidates, attempt, far_of(s))
                                               : s.policy.pick(candidates, attempt);
    if (stall == Stall::kNone) return stall;
    return s.worse_of(worse_of_waiting(s.eligible, *sm_, stall, words_), geometry_.barrel);
  }

  void issued(IssueId id, const Issue& issue) override {
    context_of_[id] = issue.context;
    Warp& warp = warps_[issue.context];
    warp.in_flight = true;
    warp.unresolved = kAllThreads;
    Scheduler& s = scheduler_of(issue.context);
    s.eligible.remove(issue.context);
    ++s.in_flight;
  }

  void memory_issued(IssueId id) override {
    Warp& warp = warps_[context_of_[id]];
    if (!warp.in_flight || warp.in_memory) return;
    warp.in_memory = true;
    ++scheduler_of(context_of_[id]).in_memory;
    scheduler_of(context_of_[id]).far.add(context_of_[id]);
  }

  void resolved(IssueId id, Outcomes outcomes) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    if (outcomes.count == 1 && outcomes.data[0].whole && outcomes.data[0].kind == Outcome::Kind::kGo) {
      return commit_together(context, outcomes.data[0]);
    }
    if (warp.unresolved == kAllThreads) warp.unresolved = warp.stack.top().mask.count();
    for (const auto& outcome : outcomes) warp.deposit(outcome);
    if (warp.unresolved == 0) commit(context);
  }

  std::uint32_t waiting_to_exit(std::uint16_t slot) const override {
    std::uint32_t threads = 0;
    for (const auto& warp : warps_) {
      if (!warp.live || warp.slot != slot || warp.barriers == 0) continue;
      threads += warp.ending(*program_).count();
    }
    return threads;
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    for (unsigned c = 0; c < contexts_; ++c) {
      Warp& warp = warps_[c];
      if (!warp.live || warp.slot != slot || !warp.open_barrier(barrier)) continue;
      // With nobody else waiting, or gone ahead, what was on top still is.
      if (stands(warp)) resume(c, warp.syncs || warp.parted);
    }
  }

  std::uint32_t ending(unsigned chunk) const override {
    std::uint32_t threads = 0;
    for (const auto& warp : warps_) {
      if (!warp.live || !warp.covers(chunk)) continue;
      threads |= warp.ending(*program_).words[chunk - warp.first_chunk] << warp.shift;
    }
    return threads;
  }

  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override {
    std::uint32_t threads = 0;
    for (const auto& warp : warps_) {
      if (warp.live && warp.covers(chunk)) threads |= warp.held_back(chunk, standing);
    }
    return threads;
  }

  // Threads of a sync may have waited while other paths of their warp ran.
  void warp_sync_released(Groups threads) override {
    for (unsigned c = 0; c < contexts_; ++c) {
      Warp& warp = warps_[c];
      if (!warp.live || !warp.syncs) continue;
      warp.release(threads, size_);
      divergence_.changed();
      if (stands(warp)) {
        resume(c, true);
      } else if (warp.parted && !warp.in_flight && warp.choose(*program_, statistics_)) {
        // Threads that were parted follow by the lowest PC, which may be that of threads released only now.
        show_top(c);
      }
    }
  }

  bool keeps_warps() const override { return size_ % kChunk == 0; }
  unsigned warp_width() const override { return size_; }

  Census census() const override {
    Census census;
    for (const auto& warp : warps_) {
      if (warp.live) warp.count(census);
    }
    return census;
  }

  Cycle next_event(Cycle) const override { return kNoEvent; }
  bool keeps_contexts_apart() const override { return true; }
  ContextTable& contexts() override { return table_; }
  Next next(unsigned context, Issue& issue) const override {
    if (!warps_[context].live) return Next::kNone;
    fill(issue, context);
    return schedulers_[context % schedulers_.size()].eligible.has(context) ? Next::kOffered : Next::kHeld;
  }
  // Warps start anew with their block.
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override {
    archive(at_rest(live_), table_);
    archive_each(archive, schedulers_);
    for (Warp& warp : warps_) archive(warp.stack);
    divergence_.changed();
  }

  unsigned ready_warps() const override {
    unsigned n = 0;
    for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
    return n;
  }

  void bind(statistics::Group& group) override {
    statistics_.bind(group);
    divergence_.bind(group, warps_);
    bind_likely(group, [this](auto&& visit) {
      for (const auto& warp : warps_) visit(warp.stack);
    });
    group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits,
                  "stacks of all warps at their deepest",
                  [this] { return static_cast<double>(storage_bits()); });
    statistics_.bind_stacks(group, contexts_, entry_bits());
  }

  storage::Arrays arrays(std::uint64_t stack_entries) const override {
    storage::Arrays arrays;
    add(arrays, stack_array(contexts_, stack_entries, size_, options_.likely_points()));
    return arrays;
  }

  std::string dump() const override {
    std::ostringstream out;
    for (unsigned c = 0; c < contexts_; ++c) {
      if (warps_[c].live) warps_[c].describe(out, c, size_, *program_);
    }
    return out.str();
  }

 private:
  using Warp = SbrWarp;

  struct Scheduler : WaitingWarps {
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible;
    ContextSet far;  // waits at a barrier or, in barrel mode, for memory
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far);
    }
  };

  // Threads of an issue of which none has been resolved yet.
  static constexpr std::uint32_t kAllThreads = UINT32_MAX;

  Scheduler& scheduler_of(unsigned context) { return schedulers_[context % schedulers_.size()]; }
  void fill(Issue& issue, unsigned context) const {
    const Warp& warp = warps_[context];
    issue.pc = warp.stack.top().pc;
    issue.depth = warp.stack.top().depth;
    issue.context = static_cast<std::uint16_t>(context);
    issue.slot = warp.slot;
    issue.rows = warp.rows;
    issue.groups = {warp.groups.data(), warp.group_count};
  }
  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }

  void start(unsigned context, const Block& block, unsigned number) {
    warps_[context].start(block, number, size_, geometry_.lanes);
    ++live_;
    statistics_.deepest_stack = std::max<std::uint64_t>(statistics_.deepest_stack, 1);
    scheduler_of(context).far.remove(context);
    scheduler_of(context).policy.arrived(context);
    scheduler_of(context).eligible.add(context);
    show_top(context);
  }

  // An entry: two PCs and a bit per thread; with likely-convergence points a third PC and the number of the
  // entry to join, of the 2 x warp size that a stack may have.
  std::uint64_t entry_bits() const {
    const bool likely = options_.likely_points();
    return 64 + size_ + (likely ? 32 + bits_for(2 * std::uint64_t{size_}) : 0);
  }
  std::uint64_t storage_bits() const { return contexts_ * statistics_.deepest_stack * entry_bits(); }

  // Rebuilds what `pick` hands out from the top of the stack.
  void show_top(unsigned context) {
    Warp& warp = warps_[context];
    warp.show_top(size_, geometry_.lanes);
    divergence_.changed();
    table_.set(context, warp.stack.top().pc);
  }

  void land(Warp& warp, Scheduler& s) {
    warp.in_flight = false;
    --s.in_flight;
    if (warp.in_memory) {
      warp.in_memory = false;
      --s.in_memory;
      s.far.remove(static_cast<unsigned>(&warp - warps_.data()));
    }
  }

  // The common case: all threads of the issue go on at one place.
  void commit_together(unsigned context, const Outcome& outcome) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    land(warp, s);
    if (program_->code[warp.stack.top().pc].is_branch()) ++statistics_.uniform_branches;
    const bool popped = warp.stack.advance_together(outcome.next_pc, outcome.depth);
    statistics_.stacks.reads += popped ? 1 : 0;
    if (warp.parted || (popped && warp.syncs)) return offer(context);
    if (popped) {
      show_top(context);
    } else {
      table_.set(context, outcome.next_pc);
    }
    s.eligible.add(context);
  }

  // Contexts that wait long.
  ContextSet far_of(const Scheduler& s) const {
    ContextSet far = s.far;
    return far.add(sm_->waiting_for_memory());
  }

  // The warp goes on with a path that can run, or waits.
  void offer(unsigned context) {
    Warp& warp = warps_[context];
    const bool runs = warp.choose(*program_, statistics_);
    show_top(context);
    if (runs) return scheduler_of(context).eligible.add(context);
    stop(context);
  }

  static bool stands(const Warp& warp) { return warp.at_barrier || warp.at_sync; }
  void stop(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    warp.at_barrier = warp.barriers != 0;
    warp.at_sync = !warp.at_barrier;
    ++(warp.at_barrier ? s.at_barrier : s.at_sync);
    s.far.add(context);
  }
  // Threads of a warp that stands have been released.
  void resume(unsigned context, bool top_may_change) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    --(warp.at_barrier ? s.at_barrier : s.at_sync);
    warp.at_barrier = warp.at_sync = false;
    divergence_.changed();
    if (!warp.choose(*program_, statistics_)) return stop(context);
    if (top_may_change) show_top(context);
    s.far.remove(context);
    s.eligible.add(context);
  }

  void commit(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    land(warp, s);
    const ptx::Pc likely = likely_.empty() ? ptx::kNoPc : likely_[warp.stack.top().pc];
    const bool arrived = std::exchange(warp.arrived, false);
    if (!warp.settle(*program_, rules_, statistics_, likely)) return end(context);
    if (arrived && warp.stack.depth() > 1) ++statistics_.barriers_in_divergence;
    offer(context);
    if (arrived && !stands(warp)) ++statistics_.path_switches;
  }

  void end(unsigned context) {
    --live_;
    divergence_.changed();
    scheduler_of(context).policy.left(context);
    table_.set(context, ptx::kNoPc);
  }

  const CommonConfig config_;
  const SbrOptions options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned size_;
  const unsigned contexts_;
  const unsigned words_;  // of a ContextSet that are in use
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextTable table_{contexts_};
  unsigned live_ = 0;
  std::vector<ptx::Pc> likely_;  // by PC of a branch; empty: not asked for
  Divergence divergence_;
  StackStatistics statistics_;
};

WEFT_REGISTER_SCHEME(scheme<Sbr, SbrOptions>("sbr", "stack-based reconvergence"))

}  // namespace
}  // namespace weft::warp_formation
