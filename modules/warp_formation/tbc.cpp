// Thread block compaction: one reconvergence stack per block, whose top entry's threads are compacted into
// warps.
//
// Fung, Aamodt: Thread block compaction for efficient SIMT control flow, HPCA 2011. All warps of a block's
// top entry run up to the next branch or to the entry's reconvergence point and dissolve there; when the last
// one has, the stack moves and the compactor makes the warps of the new top, one per cycle: each takes from
// every lane the lowest threads that are left. With all threads of the block at the top, these are its static
// warps.
//
// The paper says nothing of threads that wait for others of the block on other paths. Here, when all warps of
// the top entry wait, they dissolve too, and another path runs (tbc_block.h).
#include <algorithm>
#include <sstream>

#include "common/ring.h"
#include "warp_formation/tbc_block.h"
#include "warp_formation/tbc_options.h"
#include "warp_formation/tbc_statistics.h"
#include "warp_formation/tbc_warp.h"
#include "weft/warp_formation/likely_convergence.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Tbc final : public WarpFormation {
 public:
  Tbc(const TbcOptions& options, const CommonConfig& config, const Geometry& geometry)
      : config_(config),
        options_(options),
        rules_{options.order, config.reconvergence},
        geometry_(geometry),
        size_(static_cast<unsigned>(config.warp_size)),
        lanes_(std::min(geometry.lanes, static_cast<unsigned>(config.warp_size))),
        table_(std::max(1u, std::min(contexts_for(geometry.threads), ContextSet::kMaxContexts))),
        warps_(table_.size(), Warp(size_ / lanes_)),
        blocks_(geometry.slots),
        schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config, table_.size())),
        context_of_(geometry.max_issues, 0),
        compactions_(geometry.slots) {
    clear();
  }

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
    if (options_.likely_points()) likely_ = likely_convergence_points(program, config_.reconvergence);
  }

  bool can_launch(const Block& block) const override {
    return static_warps_ + warps_of(block) <= std::max(1u, geometry_.threads / size_) &&
           free_.size() >= contexts_for(block.threads);
  }

  void launch(const Block& block) override {
    Resident& b = blocks_[block.slot];
    b.live = true;
    b.contexts.clear();
    for (unsigned i = contexts_for(block.threads); i > 0; --i) {
      const unsigned context = free_.next(0);
      free_.remove(context);
      b.contexts.push_back(static_cast<std::uint16_t>(context));
    }
    static_warps_ += warps_of(block);
    b.state.start(block);
    b.warps = 0;
    while (b.state.unplaced() != 0) compact(b);  // static warps need no compactor
  }

  void retire(const Block& block) override {
    Resident& b = blocks_[block.slot];
    for (const std::uint16_t context : b.contexts) free_.add(context);
    static_warps_ -= warps_of(block);
    b.live = false;
  }

  void reset() override {
    clear();
    statistics_ = {};
  }

  void advance(Cycle) override {
    if (questions_ != 0) {
      for (auto& b : blocks_) {
        if (b.in_question) decide(b);
      }
    }
    if (compactions_.empty()) return;
    Resident& b = blocks_[compactions_.front()];
    compact(b);
    if (b.state.unplaced() == 0) compactions_.pop();
  }

  Stall pick(unsigned scheduler, Issue& issue) override {
    Scheduler& s = schedulers_[scheduler];
    const ContextSet candidates = without_waiting(s.eligible, *sm_);
    ContextSet far = s.far;
    if (s.policy.wants_far()) far.add(sm_->waiting_for_memory());
    const auto attempt = [&](unsigned context) {
      offer(context, issue);
      return sm_->ready(scheduler, issue);
    };
    const Stall stall = s.policy.pick(candidates, attempt, far);
    if (stall == Stall::kNone) return stall;
    Stall why = s.worse_of(worse_of_waiting(s.eligible, *sm_, stall), geometry_.barrel);
    if (stuck_ != 0) why = worse(why, Stall::kReconvergence);
    if (!compactions_.empty()) why = worse(why, Stall::kScheme);
    return why;
  }

  void issued(IssueId id, const Issue& issue) override {
    context_of_[id] = issue.context;
    Warp& warp = warps_[issue.context];
    warp.in_flight = true;
    warp.record.start(issue.context, issue, size_);
    ++statistics_.warp_buffer.reads;
    Scheduler& s = scheduler_of(issue.context);
    s.eligible.remove(issue.context);
    ++s.in_flight;
  }

  void memory_issued(IssueId id) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    if (!geometry_.barrel || !warp.in_flight || warp.record.in_memory()) return;
    warp.record.wait_for_memory();
    ++scheduler_of(context).in_memory;
    scheduler_of(context).far.add(context);
  }

  void resolved(IssueId id, Outcomes outcomes) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    TbcBlock& block = blocks_[warp.slot].state;
    for (const auto& outcome : outcomes) {
      warp.record.resolve(count_threads(outcome.groups));
      if (outcome.kind != Outcome::Kind::kExit) warp.record.go(outcome);
      switch (outcome.kind) {
        case Outcome::Kind::kExit:
          for (const auto& group : outcome.groups) {
            block.exit(group);
            warp.packed.remove(group.chunk, group.mask);
          }
          break;
        case Outcome::Kind::kBarrier:
          block.wait_at_barrier(outcome.argument, outcome.groups);
          warp.to_barrier = true;
          break;
        case Outcome::Kind::kWarpSync:
          block.wait_for_warp(outcome.groups);
          break;
        case Outcome::Kind::kGo:
          break;
      }
    }
    if (warp.record.complete()) commit(context);
  }

  std::uint32_t waiting_to_exit(std::uint16_t slot) const override {
    return blocks_[slot].state.ending(*program_).count();
  }

  std::uint32_t ending(unsigned chunk) const override {
    for (const auto& b : blocks_) {
      if (b.live && b.state.has_chunk(chunk))
        return b.state.ending(*program_).words[chunk - b.state.block().first_chunk];
    }
    return 0;
  }

  std::uint32_t held_back(unsigned chunk, const std::uint32_t* standing) const override {
    for (const auto& b : blocks_) {
      if (b.live && b.state.has_chunk(chunk)) return b.state.held_back(chunk, standing);
    }
    return 0;
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    blocks_[slot].state.release_barrier(barrier);
    wake(blocks_[slot]);
  }

  void warp_sync_released(Groups threads) override {
    for (const auto& group : threads) {
      for (auto& b : blocks_) {
        if (!b.live || !b.state.has_chunk(group.chunk)) continue;
        b.state.release_from_warp(group);
        wake(b);
      }
    }
  }

  unsigned warp_width() const override { return size_; }
  Census census() const override;
  Cycle next_event(Cycle now) const override {
    return compactions_.empty() && questions_ == 0 ? kNoEvent : now + 1;
  }
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override {
    unsigned n = 0;
    for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
    return n;
  }
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;
  // Warps and blocks start anew.
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override {
    archive(at_rest(static_warps_), at_rest(compactions_), at_rest(questions_), at_rest(stuck_), table_,
            free_);
    archive_each(archive, schedulers_);
    for (Resident& block : blocks_) archive(block.state);
  }

 private:
  using Warp = TbcWarp;

  struct Resident {
    bool live = false;
    bool in_question = false;  // perhaps all its warps wait
    bool stuck = false;        // no path can run
    TbcBlock state;
    std::vector<std::uint16_t> contexts;  // for its warps
    unsigned warps = 0;                   // of the top entry that have not dissolved (WCnt)
  };
  struct Scheduler : WaitingWarps {
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible, far;
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far);
    }
  };

  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }
  // Warps that `threads` threads can be compacted into at most: as many as the static ones; warps of more
  // than 32 threads may be cut short by the groups of an issue (lane_packing.h).
  unsigned contexts_for(unsigned threads) const {
    const unsigned warps = (threads + size_ - 1) / size_;
    return size_ <= kChunk ? warps : warps + (threads + kChunk - 1) / kChunk;
  }
  Scheduler& scheduler_of(unsigned context) { return schedulers_[context % schedulers_.size()]; }

  void clear() {
    for (unsigned c = 0; c < table_.size(); ++c) {
      warps_[c] = Warp(size_ / lanes_);
      table_.set(c, ptx::kNoPc);
      free_.add(c);
    }
    for (auto& b : blocks_) {
      b = Resident();
      b.contexts.reserve(table_.size());
    }
    for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, table_.size());
    compactions_.clear();
    static_warps_ = questions_ = stuck_ = 0;
  }

  void offer(unsigned context, Issue& issue) const {
    const Warp& warp = warps_[context];
    issue.pc = warp.pc;
    issue.depth = warp.depth;
    issue.slot = warp.slot;
    issue.context = static_cast<std::uint16_t>(context);
    issue.rows = static_cast<std::uint8_t>(std::max(1u, size_ / geometry_.lanes));
    issue.groups = warp.packed.groups();
  }

  // The instruction of the warp is done.
  void commit(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    warp.in_flight = false;
    --s.in_flight;
    if (warp.record.in_memory()) {
      --s.in_memory;
      s.far.remove(context);
    }
    if (warp.packed.empty()) return dissolve(context);
    const CommitRecord& record = warp.record;
    Resident& b = blocks_[warp.slot];
    if (TbcBlock::may_part(program_->code[record.pc()]) || record.paths().size() > 1) {
      b.state.deposit(record, warp.depth);
      return dissolve(context);
    }
    warp.pc = record.paths()[0].pc;
    warp.depth = record.paths()[0].depth;
    if (warp.to_barrier && b.state.stack().depth() > 1) ++statistics_.bar_in_divergence;
    if (!b.state.waits(warp.packed.groups())) return go_on(context);
    (warp.to_barrier ? warp.at_barrier : warp.at_sync) = true;
    ++(warp.to_barrier ? s.at_barrier : s.at_sync);
    s.far.add(context);
    question(b);
  }

  // The warp may issue its next instruction, unless it has arrived at the reconvergence point.
  void go_on(unsigned context) {
    Warp& warp = warps_[context];
    warp.to_barrier = false;
    TbcBlock& block = blocks_[warp.slot].state;
    if (block.reconverges(warp.pc, warp.depth)) {
      block.reconverge(warp.packed.groups());
      return dissolve(context);
    }
    if (block.at_likely_point(warp.pc, warp.depth)) {
      block.join_likely(warp.packed.groups());
      return dissolve(context);
    }
    table_.set(context, warp.pc);
    scheduler_of(context).eligible.add(context);
  }

  // Threads of the block have been released.
  void wake(Resident& b) {
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live || !(warp.at_barrier || warp.at_sync) || b.state.waits(warp.packed.groups())) continue;
      stop_waiting(context);
      go_on(context);
    }
    if (b.stuck) question(b);
  }

  void stop_waiting(unsigned context) {
    Warp& warp = warps_[context];
    Scheduler& s = scheduler_of(context);
    if (warp.at_barrier) --s.at_barrier;
    if (warp.at_sync) --s.at_sync;
    warp.at_barrier = warp.at_sync = false;
    s.far.remove(context);
  }

  // The warp is no more; its threads are elsewhere.
  void forget(unsigned context) {
    Warp& warp = warps_[context];
    stop_waiting(context);
    warp.live = false;
    scheduler_of(context).policy.left(context);
    table_.set(context, ptx::kNoPc);
    --blocks_[warp.slot].warps;
    ++statistics_.stacks.writes;  // the top entry's count of warps
  }

  void dissolve(unsigned context) {
    forget(context);
    Resident& b = blocks_[warps_[context].slot];
    if (b.state.anyone_waits()) return question(b);  // others may be released in this cycle
    if (b.warps == 0 && b.state.unplaced() == 0) next_entry(b);
  }

  // Asks, when all events of the cycle are known, whether the block has a warp that can run.
  void question(Resident& b) {
    questions_ += !b.in_question;
    b.in_question = true;
  }

  void decide(Resident& b) {
    b.in_question = false;
    --questions_;
    if (!b.live || b.state.unplaced() != 0) return;
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (warp.live && !warp.at_barrier && !warp.at_sync) return;
    }
    if (b.warps != 0) {
      ++statistics_.path_switches;
      for (const std::uint16_t context : b.contexts) {
        const Warp& warp = warps_[context];
        if (!warp.live) continue;
        b.state.stand_aside(warp.pc, warp.depth, warp.packed.groups());
        forget(context);
      }
    }
    next_entry(b);
  }

  // The top entry has no warps.
  void next_entry(Resident& b) {
    const std::uint64_t written = statistics_.block.entries_written;
    const bool runs = b.state.move(*program_, rules_, likely_, statistics_.block);
    statistics_.stacks.writes += statistics_.block.entries_written - written;
    statistics_.stacks.reads += runs ? 1 : 0;
    const bool stuck = !runs && !b.state.stack().empty();
    stuck_ += stuck;
    stuck_ -= b.stuck;
    b.stuck = stuck;
    statistics_.deepest_stack = std::max<std::uint64_t>(statistics_.deepest_stack, b.state.stack().depth());
    if (!runs) return;
    ++statistics_.compactions;
    statistics_.uncompacted_warps += b.state.static_warps(size_);
    compactions_.push(b.state.block().slot);
  }

  // Makes one warp of the threads that are left.
  void compact(Resident& b) {
    const auto context = *std::find_if(b.contexts.begin(), b.contexts.end(),
                                       [this](std::uint16_t c) { return !warps_[c].live; });
    Warp& warp = warps_[context];
    warp.live = true;
    warp.at_barrier = warp.at_sync = warp.to_barrier = false;
    warp.slot = b.state.block().slot;
    warp.pc = b.state.stack().top().pc;
    warp.depth = b.state.stack().top().depth;
    b.state.place(warp.packed, size_, lanes_);
    ++b.warps;
    ++statistics_.compacted_warps;
    ++statistics_.warp_buffer.writes;
    scheduler_of(context).policy.arrived(context);
    scheduler_of(context).eligible.add(context);
    table_.set(context, warp.pc);
  }

  const CommonConfig config_;
  const TbcOptions options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned size_, lanes_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  ContextTable table_;
  std::vector<Warp> warps_;       // by context
  std::vector<Resident> blocks_;  // by slot
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextSet free_;                        // contexts of no block
  Ring<std::uint16_t> compactions_;        // slots of blocks whose top entry waits for the compactor
  unsigned static_warps_ = 0;              // of the resident blocks
  unsigned questions_ = 0, stuck_ = 0;     // blocks
  std::vector<ptx::Pc> likely_;            // by PC of a branch; empty: not asked for
  TbcStatistics statistics_;
};

Census Tbc::census() const {
  Census census;
  for (const auto& b : blocks_) {
    if (!b.live) continue;
    BlockMask in_warps;
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      b.state.add(in_warps, warp.packed.groups());
      warp.count(census);
    }
    b.state.count(census, in_warps);
  }
  return census;
}

// A stack entry: two PCs, a bit per thread of a block, the count of warps, and what likely-convergence points
// add.
storage::Arrays Tbc::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays;
  const std::uint64_t threads = std::min(geometry_.threads, kMaxBlockThreads);
  const std::uint64_t likely = options_.likely_points() ? kPcBits + bits_for(2 * threads) : 0;
  add(arrays, storage::ram("stacks", geometry_.slots * stack_entries,
                           2 * kPcBits + threads + bits_for(threads / size_ + 1) + likely));
  const std::uint64_t thread = bits_for(geometry_.threads) - bits_for(std::min(geometry_.lanes, size_));
  add(arrays, storage::ram("warp_buffer", table_.size(), kPcBits + size_ * (1 + thread)));
  return arrays;
}

void Tbc::bind(statistics::Group& group) {
  group.gauge("compacting", units::kBlocks, "blocks whose threads wait for the compactor",
              [this] { return compactions_.size(); });
  statistics_.bind(group, geometry_, size_, options_.likely_points(), table_.size());
  bind_likely(group, [this](auto&& visit) {
    for (const auto& b : blocks_) visit(b.state.stack());
  });
}

std::string Tbc::dump() const {
  std::ostringstream out;
  for (const auto& b : blocks_) {
    if (!b.live || b.state.stack().empty()) continue;
    out << "block slot " << b.state.block().slot << ": " << b.warps << " warps of the top entry, "
        << b.state.unplaced() << " threads wait for the compactor" << (b.stuck ? ", no path can run" : "")
        << "\n";
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      warp.describe(out, *program_);
    }
    b.state.describe(out, *program_, b.warps);
  }
  return out.str();
}

WEFT_REGISTER_SCHEME(scheme<Tbc, TbcOptions>("tbc", "thread block compaction"))

}  // namespace
}  // namespace weft::warp_formation
