// The transport calls: they take payloads into queues and wake the bank.
#include <algorithm>

#include "l2/l2_bank.h"

namespace weft::l2 {

using sc_core::sc_time;

Cycle L2Bank::edge_of(const sc_time& delay) const {
  return delay == sc_core::SC_ZERO_TIME ? domain_.next_edge()
                                        : domain_.first_edge_after(sc_core::sc_time_stamp() + delay);
}

tlm::tlm_response_status L2Bank::check_request(const Payload& payload) {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (!map_.within_chunk(address, bytes) || payload.get_streaming_width() < bytes) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const gddr5::AddressMap::Route route = map_.route(address);
  if (route.channel != channel_ || route.l2_bank != bank_) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  find_image();
  if (image_ != nullptr && (address < image_begin_ || address + (bytes - 1) > image_end_)) {
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }
  // A second request before END_REQ breaks the exclusion rule.
  return blocked_ == kNone ? tlm::TLM_OK_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
}

tlm::tlm_sync_enum L2Bank::forward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const Cycle usable = edge_of(delay);
  if (phase == tlm::END_RESP) {
    end_response(usable);
    domain_.wake_at(index_, usable);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const tlm::tlm_response_status status = check_request(payload);
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return tlm::TLM_COMPLETED;
  }
  const std::uint32_t handle = new_request(payload, usable);
  domain_.wake_at(index_, usable);
  if (input_.full()) {
    blocked_ = handle;
    ++blocked_requests_;
    return tlm::TLM_ACCEPTED;
  }
  input_.push(handle);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

std::uint32_t L2Bank::new_request(Payload& payload, Cycle ready) {
  payload.acquire();
  const std::uint32_t handle = free_requests_.back();
  free_requests_.pop_back();
  const std::uint64_t offset = map_.route(payload.get_address()).offset;
  const TransactionOrigin* origin = origin_of(payload);
  const bool atomic = origin != nullptr && origin->kind == AccessKind::kAtomic;
  Request& request = requests_[handle];
  request = {};
  request.payload = &payload;
  request.ready = ready;
  request.next = tags_.line_of(offset);
  request.last = tags_.line_of(offset + payload.get_data_length() - 1);
  request.lanes = atomic ? std::max<std::uint32_t>(origin->atomic_lanes, 1) : 0;
  request.write = payload.is_write() || atomic;
  return handle;
}

void L2Bank::end_response(Cycle usable_from) {
  if (responding_ == nullptr) return;
  responding_->release();
  responding_ = nullptr;
  response_gate_.open(usable_from);
}

tlm::tlm_sync_enum L2Bank::backward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
  const Cycle usable = edge_of(delay);
  domain_.wake_at(index_, usable);
  if (phase == tlm::END_REQ) {
    request_gate_.open(usable);
    return tlm::TLM_ACCEPTED;
  }
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const TransactionOrigin* origin = origin_of(payload);
  if (origin == nullptr || origin->tag >= slots_.size() || slots_[origin->tag].payload != &payload) {
    return tlm::TLM_COMPLETED;  // none of ours
  }
  // BEGIN_RESP implies END_REQ.
  if (request_gate_.closed() && origin->tag == last_slot_) request_gate_.open(usable);
  memory_answered(payload, usable);
  return tlm::TLM_COMPLETED;
}

// There is always a place: it was reserved with the slot.
void L2Bank::memory_answered(Payload& payload, Cycle ready) {
  const auto slot = static_cast<std::uint32_t>(origin_of(payload)->tag);
  fills_.push({slot, payload.get_response_status(), ready});
}

void L2Bank::free_slot(std::uint32_t slot) {
  slots_[slot].payload->release();
  slots_[slot].payload = nullptr;
  --memory_in_flight_;
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
    buffers_.resize(slots_.size() * tags_.line_bytes());
  }
}

unsigned char* L2Bank::bytes_of(std::uint64_t address, std::uint32_t slot) {
  find_image();
  return image_ != nullptr ? image_ + (address - image_begin_) : buffers_.data() + slot * tags_.line_bytes();
}

void L2Bank::invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) {
  if (begin <= image_end_ && end >= image_begin_) {
    image_ = nullptr;
    asked_for_image_ = false;
  }
  target->invalidate_direct_mem_ptr(begin, end);
}

// Loosely timed: memory's latency and the pipeline's; the tags are left alone, because bytes live in memory
// only.
void L2Bank::blocking(Payload& payload, sc_time& delay) {
  memory->b_transport(payload, delay);
  delay += domain_.time_of(config_.latency);
}

bool L2Bank::dmi(Payload& payload, tlm::tlm_dmi& region) {
  return memory->get_direct_mem_ptr(payload, region);
}

unsigned L2Bank::debug(Payload& payload) {
  return memory->transport_dbg(payload);
}

}  // namespace weft::l2
