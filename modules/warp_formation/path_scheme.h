// Schemes without a reconvergence stack whose warps keep their threads: a warp runs one of its paths
// (warp_paths.h) at a time, and a scheme's rules say which. Paths do not wait for each other, unless the
// rules block them.
//
//   struct MineRules : PathRules {
//     using Options = MineOptions;
//     MineRules(const Options& options, const CommonConfig& config, unsigned warps);
//     unsigned choose(Warp& own, WarpPaths& paths) { return paths.best(before); }  // the path to run, or
//     kNone
//     ...                                                   // what else PathRules has, where it differs
//   };
//   WEFT_REGISTER_SCHEME(scheme<PathScheme<MineRules>, MineOptions>("mine", "..."))
#ifndef WEFT_WARP_FORMATION_PATH_SCHEME_H
#define WEFT_WARP_FORMATION_PATH_SCHEME_H

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "common/ring.h"
#include "warp_formation/path_rules.h"
#include "warp_formation/powers.h"
#include "warp_formation/warp_paths.h"
#include "warp_formation/warp_place.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {

template <class Rules>
class PathScheme final : public WarpFormation {
 public:
  PathScheme(const typename Rules::Options& options, const CommonConfig& config, const Geometry& geometry)
      : config_(config),
        geometry_(geometry),
        size_(static_cast<unsigned>(config.warp_size)),
        contexts_(std::max(1u, std::min(geometry.threads / size_, ContextSet::kMaxContexts))),
        words_((contexts_ + 63) / 64),
        rules_(options, config, contexts_),
        warps_(contexts_, Warp(size_)),
        schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, contexts_)),
        context_of_(geometry.max_issues, 0) {}

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
    rules_.attach(program);
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
    live_ = owing_ = 0;
    slot_taken_ = false;
    statistics_ = {};
    rules_.reset();
  }

  void advance(Cycle) override { slot_taken_ = false; }

  Stall pick(unsigned scheduler, Issue& issue) override {
    Scheduler& s = schedulers_[scheduler];
    if constexpr (Rules::kTakesSlots) {
      if (!s.slots.empty()) return take_slot(s);
    }
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
    warp.paths.issue(warp.chosen);
    Scheduler& s = scheduler_of(issue.context);
    s.eligible.remove(issue.context);
    ++s.in_flight;
  }

  void memory_issued(IssueId id) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    if (!warp.paths.in_flight() || warp.in_memory) return;
    warp.in_memory = true;
    ++scheduler_of(context).in_memory;
    scheduler_of(context).far.add(context);
  }

  void resolved(IssueId id, Outcomes outcomes) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    if (outcomes.count == 1 && outcomes.data[0].whole && outcomes.data[0].kind == Outcome::Kind::kGo)
      return move(context, outcomes.data[0]);
    for (const auto& outcome : outcomes) {
      WarpMask mask;
      for (const auto& group : outcome.groups) warp.add_to(mask, group);
      const auto& path = warp.paths[warp.chosen];
      warp.paths.deposit(outcome, mask,
                         outcome.depth == path.depth && rules_.turns(path.pc, outcome.next_pc));
    }
    if (warp.paths.resolved()) commit(context);
  }

  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override {
    std::uint32_t threads = 0;
    if constexpr (Rules::kBlocks) {
      for (const auto& warp : warps_) {
        if (!warp.live || !warp.covers(chunk) || !warp.paths.any(WarpPaths::State::kBlocked)) continue;
        WarpMask own;
        for (unsigned w = 0; w < warp.chunks; ++w)
          own.words[w] = standing[warp.first_chunk + w] >> warp.shift;
        threads |= rules_.held_back(warp.own, warp.paths, own).words[chunk - warp.first_chunk] << warp.shift;
      }
    }
    return threads;
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    for (unsigned c = 0; c < contexts_; ++c) {
      Warp& warp = warps_[c];
      if (warp.live && warp.slot == slot && warp.paths.open_barrier(barrier)) resume(c);
    }
  }

  // Threads of a primitive may have waited while other paths of their warp ran.
  void warp_sync_released(Groups threads) override {
    for (unsigned c = 0; c < contexts_; ++c) {
      Warp& warp = warps_[c];
      if (!warp.live || !warp.paths.any(WarpPaths::State::kAtSync)) continue;
      warp.paths.release_syncs(warp.own_of(threads, size_));
      resume(c);
    }
  }

  bool keeps_warps() const override { return size_ % kChunk == 0; }
  unsigned warp_width() const override { return size_; }

  Census census() const override {
    Census census;
    for (const auto& warp : warps_) {
      if (warp.live) warp.paths.count(census, warp.chosen);
    }
    return census;
  }

  Cycle next_event(Cycle now) const override { return owing_ == 0 && !slot_taken_ ? kNoEvent : now + 1; }
  // A slot that the rules take is not for what a context offers.
  bool keeps_contexts_apart() const override { return !Rules::kTakesSlots || !rules_.takes_slots(); }
  ContextTable& contexts() override { return table_; }
  Next next(unsigned context, Issue& issue) const override {
    if (!warps_[context].live) return Next::kNone;
    if (warps_[context].chosen == WarpPaths::kNone) return Next::kHeld;
    fill(issue, context);
    return schedulers_[context % schedulers_.size()].eligible.has(context) ? Next::kOffered : Next::kHeld;
  }
  // Warps start anew with their block.
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override {
    archive(at_rest(live_), at_rest(owing_), set_anew(slot_taken_), table_);
    archive_each(archive, schedulers_);
  }

  unsigned ready_warps() const override {
    unsigned n = 0;
    for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
    return n;
  }

  void bind(statistics::Group& group) override {
    statistics_.bind(group, Rules::kMost, Rules::kMostMeaning);
    rules_.bind(group);
    group.gauge("parted_warps", units::kWarps, "warps whose threads are on more than one path", [this] {
      return count_warps([](const Warp& warp) { return warp.paths.count() > 1 ? 1u : 0u; });
    });
    group.gauge("paths", units::kEntries, "paths of all warps",
                [this] { return count_warps([](const Warp& warp) { return warp.paths.count(); }); });
    group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits, Rules::kStorageMeaning, [this] {
      return static_cast<double>(storage::counted_bits(arrays(statistics_.most_paths)));
    });
    statistics_.table.bind(
        group, table_array(1).part,
        [this] { return static_cast<double>(table_array(statistics_.most_paths).entries); },
        [this] { return static_cast<double>(table_array(statistics_.most_paths).bits); });
  }

  storage::Arrays arrays(std::uint64_t stack_entries) const override {
    storage::Arrays arrays;
    add(arrays, table_array(stack_entries));
    rules_.add_arrays(arrays);
    return arrays;
  }

  std::string dump() const override {
    std::ostringstream out;
    for (unsigned c = 0; c < contexts_; ++c) {
      const Warp& warp = warps_[c];
      if (!warp.live) continue;
      out << "warp " << c << " (block slot " << warp.slot << ", threads " << warp.number * size_ << " to "
          << warp.number * size_ + size_ - 1 << "): " << state_of(warp) << "\n";
      warp.paths.describe(out, size_, *program_);
      rules_.describe(out, warp.own, (size_ + kChunk - 1) / kChunk);
    }
    return out.str();
  }

 private:
  // What a warp waits for that has no path to run.
  enum class Stands : std::uint8_t { kNot, kAtBarrier, kForThreads };

  struct Warp : WarpPlace {
    explicit Warp(unsigned size) : paths(size) {}
    bool live = false;
    bool in_memory = false;
    Stands stands = Stands::kNot;
    std::uint32_t group_count = 0;
    unsigned chosen = WarpPaths::kNone;  // the path that is offered, or in flight
    WarpGroups groups{};                 // its threads
    WarpPaths paths;
    typename Rules::Warp own{};
  };

  struct Owed {
    std::uint16_t context = 0;
    unsigned slots = 0;
  };
  struct Scheduler : WaitingWarps {
    Scheduler(const CommonConfig& config, unsigned contexts)
        : policy(config, contexts), slots(Rules::kTakesSlots ? contexts : 1) {}
    WarpScheduler policy;
    Ring<Owed> slots;  // that warps owe before they are asked again
    ContextSet eligible;
    ContextSet far;  // waits at a barrier or, in barrel mode, for memory
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(slots), at_rest(eligible), far);
    }
  };

  // Contexts that wait long.
  ContextSet far_of(const Scheduler& s) const {
    ContextSet far = s.far;
    return far.add(sm_->waiting_for_memory());
  }
  Scheduler& scheduler_of(unsigned context) { return schedulers_[context % schedulers_.size()]; }
  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }
  storage::Array table_array(std::uint64_t entries) const { return rules_.table(contexts_, size_, entries); }
  template <class Count>
  std::uint64_t count_warps(Count&& count) const {
    std::uint64_t n = 0;
    for (const auto& warp : warps_) n += warp.live ? count(warp) : 0u;
    return n;
  }
  static std::string state_of(const Warp& warp) {
    if (warp.stands == Stands::kAtBarrier) return "waits at a block barrier";
    if (warp.stands == Stands::kForThreads) return "waits for other threads of its warp";
    return warp.in_memory           ? "waits for memory"
           : warp.paths.in_flight() ? "instruction in flight"
                                    : "can be issued";
  }

  void fill(Issue& issue, unsigned context) const {
    const Warp& warp = warps_[context];
    issue.pc = warp.paths[warp.chosen].pc;
    issue.depth = warp.paths[warp.chosen].depth;
    issue.context = static_cast<std::uint16_t>(context);
    issue.slot = warp.slot;
    issue.rows = warp.rows;
    issue.groups = {warp.groups.data(), warp.group_count};
  }

  void start(unsigned context, const Block& block, unsigned number) {
    Warp& warp = warps_[context];
    warp.live = true;
    warp.in_memory = false;
    warp.stands = Stands::kNot;
    warp.chosen = 0;
    warp.paths.start(warp.take_place(block, number, size_, geometry_.lanes));
    rules_.start(warp.own, warp.paths);
    ++live_;
    statistics_.most_paths = std::max<std::uint64_t>(statistics_.most_paths, 1);
    Scheduler& s = scheduler_of(context);
    s.far.remove(context);
    s.policy.arrived(context);
    show(context);
    make_eligible(context);
  }

  // Rebuilds what `pick` hands out.
  void show(unsigned context) {
    Warp& warp = warps_[context];
    const WarpPaths::Path& path = warp.paths[warp.chosen];
    warp.group_count = warp.groups_of(path.mask, size_, geometry_.lanes, warp.groups);
    table_.set(context, path.pc);
  }

  void land(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    --s.in_flight;
    if (!warp.in_memory) return;
    warp.in_memory = false;
    --s.in_memory;
    s.far.remove(context);
  }

  // The common case: all threads of the issue go on at one place.
  void move(unsigned context, const Outcome& outcome) {
    Warp& warp = warps_[context];
    const ptx::Pc pc = warp.paths[warp.chosen].pc;
    const std::uint16_t depth = warp.paths[warp.chosen].depth;
    land(context);
    if (program_->code[pc].is_branch()) ++statistics_.uniform_branches;
    if (warp.paths.count() == 1 && rules_.passes(outcome.next_pc)) {
      warp.paths.move_alone(outcome.next_pc, outcome.depth);
      table_.set(context, outcome.next_pc);
      return scheduler_of(context).eligible.add(context);
    }
    warp.paths.move(outcome.next_pc, outcome.depth,
                    outcome.depth == depth && rules_.turns(pc, outcome.next_pc));
    go_on(context);
    offer(context);
  }

  void commit(unsigned context) {
    Warp& warp = warps_[context];
    const ptx::Pc pc = warp.paths[warp.chosen].pc;
    land(context);
    warp.paths.land();
    if (warp.paths.count() == 0) return end(context);
    if (warp.paths.pieces() != 0 && program_->code[pc].is_branch())
      ++(warp.paths.parted() ? statistics_.divergent_branches : statistics_.uniform_branches);
    if (!warp.paths.exited().empty()) rules_.exited(warp.own, warp.paths, warp.paths.exited());
    const bool arrived = !warp.paths.arrived().empty();
    if (arrived) {
      if (warp.paths.count() > 1) ++statistics_.barriers_in_divergence;
      rules_.waits(warp.own, warp.paths, warp.paths.arrived());
    }
    go_on(context);
    offer(context);
    if (arrived && warp.stands == Stands::kNot) ++statistics_.path_switches;
  }

  void end(unsigned context) {
    warps_[context].live = false;
    --live_;
    scheduler_of(context).policy.left(context);
    table_.set(context, ptx::kNoPc);
  }

  // Threads that have landed or been released go on, if the rules let them.
  void go_on(unsigned context) {
    Warp& warp = warps_[context];
    if constexpr (Rules::kBlocks) {
      for (unsigned i = 0; i < warp.paths.count();) {
        const WarpPaths::Path& path = warp.paths[i];
        const bool goes = path.is(WarpPaths::State::kLanded) || path.is(WarpPaths::State::kReleased);
        if (!goes || rules_.passes(path.pc)) {
          ++i;
        } else {
          rules_.before(warp.own, warp.paths, i);
          i = 0;  // paths may have become one
        }
      }
    }
    statistics_.merges += warp.paths.settle(Rules::kByPlace);
    statistics_.most_paths = std::max<std::uint64_t>(statistics_.most_paths, warp.paths.count());
  }

  // After an instruction the warp runs a path, or stands. A table holds all paths but the one that runs.
  void offer(unsigned context) {
    Warp& warp = warps_[context];
    warp.chosen = rules_.choose(warp.own, warp.paths);
    const bool same = warp.chosen != WarpPaths::kNone && warp.paths.just_ran(warp.chosen);
    count_writes(warp.paths.pieces() - (same && warp.paths.pieces() != 0 ? 1 : 0));
    if (warp.chosen == WarpPaths::kNone) return stand(context);
    if (!same) ++statistics_.table.reads;
    show(context);
    make_eligible(context);
  }
  // The warp is asked from now on, or once the slots that it owes have passed.
  void make_eligible(unsigned context) {
    Scheduler& s = scheduler_of(context);
    if constexpr (Rules::kTakesSlots) {
      if (const unsigned slots = rules_.take_slots(warps_[context].own); slots != 0) {
        s.slots.push({static_cast<std::uint16_t>(context), slots});
        ++owing_;
        return;
      }
    }
    s.eligible.add(context);
  }
  Stall take_slot(Scheduler& s) {
    slot_taken_ = true;
    Owed& owed = s.slots.front();
    if (--owed.slots == 0) {
      s.eligible.add(owed.context);
      s.slots.pop();
      --owing_;
    }
    return Stall::kScheme;
  }
  void count_writes(std::uint64_t rows) {
    statistics_.table.writes += rows;
    if (rules_.searches()) statistics_.table.searches += rows;
  }

  void stand(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    warp.stands = warp.paths.any(WarpPaths::State::kAtBarrier) ? Stands::kAtBarrier : Stands::kForThreads;
    ++(warp.stands == Stands::kAtBarrier ? s.at_barrier : s.at_sync);
    s.far.add(context);
  }

  // Threads of the warp have been released. If it offers a path, or one is in flight, they go on with the
  // next choice: the SM may know that this path waits, and does not ask again what takes its place.
  void resume(unsigned context) {
    Warp& warp = warps_[context];
    if (warp.stands == Stands::kNot) return;
    Scheduler& s = scheduler_of(context);
    --(warp.stands == Stands::kAtBarrier ? s.at_barrier : s.at_sync);
    warp.stands = Stands::kNot;
    go_on(context);
    warp.chosen = rules_.choose(warp.own, warp.paths);
    if (warp.chosen == WarpPaths::kNone) return stand(context);
    ++statistics_.table.reads;
    show(context);
    s.far.remove(context);
    make_eligible(context);
  }

  const CommonConfig config_;
  const Geometry geometry_;
  const unsigned size_;
  const unsigned contexts_;
  const unsigned words_;  // of a ContextSet that are in use
  Rules rules_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextTable table_{contexts_};
  unsigned live_ = 0;
  unsigned owing_ = 0;       // warps in the schedulers' `slots`
  bool slot_taken_ = false;  // in this cycle: the warp that owed it can be asked in the next one
  PathStatistics statistics_;
};

}  // namespace weft::warp_formation

#endif
