#include "common/hop_monitor.h"

#include <sstream>

namespace weft {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

const char* to_string(HopRule rule) {
  switch (rule) {
    case HopRule::kPhaseOrder:
      return "PhaseOrder";
    case HopRule::kPhaseDirection:
      return "PhaseDirection";
    case HopRule::kRequestExclusion:
      return "RequestExclusion";
    case HopRule::kResponseExclusion:
      return "ResponseExclusion";
    case HopRule::kTiming:
      return "Timing";
    case HopRule::kRequestStatus:
      return "RequestStatus";
    case HopRule::kRequestDmi:
      return "RequestDmi";
    case HopRule::kStreamingWidth:
      return "StreamingWidth";
    case HopRule::kMemoryManager:
      return "MemoryManager";
    case HopRule::kReferenceCount:
      return "ReferenceCount";
    case HopRule::kEarlyStatus:
      return "EarlyStatus";
    case HopRule::kMissingStatus:
      return "MissingStatus";
    case HopRule::kStatusChanged:
      return "StatusChanged";
    case HopRule::kAttributesChanged:
      return "AttributesChanged";
    case HopRule::kMixedTransport:
      return "MixedTransport";
    case HopRule::kDmiRange:
      return "DmiRange";
    case HopRule::kBytes:
      return "Bytes";
    case HopRule::kUnfinished:
      return "Unfinished";
  }
  return "?";
}

HopMonitor::HopMonitor(sc_core::sc_module_name name)
    : sc_module(name), target("target"), initiator("initiator") {
  target.register_nb_transport_fw(this, &HopMonitor::forward);
  target.register_b_transport(this, &HopMonitor::blocking);
  target.register_get_direct_mem_ptr(this, &HopMonitor::dmi);
  target.register_transport_dbg(this, &HopMonitor::debug);
  initiator.register_nb_transport_bw(this, &HopMonitor::backward);
  initiator.register_invalidate_direct_mem_ptr(this, &HopMonitor::invalidate);
}

tlm_sync_enum HopMonitor::forward(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    begin_request(payload, delay);
  } else if (phase == tlm::END_RESP) {
    if (Open* open = find(payload, "END_RESP")) end_response(payload, *open, delay);
  } else if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) {
    violate(HopRule::kPhaseDirection, &payload, "target's phase on the forward path");
  }
  const tlm_phase sent = phase;
  const tlm_sync_enum result = initiator->nb_transport_fw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED) return result;
  if (result == tlm::TLM_COMPLETED) {
    if (sent == tlm::BEGIN_REQ) {
      if (Open* open = find(payload, "TLM_COMPLETED")) {
        begin_response(payload, *open, delay);
        end_response(payload, *open, delay);
      }
    }
    return result;
  }
  Open* open = find(payload, "return of nb_transport_fw");
  if (open == nullptr) return result;
  if (phase == tlm::END_REQ) {
    end_request(payload, *open, delay);
  } else if (phase == tlm::BEGIN_RESP) {
    begin_response(payload, *open, delay);
  } else {
    violate(HopRule::kPhaseDirection, &payload, "initiator's phase returned by the target");
  }
  return result;
}

tlm_sync_enum HopMonitor::backward(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP) {
    violate(HopRule::kPhaseDirection, &payload, "initiator's phase on the backward path");
  } else if (Open* open = find(payload, "backward call")) {
    if (phase == tlm::END_REQ) end_request(payload, *open, delay);
    if (phase == tlm::BEGIN_RESP) begin_response(payload, *open, delay);
  }
  const tlm_phase sent = phase;
  const tlm_sync_enum result = target->nb_transport_bw(payload, phase, delay);
  if (result == tlm::TLM_ACCEPTED || sent != tlm::BEGIN_RESP) return result;
  if (result == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
    violate(HopRule::kPhaseOrder, &payload, "BEGIN_RESP answered by a phase other than END_RESP");
  } else if (Open* open = find(payload, "return of nb_transport_bw")) {
    end_response(payload, *open, delay);
  }
  return result;
}

void HopMonitor::check_request_attributes(const Payload& payload) {
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kRequestStatus, &payload, "request with status " + payload.get_response_string());
  }
  if (payload.is_dmi_allowed()) violate(HopRule::kRequestDmi, &payload, "request with dmi_allowed set");
  if (payload.get_streaming_width() == 0) violate(HopRule::kStreamingWidth, &payload, "streaming width of 0");
}

void HopMonitor::begin_request(const Payload& payload, const sc_time& delay) {
  check_request_attributes(payload);
  if (!const_cast<Payload&>(payload).has_mm())
    violate(HopRule::kMemoryManager, &payload, "no memory manager");
  if (payload.get_ref_count() <= 0) violate(HopRule::kReferenceCount, &payload, "reference count of 0");
  if (open_.count(&payload) != 0) {
    violate(HopRule::kPhaseOrder, &payload, "BEGIN_REQ of a transaction that is in flight");
    return;
  }
  if (request_ != nullptr)
    violate(HopRule::kRequestExclusion, &payload, "BEGIN_REQ while another request is open");
  Open& open = open_.emplace(&payload, Open(payload)).first->second;
  open.latest = sc_core::sc_time_stamp() + delay;
  if (open.latest < latest_request_) {
    violate(HopRule::kTiming, &payload, "request before the last one at " + latest_request_.to_string());
  }
  latest_request_ = open.latest;
  request_ = &payload;
  ++transactions_;
  bytes_requested_ += open.attributes.length;
}

void HopMonitor::end_request(const Payload& payload, Open& open, const sc_time& delay) {
  if (open.state != State::kRequest) {
    violate(HopRule::kPhaseOrder, &payload, "END_REQ without an open request");
    return;
  }
  advance_time(payload, open, delay);
  check_unchanged(payload, open);
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kEarlyStatus, &payload, "status " + payload.get_response_string() + " at END_REQ");
  }
  open.state = State::kWaiting;
  if (request_ == &payload) request_ = nullptr;
}

void HopMonitor::begin_response(const Payload& payload, Open& open, const sc_time& delay) {
  if (open.state == State::kResponse) {
    violate(HopRule::kPhaseOrder, &payload, "BEGIN_RESP a second time");
    return;
  }
  advance_time(payload, open, delay);
  check_unchanged(payload, open);
  if (response_ != nullptr)
    violate(HopRule::kResponseExclusion, &payload, "BEGIN_RESP while another is open");
  if (open.latest < latest_response_) {
    violate(HopRule::kTiming, &payload, "response before the last one at " + latest_response_.to_string());
  }
  latest_response_ = open.latest;
  open.status = payload.get_response_status();
  if (open.status == tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kMissingStatus, &payload, "response without a status");
  }
  if (request_ == &payload) request_ = nullptr;  // BEGIN_RESP implies END_REQ
  response_ = &payload;
  open.state = State::kResponse;
  bytes_responded_ += payload.get_data_length();
}

void HopMonitor::end_response(const Payload& payload, Open& open, const sc_time& delay) {
  if (open.state != State::kResponse) {
    violate(HopRule::kPhaseOrder, &payload, "END_RESP without an open response");
    return;
  }
  advance_time(payload, open, delay);
  check_unchanged(payload, open);
  if (payload.get_response_status() != open.status) {
    violate(HopRule::kStatusChanged, &payload,
            "status became " + payload.get_response_string() + " after BEGIN_RESP");
  }
  if (response_ == &payload) response_ = nullptr;
  open_.erase(&payload);
}

void HopMonitor::advance_time(const Payload& payload, Open& open, const sc_time& delay) {
  const sc_time at = sc_core::sc_time_stamp() + delay;
  if (at < open.latest) {
    violate(HopRule::kTiming, &payload,
            "phase at " + at.to_string() + " after one at " + open.latest.to_string());
  }
  open.latest = at;
}

HopMonitor::Attributes::Attributes(const Payload& payload)
    : command(payload.get_command()),
      address(payload.get_address()),
      data(payload.get_data_ptr()),
      length(payload.get_data_length()),
      enables(payload.get_byte_enable_ptr()),
      enables_length(payload.get_byte_enable_length()),
      streaming_width(payload.get_streaming_width()) {}

void HopMonitor::check_unchanged(const Payload& payload, Open& open) {
  const Attributes was = open.attributes;
  const Attributes is(payload);
  open.attributes = is;  // so that a change is reported once
  const auto differs = [&](const char* what) {
    violate(HopRule::kAttributesChanged, &payload, std::string(what) + " changed in flight");
  };
  if (is.command != was.command) differs("command");
  if (is.address != was.address) differs("address");
  if (is.data != was.data) differs("data pointer");
  if (is.length != was.length) differs("data length");
  if (is.enables != was.enables || is.enables_length != was.enables_length) differs("byte enables");
  if (is.streaming_width != was.streaming_width) differs("streaming width");
}

HopMonitor::Open* HopMonitor::find(const Payload& payload, const char* phase) {
  const auto found = open_.find(&payload);
  if (found != open_.end()) return &found->second;
  violate(HopRule::kPhaseOrder, &payload, std::string(phase) + " of a transaction that is not in flight");
  return nullptr;
}

void HopMonitor::blocking(Payload& payload, sc_time& delay) {
  if (open_.count(&payload) != 0) {
    violate(HopRule::kMixedTransport, &payload, "b_transport of a transaction that nb_transport has open");
  }
  check_request_attributes(payload);
  const unsigned length = payload.get_data_length();
  const sc_time called = sc_core::sc_time_stamp() + delay;
  ++transactions_;
  bytes_requested_ += length;
  initiator->b_transport(payload, delay);
  bytes_responded_ += payload.get_data_length();
  if (sc_core::sc_time_stamp() + delay < called)
    violate(HopRule::kTiming, &payload, "b_transport went back in time");
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kMissingStatus, &payload, "b_transport returned without a status");
  }
}

bool HopMonitor::dmi(Payload& payload, tlm::tlm_dmi& region) {
  const std::uint64_t address = payload.get_address();
  const bool granted = initiator->get_direct_mem_ptr(payload, region);
  if (!granted) return false;
  const std::uint64_t begin = region.get_start_address();
  const std::uint64_t end = region.get_end_address();
  if (end < begin || address < begin || address > end) {
    violate(HopRule::kDmiRange, &payload, "DMI region does not hold the address asked for");
  } else if (memory_bytes_ != 0 && end >= memory_bytes_) {
    violate(HopRule::kDmiRange, &payload, "DMI region reaches beyond the memory (the end is inclusive)");
  }
  return true;
}

unsigned HopMonitor::debug(Payload& payload) {
  return initiator->transport_dbg(payload);
}

void HopMonitor::invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) {
  target->invalidate_direct_mem_ptr(begin, end);
}

void HopMonitor::check_complete() {
  if (!open_.empty()) {
    violate(HopRule::kUnfinished, nullptr, std::to_string(open_.size()) + " transactions did not end");
  } else if (bytes_requested_ != bytes_responded_) {
    violate(HopRule::kBytes, nullptr,
            std::to_string(bytes_requested_) + " bytes requested, " + std::to_string(bytes_responded_) +
                " responded");
  }
}

void HopMonitor::reset() {
  for (const auto& [payload, open] : open_) {
    if (open.state != State::kResponse) bytes_requested_ -= open.attributes.length;
  }
  open_.clear();
  request_ = response_ = nullptr;
}

void HopMonitor::violate(HopRule rule, const Payload* payload, const std::string& what) {
  constexpr std::size_t kStored = 1000;
  std::ostringstream text;
  text << name() << " at " << sc_core::sc_time_stamp() << ": " << what;
  if (payload != nullptr) {
    text << " ("
         << (payload->is_write()  ? "write"
             : payload->is_read() ? "read"
                                  : "ignore")
         << " of " << payload->get_data_length() << " bytes at 0x" << std::hex << payload->get_address()
         << ")";
  }
  const Violation violation{rule, text.str()};
  ++violation_count_;
  if (violations_.size() < kStored) violations_.push_back(violation);
  if (callback_) callback_(violation);
}

std::string HopMonitor::report() const {
  std::string text;
  for (const Violation& violation : violations_) {
    text += std::string(to_string(violation.rule)) + ": " + violation.text + "\n";
  }
  return text;
}

}  // namespace weft
