#include "sm/observers/slot_waits.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

using warp_formation::Outcome;

SlotWaits::SlotWaits(const Sm& sm)
    : barrel_(sm.core().barrel), slots_(contexts_of(sm.core().domains)), flights_(Core::kMaxIssues) {}

void SlotWaits::start(bool known) {
  for (Slot& slot : slots_) {
    slot.waits = Stall::kNone;
    slot.known = known;
  }
  std::fill(flights_.begin(), flights_.end(), Flight());
}

void SlotWaits::issued(const SmObserver::Issue& issue) {
  const InFlight& of = issue.flight;
  const ptx::Instruction& in = *of.op->instruction;
  flights_[issue.id] = {issue.context, of.threads()};
  Slot& slot = slots_[issue.context];
  slot.block = of.slot;
  slot.first_chunk = slot.last_chunk = of.groups[0].chunk;
  for (const auto& group : of.all()) {
    slot.first_chunk = std::min(slot.first_chunk, group.chunk);
    slot.last_chunk = std::max(slot.last_chunk, group.chunk);
  }
  slot.unresolved_id = issue.id;
  slot.known = true;
  slot.waits = in.is_control() ? Stall::kControl
               : !barrel_      ? Stall::kNone
               : in.is_load()  ? Stall::kMemory
                               : Stall::kDependence;
}

// Of a slot's last issue: from then on it waits for what it offers next, or for others.
void SlotWaits::resolved(std::uint16_t id, warp_formation::Outcomes outcomes) {
  Flight& flight = flights_[id];
  if (flight.context == kNoContext) return;
  Slot& slot = slots_[flight.context];
  Stall waits = Stall::kNone;
  for (const Outcome& outcome : outcomes) {
    for (const auto& group : outcome.groups) {
      const std::uint32_t threads = count_of(group.mask);
      flight.unresolved -= std::min(threads, flight.unresolved);
    }
    if (outcome.kind == Outcome::Kind::kBarrier) {
      waits = Stall::kBarrier;
      slot.barrier = outcome.argument;
    } else if (outcome.kind == Outcome::Kind::kWarpSync) {
      waits = Stall::kReconvergence;
    }
  }
  if (slot.unresolved_id != id) return;
  if (waits != Stall::kNone || flight.unresolved == 0) slot.waits = waits;
}

void SlotWaits::barrier_opened(std::uint16_t slot, unsigned barrier) {
  for (Slot& waiting : slots_) {
    if (waiting.waits == Stall::kBarrier && waiting.block == slot && waiting.barrier == barrier)
      waiting.waits = Stall::kNone;
  }
}

void SlotWaits::gathered(std::uint16_t slot, unsigned chunk) {
  for (Slot& waiting : slots_) {
    if (waiting.waits == Stall::kReconvergence && waiting.block == slot && waiting.first_chunk <= chunk &&
        chunk <= waiting.last_chunk)
      waiting.waits = Stall::kNone;
  }
}

std::uint8_t SlotWaits::state(const Domain& domain, unsigned context) const {
  const Slot& slot = slots_[domain.first_context + context];
  const warp_formation::SmView& view = domain;
  const auto as_state = [](Stall stall) { return static_cast<std::uint8_t>(stall); };
  if (slot.waits != Stall::kNone) return as_state(slot.waits);
  if (domain.unit->contexts().pc(context) == ptx::kNoPc) return kNobody;
  if (view.waiting_for_unit().has(context)) return as_state(Stall::kUnitBusy);
  if (view.waiting_for_memory_unit().has(context)) return as_state(Stall::kMemoryBusy);
  if (view.waiting_for_memory().has(context)) return as_state(Stall::kMemory);
  if (view.waiting_for_arithmetic().has(context)) return as_state(Stall::kDependence);
  if (view.waiting_for_fetch().has(context)) return as_state(Stall::kFetch);
  return slot.known ? kReady : kNobody;
}

}  // namespace weft::sm
