// The lookup at the end of the pipeline: hit, pending, absent.
#include <algorithm>

#include "bus/payload_data.h"
#include "l2/l2_bank.h"

namespace weft::l2 {

using cache::LineState;
using cache::MshrOutcome;

bool L2Bank::look_up_wide(Cycle now) {
  if (state_.lookup_until > now || !look_up_next(now)) return false;
  ++lookup_cycles_;
  if (lookup_cycles_each_ > 1) {
    state_.lookup_until = now + lookup_cycles_each_;
    lookup_cycles_ += lookup_cycles_each_ - 1;
  }
  for (unsigned i = 1; i < lookups_per_cycle_ && !state_.pipeline.empty(); ++i)
    if (!look_up_next(now)) break;
  return true;
}

bool L2Bank::look_up_next(Cycle now) {
  if (state_.busy_until > now) return false;
  const std::uint32_t handle = state_.pipeline.front();
  Request& request = state_.requests[handle];
  if (request.ready > now) return false;

  const Found found = tags_.look_up(request.next);
  bool done = false;
  switch (found.state) {
    case LineState::kValid:
    case LineState::kDirty:
      done = look_up_present(request, handle, found, now);
      break;
    case LineState::kReserved:
      done = look_up_pending(request, handle, found);
      break;
    case LineState::kInvalid:
      done = look_up_absent(request, handle, found, now);
      break;
  }
  if (!done) return false;
  request.stall_counted = false;
  if (!request.looked_up) {
    ++request.next;
    return true;
  }
  state_.pipeline.pop();
  return true;
}

// Counts the request, once, when its last sector is looked up, and moves its data if it is foreign.
void L2Bank::move_foreign_data(Request& request) {
  request.looked_up = true;
  ++(request.lanes != 0 ? atomics_ : request.write ? writes_ : reads_);
  Payload& payload = *request.payload;
  if (request.origin != nullptr) return;
  const std::uint64_t address = payload.get_address();
  find_image();
  if (image_ != nullptr) {
    move_data(payload, image_ + (address - image_begin_));
    return;
  }
  // Without DMI: one debug access per run of enabled bytes.
  Payload part;
  part.set_command(payload.get_command());
  for_each_enabled_run(payload, [&](unsigned offset, unsigned bytes) {
    part.set_address(address + offset);
    part.set_data_ptr(payload.get_data_ptr() + offset);
    part.set_data_length(bytes);
    part.set_streaming_width(bytes);
    if (memory->transport_dbg(part) != bytes) request.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  });
}

bool L2Bank::look_up_present(Request& request, std::uint32_t handle, const Found& found, Cycle now) {
  const bool last = found.sector == request.last;
  if (last && request.missing == 0 && state_.responses.full()) {
    stall(request, MshrOutcome::kAllocated);
    return false;
  }
  tags_.access(found);
  if (request.write) tags_.mark_dirty(found);
  if (!last) return true;
  move_foreign_data(request);
  if (request.missing == 0) queue_response(request, handle, now);
  return true;
}

bool L2Bank::look_up_pending(Request& request, std::uint32_t handle, const Found& found) {
  const Sector sector = found.sector;
  const MshrOutcome outcome = mshrs_.check(sector);
  if (outcome != MshrOutcome::kMerged) {
    stall(request, outcome);
    return false;
  }
  tags_.access(found);
  mshrs_.add(sector, handle);
  wait_for_memory(request);
  if (request.write) state_.slots[mshrs_.entry_of(sector)].dirty = true;
  if (sector == request.last) move_foreign_data(request);
  return true;
}

bool L2Bank::look_up_absent(Request& request, std::uint32_t handle, const Found& found, Cycle now) {
  const Sector sector = found.sector;
  const bool last = sector == request.last;
  const bool partial_write_fetches = config_.write_miss == WriteMiss::kFetch || request.lanes != 0;
  const bool fetch = !request.write || (partial_write_fetches && !covers(request, sector));
  if (fetch && state_.misses.full()) {  // the commonest reason, and the cheapest to see
    stall(request, MshrOutcome::kAllocated);
    return false;
  }
  if (fetch && mshrs_.check(sector) != MshrOutcome::kAllocated) {
    stall(request, MshrOutcome::kNoEntry);
    return false;
  }
  if (!tags_.can_reserve(sector)) {
    if (!request.stall_counted) tags_.count_reservation_failure();
    request.stall_counted = true;
    return false;
  }
  const std::size_t write_backs = cache::runs_of(tags_.victim_for(sector).dirty);
  const std::size_t places = (fetch ? 1 : 0) + write_backs;
  const bool answered = !fetch && last && request.missing == 0;
  if (state_.misses.size() + places > state_.misses.capacity() ||
      state_.free_write_backs.size() < write_backs || (answered && state_.responses.full())) {
    stall(request, MshrOutcome::kAllocated);
    return false;
  }

  const bool stores_bytes = !fetch && config_.write_miss == WriteMiss::kLazyFetch;
  const bool adds_bytes = stores_bytes && tags_.written(found) != 0;  // a hit of an earlier write
  tags_.access({sector, found.place, adds_bytes ? LineState::kValid : found.state});
  const cache::SectorTags::Victim victim =
      stores_bytes ? tags_.write(sector, bytes_of(request, sector), true) : tags_.reserve(sector);
  if (victim.dirty != 0) write_back(victim);
  if (fetch) {
    mshrs_.add(sector, handle);
    const std::uint32_t slot = mshrs_.entry_of(sector);
    state_.slots[slot] = {};
    state_.slots[slot].sector = sector;
    state_.slots[slot].dirty = request.write;
    state_.misses.push({sector, 1, slot, false});
    ++fetches_;
    wait_for_memory(request);
  } else if (!stores_bytes) {
    tags_.fill(sector);
    tags_.mark_dirty(sector);
  }
  if (!last) return true;
  move_foreign_data(request);
  if (request.missing == 0) queue_response(request, handle, now);
  return true;
}

void L2Bank::wait_for_memory(Request& request) {
  if (request.missing++ == 0 && request.origin != nullptr)
    request.origin->stages.fetched_ps = sc_core::sc_time_stamp().value();
}

// A transaction for each run of dirty sectors.
void L2Bank::write_back(const cache::SectorTags::Victim& victim) {
  cache::for_each_run(victim.dirty, [&](unsigned first, unsigned count) {
    const std::uint32_t slot = state_.free_write_backs.back();
    state_.free_write_backs.pop_back();
    state_.misses.push({victim.first + first, count, slot, true});
    if (carries_data_) {
      const std::uint64_t address =
          map_.address_of(channel_, bank_, (victim.first + first) * tags_.sector_bytes());
      read_memory(address, evicted_of(slot), static_cast<unsigned>(count * tags_.sector_bytes()));
    }
    ++write_backs_;
  });
}

// Does a write, without byte enables, cover the whole sector?
bool L2Bank::covers(const Request& request, Sector sector) const {
  const Payload& payload = *request.payload;
  return request.write && request.lanes == 0 && payload.get_byte_enable_ptr() == nullptr &&
         request.begin <= sector * tags_.sector_bytes() &&
         request.begin + payload.get_data_length() >= (sector + 1) * tags_.sector_bytes();
}

// The bytes of a sector that a write has, from its first to its last: bit i is byte i.
std::uint64_t L2Bank::bytes_of(const Request& request, Sector sector) const {
  const std::uint64_t first = sector * tags_.sector_bytes();
  const std::uint64_t begin = std::max(request.begin, first) - first;
  const std::uint64_t end =
      std::min(request.begin + request.payload->get_data_length(), first + tags_.sector_bytes()) - first;
  return (~std::uint64_t{0} >> (cache::kMostMaskedBytes - (end - begin))) << begin;
}

// What the request waited for has come. False if the response has to wait for a place, or for the
// bank.
bool L2Bank::finish_line(Request& request, std::uint32_t handle, Cycle now) {
  if (!request.looked_up || request.missing != 0) return true;
  if (state_.responses.full() || (request.lanes != 0 && state_.busy_until > now)) return false;
  if (request.origin != nullptr) request.origin->stages.filled_ps = sc_core::sc_time_stamp().value();
  queue_response(request, handle, now);
  return true;
}

void L2Bank::queue_response(Request& request, std::uint32_t handle, Cycle now) {
  Cycle ready = now;
  if (request.lanes != 0) {
    const Cycle cycles = request.lanes * config_.atomic_interval;
    ready = state_.busy_until = now + cycles;
    atomic_cycles_ += cycles;
  }
  state_.responses.push({handle, ready});
}

// Counts a request's first stall on a sector. kAllocated: there would be an MSHR, but a queue is full.
void L2Bank::stall(Request& request, MshrOutcome cause) {
  if (request.stall_counted) return;
  request.stall_counted = true;
  if (cause == MshrOutcome::kAllocated) {
    ++queue_stalls_;
  } else {
    mshrs_.count_refusal(cause);
  }
}

}  // namespace weft::l2
