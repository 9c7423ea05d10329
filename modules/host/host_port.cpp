#include "host/host_port.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace weft::host {

using sc_core::sc_time;

HostPort::HostPort(sc_core::sc_module_name name, const Config& config, Connections& connections,
                   RegisterFile& registers, Bus& bus, BusMaster& device, GpuControl& gpu,
                   std::function<bool()> in_reset, ClockDomain& domain, std::size_t index)
    : sc_module(name),
      config_(config),
      socket_(connections.host_socket),
      registers_(registers),
      bus_(bus),
      device_(device),
      gpu_(gpu),
      in_reset_(std::move(in_reset)),
      domain_(domain),
      index_(index),
      port_(socket_, *this, {domain, index}),
      requests_(config.requests),
      answers_(config.requests) {
  for (Request& request : requests_) request.transfer.client = this;
}

// ---- what is allowed

tlm::tlm_response_status HostPort::check(const Payload& payload) {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  if (payload.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned width = streaming_width(payload);
  if (address < WEFT_REGISTER_BYTES) return check_register(payload, width);
  return in_reset_() || !device_.bound() ? tlm::TLM_GENERIC_ERROR_RESPONSE : check_aperture(payload, width);
}

unsigned HostPort::streaming_width(const Payload& payload) {
  if (payload.get_streaming_width() != 0 || !config_.tolerant) return payload.get_streaming_width();
  warn_of_width_(std::string(socket_.name()) +
                 ": an initiator's streaming width is 0; it is taken as the length of the data");
  return payload.get_data_length();
}

tlm::tlm_response_status HostPort::check_register(const Payload& payload, unsigned width) const {
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const unsigned bytes = payload.get_data_length();
  if ((bytes != 4 && bytes != 8) || width < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  if (address % bytes != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  for (std::uint64_t at = address; at < address + bytes; at += 4) {
    const RegisterAccess access = registers_.access(at);
    if (access == RegisterAccess::kNone) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (payload.is_write() && access == RegisterAccess::kReadOnly) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  return payload.is_write() && in_reset_() ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

tlm::tlm_response_status HostPort::check_aperture(const Payload& payload, unsigned width) const {
  const std::uint64_t size = bus_.space().device_bytes();
  const std::uint64_t address = payload.get_address();
  if (address < WEFT_APERTURE || address - WEFT_APERTURE >= size) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const unsigned bytes = payload.get_data_length();
  if (bytes == 0 || width < bytes || bytes > size - (address - WEFT_APERTURE)) {
    return tlm::TLM_BURST_ERROR_RESPONSE;
  }
  const bool enables_wrong =
      payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0;
  return enables_wrong ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE;
}

void HostPort::access_register(Payload& payload) {
  for (unsigned at = 0; at < payload.get_data_length(); at += 4) {  // of two, the low one first
    unsigned char* const data = payload.get_data_ptr() + at;
    std::uint32_t word = 0;
    if (payload.is_write()) {
      std::memcpy(&word, data, sizeof word);
      registers_.write(payload.get_address() + at, word);
    } else {
      word = registers_.read(payload.get_address() + at);
      std::memcpy(data, &word, sizeof word);
    }
  }
}

// ---- loosely timed

void HostPort::blocking(unsigned, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check(payload);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE) {
    ++refused_;
    return;
  }
  if (payload.get_address() < WEFT_REGISTER_BYTES) {
    ++register_accesses_;
    blocking_register(payload, delay);
    delay += domain_.time_of(config_.register_cycles);
    return;
  }
  ++aperture_accesses_;
  const std::uint64_t address = payload.get_address();
  const unsigned width = payload.get_streaming_width();
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.set_address(address - WEFT_APERTURE);
  payload.set_streaming_width(payload.get_data_length());  // at least as wide; or 0, which is tolerated
  device_.socket->b_transport(payload, delay);
  payload.set_address(address);
  payload.set_streaming_width(width);
  payload.set_dmi_allowed(payload.is_response_ok() && grants_access());
}

// A doorbell starts work, so it rings at its initiator's local time; everything else acts at once.
void HostPort::blocking_register(Payload& payload, const sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  if (!doorbells_.empty()) ring_doorbells();  // those of this instant come before it
  if (!payload.is_write()) return access_register(payload);
  if (!RegisterFile::is_doorbell(address)) {
    ring_before(address);
    return access_register(payload);
  }
  if (delay == sc_core::SC_ZERO_TIME) return access_register(payload);
  Doorbell doorbell{sc_core::sc_time_stamp() + delay, address, 0};
  std::memcpy(&doorbell.value, payload.get_data_ptr(), sizeof doorbell.value);
  const auto later = std::find_if(doorbells_.begin(), doorbells_.end(),
                                  [&](const Doorbell& other) { return other.at > doorbell.at; });
  doorbells_.insert(later, doorbell);
  doorbell_event_.notify(delay);  // unless an earlier one is pending
}

void HostPort::ring_doorbells() {
  const sc_time& now = sc_core::sc_time_stamp();
  while (!doorbells_.empty() && doorbells_.front().at <= now) {
    const Doorbell doorbell = doorbells_.front();
    doorbells_.erase(doorbells_.begin());
    registers_.write(doorbell.address, doorbell.value);
  }
  if (!doorbells_.empty()) doorbell_event_.notify(doorbells_.front().at - now);
}

// What is written behind a doorbell acts behind it, though at once: of its queue, or of the whole GPU.
void HostPort::ring_before(std::uint64_t address) {
  if (doorbells_.empty()) return;
  const auto concerns = [&](const Doorbell& doorbell) {
    return address == WEFT_REG_CONTROL || doorbell.address / WEFT_QUEUE_STRIDE == address / WEFT_QUEUE_STRIDE;
  };
  for (const Doorbell& doorbell : doorbells_) {
    if (concerns(doorbell)) registers_.write(doorbell.address, doorbell.value);
  }
  doorbells_.erase(std::remove_if(doorbells_.begin(), doorbells_.end(), concerns), doorbells_.end());
}

bool HostPort::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  region.init();
  const std::uint64_t last = WEFT_APERTURE + bus_.space().device_bytes() - 1;
  const std::uint64_t address = payload.get_address();
  unsigned char* const memory = gpu_.memory();
  if (address < WEFT_APERTURE || address > last || !grants_access()) {
    region.allow_none();
    region.set_start_address(address < WEFT_APERTURE ? 0 : address > last ? last + 1 : address);
    region.set_end_address(address < WEFT_APERTURE ? WEFT_APERTURE - 1
                           : address > last        ? UINT64_MAX
                                                   : address);
    return false;
  }
  region.allow_read_write();
  region.set_dmi_ptr(memory);
  region.set_start_address(WEFT_APERTURE);
  region.set_end_address(last);
  // What an access by b_transport would add to its delay.
  Payload below;
  below.set_command(payload.get_command());
  below.set_address(address - WEFT_APERTURE);
  tlm::tlm_dmi way;
  if (device_.bound() && device_.socket->get_direct_mem_ptr(below, way)) {
    region.set_read_latency(way.get_read_latency());
    region.set_write_latency(way.get_write_latency());
  }
  dmi_granted_ = true;
  return true;
}

// Reads registers without side effects, and does not write them.
unsigned HostPort::debug(unsigned, Payload& payload) {
  const std::uint64_t address = payload.get_address();
  const unsigned wanted = payload.get_data_length();
  unsigned char* data = payload.get_data_ptr();
  if (address < WEFT_REGISTER_BYTES) {
    unsigned moved = 0;
    while (payload.is_read() && moved < wanted) {
      const std::uint64_t at = address + moved;
      if (registers_.access(at) == RegisterAccess::kNone) break;
      const std::uint32_t word = registers_.read(at / 4 * 4, true);
      data[moved++] = static_cast<unsigned char>(word >> 8 * (at % 4));
    }
    return moved;
  }
  const std::uint64_t size = bus_.space().device_bytes();
  if (address < WEFT_APERTURE || address - WEFT_APERTURE >= size) return 0;
  const std::uint64_t offset = address - WEFT_APERTURE;
  const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(wanted, size - offset));
  if (!payload.is_read() && !payload.is_write()) return 0;
  unsigned char* const memory = gpu_.memory();
  if (memory == nullptr) return debug_behind(payload, offset, bytes);
  if (payload.is_read()) {
    std::memcpy(data, memory + offset, bytes);
  } else {
    std::memcpy(memory + offset, data, bytes);
  }
  return bytes;
}

// On the way that transactions take.
unsigned HostPort::debug_behind(Payload& payload, std::uint64_t offset, unsigned bytes) {
  if (!device_.bound()) return 0;
  tlm::tlm_generic_payload inner;
  inner.set_command(payload.get_command());
  inner.set_address(offset);
  inner.set_data_ptr(payload.get_data_ptr());
  inner.set_data_length(bytes);
  inner.set_streaming_width(bytes);
  return device_.socket->transport_dbg(inner);
}

// ---- approximately timed

bus::Verdict HostPort::request(unsigned, Payload& payload, Cycle ready, sc_time&) {
  tlm::tlm_response_status status = check(payload);
  // Nobody could keep a payload without a memory manager.
  if (!payload.has_mm() && status == tlm::TLM_OK_RESPONSE) status = tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (status != tlm::TLM_OK_RESPONSE) {
    ++refused_;
    payload.set_response_status(status);
    return bus::Verdict::kCompleted;
  }
  const bool full = std::none_of(requests_.begin(), requests_.end(),
                                 [](const Request& request) { return request.kind == Kind::kFree; });
  if (full) {
    ++stalls_;
    return bus::Verdict::kWithheld;
  }
  begin(payload, ready);
  return bus::Verdict::kTaken;
}

void HostPort::begin(Payload& payload, Cycle now) {
  Request& request = *std::find_if(requests_.begin(), requests_.end(),
                                   [](const Request& candidate) { return candidate.kind == Kind::kFree; });
  request.payload = &payload;
  const bool is_register = payload.get_address() < WEFT_REGISTER_BYTES;
  ++(is_register ? register_accesses_ : aperture_accesses_);
  request.kind = is_register ? Kind::kRegister : Kind::kAperture;
  request.ready = is_register ? now + config_.register_cycles : now;
  request.begun = is_register;
  domain_.wake_at(index_, request.ready);
}

// Memory that lies elsewhere may know no byte enables.
void HostPort::begin_transfer(Request& request) {
  const Payload& payload = *request.payload;
  Transfer& transfer = request.transfer;
  transfer.command = payload.get_command();
  transfer.address = bus_.space().device_base() + (payload.get_address() - WEFT_APERTURE);
  transfer.bytes = payload.get_data_length();
  transfer.data = payload.get_data_ptr();
  transfer.enables = payload.get_byte_enable_ptr();
  transfer.enables_bytes = payload.get_byte_enable_length();
  transfer.split = gpu_.memory() == nullptr;
  if (transfer.find(true, 0, transfer.bytes) == transfer.bytes) return answer(request, tlm::TLM_OK_RESPONSE);
  bus_.start(transfer);
}

void HostPort::transferred(Transfer& transfer) {
  Request& request = *std::find_if(requests_.begin(), requests_.end(), [&](const Request& candidate) {
    return &candidate.transfer == &transfer;
  });
  answer(request, transfer.status);
}

void HostPort::answer(Request& request, tlm::tlm_response_status status) {
  request.payload->set_response_status(status);
  request.payload->set_dmi_allowed(status == tlm::TLM_OK_RESPONSE && request.kind == Kind::kAperture &&
                                   grants_access());
  request.kind = Kind::kAnswered;
  answers_.push(&request);
  domain_.wake(index_);
}

Cycle HostPort::step(Cycle now) {
  Cycle next = kNever;
  for (Request& request : requests_) {
    const bool waits = request.kind == Kind::kRegister || (request.kind == Kind::kAperture && !request.begun);
    if (!waits) continue;
    if (request.ready > now) {
      next = std::min(next, request.ready);
    } else if (request.kind == Kind::kRegister) {
      access_register(*request.payload);
      answer(request, tlm::TLM_OK_RESPONSE);
    } else {
      request.begun = true;
      begin_transfer(request);
    }
  }
  respond(now);
  admit(now);
  if (!answers_.empty() && !port_.busy()) next = std::min(next, std::max(now + 1, port_.usable_from()));
  return next;
}

void HostPort::respond(Cycle now) {
  if (answers_.empty() || !port_.usable(now)) return;
  Request& request = *answers_.front();
  answers_.pop();
  Payload& payload = *request.payload;
  request.payload = nullptr;
  request.kind = Kind::kFree;
  port_.respond(payload);
}

void HostPort::admit(Cycle now) {
  const bus::TargetPort::Withheld* const blocked = port_.withheld();
  if (blocked == nullptr || blocked->ready > now) return;
  const bool room = std::any_of(requests_.begin(), requests_.end(),
                                [](const Request& request) { return request.kind == Kind::kFree; });
  if (!room) return;
  begin(*blocked->payload, now + 1);
  port_.end_request();
}

void HostPort::reset() {
  for (Request& request : requests_) {
    if (request.kind == Kind::kRegister || request.kind == Kind::kAperture) {
      answer(request, tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
  }
  doorbells_.clear();
  doorbell_event_.cancel();
  withdraw_access();
}

void HostPort::withdraw_access() {
  if (!dmi_granted_) return;
  dmi_granted_ = false;
  socket_->invalidate_direct_mem_ptr(WEFT_APERTURE, WEFT_APERTURE + bus_.space().device_bytes() - 1);
}

std::size_t HostPort::requests() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [](const Request& request) { return request.kind != Kind::kFree; }));
}

void HostPort::bind(statistics::Group& group) {
  group.counter("registers", units::kAccesses, "accesses to registers", register_accesses_);
  group.counter("aperture", units::kAccesses, "accesses to device memory through the aperture",
                aperture_accesses_);
  group.counter("refused", units::kAccesses, "accesses answered with an error at once", refused_);
  group.counter("stalls", units::kAccesses, "accesses whose END_REQ was withheld", stalls_);
}

}  // namespace weft::host
