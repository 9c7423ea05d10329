// Thread block compaction: one reconvergence stack per block, whose top entry's threads are compacted into
// warps.
//
// Fung, Aamodt: Thread block compaction for efficient SIMT control flow, HPCA 2011. All warps of a block's
// top entry run up to the next branch or to the entry's reconvergence point and dissolve there; when the last
// one has, the stack moves and the compactor makes the warps of the new top, one per cycle: each takes from
// every lane the lowest threads that are left. With all threads of the block at the top, these are its static
// warps.
#include <algorithm>
#include <sstream>

#include "common/ring.h"
#include "warp_formation/block_stack.h"
#include "warp_formation/commit_record.h"
#include "warp_formation/scheduling.h"

namespace weft::warp_formation {
namespace {

class Tbc final : public WarpFormation {
 public:
  Tbc(const Config& config, const Geometry& geometry)
      : config_(config),
        geometry_(geometry),
        size_(static_cast<unsigned>(config.warp_size)),
        lanes_(std::min(geometry.simd_width, static_cast<unsigned>(config.warp_size))),
        table_(std::max(1u, std::min(contexts_for(geometry.threads), ContextSet::kMaxContexts))),
        warps_(table_.size(), Warp(size_ / lanes_)),
        blocks_(geometry.slots),
        schedulers_(geometry.schedulers, Scheduler(config, table_.size())),
        context_of_(geometry.max_issues, 0),
        compactions_(geometry.slots) {
    clear();
  }

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
  }

  bool can_launch(const Block& block) const override {
    return static_warps_ + warps_of(block) <= std::max(1u, geometry_.threads / size_) &&
           free_.size() >= contexts_for(block.threads);
  }

  void launch(const Block& block) override {
    BlockState& b = blocks_[block.slot];
    b.live = true;
    b.block = block;
    b.contexts.clear();
    for (unsigned i = contexts_for(block.threads); i > 0; --i) {
      const unsigned context = free_.next(0);
      free_.remove(context);
      b.contexts.push_back(static_cast<std::uint16_t>(context));
    }
    static_warps_ += warps_of(block);
    BlockMask all;
    for (unsigned t = 0; t < block.threads; t += kChunk)
      all.words[t / kChunk] = block.threads - t >= kChunk ? ~0u : (1u << (block.threads - t)) - 1;
    b.stack.start(all);
    b.remaining = all;
    b.remaining_threads = block.threads;
    b.first_chunk_left = 0;
    b.warps = b.deposited = 0;
    while (b.remaining_threads != 0) compact(b);  // static warps need no compactor
  }

  void retire(const Block& block) override {
    BlockState& b = blocks_[block.slot];
    for (const std::uint16_t context : b.contexts) free_.add(context);
    static_warps_ -= warps_of(block);
    b.live = false;
  }

  void reset() override {
    clear();
    statistics_ = {};
  }

  void advance(Cycle) override {
    if (compactions_.empty()) return;
    BlockState& b = blocks_[compactions_.front()];
    compact(b);
    if (b.remaining_threads == 0) compactions_.pop();
  }

  Stall pick(unsigned scheduler, std::uint32_t, Issue& issue) override {
    Scheduler& s = schedulers_[scheduler];
    Stall why = Stall::kNone;
    ContextSet candidates = s.eligible;
    set_aside_waiting(candidates, *sm_, why);
    ContextSet far = s.far;
    if (config_.scheduling == Scheduling::kTwoLevel) far.add(sm_->waiting_for_memory());
    const auto attempt = [&](unsigned context) {
      offer(context, issue);
      return sm_->ready(scheduler, issue);
    };
    const Stall stall = s.policy.pick(candidates, attempt, far);
    if (stall == Stall::kNone) return stall;
    why = worse(why, stall);
    if (s.in_memory != 0) why = worse(why, Stall::kMemory);
    if (s.in_flight != s.in_memory) why = worse(why, geometry_.barrel ? Stall::kDependence : Stall::kControl);
    if (s.at_barrier != 0) why = worse(why, Stall::kBarrier);
    if (s.syncing != 0) why = worse(why, Stall::kReconvergence);
    if (!compactions_.empty()) why = worse(why, Stall::kScheme);
    return why;
  }

  void issued(IssueId id, const Issue& issue) override {
    context_of_[id] = issue.context;
    Warp& warp = warps_[issue.context];
    warp.in_flight = true;
    warp.record.start(issue.context, issue, size_);
    Scheduler& s = scheduler_of(issue.context);
    s.eligible.remove(issue.context);
    ++s.in_flight;
  }

  void decoded(IssueId) override {}
  void memory_issued(IssueId id) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    if (!geometry_.barrel || !warp.in_flight || warp.record.in_memory()) return;
    warp.record.wait_for_memory();
    ++scheduler_of(context).in_memory;
    scheduler_of(context).far.add(context);
  }
  void memory_probed(IssueId, Groups) override {}
  void memory_returned(IssueId, Groups) override {}  // a warp waits for all its threads

  void resolved(IssueId id, Outcomes outcomes) override {
    const unsigned context = context_of_[id];
    Warp& warp = warps_[context];
    BlockState& b = blocks_[warp.slot];
    for (const auto& outcome : outcomes) {
      const unsigned threads = count_threads(outcome.groups);
      warp.record.resolve(threads);
      if (outcome.kind != Outcome::Kind::kExit) warp.record.go(outcome);
      switch (outcome.kind) {
        case Outcome::Kind::kExit:
          for (const auto& group : outcome.groups) {
            b.stack.exit(group.chunk - b.block.first_chunk, group.mask);
            warp.packed.remove(group.chunk, group.mask);
          }
          break;
        case Outcome::Kind::kBarrier:
          warp.at_barrier = true;
          warp.barrier = static_cast<std::uint8_t>(outcome.argument);
          break;
        case Outcome::Kind::kWarpSync:
          warp.syncing += threads;
          break;
        case Outcome::Kind::kGo:
          break;
      }
    }
    if (warp.record.complete()) commit(context);
  }

  std::uint32_t waiting_to_exit(std::uint16_t slot) const override {
    std::uint32_t threads = 0;
    each_fresh(blocks_[slot].stack, [&](const BlockStack::Entry& entry, unsigned count, std::size_t above) {
      if (above == 0) return;
      const ptx::Instruction& next = program_->code[entry.pc];
      if (next.is_exit() && next.guard < 0) threads += count;
    });
    return threads;
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    for (const std::uint16_t context : blocks_[slot].contexts) {
      Warp& warp = warps_[context];
      if (!warp.live || !warp.at_barrier || warp.in_flight || warp.barrier != barrier) continue;
      warp.at_barrier = false;
      --scheduler_of(context).at_barrier;
      scheduler_of(context).far.remove(context);
      go_on(context);
    }
  }

  void warp_sync_released(Groups threads) override {
    for (unsigned c = 0; c < table_.size(); ++c) {
      Warp& warp = warps_[c];
      if (!warp.live || warp.syncing == 0) continue;
      for (const auto& group : threads) {
        for (const auto& own : warp.packed.groups()) {
          if (own.chunk == group.chunk)
            warp.syncing -= static_cast<unsigned>(__builtin_popcount(own.mask & group.mask));
        }
      }
      if (warp.syncing != 0 || warp.in_flight) continue;
      --scheduler_of(c).syncing;
      go_on(c);
    }
  }

  Census census() const override;
  Cycle next_event(Cycle now) const override { return compactions_.empty() ? kNoEvent : now + 1; }
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override {
    unsigned n = 0;
    for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
    return n;
  }
  void bind(statistics::Registry& registry, const std::string& prefix) override;
  std::string dump() const override;

 private:
  struct Warp {
    explicit Warp(unsigned beats) : packed(beats) {}
    bool live = false, in_flight = false, at_barrier = false;
    std::uint8_t barrier = 0;
    std::uint16_t slot = 0, depth = 0;
    ptx::Pc pc = ptx::kNoPc;
    unsigned syncing = 0;  // threads that wait for others of their original warp
    PackedWarp packed;
    CommitRecord record;
  };
  struct BlockState {
    bool live = false;
    Block block;
    BlockStack stack;
    std::vector<std::uint16_t> contexts;  // for its warps
    unsigned warps = 0;                   // of the top entry that have not dissolved (WCnt)
    std::vector<BlockStack::Path> paths;  // where the threads of the dissolved ones go
    unsigned deposited = 0;               // those threads
    ptx::Pc branch = ptx::kNoPc;          // at which they did
    std::uint16_t depth = 0;
    BlockMask remaining;  // threads that the compactor still has to place
    unsigned remaining_threads = 0, first_chunk_left = 0;
  };
  struct Scheduler {
    Scheduler(const Config& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible, far;
    unsigned in_flight = 0, in_memory = 0, at_barrier = 0, syncing = 0;  // warps
  };
  struct Statistics {
    std::uint64_t divergent_branches = 0, uniform_branches = 0, compactions = 0, compacted_warps = 0;
    std::uint64_t uncompacted_warps = 0, deepest_stack = 0, bar_in_divergence = 0;
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
      b = BlockState();
      b.contexts.reserve(table_.size());
    }
    for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, table_.size());
    compactions_.clear();
    static_warps_ = 0;
  }

  void offer(unsigned context, Issue& issue) const {
    const Warp& warp = warps_[context];
    issue.pc = warp.pc;
    issue.depth = warp.depth;
    issue.slot = warp.slot;
    issue.context = static_cast<std::uint16_t>(context);
    issue.beats = static_cast<std::uint8_t>(std::max(1u, size_ / geometry_.simd_width));
    issue.coalesce_group = 0;
    issue.groups = warp.packed.groups();
  }

  // Whether the warps of a block meet at this instruction because its threads may part there.
  static bool may_part(const ptx::Instruction& instruction) {
    if (instruction.is_branch()) return instruction.guard >= 0 && !instruction.uniform;
    return instruction.op == ptx::Opcode::kReturn || instruction.op == ptx::Opcode::kBrx ||
           (instruction.op == ptx::Opcode::kCall && instruction.target == ptx::kNoPc);
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
    if (may_part(program_->code[record.pc()]) || record.paths().size() > 1) {
      deposit(blocks_[warp.slot], record, warp.depth);
      return dissolve(context);
    }
    warp.pc = record.paths()[0].pc;
    warp.depth = record.paths()[0].depth;
    if (warp.at_barrier) {
      ++s.at_barrier;
      s.far.add(context);
      if (blocks_[warp.slot].stack.depth() > 1) ++statistics_.bar_in_divergence;
    } else if (warp.syncing != 0) {
      ++s.syncing;
    } else {
      go_on(context);
    }
  }

  // The warp may issue its next instruction, unless it has arrived at the reconvergence point.
  void go_on(unsigned context) {
    const Warp& warp = warps_[context];
    if (blocks_[warp.slot].stack.reconverges(warp.pc, warp.depth)) return dissolve(context);
    table_.set(context, warp.pc);
    scheduler_of(context).eligible.add(context);
  }

  // Remembers where the threads of a branch go until all warps of the entry have come to it.
  void deposit(BlockState& b, const CommitRecord& record, std::uint16_t depth) {
    b.branch = record.pc();
    b.depth = depth;
    for (const auto& piece : record.pieces()) {
      const Place& place = record.paths()[piece.path];
      auto path = std::find_if(b.paths.begin(), b.paths.end(), [&](const BlockStack::Path& known) {
        return known.pc == place.pc && known.depth == place.depth;
      });
      if (path == b.paths.end()) path = b.paths.insert(path, {place.pc, place.depth, {}});
      path->mask.words[piece.chunk - b.block.first_chunk] |= piece.mask;
      b.deposited += static_cast<unsigned>(__builtin_popcount(piece.mask));
    }
  }

  void dissolve(unsigned context) {
    Warp& warp = warps_[context];
    warp.live = false;
    warp.at_barrier = false;
    scheduler_of(context).policy.left(context);
    table_.set(context, ptx::kNoPc);
    BlockState& b = blocks_[warp.slot];
    --b.warps;
    if (b.warps == 0 && b.remaining_threads == 0) next_entry(b);
  }

  // The last warp of the top entry has dissolved.
  void next_entry(BlockState& b) {
    if (!b.paths.empty()) {
      const ptx::Instruction& branch = program_->code[b.branch];
      if (branch.is_branch())
        ++(b.paths.size() > 1 ? statistics_.divergent_branches : statistics_.uniform_branches);
      order(b.paths, b.branch);
      // A return has no reconvergence point of its own: threads that go back to different callers meet where
      // the entry did.
      const BlockStack::Entry& top = b.stack.top();
      const bool returns = branch.op == ptx::Opcode::kReturn;
      b.stack.advance(b.paths, returns ? top.rpc : branch.reconvergence, returns ? top.rpc_depth : b.depth);
      b.paths.clear();
      b.deposited = 0;
    } else if (!b.stack.top().mask.empty()) {
      b.stack.pop();
    }
    b.stack.settle();
    if (b.stack.empty()) return;
    statistics_.deepest_stack = std::max<std::uint64_t>(statistics_.deepest_stack, b.stack.depth());
    b.remaining = b.stack.top().mask;
    b.remaining_threads = b.remaining.count();
    b.first_chunk_left = 0;
    ++statistics_.compactions;
    for (unsigned first = 0; first < b.block.threads; first += size_)
      statistics_.uncompacted_warps += touched(b, first);
    compactions_.push(b.block.slot);
  }

  // Whether the top entry has threads of the static warp that begins at thread `first`.
  bool touched(const BlockState& b, unsigned first) const {
    if (size_ >= kChunk) {
      for (unsigned c = first / kChunk;
           c < std::min<std::size_t>((first + size_) / kChunk, b.remaining.words.size()); ++c) {
        if (b.remaining.words[c] != 0) return true;
      }
      return false;
    }
    return (b.remaining.words[first / kChunk] >> (first % kChunk) & ((1u << size_) - 1)) != 0;
  }

  // Makes one warp of the threads that are left.
  void compact(BlockState& b) {
    const auto context = *std::find_if(b.contexts.begin(), b.contexts.end(),
                                       [this](std::uint16_t c) { return !warps_[c].live; });
    Warp& warp = warps_[context];
    warp.live = true;
    warp.at_barrier = false;
    warp.syncing = 0;
    warp.slot = b.block.slot;
    warp.pc = b.stack.top().pc;
    warp.depth = b.stack.top().depth;
    warp.packed.clear();
    while (b.remaining.words[b.first_chunk_left] == 0) ++b.first_chunk_left;
    for (unsigned c = b.first_chunk_left; c < b.remaining.words.size() && warp.packed.threads() < size_;
         ++c) {
      if (b.remaining.words[c] == 0) continue;
      b.remaining.words[c] =
          warp.packed.pack(lanes_, static_cast<std::uint16_t>(b.block.first_chunk + c), b.remaining.words[c]);
    }
    b.remaining_threads -= warp.packed.threads();
    ++b.warps;
    ++statistics_.compacted_warps;
    scheduler_of(context).policy.arrived(context);
    scheduler_of(context).eligible.add(context);
    table_.set(context, warp.pc);
  }

  // Sorts the paths so that the one to run first comes last (it goes on top of the stack).
  void order(std::vector<BlockStack::Path>& paths, ptx::Pc branch) const {
    const auto fallthrough = [branch](const BlockStack::Path& path) { return path.pc == branch + 1; };
    std::sort(paths.begin(), paths.end(), [&](const BlockStack::Path& a, const BlockStack::Path& b) {
      const bool taken_first = config_.tbc.order == SbrOrder::kTakenFirst;
      if (config_.tbc.order == SbrOrder::kMinorityFirst) {
        const unsigned first = a.mask.count(), second = b.mask.count();
        if (first != second) return first > second;
      }
      if (fallthrough(a) != fallthrough(b)) return fallthrough(a) == taken_first;
      return a.pc > b.pc;
    });
  }

  // Visits the entries from the top down with the number of threads that are in none above.
  template <class Visit>
  static void each_fresh(const BlockStack& stack, Visit&& visit) {
    BlockMask seen;
    const auto& entries = stack.entries();
    for (std::size_t e = entries.size(); e-- > 0;) {
      BlockMask fresh = entries[e].mask;
      fresh.remove(seen);
      seen |= entries[e].mask;
      visit(entries[e], fresh.count(), entries.size() - 1 - e);
    }
  }

  const Config config_;
  const Geometry geometry_;
  const unsigned size_, lanes_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  ContextTable table_;
  std::vector<Warp> warps_;         // by context
  std::vector<BlockState> blocks_;  // by slot
  std::vector<Scheduler> schedulers_;
  std::vector<std::uint16_t> context_of_;  // by issue id
  ContextSet free_;                        // contexts of no block
  Ring<std::uint16_t> compactions_;        // slots of blocks whose top entry waits for the compactor
  unsigned static_warps_ = 0;              // of the resident blocks
  Statistics statistics_;
};

Census Tbc::census() const {
  Census census;
  for (const auto& b : blocks_) {
    if (!b.live) continue;
    unsigned running = 0;
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      running += warp.packed.threads();
      (warp.in_flight      ? census.issued
       : warp.at_barrier   ? census.barrier
       : warp.syncing != 0 ? census.warp_sync
                           : census.ready) += warp.packed.threads();
    }
    census.queued += b.deposited + b.remaining_threads;
    const auto& entries = b.stack.entries();
    each_fresh(b.stack, [&](const BlockStack::Entry& entry, unsigned count, std::size_t above) {
      if (above == 0) {  // those of dissolved warps
        census.reconvergence += count - running - b.deposited - b.remaining_threads;
        return;
      }
      const bool waits = entries[entries.size() - above].rpc == entry.pc;
      (waits ? census.reconvergence : census.inactive_path) += count;
    });
  }
  return census;
}

void Tbc::bind(statistics::Registry& registry, const std::string& prefix) {
  const auto counter = [&](const char* name, const char* unit, const char* meaning, std::uint64_t& value) {
    registry.counter(prefix + "." + name, unit, meaning, value);
  };
  counter("divergent_branches", "branches", "branches of a block after which its threads part",
          statistics_.divergent_branches);
  counter("uniform_branches", "branches", "branches of a block that keep its threads together",
          statistics_.uniform_branches);
  counter("compactions", "entries", "entries of a block's stack that were compacted",
          statistics_.compactions);
  counter("compacted_warps", "warps", "warps that the compactor made, static ones at launch included",
          statistics_.compacted_warps);
  counter("uncompacted_warps", "warps",
          "static warps with threads in those entries: what a stack per warp issues",
          statistics_.uncompacted_warps);
  counter("bar_in_divergence", "barriers", "arrivals of a warp at a block barrier while its block has parted",
          statistics_.bar_in_divergence);
  counter("deepest_stack", "entries", "most entries that a block's stack held", statistics_.deepest_stack);
  // A stack entry: two PCs, a bit per thread, the count of warps; a warp: PC, and per place a valid bit and
  // the thread without its lane.
  registry.derived(prefix + ".storage_bits", "bits",
                   "stacks of all block slots at their deepest, and warp buffer", [this] {
                     const auto bits = [](std::uint64_t values) {
                       unsigned n = 0;
                       while ((std::uint64_t{1} << n) < values) ++n;
                       return n;
                     };
                     const std::uint64_t threads = std::min(geometry_.threads, kMaxBlockThreads);
                     const std::uint64_t entry = 64 + threads + bits(threads / size_ + 1);
                     const std::uint64_t warp = 32 + size_ * (1 + bits(geometry_.threads) - bits(lanes_));
                     return static_cast<double>(geometry_.slots * statistics_.deepest_stack * entry +
                                                table_.size() * warp);
                   });
}

std::string Tbc::dump() const {
  std::ostringstream out;
  for (const auto& b : blocks_) {
    if (!b.live || b.stack.empty()) continue;
    out << "block slot " << b.block.slot << ": " << b.warps << " warps of the top entry, " << b.deposited
        << " threads past their branch, " << b.remaining_threads << " wait for the compactor\n";
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      out << "    warp of " << warp.packed.threads() << " threads at pc " << warp.pc << " ("
          << program_->place(warp.pc) << "): "
          << (warp.in_flight      ? std::string("instruction in flight")
              : warp.at_barrier   ? "waits at barrier " + std::to_string(warp.barrier)
              : warp.syncing != 0 ? std::string("waits for its original warp")
                                  : std::string("can be issued"))
          << "\n";
    }
    each_fresh(b.stack, [&](const BlockStack::Entry& entry, unsigned, std::size_t above) {
      out << "    " << (above == 0 ? "entry that runs" : "entry that waits") << " at pc " << entry.pc << " ("
          << program_->place(entry.pc) << "), " << entry.mask.count() << " threads";
      if (entry.rpc != ptx::kNoPc) out << ", reconverges at pc " << entry.rpc;
      out << "\n";
    });
  }
  return out.str();
}

WEFT_REGISTER_SCHEME("tbc", Tbc)

}  // namespace
}  // namespace weft::warp_formation
