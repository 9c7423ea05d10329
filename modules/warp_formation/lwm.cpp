// Large warps: one reconvergence stack for many threads, packed at issue into warps as wide as the SIMD
// group.
//
// Narasiman et al.: Improving GPU performance via large warps and two-level warp scheduling, MICRO 2011. An
// instruction of a large warp issues as one packed warp per cycle: each lane takes the lowest thread that is
// left of its column. The front end stays with the large warp until none is left; then, when the last packed
// warp is done (or the first, as the paper relaxes it), the large warp goes on with its next instruction.
#include <algorithm>
#include <sstream>
#include <utility>

#include "warp_formation/lwm_options.h"
#include "warp_formation/sbr_warp.h"
#include "warp_formation/two_level_options.h"
#include "weft/common/popcount.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/scheduling.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

// Fetch groups in threads, not in warps.
CommonConfig with_fetch_groups(const CommonConfig& common, const LwmOptions& options) {
  CommonConfig config = common;
  auto& groups = config.scheduling.own<TwoLevelOptions>();
  groups.group_warps = std::max<std::uint64_t>(1, options.group_threads / options.large_warp);
  groups.timeout_instructions = options.timeout_instructions;
  return config;
}

class Lwm final : public WarpFormation {
 public:
  Lwm(const LwmOptions& options, const Config& config, const Geometry& geometry)
      : config_(with_fetch_groups(config, options)),
        options_(options),
        rules_{config.own<SbrOptions>().order, config.reconvergence},
        geometry_(geometry),
        size_(static_cast<unsigned>(options.large_warp)),
        contexts_(std::max(1u, std::min((geometry.threads + size_ - 1) / size_, ContextSet::kMaxContexts))),
        table_(contexts_),
        warps_(contexts_, LargeWarp(size_, geometry.home)),
        schedulers_(make_schedulers<Scheduler>(geometry.schedulers, config_, contexts_)),
        flights_(geometry.max_issues) {}

  void attach(const ptx::Program& program, const SmView& sm) override {
    program_ = &program;
    sm_ = &sm;
  }

  // A large warp holds threads of one block only: their barriers would depend on each other.
  bool can_launch(const Block& block) const override {
    return block.threads <= geometry_.threads && contexts_ - live_ >= warps_of(block);
  }
  void launch(const Block& block) override;
  void retire(const Block&) override {}  // large warps leave one by one, when their last thread exits
  void reset() override;

  void advance(Cycle) override {
    if (std::exchange(stopped_, false)) part_those_that_stand();
  }
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
  Cycle next_event(Cycle) const override { return kNoEvent; }
  ContextTable& contexts() override { return table_; }
  // Large warps start anew with their block.
  bool can_be_kept() const override { return true; }
  void archive(Archive& archive) override {
    archive(at_rest(live_), table_);
    archive_each(archive, schedulers_);
    for (LargeWarp& warp : warps_) archive(warp.instruction);
    divergence_.changed();
  }
  unsigned ready_warps() const override {
    unsigned n = 0;
    for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
    return n;
  }
  void bind(statistics::Group& group) override;
  storage::Arrays arrays(std::uint64_t stack_entries) const override;
  std::string dump() const override;

 private:
  // Threads at block barriers are in `syncing` too: their path stands aside.
  struct LargeWarp : SbrWarp {
    LargeWarp(unsigned size, const LanePermuter& home) : SbrWarp(size), packed(1, home) {}
    WarpMask work;                  // threads that the instruction at the top still has to issue
    WarpMask busy;                  // threads of packed warps in flight
    PackedWarp packed;              // what issues next
    bool is_packed = false;         // `packed` is up to date
    bool simple = false;            // all of its threads go on with the next instruction
    bool first_done = false;        // a packed warp of the instruction is done
    std::uint32_t instruction = 0;  // its number: which one a packed warp belongs to
    unsigned in_memory_warps = 0;
  };
  // A packed warp in flight.
  struct Flight {
    std::uint16_t context = 0;
    bool simple = false, in_memory = false;
    std::uint32_t instruction = 0, unresolved = 0;
    WarpMask mask;
  };
  static constexpr unsigned kNone = ContextSet::kMaxContexts;
  struct Scheduler : WaitingWarps {  // in flight: packed warps; at barriers and primitives: large warps
    Scheduler(const CommonConfig& config, unsigned contexts) : policy(config, contexts) {}
    WarpScheduler policy;
    ContextSet eligible, far;
    unsigned current = kNone;  // the large warp whose instruction is being packed
    void archive(Archive& archive) {
      archive_none(archive);
      archive(policy, at_rest(eligible), far, current);
    }
  };
  struct Statistics {
    std::uint64_t instructions = 0, packed_warps = 0, single_slot_branches = 0;
    TableAccesses working_masks;
  };

  Scheduler& scheduler_of(unsigned context) { return schedulers_[context % schedulers_.size()]; }
  unsigned warps_of(const Block& block) const { return (block.threads + size_ - 1) / size_; }

  static WarpMask minus(WarpMask mask, const WarpMask& other) { return mask.remove(other); }
  // Branches that all threads take alike: none of them needs a lane.
  static bool single_slot(const ptx::Instruction& in) {
    return in.is_branch() && (in.guard < 0 || in.uniform);
  }

  void begin(unsigned context);
  void refresh(unsigned context);
  void pack(LargeWarp& warp) const;
  bool find_path(LargeWarp& warp);
  void go_on(unsigned context);
  void choose(unsigned context);
  void resume(unsigned context);
  void end(unsigned context);
  void run_again(unsigned context);
  void part_those_that_stand();

  const CommonConfig config_;
  const LwmOptions options_;
  const StackRules rules_;
  const Geometry geometry_;
  const unsigned size_;
  const unsigned contexts_;
  const ptx::Program* program_ = nullptr;
  const SmView* sm_ = nullptr;
  ContextTable table_;
  std::vector<LargeWarp> warps_;
  std::vector<Scheduler> schedulers_;
  std::vector<Flight> flights_;  // by issue id
  unsigned live_ = 0;
  bool stopped_ = false;  // since the last `advance` a large warp has come to a stand at primitives
  Divergence divergence_;
  StackStatistics stack_statistics_;
  Statistics statistics_;
};

void Lwm::launch(const Block& block) {
  unsigned context = 0;
  for (unsigned w = 0; w < warps_of(block); ++w, ++context) {
    while (warps_[context].live) ++context;
    LargeWarp& warp = warps_[context];
    warp.start(block, w, size_, geometry_.lanes);
    warp.busy = {};
    warp.in_memory_warps = 0;
    ++live_;
    scheduler_of(context).far.remove(context);
    scheduler_of(context).policy.arrived(context);
    begin(context);
  }
  stack_statistics_.deepest_stack = std::max<std::uint64_t>(stack_statistics_.deepest_stack, 1);
}

void Lwm::reset() {
  for (auto& warp : warps_) warp = LargeWarp(size_, geometry_.home);
  for (auto& scheduler : schedulers_) scheduler = Scheduler(config_, contexts_);
  for (unsigned c = 0; c < contexts_; ++c) table_.set(c, ptx::kNoPc);
  live_ = 0;
  stopped_ = false;
  divergence_.changed();
  stack_statistics_ = {};
  statistics_ = {};
}

// The instruction at the top of the stack comes next.
void Lwm::begin(unsigned context) {
  divergence_.changed();
  LargeWarp& warp = warps_[context];
  const StackEntry& top = warp.stack.top();
  const ptx::Unit unit = program_->code[top.pc].unit;
  warp.work = top.mask;
  warp.simple = unit == ptx::Unit::kSp || unit == ptx::Unit::kSfu || unit == ptx::Unit::kMemory;
  warp.unresolved = warp.work.count();
  warp.first_done = false;
  warp.in_flight = true;
  ++warp.instruction;
  ++statistics_.instructions;
  table_.set(context, top.pc);
  refresh(context);
}

// Whether it has threads that can be issued now.
void Lwm::refresh(unsigned context) {
  LargeWarp& warp = warps_[context];
  warp.is_packed = false;
  const bool waits = !warp.simple && !warp.busy.empty() && warp.work == warp.stack.top().mask;
  if (!waits && !minus(warp.work, warp.busy).empty()) {
    scheduler_of(context).eligible.add(context);
  } else {
    scheduler_of(context).eligible.remove(context);
  }
}

void Lwm::pack(LargeWarp& warp) const {
  warp.is_packed = true;
  warp.packed.clear();
  for (unsigned c = 0; c < warp.chunks && warp.packed.threads() < geometry_.lanes; ++c) {
    const std::uint32_t free = warp.work.words[c] & ~warp.busy.words[c];
    if (free != 0) warp.packed.pack(geometry_.lanes, static_cast<std::uint16_t>(warp.first_chunk + c), free);
  }
}

Stall Lwm::pick(unsigned scheduler, Issue& issue) {
  Scheduler& s = schedulers_[scheduler];
  ContextSet eligible = s.eligible;
  if (s.current != kNone && eligible.has(s.current)) {
    eligible.clear();
    eligible.add(s.current);
  }
  const ContextSet candidates = without_waiting(eligible, *sm_);
  ContextSet far = s.far;
  if (s.policy.wants_far()) far.add(sm_->waiting_for_memory());
  const auto attempt = [&](unsigned context) {
    LargeWarp& warp = warps_[context];
    const StackEntry& top = warp.stack.top();
    issue.pc = top.pc;
    issue.depth = top.depth;
    issue.context = static_cast<std::uint16_t>(context);
    issue.slot = warp.slot;
    issue.rows = 1;
    issue.partners = 0;
    if (single_slot(program_->code[top.pc])) {
      warp.show_top(size_, geometry_.lanes);
      issue.more_follow = false;
      issue.groups = {warp.groups.data(), warp.group_count};
    } else {
      if (!warp.is_packed) pack(warp);
      issue.more_follow = warp.packed.threads() != warp.work.count();
      issue.groups = warp.packed.groups();
    }
    return sm_->ready(scheduler, issue);
  };
  const Stall stall = s.policy.pick(candidates, attempt, far);
  if (stall == Stall::kNone) return stall;
  return s.worse_of(worse_of_waiting(eligible, *sm_, stall), geometry_.barrel);
}

void Lwm::issued(IssueId id, const Issue& issue) {
  LargeWarp& warp = warps_[issue.context];
  Scheduler& s = scheduler_of(issue.context);
  Flight& flight = flights_[id];
  flight = Flight();
  flight.context = issue.context;
  flight.simple = warp.simple;
  flight.instruction = warp.instruction;
  for (const auto& group : issue.groups) warp.add_to(flight.mask, group);
  flight.unresolved = flight.mask.count();
  warp.work.remove(flight.mask);
  warp.busy |= flight.mask;
  ++s.in_flight;
  s.current = warp.work.empty() ? kNone : issue.context;
  ++statistics_.packed_warps;
  ++statistics_.working_masks.reads;
  ++statistics_.working_masks.writes;
  if (single_slot(program_->code[issue.pc])) ++statistics_.single_slot_branches;
  refresh(issue.context);
}

void Lwm::memory_issued(IssueId id) {
  Flight& flight = flights_[id];
  Scheduler& s = scheduler_of(flight.context);
  if (flight.in_memory || flight.unresolved == 0) return;
  flight.in_memory = true;
  ++s.in_memory;
  ++warps_[flight.context].in_memory_warps;
  s.far.add(flight.context);
}

void Lwm::resolved(IssueId id, Outcomes outcomes) {
  Flight& flight = flights_[id];
  LargeWarp& warp = warps_[flight.context];
  for (const auto& outcome : outcomes) {
    for (const auto& group : outcome.groups) flight.unresolved -= count_of(group.mask);
    if (!flight.simple) warp.deposit(outcome);
  }
  if (flight.unresolved != 0) return;
  Scheduler& s = scheduler_of(flight.context);
  --s.in_flight;
  if (flight.in_memory) {
    --s.in_memory;
    if (--warp.in_memory_warps == 0) s.far.remove(flight.context);
  }
  warp.busy.remove(flight.mask);
  if (flight.instruction == warp.instruction) warp.first_done = true;
  go_on(flight.context);
}

// A packed warp is done: perhaps the large warp may go on.
void Lwm::go_on(unsigned context) {
  LargeWarp& warp = warps_[context];
  if (!warp.work.empty()) return refresh(context);
  if (warp.simple) {
    const StackEntry& top = warp.stack.top();
    const ptx::Pc next = top.pc + 1;
    const bool reconverges = next == top.rpc && top.depth == top.rpc_depth;
    const bool early = options_.refetch == LwmRefetch::kFirst && warp.first_done && !reconverges;
    if (!early && !warp.busy.empty()) return;
    if (warp.stack.advance_together(next, top.depth)) ++stack_statistics_.stacks.reads;
    return choose(context);
  }
  if (!warp.busy.empty()) return;
  const bool barrier = program_->code[warp.stack.top().pc].is_barrier();
  const bool arrived = std::exchange(warp.arrived, false);
  if (!warp.settle(*program_, rules_, stack_statistics_)) return end(context);
  if (barrier && warp.stack.depth() > 1) ++stack_statistics_.barriers_in_divergence;
  choose(context);
  if (arrived && !warp.at_sync) ++stack_statistics_.path_switches;
}

// Warps of a block may meet at a barrier from different paths, and a large warp is several of them: threads
// that wait at one are treated as those at a warp-level primitive. Others of the block may be waited for, and
// stand where they wait for those at the barrier.
bool Lwm::find_path(LargeWarp& warp) {
  divergence_.changed();
  if (warp.choose_path()) return true;
  if (warp.barriers == 0 || !warp.choose_path_without_others()) return false;
  ++stack_statistics_.lone_departures;
  return true;
}

// The large warp goes on with a path that can run, or waits.
void Lwm::choose(unsigned context) {
  LargeWarp& warp = warps_[context];
  const bool runs = find_path(warp);
  warp.at_sync = !runs;
  if (runs) return begin(context);
  warp.in_flight = false;
  table_.set(context, warp.stack.top().pc);
  warp.at_barrier = warp.barriers != 0;
  Scheduler& s = scheduler_of(context);
  ++(warp.at_barrier ? s.at_barrier : s.at_sync);
  s.far.add(context);
  stopped_ = stopped_ || !warp.at_barrier;
}

// Threads that waited have been released. If the large warp stood still, it may run again.
void Lwm::resume(unsigned context) {
  LargeWarp& warp = warps_[context];
  if (warp.at_sync && find_path(warp)) run_again(context);
}

void Lwm::run_again(unsigned context) {
  LargeWarp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  --(warp.at_barrier ? s.at_barrier : s.at_sync);
  warp.at_barrier = false;
  s.far.remove(context);
  choose(context);
}

// The packed warps of an instruction hold parts of an original warp, so a primitive's members come one after
// the other, in one cycle. Whoever still waits then, waits for threads that the guard of the primitive left
// out: these leave the path.
void Lwm::part_those_that_stand() {
  for (unsigned c = 0; c < contexts_; ++c) {
    LargeWarp& warp = warps_[c];
    if (warp.live && warp.at_sync && !warp.at_barrier && warp.choose_path(true)) run_again(c);
  }
}

void Lwm::end(unsigned context) {
  divergence_.changed();
  --live_;
  scheduler_of(context).policy.left(context);
  table_.set(context, ptx::kNoPc);
}

std::uint32_t Lwm::waiting_to_exit(std::uint16_t slot) const {
  std::uint32_t threads = 0;
  for (const auto& warp : warps_) {
    if (!warp.live || warp.slot != slot || warp.barriers == 0) continue;
    threads += warp.ending(*program_).count();
  }
  return threads;
}

std::uint32_t Lwm::ending(unsigned chunk) const {
  for (const auto& warp : warps_) {
    if (warp.live && warp.covers(chunk)) return warp.ending(*program_).words[chunk - warp.first_chunk];
  }
  return 0;
}

std::uint32_t Lwm::held_back(unsigned chunk, const std::uint32_t* standing) const {
  for (const auto& warp : warps_) {
    if (warp.live && warp.covers(chunk)) return warp.held_back(chunk, standing);
  }
  return 0;
}

void Lwm::barrier_released(std::uint16_t slot, unsigned barrier) {
  for (unsigned c = 0; c < contexts_; ++c) {
    LargeWarp& warp = warps_[c];
    if (warp.live && warp.slot == slot && warp.open_barrier(barrier)) resume(c);
  }
}

void Lwm::warp_sync_released(Groups threads) {
  for (unsigned c = 0; c < contexts_; ++c) {
    LargeWarp& warp = warps_[c];
    if (!warp.live || !warp.syncs) continue;
    warp.release(threads, size_);
    resume(c);
  }
}

Census Lwm::census() const {
  Census census;
  for (const auto& warp : warps_) {
    if (!warp.live) continue;
    warp.count(census);
    if (!warp.in_flight) continue;
    const unsigned ready = minus(warp.work, warp.busy).count();
    census.issued -= ready;
    census.ready += ready;
  }
  return census;
}

void Lwm::bind(statistics::Group& group) {
  stack_statistics_.bind(group);
  divergence_.bind(group, warps_);
  group.gauge("issuing", units::kThreads, "threads that the large warps' instructions still have to issue",
              [this] {
                std::uint64_t threads = 0;
                for (const auto& warp : warps_) threads += warp.live ? warp.work.count() : 0;
                return threads;
              });
  group.counter("large_instructions", units::kInstructions, "instructions that large warps began",
                statistics_.instructions);
  group.counter("packed_warps", units::kWarps, "packed warps issued", statistics_.packed_warps);
  group.counter("single_slot_branches", units::kBranches,
                "branches with one outcome for all threads, which issue as one",
                statistics_.single_slot_branches);
  group.ratio("packed_warps_per_instruction", units::kWarps, "packed warps of an instruction",
              {{&statistics_.packed_warps}, {&statistics_.instructions}, 1, statistics::kNothing});
  // A working mask per large warp; working, taken and not-taken masks of the one in the front end.
  const auto bits = static_cast<double>(std::uint64_t{contexts_ + 3} * size_);
  group.derived("storage_bits", statistics::Quantity::kLevel, units::kBits, "masks, without the stacks",
                [bits] { return bits; });
  stack_statistics_.bind_stacks(group, contexts_, 64 + size_);
  statistics_.working_masks.bind(
      group, "working_masks", [this] { return static_cast<double>(contexts_); },
      [this] { return static_cast<double>(size_); });
}

storage::Arrays Lwm::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays;
  add(arrays, storage::ram("working_masks", contexts_, size_));
  add(arrays, storage::ram("front_end_masks", 1, size_).with_copies(3));
  add(arrays, stack_array(contexts_, stack_entries, size_).uncounted());
  return arrays;
}

std::string Lwm::dump() const {
  std::ostringstream out;
  for (unsigned c = 0; c < contexts_; ++c) {
    const LargeWarp& warp = warps_[c];
    if (!warp.live) continue;
    out << "large ";
    warp.describe(out, c, size_, *program_);
    out << "    " << warp.work.count() << " threads to issue, " << warp.busy.count() << " in flight\n";
  }
  return out.str();
}

WEFT_REGISTER_SCHEME(scheme<Lwm, LwmOptions>("lwm", "large warps"))

}  // namespace
}  // namespace weft::warp_formation
