// The transport calls: they take payloads into queues and wake the bank.
#include <algorithm>
#include <cstring>

#include "l2/l2_bank.h"

namespace weft::l2 {

using sc_core::sc_time;

tlm::tlm_response_status L2Bank::check_request(const Payload& payload) {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (!map_.within_chunk(address, bytes) || payload.get_streaming_width() < bytes) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const memory::ChannelMap::Route route = map_.route(address);
  if (route.channel != channel_ || route.l2_bank != bank_) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  find_image();
  if (image_ != nullptr && (address < image_begin_ || address + (bytes - 1) > image_end_)) {
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  return tlm::TLM_OK_RESPONSE;
}

bus::Verdict L2Bank::request(unsigned, Payload& payload, Cycle ready, sc_time&) {
  const tlm::tlm_response_status status = check_request(payload);
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return bus::Verdict::kCompleted;
  }
  const bool far = is_far(payload);
  domain_.wake_at(index_, far ? ready + config_.far_latency : ready);
  if (!has_place(far)) {
    ++blocked_requests_;
    return bus::Verdict::kWithheld;
  }
  accept(payload, far, ready);
  return bus::Verdict::kTaken;
}

bool L2Bank::is_far(const Payload& payload) const {
  if (far_sms_.empty()) return false;
  const TransactionOrigin* const origin = origin_of(payload);
  return origin != nullptr && origin->sm < far_sms_.size() && far_sms_[origin->sm];
}

void L2Bank::accept(Payload& payload, bool far, Cycle ready) {
  if (far) {
    ++far_requests_;
    state_.link.push(new_request(payload, ready + config_.far_latency));
  } else {
    state_.input.push(new_request(payload, ready));
  }
}

void L2Bank::host_copied(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t begin = map_.route(address).offset;
  const Sector last = tags_.sector_of(begin + bytes - 1);
  for (Sector sector = tags_.sector_of(begin); sector <= last; ++sector) {
    if (tags_.find(sector) != cache::LineState::kInvalid || !tags_.can_reserve(sector)) continue;
    tags_.reserve(sector);
    tags_.fill(sector);
  }
}

std::uint32_t L2Bank::new_request(Payload& payload, Cycle ready) {
  const std::uint32_t handle = state_.free_requests.back();
  state_.free_requests.pop_back();
  TransactionOrigin* const origin = origin_of(payload);
  const bool atomic = origin != nullptr && origin->kind == AccessKind::kAtomic;
  Request& request = state_.requests[handle];
  request = {};
  request.payload = &payload;
  request.origin = origin;
  request.begin = map_.route(payload.get_address()).offset;
  request.ready = ready;
  request.next = tags_.sector_of(request.begin);
  request.last = tags_.sector_of(request.begin + payload.get_data_length() - 1);
  request.lanes = atomic ? std::max<std::uint32_t>(origin->atomic_lanes, 1) : 0;
  request.write = payload.is_write() || atomic;
  return handle;
}

// There is always a place: it was reserved with the slot.
bool L2Bank::response(unsigned, Payload& payload, Cycle ready) {
  const TransactionOrigin* origin = origin_of(payload);
  const bool ours =
      origin != nullptr && origin->tag < state_.slots.size() && state_.slots[origin->tag].payload == &payload;
  if (ours)
    state_.fills.push({static_cast<std::uint32_t>(origin->tag), payload.get_response_status(), ready});
  return true;
}

void L2Bank::free_slot(std::uint32_t slot) {
  state_.slots[slot].payload->release();
  state_.slots[slot].payload = nullptr;
  --state_.memory_in_flight;
}

void L2Bank::find_image() {
  if (asked_for_image_) return;
  asked_for_image_ = true;
  Payload payload;
  payload.set_address(map_.address_of(channel_, bank_, 0));
  tlm::tlm_dmi region;
  if (memory->get_direct_mem_ptr(payload, region) && region.is_read_write_allowed()) {
    image_ = region.get_dmi_ptr();
    image_begin_ = region.get_start_address();
    image_end_ = region.get_end_address();
  } else if (buffers_.empty()) {
    buffers_.resize(state_.slots.size() * config_.tags.line_bytes);
  }
}

unsigned char* L2Bank::bytes_of(std::uint64_t address, std::uint32_t slot) {
  find_image();
  return image_ != nullptr ? image_ + (address - image_begin_)
                           : buffers_.data() + slot * config_.tags.line_bytes;
}

void L2Bank::carry_data(bool carries) {
  carries_data_ = carries;
  evicted_.resize(carries ? config_.write_back_buffers * config_.tags.line_bytes : 0);
}

// Of a write-back.
unsigned char* L2Bank::evicted_of(std::uint32_t slot) {
  return evicted_.data() + (slot - config_.mshrs.entries) * config_.tags.line_bytes;
}

// What an instruction that is issued now would read; it takes no time.
void L2Bank::read_memory(std::uint64_t address, unsigned char* bytes, unsigned count) {
  find_image();
  if (image_ != nullptr) {
    std::memcpy(bytes, image_ + (address - image_begin_), count);
    return;
  }
  Payload read;
  read.set_read();
  read.set_address(address);
  read.set_data_ptr(bytes);
  read.set_data_length(count);
  read.set_streaming_width(count);
  memory->transport_dbg(read);
}

void L2Bank::invalidate(unsigned, sc_dt::uint64 begin, sc_dt::uint64 end) {
  if (begin <= image_end_ && end >= image_begin_) {
    image_ = nullptr;
    asked_for_image_ = false;
  }
  target->invalidate_direct_mem_ptr(begin, end);
}

// Loosely timed: memory's latency and the pipeline's; the tags are left alone, because bytes live in memory
// only.
void L2Bank::blocking(unsigned, Payload& payload, sc_time& delay) {
  memory->b_transport(payload, delay);
  delay += domain_.time_of(config_.latency);
}

bool L2Bank::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  if (!memory->get_direct_mem_ptr(payload, region)) return false;
  region.set_read_latency(region.get_read_latency() + domain_.time_of(config_.latency));
  region.set_write_latency(region.get_write_latency() + domain_.time_of(config_.latency));
  return true;
}

unsigned L2Bank::debug(unsigned, Payload& payload) {
  return memory->transport_dbg(payload);
}

}  // namespace weft::l2
