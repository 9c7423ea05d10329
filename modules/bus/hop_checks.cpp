#include "bus/hop_checks.h"

#include <cstring>
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
    case HopRule::kReturn:
      return "Return";
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
    case HopRule::kDataPointer:
      return "DataPointer";
    case HopRule::kLength:
      return "Length";
    case HopRule::kStreamingWidth:
      return "StreamingWidth";
    case HopRule::kEnablesLength:
      return "EnablesLength";
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
    case HopRule::kDataChanged:
      return "DataChanged";
    case HopRule::kEnablesChanged:
      return "EnablesChanged";
    case HopRule::kMixedTransport:
      return "MixedTransport";
    case HopRule::kCalledFromMethod:
      return "CalledFromMethod";
    case HopRule::kDmiRange:
      return "DmiRange";
    case HopRule::kDmiGrant:
      return "DmiGrant";
    case HopRule::kDebugCount:
      return "DebugCount";
    case HopRule::kBytes:
      return "Bytes";
    case HopRule::kUnfinished:
      return "Unfinished";
  }
  return "?";
}

tlm_sync_enum HopChecks::forward(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    begin_request(payload, delay);
  } else if (phase == tlm::END_RESP) {
    if (Open* open = find(payload, "END_RESP")) end_response(payload, *open, delay);
  } else if (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP) {
    violate(HopRule::kPhaseDirection, &payload, "target's phase on the forward path");
  }
  const tlm_phase sent = phase;
  const sc_time sent_delay = delay;
  const tlm_sync_enum result = pass_forward(payload, phase, delay);
  check_return(payload, result, sent, phase, delay == sent_delay);
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
  if (phase == sent) return result;
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

tlm_sync_enum HopChecks::backward(Payload& payload, tlm_phase& phase, sc_time& delay) {
  if (phase == tlm::BEGIN_REQ || phase == tlm::END_RESP) {
    violate(HopRule::kPhaseDirection, &payload, "initiator's phase on the backward path");
  } else if (Open* open = find(payload, "backward call")) {
    if (phase == tlm::END_REQ) end_request(payload, *open, delay);
    if (phase == tlm::BEGIN_RESP) begin_response(payload, *open, delay);
  }
  const tlm_phase sent = phase;
  const sc_time sent_delay = delay;
  const tlm_sync_enum result = pass_backward(payload, phase, delay);
  check_return(payload, result, sent, phase, delay == sent_delay);
  if (result == tlm::TLM_ACCEPTED || sent != tlm::BEGIN_RESP) return result;
  if (result == tlm::TLM_UPDATED && phase == sent) return result;
  if (result == tlm::TLM_UPDATED && phase != tlm::END_RESP) {
    violate(HopRule::kPhaseOrder, &payload, "BEGIN_RESP answered by a phase other than END_RESP");
  } else if (Open* open = find(payload, "return of nb_transport_bw")) {
    end_response(payload, *open, delay);
  }
  return result;
}

void HopChecks::check_return(const Payload& payload, tlm_sync_enum result, tlm_phase sent, tlm_phase back,
                             bool same_delay) {
  const auto wrong = [&](const std::string& what) { violate(HopRule::kReturn, &payload, what); };
  switch (result) {
    case tlm::TLM_ACCEPTED:
      if (back != sent) wrong(std::string("TLM_ACCEPTED with the phase changed to ") + back.get_name());
      if (!same_delay) wrong("TLM_ACCEPTED with the delay changed");
      return;
    case tlm::TLM_UPDATED:
      if (back == sent) wrong(std::string("TLM_UPDATED with the phase left at ") + back.get_name());
      return;
    case tlm::TLM_COMPLETED:
      if (back != sent && back != tlm::END_RESP)
        wrong(std::string("TLM_COMPLETED with the phase changed to ") + back.get_name());
      return;
  }
}

void HopChecks::check_request_attributes(const Payload& payload) {
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kRequestStatus, &payload, "request with status " + payload.get_response_string());
  }
  if (payload.is_dmi_allowed()) violate(HopRule::kRequestDmi, &payload, "request with dmi_allowed set");
  if (payload.get_streaming_width() == 0) violate(HopRule::kStreamingWidth, &payload, "streaming width of 0");
  check_data_attributes(payload);
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    violate(HopRule::kEnablesLength, &payload, "byte enables of length 0");
}

// A transaction that is neither read nor write, for extensions, needs no data.
void HopChecks::check_data_attributes(const Payload& payload) {
  if (!payload.is_read() && !payload.is_write()) return;
  if (payload.get_data_ptr() == nullptr) violate(HopRule::kDataPointer, &payload, "no data array");
  if (payload.get_data_length() == 0) violate(HopRule::kLength, &payload, "data of length 0");
}

void HopChecks::begin_request(const Payload& payload, const sc_time& delay) {
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
  Open& open = add(payload);
  open.latest = sc_core::sc_time_stamp() + delay;
  if (open.latest < latest_request_) {
    violate(HopRule::kTiming, &payload, "request before the last one at " + latest_request_.to_string());
  }
  latest_request_ = open.latest;
  request_ = &payload;
  ++transactions_;
  bytes_requested_ += open.attributes.length;
}

void HopChecks::end_request(const Payload& payload, Open& open, const sc_time& delay) {
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

void HopChecks::begin_response(const Payload& payload, Open& open, const sc_time& delay) {
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
  if (payload.is_read()) remember(payload, open);
  bytes_responded_ += payload.get_data_length();
}

void HopChecks::end_response(const Payload& payload, Open& open, const sc_time& delay) {
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
  remove(payload);
}

void HopChecks::advance_time(const Payload& payload, Open& open, const sc_time& delay) {
  const sc_time at = sc_core::sc_time_stamp() + delay;
  if (at < open.latest) {
    violate(HopRule::kTiming, &payload,
            "phase at " + at.to_string() + " after one at " + open.latest.to_string());
  }
  open.latest = at;
}

HopChecks::Attributes::Attributes(const Payload& payload)
    : command(payload.get_command()),
      address(payload.get_address()),
      data(payload.get_data_ptr()),
      length(payload.get_data_length()),
      enables(payload.get_byte_enable_ptr()),
      enables_length(payload.get_byte_enable_length()),
      streaming_width(payload.get_streaming_width()),
      option(payload.get_gp_option()) {}

// The data and enables from now on.
void HopChecks::remember(const Payload& payload, Open& open) {
  const Attributes& is = open.attributes;
  open.holds_data = is.data != nullptr && (payload.is_write() || open.state == State::kResponse);
  if (open.holds_data) open.data.assign(is.data, is.data + is.length);
  if (is.enables != nullptr) open.enables.assign(is.enables, is.enables + is.enables_length);
}

void HopChecks::check_unchanged(const Payload& payload, Open& open) {
  const Attributes was = open.attributes;
  const Attributes is(payload);
  open.attributes = is;  // so that a change is reported once
  bool same = true;
  const auto differs = [&](const char* what) {
    violate(HopRule::kAttributesChanged, &payload, std::string(what) + " changed in flight");
    same = false;
  };
  if (is.command != was.command) differs("command");
  if (is.address != was.address) differs("address");
  if (is.data != was.data) differs("data pointer");
  if (is.length != was.length) differs("data length");
  if (is.enables != was.enables) differs("byte enable pointer");
  if (is.enables_length != was.enables_length) differs("byte enable length");
  if (is.streaming_width != was.streaming_width) differs("streaming width");
  const bool accepted =
      was.option == tlm::TLM_FULL_PAYLOAD && is.option == tlm::TLM_FULL_PAYLOAD_ACCEPTED;  // 14.8
  if (is.option != was.option && !accepted) differs("option");
  if (!same) return remember(payload, open);
  if (open.holds_data) check_bytes(payload, HopRule::kDataChanged, open.data, is.data, "data");
  if (is.enables != nullptr)
    check_bytes(payload, HopRule::kEnablesChanged, open.enables, is.enables, "the byte enables");
}

void HopChecks::check_bytes(const Payload& payload, HopRule rule, std::vector<unsigned char>& was,
                            const unsigned char* is, const char* what) {
  if (was.empty() || std::memcmp(was.data(), is, was.size()) == 0) return;
  std::size_t first = 0;
  while (was[first] == is[first]) ++first;
  std::ostringstream text;
  text << "byte " << first << " of " << what << " changed in flight, from 0x" << std::hex
       << unsigned{was[first]} << " to 0x" << unsigned{is[first]};
  violate(rule, &payload, text.str());
  was.assign(is, is + was.size());
}

HopChecks::Open& HopChecks::add(const Payload& payload) {
  if (idle_.empty()) {
    all_.emplace_back();
    idle_.push_back(&all_.back());
  }
  Open& open = *idle_.back();
  idle_.pop_back();
  open_.emplace(&payload, &open);
  open.state = State::kRequest;
  open.attributes = Attributes(payload);
  open.status = tlm::TLM_INCOMPLETE_RESPONSE;
  remember(payload, open);
  return open;
}

void HopChecks::remove(const Payload& payload) {
  const auto found = open_.find(&payload);
  idle_.push_back(found->second);
  open_.erase(found);
}

HopChecks::Open* HopChecks::find(const Payload& payload, const char* phase) {
  const auto found = open_.find(&payload);
  if (found != open_.end()) return found->second;
  violate(HopRule::kPhaseOrder, &payload, std::string(phase) + " of a transaction that is not in flight");
  return nullptr;
}

void HopChecks::blocking(Payload& payload, sc_time& delay) {
  if (sc_core::sc_get_current_process_handle().proc_kind() == sc_core::SC_METHOD_PROC_)
    violate(HopRule::kCalledFromMethod, &payload, "b_transport is called from an SC_METHOD");
  if (open_.count(&payload) != 0) {
    violate(HopRule::kMixedTransport, &payload, "b_transport of a transaction that nb_transport has open");
  }
  check_request_attributes(payload);
  Open open;
  open.attributes = Attributes(payload);
  remember(payload, open);
  const sc_time called = sc_core::sc_time_stamp() + delay;
  ++transactions_;
  bytes_requested_ += open.attributes.length;
  pass_blocking(payload, delay);
  bytes_responded_ += payload.get_data_length();
  check_unchanged(payload, open);
  if (sc_core::sc_time_stamp() + delay < called)
    violate(HopRule::kTiming, &payload, "b_transport went back in time");
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
    violate(HopRule::kMissingStatus, &payload, "b_transport returned without a status");
  }
}

bool HopChecks::dmi(Payload& payload, tlm::tlm_dmi& region) {
  const std::uint64_t address = payload.get_address();
  if (!pass_dmi(payload, region)) return false;
  const std::uint64_t begin = region.get_start_address();
  const std::uint64_t end = region.get_end_address();
  if (end < begin || address < begin || address > end) {
    violate(HopRule::kDmiRange, &payload, "DMI region does not hold the address asked for");
  } else if (memory_bytes_ != 0 && end >= memory_bytes_) {
    violate(HopRule::kDmiRange, &payload, "DMI region reaches beyond the memory (the end is inclusive)");
  }
  if (region.get_dmi_ptr() == nullptr) violate(HopRule::kDmiGrant, &payload, "DMI granted without a pointer");
  if (region.is_none_allowed()) violate(HopRule::kDmiGrant, &payload, "DMI granted, but no access allowed");
  return true;
}

unsigned HopChecks::debug(Payload& payload) {
  check_data_attributes(payload);
  const Attributes was(payload);
  const unsigned moved = pass_debug(payload);
  if (moved > was.length) {
    violate(
        HopRule::kDebugCount, &payload,
        "transport_dbg returned " + std::to_string(moved) + " of " + std::to_string(was.length) + " bytes");
  }
  return moved;
}

void HopChecks::check_complete() {
  if (!open_.empty()) {
    violate(HopRule::kUnfinished, nullptr, std::to_string(open_.size()) + " transactions did not end");
  } else if (bytes_requested_ != bytes_responded_) {
    violate(HopRule::kBytes, nullptr,
            std::to_string(bytes_requested_) + " bytes requested, " + std::to_string(bytes_responded_) +
                " responded");
  }
}

void HopChecks::reset() {
  for (const auto& [payload, open] : open_) {
    if (open->state != State::kResponse) bytes_requested_ -= open->attributes.length;
    idle_.push_back(open);
  }
  open_.clear();
  request_ = response_ = nullptr;
}

void HopChecks::violate(HopRule rule, const Payload* payload, const std::string& what) {
  constexpr std::size_t kStored = 1000;
  std::ostringstream text;
  text << name_ << " at " << sc_core::sc_time_stamp() << ": " << what;
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

std::string HopChecks::report() const {
  std::string text;
  for (const Violation& violation : violations_) {
    text += std::string(to_string(violation.rule)) + ": " + violation.text + "\n";
  }
  return text;
}

}  // namespace weft
