// The lookup at the end of the pipeline: hit, pending, absent.
#include "common/payload_data.h"
#include "l2/l2_bank.h"

namespace weft::l2 {

using cache::LineState;
using cache::MshrOutcome;

bool L2Bank::look_up(Cycle now) {
  if (pipeline_.empty() || busy_until_ > now) return false;
  const std::uint32_t handle = pipeline_.front();
  Request& request = requests_[handle];
  if (request.ready > now) return false;

  bool done = false;
  switch (tags_.find(request.next)) {
    case LineState::kValid:
    case LineState::kDirty:
      done = look_up_present(request, handle, now);
      break;
    case LineState::kReserved:
      done = look_up_pending(request, handle);
      break;
    case LineState::kInvalid:
      done = look_up_absent(request, handle, now);
      break;
  }
  if (!done) return false;
  request.stall_counted = false;
  if (!request.looked_up) {
    ++request.next;
    return true;
  }
  pipeline_.pop();
  return true;
}

// Counts the request, once, when its last line is looked up, and moves its data if it is foreign.
void L2Bank::move_foreign_data(Request& request) {
  request.looked_up = true;
  ++(request.lanes != 0 ? atomics_ : request.write ? writes_ : reads_);
  Payload& payload = *request.payload;
  if (origin_of(payload) != nullptr) return;
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

bool L2Bank::look_up_present(Request& request, std::uint32_t handle, Cycle now) {
  const Line line = request.next;
  const bool last = line == request.last;
  if (last && request.missing == 0 && responses_.full()) {
    stall(request, MshrOutcome::kAllocated);
    return false;
  }
  tags_.access(line);
  if (request.write) tags_.mark_dirty(line);
  if (!last) return true;
  move_foreign_data(request);
  if (request.missing == 0) queue_response(request, handle, now);
  return true;
}

bool L2Bank::look_up_pending(Request& request, std::uint32_t handle) {
  const Line line = request.next;
  const MshrOutcome outcome = mshrs_.check(line);
  if (outcome != MshrOutcome::kMerged) {
    stall(request, outcome);
    return false;
  }
  tags_.access(line);
  mshrs_.add(line, handle);
  ++request.missing;
  if (request.write) slots_[mshrs_.entry_of(line)].dirty = true;
  if (line == request.last) move_foreign_data(request);
  return true;
}

bool L2Bank::look_up_absent(Request& request, std::uint32_t handle, Cycle now) {
  const Line line = request.next;
  const bool last = line == request.last;
  const bool partial_write_fetches = config_.write_miss == WriteMiss::kFetch || request.lanes != 0;
  const bool fetch = !request.write || (partial_write_fetches && !covers(request, line));
  if (fetch && misses_.full()) {  // the commonest reason, and the cheapest to see
    stall(request, MshrOutcome::kAllocated);
    return false;
  }
  if (fetch && mshrs_.check(line) != MshrOutcome::kAllocated) {
    stall(request, MshrOutcome::kNoEntry);
    return false;
  }
  if (!tags_.can_reserve(line)) {
    if (!request.stall_counted) tags_.count_reservation_failure();
    request.stall_counted = true;
    return false;
  }
  const bool write_back = tags_.victim_for(line).dirty;
  const std::size_t places = (fetch ? 1 : 0) + (write_back ? 1 : 0);
  const bool answered = !fetch && last && request.missing == 0;
  if (misses_.size() + places > misses_.capacity() || (write_back && free_write_backs_.empty()) ||
      (answered && responses_.full())) {
    stall(request, MshrOutcome::kAllocated);
    return false;
  }

  tags_.access(line);
  const cache::TagArray::Victim victim = tags_.reserve(line);
  if (victim.dirty) {
    const std::uint32_t slot = free_write_backs_.back();
    free_write_backs_.pop_back();
    misses_.push({victim.line, slot, true});
    ++write_backs_;
  }
  if (fetch) {
    mshrs_.add(line, handle);
    const std::uint32_t slot = mshrs_.entry_of(line);
    slots_[slot] = {};
    slots_[slot].line = line;
    slots_[slot].dirty = request.write;
    misses_.push({line, slot, false});
    ++fetches_;
    ++request.missing;
  } else {
    tags_.fill(line);
    tags_.mark_dirty(line);
  }
  if (!last) return true;
  move_foreign_data(request);
  if (request.missing == 0) queue_response(request, handle, now);
  return true;
}

// Does a write, without byte enables, cover its whole line?
bool L2Bank::covers(const Request& request, Line line) const {
  const Payload& payload = *request.payload;
  const std::uint64_t begin = map_.route(payload.get_address()).offset;
  return request.write && request.lanes == 0 && payload.get_byte_enable_ptr() == nullptr &&
         begin <= line * tags_.line_bytes() &&
         begin + payload.get_data_length() >= (line + 1) * tags_.line_bytes();
}

// A line that the request waited for has come. False if the response has to wait for a place, or for the
// bank.
bool L2Bank::finish_line(Request& request, std::uint32_t handle, Cycle now) {
  if (!request.looked_up || request.missing != 0) return true;
  if (responses_.full() || (request.lanes != 0 && busy_until_ > now)) return false;
  queue_response(request, handle, now);
  return true;
}

void L2Bank::queue_response(Request& request, std::uint32_t handle, Cycle now) {
  Cycle ready = now;
  if (request.lanes != 0) {
    const Cycle cycles = request.lanes * config_.atomic_interval;
    ready = busy_until_ = now + cycles;
    atomic_cycles_ += cycles;
  }
  responses_.push({handle, ready});
}

// Counts a request's first stall on its line. kAllocated: there would be an MSHR, but a queue is full.
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
