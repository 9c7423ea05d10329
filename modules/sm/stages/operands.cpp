#include "sm/stages/operands.h"

#include "weft/common/popcount.h"

namespace weft::sm {

inline void OperandStage::count(const InFlight& flight, const datapath::Times& times) {
  Counters& counters = core_.counters;
  std::uint64_t threads = 0, passing = 0;
  for (const auto& group : flight.all())
    threads += group.mask == ~0u ? warp_formation::kChunk : count_of(group.mask);
  for (unsigned g = 0; flight.op->instruction->guard >= 0 && g < flight.group_count; ++g)
    passing += count_of(flight.passing(g));
  counters.thread_instructions += threads;
  counters.executed_thread_instructions += threads - passing;
  if (flight.scalar()) {
    ++counters.scalar_instructions;
    counters.scalar_thread_instructions += threads;
  }
  counters.lanes_shared += times.beside ? 1 : 0;
  counters.active_beats += times.active_beats;
  counters.active_lanes += times.active_lanes;
}

void OperandStage::take(Cycle now, std::uint16_t id, unsigned scheduler, const warp_formation::Issue& offer) {
  InFlight& flight = core_.in_flight[id];
  const ptx::Instruction& in = *flight.op->instruction;
  for (unsigned g = 0; g < flight.group_count; ++g)
    flight.executing[g] = core_.executor.guarded(in, flight.groups[g]);
  flight.warp = in.scalar ? core_.warp_around(flight.groups[0].mask) : 0;
  const datapath::Times times =
      core_.datapath->start(now, scheduler, *flight.op, offer, flight.executing.data());
  count(flight, times);
  core_.account.issued(scheduler, times);
  const unsigned context = core_.domains[flight.domain].first_context + offer.context;
  core_.observers.tell(&SmObserver::issued,
                       SmObserver::Issue{now, id, scheduler, context, offer.partners, flight, times});
  next_.take(now, id, times);
}

}  // namespace weft::sm
