#include "sm/system_transactions.h"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace weft::sm {

void SystemTransactions::start_kernel(execute::SystemMemory* memory, unsigned chunks, unsigned slots) {
  state_.memory = memory;
  state_.chunks.assign(memory == nullptr ? 0 : chunks, Chunk());
  state_.epochs.assign(memory == nullptr ? 0 : slots, 0);
}

std::uint32_t SystemTransactions::open(std::uint16_t issue, std::uint64_t block) {
  const InFlight& flight = in_flight_[issue];
  const execute::ResidentBlock& resident = blocks_[flight.slot];
  if (state_.free.empty()) {
    state_.free.push_back(static_cast<std::uint32_t>(state_.accesses.size()));
    state_.accesses.emplace_back();
    state_.accesses.back().bytes.resize(block_bytes_);
    state_.accesses.back().enables.resize(block_bytes_);
    state_.free.reserve(state_.accesses.size());  // giving one back never allocates
    state_.under_way.reserve(state_.accesses.size());
  }
  const std::uint32_t index = state_.free.back();
  state_.free.pop_back();
  Access& opened = state_.accesses[index];
  opened.op = flight.op;
  opened.pc = flight.pc;
  opened.warp = flight.warp;
  opened.writes = !is_load(opened);
  opened.under_way = false;
  opened.address = block - execute::kSystemSpace;
  opened.instruction = state_.instruction;
  opened.epoch = state_.epochs[resident.slot];
  opened.resident = resident;
  opened.lanes = 0;
  std::fill(opened.enables.begin(), opened.enables.end(), std::uint8_t{TLM_BYTE_DISABLED});
  if (opened.writes) std::fill(opened.bytes.begin(), opened.bytes.end(), std::uint8_t{0});
  ++state_.opened;
  ++state_.open;
  return index;
}

void SystemTransactions::join(std::uint32_t access, const execute::LaneAccess& lanes, std::uint32_t mask) {
  Access& opened = state_.accesses[access];
  unsigned number = 0;
  while (number < opened.lanes && opened.parts[number].chunk != lanes.chunk) ++number;
  if (number == opened.lanes) {
    if (number == opened.parts.size()) opened.parts.emplace_back();
    ++opened.lanes;
    execute::SystemLanes& part = opened.parts[number];
    part.chunk = lanes.chunk;
    part.mask = 0;
    if (opened.writes && opened.op->instruction->op != ptx::Opcode::kSt) executor_.capture(*opened.op, part);
  }
  execute::SystemLanes& part = opened.parts[number];
  part.mask |= mask;
  Chunk& chunk = state_.chunks[lanes.chunk];
  chunk.open.add(mask);
  if (opened.op->instruction->acquires) chunk.acquiring.add(mask);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
    part.offset[lane] = lanes.address[lane] - execute::kSystemSpace - opened.address;
    std::fill_n(opened.enables.begin() + static_cast<std::ptrdiff_t>(part.offset[lane]), lanes.bytes,
                std::uint8_t{TLM_BYTE_ENABLED});
  }
  if (opened.op->instruction->op == ptx::Opcode::kSt)
    executor_.transfer(*opened.op, part, mask, opened.bytes.data());
}

void SystemTransactions::close(std::uint32_t access) {
  Access& closed = state_.accesses[access];
  const bool acquires = closed.op->instruction->acquires;
  for (unsigned i = 0; i < closed.lanes; ++i) {
    Chunk& chunk = state_.chunks[closed.parts[i].chunk];
    chunk.open.remove(closed.parts[i].mask);
    if (acquires) chunk.acquiring.remove(closed.parts[i].mask);
    on_closed(closed.resident.domain_of(closed.parts[i].chunk), closed.parts[i].chunk);
  }
  if (closed.under_way) {
    auto& under_way = state_.under_way;
    under_way.erase(std::find(under_way.begin(), under_way.end(), access));
  }
  state_.free.push_back(access);
  --state_.open;
  if (acquires && closed.op->instruction->system_scope) on_acquired();
}

// Of two accesses to the same block.
bool SystemTransactions::ordered(const Access& first, const Access& second) const {
  if (!first.writes && !second.writes) return false;
  if (first.instruction == second.instruction || first.resident.slot != second.resident.slot) return false;
  bool warp = first.epoch != second.epoch;
  for (unsigned i = 0; i < first.lanes && !warp; ++i) {
    for (unsigned k = 0; k < second.lanes; ++k) warp = warp || first.parts[i].chunk == second.parts[k].chunk;
  }
  if (!warp) return false;
  for (std::size_t i = 0; i < block_bytes_; ++i) {
    if ((first.enables[i] & second.enables[i]) != 0) return true;
  }
  return false;
}

bool SystemTransactions::can_start(std::uint32_t access) const {
  const Access& next = state_.accesses[access];
  return std::none_of(state_.under_way.begin(), state_.under_way.end(), [&](std::uint32_t other) {
    const Access& before = state_.accesses[other];
    return before.address == next.address && ordered(before, next);
  });
}

void SystemTransactions::started(std::uint32_t access) {
  state_.accesses[access].under_way = true;
  state_.under_way.push_back(access);
}

// A whole line that a cache fetches, or the bytes that an access touches.
tlm::tlm_generic_payload& SystemTransactions::payload(const OutgoingRequest& request, MemoryPort& port) {
  Access& access = state_.accesses[request.access];
  const std::uint64_t address = request.address - execute::kSystemSpace;
  tlm::tlm_generic_payload& payload = port.acquire(request.command, address, request.bytes);
  if (request.command == tlm::TLM_WRITE_COMMAND) {
    const auto offset = static_cast<std::ptrdiff_t>(address - access.address);
    const auto enables = access.enables.begin() + offset;
    std::memcpy(payload.get_data_ptr(), access.bytes.data() + offset, request.bytes);
    if (std::find(enables, enables + request.bytes, std::uint8_t{TLM_BYTE_DISABLED}) !=
        enables + request.bytes)
      TransactionPool::enable(payload, &*enables);
  }
  TransactionOrigin& origin = *origin_of(payload);
  origin.carries = true;
  origin.system = true;
  origin.access = request.access;
  origin.atomic = request.kind == AccessKind::kAtomic ? this : nullptr;
  return payload;
}

void SystemTransactions::apply(std::uint32_t access, std::uint64_t address, unsigned char* bytes,
                               unsigned count) {
  Access& atomic = state_.accesses[access];
  const std::uint64_t first = address - atomic.address;
  std::memcpy(atomic.bytes.data() + first, bytes, count);
  for (unsigned i = 0; i < atomic.lanes; ++i) {
    const execute::SystemLanes& part = atomic.parts[i];
    std::uint32_t mask = 0;
    for (std::uint32_t rest = part.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      if (part.offset[lane] - first < count) mask |= 1u << lane;
    }
    if (mask != 0) executor_.transfer(*atomic.op, part, mask, atomic.bytes.data());
  }
  std::memcpy(bytes, atomic.bytes.data() + first, count);
}

void SystemTransactions::transfer(Access& access) {
  for (unsigned i = 0; i < access.lanes; ++i) {
    const execute::SystemLanes& part = access.parts[i];
    executor_.transfer(*access.op, part, part.mask, access.bytes.data(), access.warp);
  }
}

void SystemTransactions::fill(std::uint32_t access, const std::uint8_t* bytes) {
  Access& load = state_.accesses[access];
  std::memcpy(load.bytes.data(), bytes, block_bytes_);
  transfer(load);
}

// Whose element it was, debug transport may tell: then it refuses that one too.
Fault SystemTransactions::refused(const Access& access, const tlm::tlm_generic_payload& payload) const {
  const std::uint8_t size = access.op->element_bytes;
  const execute::SystemLanes* part = access.parts.data();
  auto lane = static_cast<unsigned>(__builtin_ctz(part->mask));
  std::uint64_t address = payload.get_address();
  unsigned bytes = payload.get_data_length();
  bool known = false;
  for (unsigned i = 0; i < access.lanes && !known; ++i) {
    for (std::uint32_t rest = access.parts[i].mask; rest != 0 && !known; rest &= rest - 1) {
      const auto other = static_cast<unsigned>(__builtin_ctz(rest));
      const std::uint64_t element = access.address + access.parts[i].offset[other];
      std::array<std::uint8_t, 16> read{};
      if (state_.memory->look(element, read.data(), size)) continue;
      known = true;
      part = &access.parts[i];
      lane = other;
      address = element;
      bytes = size;
    }
  }
  std::ostringstream text;
  text << "system memory answered " << payload.get_response_string() << " to "
       << (payload.is_write() ? "a write" : "a read") << " of " << bytes << " bytes at 0x" << std::hex
       << address;
  Fault fault = executor_.fault_at(FaultKind::kIllegalAddress,
                                   {access.pc, part->chunk, lane, access.resident}, text.str());
  fault.address = address;
  return fault;
}

Fault SystemTransactions::answered(const tlm::tlm_generic_payload& payload) {
  const std::uint32_t index = origin_of(payload)->access;
  Access& access = state_.accesses[index];
  if (payload.is_response_error()) return refused(access, payload);
  if (is_load(access)) {
    std::memcpy(access.bytes.data() + (payload.get_address() - access.address), payload.get_data_ptr(),
                payload.get_data_length());
    transfer(access);
  }
  close(index);
  return {};
}

}  // namespace weft::sm
