#include "sm/cycle_account.h"

#include <algorithm>
#include <utility>

namespace weft::sm {

void CycleAccount::start(Cycle now) {
  for (Scheduler& scheduler : schedulers_) {
    scheduler.last = Stall::kEmpty;
    scheduler.lanes = 0;
    scheduler.beats_until = 0;
    scheduler.until = now;
  }
  std::fill(domains_.begin(), domains_.end(), Domain());
  until_ = now;
}

void CycleAccount::advance_domains(Cycle cycles) {
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    stalled_.resident += domains_[d].resident * cycles;
    count_stalled(domains_[d].census, cycles - active(lanes_of(d), cycles));
  }
}

void CycleAccount::reset() {
  for (Scheduler& scheduler : schedulers_) scheduler = Scheduler();
  std::fill(domains_.begin(), domains_.end(), Domain());
  until_ = 0;
  hold_ = 0;
  memory_busy_ = {};
  stalled_ = {};
}

void CycleAccount::count_stalled(const warp_formation::Census& census, Cycle cycles) {
  if (cycles == 0 || census.total() == 0) return;
  stalled_.cycles += cycles;
  const ThreadStates threads = states_of(census, barrel_);
  stalled_.threads.in_pipeline += cycles * threads.in_pipeline;
  stalled_.threads.ready += cycles * threads.ready;
  stalled_.threads.barrier += cycles * threads.barrier;
  stalled_.threads.reconvergence += cycles * threads.reconvergence;
  stalled_.threads.inactive += cycles * threads.inactive;
}

void CycleAccount::bind(statistics::Group& group) {
  static constexpr std::array<const char*, warp_formation::kStalls> kMeaning = {
      "an instruction was issued",
      "a ready warp waited for its unit or its scheduler's issue port",
      "a ready warp waited for the load-store unit",
      "operands waited for loads",
      "operands waited for arithmetic",
      "branches were being resolved",
      "instruction buffers were empty",
      "threads waited at a block barrier",
      "threads waited for others of their warp",
      "threads were inside the scheme's tables",
      "there were no threads"};
  static constexpr std::array<std::array<const char*, 2>, kHolds> kHoldNames = {
      {{"load_store_port", "the way to the unit was taken by another instruction's beats"},
       {"coalescer", "the unit worked off the requests of earlier instructions, one per cycle"},
       {"shared_memory", "banks of shared memory were busy"},
       {"texture", "the texture unit made addresses"},
       {"mshr", "no MSHR was free, or the line's had no place for one more"},
       {"ways", "all ways of the set waited for their lines"},
       {"miss_queue", "the queue to the crossbar was full"}}};
  statistics::Group& holds = group.group("memory_busy");
  for (unsigned h = 0; h < kHolds; ++h) {
    holds.counter(kHoldNames[h][0], units::kCycles, std::string("memory_busy cycles: ") + kHoldNames[h][1],
                  memory_busy_[h]);
  }
  for (std::size_t s = 0; s < schedulers_.size(); ++s) {
    statistics::Group& scheduler = group.group("scheduler", static_cast<unsigned>(s));
    scheduler.counter("held_cycles", units::kCycles, "cycles in which the scheduler held threads",
                      schedulers_[s].held);
    scheduler.counter("lane_cycles", units::kCycles,
                      "cycles in which a beat of its issues had an active lane", schedulers_[s].lane_cycles);
    scheduler.counter(
        "no_ready_cycles", units::kCycles,
        "cycles in which it held threads, no warp was ready and no beat of its issues was under way",
        schedulers_[s].no_ready);
    scheduler.counter(
        "memory_blocked_cycles", units::kCycles,
        "cycles in which the ready warps waited for the load-store unit, and no beat of its issues "
        "was under way",
        schedulers_[s].memory_blocked);
    scheduler.counter("port_cycles", units::kCycles, "cycles for which its issues took the issue port",
                      schedulers_[s].port_cycles);
    statistics::Group& cycles = scheduler.group("cycles");
    for (unsigned b = 0; b < warp_formation::kStalls; ++b) {
      cycles.counter(bucket_name(static_cast<Stall>(b)), units::kCycles,
                     std::string("cycles in which ") + kMeaning[b], schedulers_[s].buckets[b]);
    }
  }
}

void CycleAccount::bind_stalled(statistics::Group& group) {
  if (!observes_) return;
  statistics::Group& stalled = group.group("stalled");
  stalled.counter("cycles", units::kCycles,
                  "cycles of scheduler domains that held threads and in which none of their lanes was "
                  "active; the threads "
                  "below are summed over them",
                  stalled_.cycles);
  stalled.counter("in_pipeline", units::kThreads,
                  "threads with an instruction under way or waiting for its result",
                  stalled_.threads.in_pipeline);
  stalled.counter("ready", units::kThreads, "threads that could run or are queued for commit or compaction",
                  stalled_.threads.ready);
  stalled.counter("barrier", units::kThreads, "threads at a block barrier", stalled_.threads.barrier);
  stalled.counter("reconvergence", units::kThreads, "threads that wait for others of their warp or block",
                  stalled_.threads.reconvergence);
  stalled.counter("inactive", units::kThreads, "threads on a path that does not run, or in a lookup table",
                  stalled_.threads.inactive);
  stalled.counter("launched_thread_cycles", statistics::Unit("threads*cycles"),
                  "threads of resident blocks, exited ones included, summed over all cycles",
                  stalled_.resident);
}

}  // namespace weft::sm
