// Dynamic warp formation: a warp dissolves at commit, and its threads join warps of their next PC.
//
// Fung, Sham, Yuan, Aamodt: Dynamic warp formation and scheduling for efficient GPU control flow, MICRO 2007;
// the details are those of GPGPU-Sim 2.1, by the same authors. Tables: dwf_pool.h; issue heuristics:
// dwf_order.h.
#include <algorithm>
#include <sstream>

#include "common/ring.h"
#include "warp_formation/commit_record.h"
#include "warp_formation/dwf_pool.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Dwf final : public WarpFormation {
 public:
  Dwf(const DwfOptions& options, const CommonConfig& config, const Geometry& geometry)
      : options_(options),
        geometry_(geometry),
        size_(static_cast<unsigned>(config.warp_size)),
        slot_(geometry.shared_port ? std::max(1u, size_ / geometry.lanes) : 1),
        bandwidth_(static_cast<std::int64_t>(options.commit_bandwidth * geometry.schedulers)),
        pool_(options, config.warp_size, geometry),
        table_(std::max(1u, std::min(geometry.threads / size_, ContextSet::kMaxContexts))),
        warp_of_(table_.size(), DwfPool::kNone),
        records_(std::size_t{geometry.threads} + geometry.max_issues),
        record_of_(geometry.max_issues, 0),
        queue_(geometry.threads) {
    free_records_.reserve(records_.size());
    sleepers_.reserve(geometry.threads);
    start_.reserve(kMaxWarpSize / kChunk);
    clear();
  }

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
    pool_.attach(program);
  }

  bool can_launch(const Block& block) const override {
    return warps_ + warps_of(block) <= std::max(1u, geometry_.threads / size_);
  }

  void launch(const Block& block) override {
    warps_ += warps_of(block);
    pool_.start(block);
    for (unsigned first = 0; first < block.threads; first += size_) start(block, first);
    fill_contexts();
  }

  void retire(const Block& block) override { warps_ -= warps_of(block); }

  void reset() override {
    pool_.clear();
    clear();
    statistics_ = {};
    pool_.order().elections() = 0;
  }

  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override {
    archive(at_rest(warps_), at_rest(in_flight_), at_rest(in_memory_), at_rest(barrier_), at_rest(queued_),
            at_rest(sleeping_), at_rest(queue_), at_rest(sleepers_), at_rest(used_), pool_, table_, free_,
            free_records_, now_, slot_end_, tokens_);
  }

  void advance(Cycle now) override {
    const Cycle passed = now - now_;
    now_ = now;
    pool_.next_cycle();
    pool_.order().pass(passed);
    if (!queue_.empty()) commit();
    if (options_.starvation_limit != 0) watch();
    if (!pool_.waiting.empty()) fill_contexts();
  }

  Stall pick(unsigned scheduler, Issue& issue) override {
    if (pool_.size() != 0 && !pool_.order().elect()) {
      ++statistics_.heap_stalls;
      return Stall::kScheme;
    }
    Stall why = Stall::kNone;
    ContextSet candidates = without_waiting(used_, *sm_);
    while (!candidates.empty()) {
      const unsigned context = first_of(candidates);
      offer(context, issue);
      const Stall stall = sm_->ready(scheduler, issue);
      if (stall == Stall::kNone) return stall;
      why = worse(why, stall);
      candidates.remove(context);
    }
    why = worse_of_waiting(used_, *sm_, why);
    if (in_memory_ != 0) why = worse(why, Stall::kMemory);
    if (in_flight_ != in_memory_) why = worse(why, geometry_.barrel ? Stall::kDependence : Stall::kControl);
    if (barrier_ != 0) why = worse(why, Stall::kBarrier);
    if (!sleepers_.empty()) why = worse(why, Stall::kReconvergence);
    if (queued_ != 0 || !pool_.waiting.empty()) why = worse(why, Stall::kScheme);
    return why == Stall::kNone ? Stall::kEmpty : why;
  }

  void issued(IssueId id, const Issue& issue) override {
    const std::uint32_t w = warp_of_[issue.context];
    sample();
    if (pool_.warp(w).rank.overdue) ++statistics_.overdue_issues;
    record_of_[id] = free_records_.back();
    free_records_.pop_back();
    CommitRecord& record = records_[record_of_[id]];
    record.start(issue.context, issue, size_);
    in_flight_ += record.threads();
    pool_.take(w);
    used_.remove(issue.context);
    free_.add(issue.context);
  }

  void memory_issued(IssueId id) override {
    CommitRecord& record = records_[record_of_[id]];
    if (!geometry_.barrel || record.in_memory()) return;
    record.wait_for_memory();
    in_memory_ += record.threads();
  }

  void resolved(IssueId id, Outcomes outcomes) override {
    CommitRecord& record = records_[record_of_[id]];
    for (const auto& outcome : outcomes) {
      const unsigned threads = count_threads(outcome.groups);
      record.resolve(threads);
      const Place place{outcome.next_pc, outcome.depth, record.slot()};
      switch (outcome.kind) {
        case Outcome::Kind::kGo:
          record.go(outcome);
          break;
        case Outcome::Kind::kBarrier:
          barrier_ += threads;
          pool_.park(place, outcome.groups, static_cast<std::uint8_t>(outcome.argument), record.context());
          break;
        case Outcome::Kind::kWarpSync:
          for (const auto& group : outcome.groups) sleepers_.push_back({place, group.chunk, group.mask});
          sleeping_ += threads;
          break;
        case Outcome::Kind::kExit:
          break;
      }
      if (outcome.kind != Outcome::Kind::kGo) leave_flight(record, threads);
    }
    if (record.complete()) finish(record_of_[id]);
  }

  void barrier_released(std::uint16_t slot, unsigned barrier) override {
    barrier_ -= pool_.release(slot, barrier);
  }

  void warp_sync_released(Groups threads) override {
    for (const auto& group : threads) {
      for (std::size_t i = 0; i < sleepers_.size();) {
        Sleeper& sleeper = sleepers_[i];
        const std::uint32_t woken = sleeper.chunk == group.chunk ? sleeper.mask & group.mask : 0;
        if (woken != 0) requeue(sleeper.place, {woken, group.chunk, 0, false});
        sleeper.mask &= ~woken;
        if (sleeper.mask != 0) {
          ++i;
          continue;
        }
        sleeper = sleepers_.back();
        sleepers_.pop_back();
      }
    }
  }

  unsigned warp_width() const override { return size_; }
  Census census() const override {
    Census census;
    census.issued = in_flight_;
    census.ready = pool_.threads();
    census.barrier = barrier_;
    census.queued = queued_;
    census.warp_sync = sleeping_;
    return census;
  }

  // The queue of commits and the heap move by themselves; a limit on waiting changes only who goes first.
  Cycle next_event(Cycle now) const override {
    const bool electing = pool_.size() != 0 && !pool_.order().settled();
    Cycle next = electing ? now + 1 : kNoEvent;
    if (!queue_.empty()) next = std::min(next, may_commit(now + 1) ? now + 1 : slot_end_);
    return next;
  }
  ContextTable& contexts() override { return table_; }
  unsigned ready_warps() const override { return pool_.size(); }
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;

 private:
  struct Sleeper {  // threads that wait for others of their original warp
    Place place;
    std::uint16_t chunk = 0;
    std::uint32_t mask = 0;
  };
  struct Statistics {
    std::uint64_t divergent_branches = 0, uniform_branches = 0;
    std::uint64_t heap_stalls = 0, overdue_issues = 0, most_warps = 0;
  };
  // Bin b of a histogram counts values from 2^b to 2^(b+1) - 1.
  static constexpr std::size_t kBins = 12;

  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }

  void clear() {
    for (unsigned c = 0; c < table_.size(); ++c) {
      table_.set(c, ptx::kNoPc);
      warp_of_[c] = DwfPool::kNone;
      free_.add(c);
      used_.remove(c);
    }
    free_records_.clear();
    for (auto r = static_cast<std::uint16_t>(records_.size()); r-- > 0;) free_records_.push_back(r);
    queue_.clear();
    sleepers_.clear();
    now_ = 0;
    slot_end_ = 0;
    tokens_ = bandwidth_;
    warps_ = in_flight_ = in_memory_ = barrier_ = queued_ = sleeping_ = 0;
  }

  // A warp of the block's threads from number `first` on.
  void start(const Block& block, unsigned first) {
    start_.clear();
    const unsigned end = std::min(block.threads, first + size_);
    for (unsigned t = first; t < end; t = t / kChunk * kChunk + kChunk) {
      const unsigned threads = std::min(end - t, kChunk);
      const std::uint32_t mask = threads == kChunk ? ~0u : (1u << threads) - 1;
      start_.push_back({mask << (t % kChunk), static_cast<std::uint16_t>(block.first_chunk + t / kChunk), 0});
    }
    while (!pool_.update({0, 0, block.slot}, start_.data(), start_.size(), 0, DwfPool::kNoContext))
      pool_.next_cycle();
  }

  unsigned first_of(const ContextSet& contexts) const {
    unsigned best = contexts.next(0);
    for (unsigned c = contexts.next(best + 1); c < ContextSet::kMaxContexts; c = contexts.next(c + 1)) {
      if (pool_.order().before(rank(c), rank(best))) best = c;
    }
    return best;
  }
  const WarpRank& rank(unsigned context) const { return pool_.warp(warp_of_[context]).rank; }

  void offer(unsigned context, Issue& issue) const {
    const DwfPool::Warp& warp = pool_.warp(warp_of_[context]);
    issue.pc = warp.place.pc;
    issue.depth = warp.place.depth;
    issue.slot = warp.place.slot;
    issue.context = static_cast<std::uint16_t>(context);
    issue.rows = static_cast<std::uint8_t>(std::max(1u, size_ / geometry_.lanes));
    issue.groups = warp.packed.groups();
  }

  void leave_flight(CommitRecord& record, unsigned threads) {
    in_flight_ -= threads;
    if (record.in_memory()) in_memory_ -= threads;
  }

  // Every thread of the issue is resolved.
  void finish(std::uint16_t index) {
    CommitRecord& record = records_[index];
    if (program_->code[record.pc()].is_branch())
      ++(record.paths().size() > 1 ? statistics_.divergent_branches : statistics_.uniform_branches);
    leave_flight(record, record.going());
    if (record.going() == 0) {
      if (free_.has(record.context())) table_.set(record.context(), ptx::kNoPc);
      free_records_.push_back(index);
      return;
    }
    queued_ += record.going();
    queue_.push(index);
  }

  void requeue(const Place& place, const ThreadGroup& group) {
    const std::uint16_t index = free_records_.back();
    free_records_.pop_back();
    CommitRecord& record = records_[index];
    Issue issue;
    issue.pc = place.pc;
    issue.slot = place.slot;
    issue.groups = {&group, 1};
    record.start(DwfPool::kNoContext, issue, size_);
    Outcome outcome;
    outcome.next_pc = place.pc;
    outcome.depth = place.depth;
    outcome.groups = issue.groups;
    record.go(outcome);
    sleeping_ -= record.going();
    queued_ += record.going();
    queue_.push(index);
  }

  // Whether the first in the queue may enter the pool, or go on to.
  bool may_commit(Cycle now) const {
    return now >= slot_end_ || tokens_ > 0 || records_[queue_.front()].next() != 0;
  }

  // Committed warps enter the pool while the issue slot has bandwidth, each as a whole; what one that splits
  // overdraws is the slot's, not the next one's.
  void commit() {
    while (!queue_.empty() && may_commit(now_)) {
      if (now_ >= slot_end_) {
        slot_end_ = now_ + slot_;
        tokens_ = bandwidth_;
      }
      const std::uint16_t index = queue_.front();
      CommitRecord& record = records_[index];
      for (; !record.exhausted(); record.advance()) {
        const std::uint16_t path = record.next();
        const auto& pieces = record.pieces();
        const unsigned before = pool_.threads();
        if (!pool_.update(record.paths()[path], pieces.data(), pieces.size(), path, record.context())) return;
        queued_ -= pool_.threads() - before;
        --tokens_;
      }
      free_records_.push_back(index);
      queue_.pop();
    }
  }

  // Gives front-end buffers to warps, in the order in which they would be issued.
  void fill_contexts() {
    while (!free_.empty() && !pool_.waiting.empty()) {
      std::uint32_t best = pool_.waiting.first;
      if (free_.size() < pool_.size()) {  // else there is one for everyone
        for (std::uint32_t w = pool_.warp(best).next; w != DwfPool::kNone; w = pool_.warp(w).next) {
          if (pool_.order().before(pool_.warp(w).rank, pool_.warp(best).rank)) best = w;
        }
      }
      DwfPool::Warp& warp = pool_.warp(best);
      const unsigned context = warp.hint < table_.size() && free_.has(warp.hint) ? warp.hint : free_.next(0);
      pool_.unlist(pool_.waiting, best);
      warp.context = static_cast<std::uint16_t>(context);
      warp_of_[context] = best;
      free_.remove(context);
      used_.add(context);
      table_.set(context, warp.place.pc);
    }
  }

  // Marks warps that have waited beyond the limit.
  void watch() {
    const auto look = [this](DwfPool::Warp& warp) {
      if (warp.since == kNoEvent) warp.since = now_;
      warp.rank.overdue = now_ - warp.since > options_.starvation_limit;
    };
    for (unsigned c = used_.next(0); c < ContextSet::kMaxContexts; c = used_.next(c + 1))
      look(pool_.warp(warp_of_[c]));
    for (std::uint32_t w = pool_.waiting.first; w != DwfPool::kNone; w = pool_.warp(w).next)
      look(pool_.warp(w));
  }

  void sample() {
    const auto bin = [](std::size_t value) {
      return std::min(kBins - 1, static_cast<std::size_t>(63 - __builtin_clzll(value | 1)));
    };
    ++warps_histogram_[bin(pool_.size())];
    ++pcs_histogram_[bin(pool_.order().counts().distinct())];
    statistics_.most_warps = std::max<std::uint64_t>(statistics_.most_warps, pool_.size());
  }

  const DwfOptions options_;
  const Geometry geometry_;
  const unsigned size_;
  const Cycle slot_;              // cycles of an issue
  const std::int64_t bandwidth_;  // of a slot
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  DwfPool pool_;
  ContextTable table_;
  std::vector<std::uint32_t> warp_of_;  // by context
  ContextSet free_, used_;              // contexts
  std::vector<CommitRecord> records_;
  std::vector<std::uint16_t> free_records_;
  std::vector<std::uint16_t> record_of_;  // by issue id
  Ring<std::uint16_t> queue_;             // committed warps
  std::vector<Sleeper> sleepers_;
  std::vector<Piece> start_;
  Cycle now_ = 0;
  Cycle slot_end_ = 0;       // of the last slot in which a warp was committed
  std::int64_t tokens_ = 0;  // what is left of its bandwidth; negative: overdrawn
  unsigned warps_ = 0;       // static warps of the resident blocks
  unsigned in_flight_ = 0, in_memory_ = 0, barrier_ = 0, queued_ = 0, sleeping_ = 0;  // threads
  Statistics statistics_;
  std::vector<std::uint64_t> warps_histogram_ = std::vector<std::uint64_t>(kBins),
                             pcs_histogram_ = std::vector<std::uint64_t>(kBins);
};

void Dwf::bind(statistics::Group& group) {
  auto& pool = pool_.counters();
  group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                statistics_.divergent_branches);
  group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                statistics_.uniform_branches);
  group.counter("lut_aliased", statistics::Unit("lookups"),
                "lookups that missed in the LUT and replaced its least recent entry", pool.lut_aliased);
  group.counter("lut_realmiss", statistics::Unit("lookups"),
                "lookups that missed in the LUT although a warp of that PC was in the pool",
                pool.lut_realmiss);
  group.counter("lut_port_conflicts", statistics::Unit("lookups"),
                "lookups postponed because the entry was in use in that cycle", pool.port_conflicts);
  group.counter("merged_threads", units::kThreads, "threads that joined a warp of other threads",
                pool.merged_threads);
  group.counter("warp_merge_conflict", statistics::Unit("updates"),
                "updates that found a home lane taken in the newest warp", pool.warp_merge_conflict);
  group.counter(
      "warp_fragmentation", statistics::Unit("updates"),
      "updates that found a home lane taken although both warps together would fill at most one warp",
      pool.warp_fragmentation);
  group.counter("elections", statistics::Unit("elections"), "times that a majority PC was chosen",
                pool_.order().elections());
  group.counter("heap_stalls", units::kCycles, "picks postponed because the majority heap was not up to date",
                statistics_.heap_stalls);
  group.counter("overdue_issues", units::kWarps,
                "warps issued first because they had waited beyond the limit", statistics_.overdue_issues);
  group.maximum("most_pool_warps", units::kWarps, "most warps in the pool at an issue",
                statistics_.most_warps);
  group.histogram("pool_warps", units::kIssues, "issues by warps in the pool: bin b, from 2^b to 2^(b+1) - 1",
                  warps_histogram_);
  group.histogram("distinct_pcs", units::kIssues,
                  "issues by different PCs in the pool: bin b, from 2^b to 2^(b+1) - 1", pcs_histogram_);
  group.gauge("pool", units::kWarps, "warps in the pool", [this] { return pool_.size(); });
  group.gauge("committed", units::kWarps, "committed warps that wait for the pool's bandwidth",
              [this] { return queue_.size(); });
  group.derived(
      "storage_bits", statistics::Quantity::kLevel, units::kBits, "warp pool, LUT, and heap if there is one",
      [this] { return static_cast<double>(pool_.pool_bits() + pool_.lut_bits() + pool_.heap_bits()); });
  const auto table = [](TableAccesses& uses, statistics::Group& scheme, const char* name, std::uint64_t rows,
                        std::uint64_t bits) {
    uses.bind(
        scheme, name, [rows] { return static_cast<double>(rows); },
        [rows, bits] {
          const std::uint64_t of_row = rows == 0 ? 0 : bits / rows;
          return static_cast<double>(of_row);
        });
  };
  table(pool_.counters().pool, group, "pool", geometry_.threads, pool_.pool_bits());
  table(pool_.counters().lut, group, "lut",
        options_.lut_entries / std::max<std::uint64_t>(1, options_.lut_ways), pool_.lut_bits());
  if (options_.heuristic != DwfHeuristic::kMajorityHeap) return;
  const auto& heap = options_.heap;
  MajorityHeap::Uses& uses = pool_.order().heap_uses();
  table(uses.heap, group, "heap", heap.nodes, heap.nodes * pool_.heap_node_bits());
  table(uses.table, group, "heap_lut", heap.lut_entries / heap.lut_ways,
        heap.lut_entries * pool_.heap_lut_entry_bits());
}

storage::Arrays Dwf::arrays(std::uint64_t /*stack_entries*/) const {
  return pool_.arrays();
}

std::string Dwf::dump() const {
  std::ostringstream out;
  const auto line = [&](std::uint32_t w, const std::string& state) {
    const DwfPool::Warp& warp = pool_.warp(w);
    out << "warp " << warp.rank.order << " (block slot " << warp.place.slot << ") at pc " << warp.place.pc
        << " (" << program_->place(warp.place.pc) << "), " << warp.rank.threads << " threads, " << state;
    if (warp.since != kNoEvent) out << ", in the pool for " << now_ - warp.since << " cycles";
    out << "\n";
  };
  if (pool_.order().current() != ptx::kNoPc) out << "current PC " << pool_.order().current() << "\n";
  for (unsigned c = used_.next(0); c < ContextSet::kMaxContexts; c = used_.next(c + 1))
    line(warp_of_[c], "can be issued");
  for (std::uint32_t w = pool_.waiting.first; w != DwfPool::kNone; w = pool_.warp(w).next)
    line(w, "waits for an instruction buffer");
  for (std::uint32_t slot = 0; slot < geometry_.slots; ++slot) {
    for (std::uint32_t w = pool_.parked(static_cast<std::uint16_t>(slot)).first; w != DwfPool::kNone;
         w = pool_.warp(w).next)
      line(w, "waits at barrier " + std::to_string(pool_.warp(w).barrier));
  }
  for (const auto& sleeper : sleepers_)
    out << "threads 0x" << std::hex << sleeper.mask << std::dec << " of chunk " << sleeper.chunk
        << " wait for their warp at pc " << sleeper.place.pc << "\n";
  if (in_flight_ != 0)
    out << in_flight_ << " threads in flight, " << in_memory_ << " of them wait for memory\n";
  if (queued_ != 0) out << queued_ << " threads queued for commit\n";
  return out.str();
}

WEFT_REGISTER_SCHEME(scheme<Dwf, DwfOptions>("dwf", "dynamic warp formation"))

}  // namespace
}  // namespace weft::warp_formation
