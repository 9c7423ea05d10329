#include "sm/stages/execute.h"

#include "sm/stages/gatherings.h"

namespace weft::sm {

void ExecuteStage::take(Cycle now, std::uint16_t id, const datapath::Times& times) {
  switch (core_.in_flight[id].op->unit) {
    case ptx::Unit::kMemory:
      return memory_.take(now, id, times);
    case ptx::Unit::kControl:
      return do_control(now, id, times);
    case ptx::Unit::kWarp:
      return do_warp_primitive(now, id, times);
    default:
      return do_arithmetic(now, id, times);
  }
}

void ExecuteStage::do_arithmetic(Cycle now, std::uint16_t id, const datapath::Times& times) {
  const InFlight& flight = core_.in_flight[id];
  if (flight.scalar()) {
    core_.executor.arithmetic_once(*flight.op, flight.groups[0], flight.warp, now);
  } else {
    core_.executor.arithmetic(*flight.op, flight.all(), now);
  }
  core_.observers.tell(&SmObserver::executed, flight);
  completion_.finish(now, id, times);
}

// Where its threads go is found out when it is resolved.
void ExecuteStage::do_control(Cycle now, std::uint16_t id, const datapath::Times& times) {
  const InFlight& flight = core_.in_flight[id];
  const ptx::Opcode op = flight.op->instruction->op;
  if (flight.op->instruction->is_barrier() || op == ptx::Opcode::kMembar) memory_.order(flight);
  if (op == ptx::Opcode::kCall) {
    for (unsigned g = 0; g < flight.group_count; ++g)
      core_.executor.link(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g]);
  } else if (op == ptx::Opcode::kSystem) {
    if (!call_device(flight)) return core_.fault(core_.executor.fault());
  } else if (op == ptx::Opcode::kCopyWait) {
    core_.unit_of(flight).memory_issued(id);
  } else if (op == ptx::Opcode::kCopyCommit) {
    core_.copies.commit(flight);
  }
  completion_.resolve_at(now, id, times.end);
}

// A function of the device runtime. False: a fault.
bool ExecuteStage::call_device(const InFlight& flight) {
  for (unsigned g = 0; g < flight.group_count; ++g) {
    if (!core_.executor.system(*flight.op, flight.pc, flight.groups[g].chunk, flight.executing[g],
                               core_.block_of(flight))) {
      return false;
    }
  }
  return true;
}

// If all members are in the issue it executes like arithmetic. Otherwise its threads are resolved at the end
// of the pipeline, and wait.
void ExecuteStage::do_warp_primitive(Cycle now, std::uint16_t id, const datapath::Times& times) {
  InFlight& flight = core_.in_flight[id];
  memory_.order(flight);
  execute::Synchroniser& synchroniser = core_.synchroniser;
  const execute::ResidentBlock& block = core_.block_of(flight);
  Fault wrong;
  const bool together =
      each_gathering(synchroniser, flight, [&](unsigned chunk, std::uint32_t mask, std::uint32_t lanes) {
        wrong = synchroniser.check_members({flight.op, flight.pc, lanes}, chunk, mask, block);
        return !wrong && synchroniser.missing(block, chunk, mask, lanes) == 0;
      });
  if (wrong) return core_.fault(wrong);
  if (together) {
    each_gathering(synchroniser, flight, [&](unsigned chunk, std::uint32_t, std::uint32_t lanes) {
      wrong = synchroniser.perform({flight.op, flight.pc, lanes}, chunk, block);
      return !wrong;
    });
    if (wrong) return core_.fault(wrong);
    return completion_.finish(now, id, times);
  }
  flight.waits = true;
  ++core_.counters.warp_gatherings;
  completion_.resolve_at(now, id, times.end);
}

}  // namespace weft::sm
