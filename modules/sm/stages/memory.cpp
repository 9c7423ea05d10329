#include "sm/stages/memory.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::sm {

MemoryStage::MemoryStage(Core& core, tlm::tlm_initiator_socket<32>& socket, const bus::EdgePace& pace,
                         double megahertz, Completion& completion)
    : core_(core),
      completion_(completion),
      cycles_per_ps_(megahertz * 1e-6),
      system_(core.executor, core.in_flight, core.state.blocks, core.config.coalescer.block_bytes),
      unit_(core.config, *this, system_, core.observers, core.datapath->lane_count(), core.lane_width()),
      port_(socket, core.config.response_queue, pace, *this) {
  system_.on_closed = [&core](unsigned domain, unsigned chunk) { core.domains[domain].written(chunk); };
  system_.on_acquired = [this] { unit_.data_cache().system_lines().drop_all(); };
}

void MemoryStage::reset() {
  unit_.reset();
  port_.reset();
  system_.reset();
}

bool MemoryStage::drain(Cycle now) {
  if (port_.answered(now)) port_.take_answer(now);
  if (!port_.idle()) return false;
  unit_.reset();
  system_.reset();
  return true;
}

void MemoryStage::start_kernel(const execute::DeviceMemoryView& memory, std::uint8_t* image, bool carries,
                               std::uint64_t parameter_offset, std::uint64_t shared_option) {
  image_ = image;
  carries_ = carries;
  unit_.outgoing().carry(carries ? image : nullptr);
  system_.start_kernel(memory.system, core_.chunks(), static_cast<unsigned>(core_.config.max_blocks));
  unit_.start_kernel(parameter_offset, shared_option);
}

void MemoryStage::take(Cycle now, std::uint16_t id, const datapath::Times& times) {
  InFlight& flight = core_.in_flight[id];
  execute::Executor& executor = core_.executor;
  const ptx::Instruction& in = *flight.op->instruction;
  const execute::ResidentBlock& block = core_.block_of(flight);
  const bool done = flight.scalar()
                        ? executor.memory_once(*flight.op, flight.pc, flight.groups[0], flight.warp, block)
                        : executor.memory(*flight.op, flight.pc, flight.all(), block);
  if (!done) return core_.fault(executor.fault());
  core_.observers.tell(&SmObserver::executed, flight);
  if (executor.is_observed()) {
    for (unsigned g = 0; g < flight.group_count; ++g) flight.executing[g] &= ~executor.refused(g);
  }
  core_.observers.tell(&SmObserver::accessed, flight, executor.accesses(), executor.access_count());
  core_.counters.spill_instructions += in.spill ? 1 : 0;
  if (in.acquires || in.releases) order(flight);
  system_.next_instruction();
  const bool copies = in.op == ptx::Opcode::kCopyAsync;
  if (copies) core_.copies.start(id, flight);
  const bool any = executor.access_count() != 0;
  flight.references = any ? 1 : 0;
  flight.waits = any && in.is_load();
  flight.earliest = times.end;
  if (any) {
    unit_.accept(id, in, flight.groups.data(), executor.accesses(), executor.access_count(),
                 flight.waits || copies, times);
  }
  if (flight.waits) {
    if (!core_.barrel) core_.reserve(flight, true);
    core_.unit_of(flight).memory_issued(id);
  }
  completion_.sent(now, id);
}

// An instruction that orders accesses to system memory, or lets threads synchronise.
void MemoryStage::order(const InFlight& flight) {
  const ptx::Instruction& in = *flight.op->instruction;
  system_.synchronised(flight.slot);
  if (in.acquires && in.system_scope) unit_.data_cache().system_lines().drop_all();
}

unsigned MemoryStage::held_group(const ptx::Instruction& in, const warp_formation::Issue& offer) const {
  const unsigned count = offer.groups.count;
  if (!system_.busy()) return count;
  for (unsigned g = 0; g < count; ++g) {
    const warp_formation::ThreadGroup& group = offer.groups.data[g];
    if (system_.holds(group.chunk, group.mask, in.releases)) return g;
  }
  return count;
}

// Only responses that came before this edge.
std::uint64_t MemoryStage::take_answer(Cycle now) {
  const MemoryPort::Answer& answer = port_.answer();
  const std::uint64_t line = kind_of_tag(answer.tag) == TagKind::kL1i ? answer.address : kNoLine;
  unit_.respond(now, answer.tag);
  unit_.came_back(now, [&] { return stages_of(answer); });
  port_.take_answer(now);
  return line;
}

Cycle MemoryStage::next_event(Cycle now) const {
  const bool sendable = !port_.busy() && !unit_.outgoing().empty();
  return sendable || port_.waiting() ? now + 1 : unit_.next_event(now);
}

// In core cycles.
Stages MemoryStage::stages_of(const MemoryPort::Answer& answer) const {
  const auto cycle = [&](std::uint64_t ps) {
    return static_cast<Cycle>(std::llround(static_cast<double>(ps) * cycles_per_ps_));
  };
  const TransactionStages& s = answer.stages;
  const bool fetched = s.fetched_ps != 0;
  return {cycle(answer.issued_ps), cycle(s.delivered_ps), cycle(fetched ? s.fetched_ps : s.answered_ps),
          cycle(fetched ? s.filled_ps : s.answered_ps), cycle(s.answered_ps)};
}

void MemoryStage::send() {
  const OutgoingRequest request = unit_.outgoing().take();
  unit_.try_again();
  tlm::tlm_generic_payload& payload = payload_of(request);
  TransactionOrigin& origin = *origin_of(payload);
  origin.kind = request.kind;
  origin.sm = static_cast<std::uint16_t>(core_.index);
  origin.atomic_lanes = request.atomic_lanes;
  origin.tag = request.tag;
  origin.issued_ps = sc_core::sc_time_stamp().value();
  port_.send(payload);
}

tlm::tlm_generic_payload& MemoryStage::payload_of(const OutgoingRequest& request) {
  if (request.access != OutgoingRequest::kDeviceMemory) return system_.payload(request, port_);
  if (carries_) return carrying(request);
  return port_.acquire(request.command, request.address, image_ + request.address, request.bytes);
}

// A transaction to device memory with its own data array, which has a write's bytes.
tlm::tlm_generic_payload& MemoryStage::carrying(const OutgoingRequest& request) {
  tlm::tlm_generic_payload& payload = port_.acquire(request.command, request.address, request.bytes);
  origin_of(payload)->carries = true;
  if (request.carried != OutgoingRequest::kNothing) {
    std::memcpy(payload.get_data_ptr(), unit_.outgoing().carried(request.carried), request.bytes);
    unit_.outgoing().drop(request.carried);
  }
  return payload;
}

// An error answer is a fault of the simulated program: it named an address that the memory system does not
// have.
bool MemoryStage::memory_answered(const tlm::tlm_generic_payload& payload) {
  if (core_.state.abandoned) return false;  // nobody waits for it any more
  Fault wrong;
  const TransactionOrigin& origin = *origin_of(payload);
  if (origin.system) {
    if (!payload.is_response_error() && payload.is_read() && kind_of_tag(origin.tag) == TagKind::kL1d) {
      unit_.data_cache().system_lines().fill(value_of_tag(origin.tag), payload.get_data_ptr());
    } else {
      wrong = system_.answered(payload);
    }
  } else if (payload.is_response_error()) {
    wrong = {FaultKind::kIllegalAddress,
             "the memory system answered " + payload.get_response_string() + " at device-memory offset " +
                 std::to_string(payload.get_address()),
             FaultPlace(), core_.config.addresses.device_base + payload.get_address()};
  }
  if (wrong && !core_.state.stopped) core_.fault(wrong);
  return !wrong;
}

void MemoryStage::memory_returned(std::uint16_t id, unsigned chunk, std::uint32_t threads) {
  const InFlight& flight = core_.in_flight[id];
  if (flight.scalar() && flight.op->instruction->op != ptx::Opcode::kCopyAsync) {
    threads = core_.barrel ? flight.executing[0] : flight.warp;  // what one has loaded is all its warp's
    // Of system memory, it may have come only now.
    if (system_.opened() != 0) core_.observers.tell(&SmObserver::executed, flight);
  }
  completion_.arrived(core_.state.now, id, chunk, threads);
}

void MemoryStage::memory_finished(std::uint16_t id) {
  if (core_.in_flight[id].op->instruction->is_load())
    core_.observers.tell(&SmObserver::returned, id, core_.state.now);
  completion_.left_memory(id);
}

void MemoryStage::drop_system_lines(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t kLast = execute::kSystemSpace - 1;
  if (first > kLast) return;
  unit_.data_cache().drop_system_lines(first + execute::kSystemSpace,
                                       std::min(last, kLast) + execute::kSystemSpace);
}

void MemoryStage::fetch_instructions(std::uint64_t line, std::uint32_t bytes) {
  unit_.outgoing().fetch({tlm::TLM_READ_COMMAND, AccessKind::kInstruction, 0, bytes, line,
                          tag_of(TagKind::kL1i, line), OutgoingRequest::kDeviceMemory});
}

void MemoryStage::bind_queue(statistics::Group& group) {
  group.gauge("response_queue", units::kRequests, "responses that wait for the load-store unit",
              [this] { return port_.queued(); });
}

}  // namespace weft::sm
