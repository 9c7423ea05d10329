// Accesses to system memory: what goes along with their transactions, and what their answers do.
#include <algorithm>
#include <sstream>

#include "sm/sm.h"

namespace weft::sm {

std::uint32_t Sm::open_system(std::uint16_t issue, const LaneAccess& access, unsigned lane) {
  if (free_system_.empty()) {
    free_system_.push_back(static_cast<std::uint32_t>(system_.size()));
    system_.emplace_back();
    free_system_.reserve(system_.size());  // giving one back never allocates
  }
  const std::uint32_t index = free_system_.back();
  free_system_.pop_back();
  const InFlight& flight = in_flight_[issue];
  SystemAccess& opened = system_[index];
  opened.op = flight.op;
  opened.pc = flight.pc;
  opened.chunk = access.chunk;
  opened.lane = static_cast<std::uint16_t>(lane);
  opened.address = access.address[lane] - kSystemSpace;
  opened.block = slots_[flight.slot];
  opened.staged = access.staged;
  if (access.staged) opened.data = executor_.staged(access, lane);
  ++system_accesses_;
  return index;
}

void Sm::close_system(std::uint32_t access) {
  free_system_.push_back(access);
}

// With direct access the data are the memory's own bytes, so that the transaction changes nothing. A whole
// block may reach beyond the region, which is then what is read of it.
tlm::tlm_generic_payload& Sm::system_payload(const OutgoingRequest& request) {
  SystemAccess& access = system_[request.access];
  std::uint64_t address = request.address - kSystemSpace;
  std::uint64_t last = address + (request.bytes - 1);
  tlm::tlm_command command = request.command;
  std::uint8_t* data = access.data.bytes.data();
  if (!access.staged) {
    const SystemMemory::Region* const region = system_memory_->direct(access.address, 1);
    if (region != nullptr) {
      address = std::max(address, region->first);
      last = std::min(last, region->last);
      data = region->at(address);
    } else {  // taken away since the instruction took effect: a read of one byte stands for the time
      address = last = access.address;
      command = tlm::TLM_READ_COMMAND;
    }
  }
  tlm::tlm_generic_payload& payload =
      pool_->acquire(command, address, data, static_cast<unsigned>(last - address + 1));
  TransactionOrigin& origin = *origin_of(payload);
  origin.system = true;
  origin.access = request.access;
  origin.moves_data = access.staged;
  origin.atomic = access.staged && request.kind == AccessKind::kAtomic ? this : nullptr;
  return payload;
}

void Sm::apply(std::uint32_t access) {
  SystemAccess& atomic = system_[access];
  executor_.complete(*atomic.op, atomic.chunk, atomic.lane, atomic.data);
}

bool Sm::system_answered(const tlm::tlm_generic_payload& payload) {
  const std::uint32_t index = origin_of(payload)->access;
  SystemAccess& access = system_[index];
  if (payload.is_response_error()) {
    std::ostringstream text;
    text << executor_.place_name(access.pc, access.chunk, access.lane, access.block)
         << ": system memory answered " << payload.get_response_string() << " to "
         << (payload.is_write() ? "a write" : "a read") << " of " << payload.get_data_length()
         << " bytes at 0x" << std::hex << payload.get_address();
    if (!stopped_) fault({FaultKind::kIllegalAddress, text.str()});
    return false;
  }
  if (access.staged && access.op->instruction->op == ptx::Opcode::kLd) {
    executor_.complete(*access.op, access.chunk, access.lane, access.data);
  }
  close_system(index);
  return true;
}

}  // namespace weft::sm
