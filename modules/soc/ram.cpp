#include "soc/ram.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "bus/payload_data.h"
#include "weft/common/error.h"

namespace weft::soc {

using sc_core::sc_time;
using tlm::tlm_generic_payload;

void RamConfig::describe(config::Visitor& v) {
  v.integer("bytes", bytes, {4096, std::uint64_t{2} << 30}, "bytes", "memory; a multiple of 4096");
  describe_timing(v);
}

void RamConfig::describe_timing(config::Visitor& v) {
  v.real("latency_ns", latency_ns, {0, 1e6}, "ns", "latency from a request to its response");
  v.real("bytes_per_ns", bytes_per_ns, {0.001, 1e6}, "bytes/ns", "bandwidth");
  v.integer("places", places, {1, 1024}, "accesses", "accesses under way at a time");
  v.boolean("dmi", dmi, "grant direct access (DMI) to other modules");
}

void RamConfig::check(const std::string& where) const {
  if (bytes % 4096 != 0) {
    throw InputError(where + "/bytes", "found " + std::to_string(bytes) + "; allowed: a multiple of 4096");
  }
}

Ram::Ram(sc_core::sc_module_name name, const RamConfig& config, std::uint64_t base)
    : sc_module(name),
      socket("socket"),
      config_(config),
      base_(base),
      latency_(config.latency_ns, sc_core::SC_NS),
      queue_(config.places),
      pace_(work_),
      port_(socket, *this, pace_) {
  config_.check(this->name());
  file_ = memfd_create("weft-ram", MFD_CLOEXEC);
  void* mapped = MAP_FAILED;
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(config_.bytes)) == 0)
    mapped = mmap(nullptr, config_.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) {
    const std::string reason = std::strerror(errno);
    if (file_ >= 0) close(file_);
    throw InputError(this->name(),
                     "the host cannot map " + std::to_string(config_.bytes) + " bytes: " + reason);
  }
  data_ = static_cast<unsigned char*>(mapped);
  SC_METHOD(respond);
  sensitive << work_;
  dont_initialize();
}

Ram::~Ram() {
  munmap(data_, config_.bytes);
  close(file_);
}

void Ram::bind(statistics::Group& group) {
  group.counter("reads", units::kTransactions, "reads, except through a pointer (DMI)", reads_);
  group.counter("writes", units::kTransactions, "writes, except through a pointer (DMI)", writes_);
  group.counter("bytes_read", units::kBytes, "bytes of these reads", bytes_read_);
  group.counter("bytes_written", units::kBytes, "bytes of these writes", bytes_written_);
}

void Ram::access(tlm_generic_payload& payload) {
  const unsigned bytes = payload.get_data_length();
  if (!contains(payload.get_address(), bytes)) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  if (payload.get_streaming_width() < bytes) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  // Where the data are the memory's own bytes (an initiator with direct access) there is nothing to move.
  if (payload.get_data_ptr() != at(payload.get_address())) move_data(payload, at(payload.get_address()));
  if (payload.is_write()) {
    ++writes_;
    bytes_written_ += bytes;
  } else if (payload.is_read()) {
    ++reads_;
    bytes_read_ += bytes;
  }
  payload.set_dmi_allowed(config_.dmi);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

void Ram::blocking(unsigned, tlm_generic_payload& payload, sc_time& delay) {
  access(payload);
  delay += latency_ + sc_time(payload.get_data_length() / config_.bytes_per_ns, sc_core::SC_NS);
}

bool Ram::dmi(unsigned, tlm_generic_payload& payload, tlm::tlm_dmi& region) {
  if (!config_.dmi || !contains(payload.get_address(), 1)) return false;
  region.allow_read_write();
  region.set_dmi_ptr(data_);
  region.set_start_address(base_);
  region.set_end_address(base_ + (config_.bytes - 1));
  region.set_read_latency(latency_);
  region.set_write_latency(latency_);
  return true;
}

unsigned Ram::debug(unsigned, tlm_generic_payload& payload) {
  if (!contains(payload.get_address(), 1)) return 0;
  const std::uint64_t there = config_.bytes - (payload.get_address() - base_);
  const auto bytes = static_cast<unsigned>(std::min<std::uint64_t>(there, payload.get_data_length()));
  if (payload.is_write()) std::memcpy(at(payload.get_address()), payload.get_data_ptr(), bytes);
  if (payload.is_read()) std::memcpy(payload.get_data_ptr(), at(payload.get_address()), bytes);
  return bytes;
}

void Ram::take(tlm_generic_payload& payload, const sc_time& at) {
  const sc_time transfer(payload.get_data_length() / config_.bytes_per_ns, sc_core::SC_NS);
  last_ready_ = std::max(at + latency_, last_ready_) + transfer;
  queue_.push({&payload, last_ready_});
  pace_.wake_at(queue_.front().ready);
}

bus::Verdict Ram::request(unsigned, tlm_generic_payload& payload, sc_time ready, sc_time&) {
  if (queue_.full()) return bus::Verdict::kWithheld;
  take(payload, ready);
  return bus::Verdict::kTaken;
}

void Ram::respond() {
  const sc_time& now = sc_core::sc_time_stamp();
  while (port_.usable(now) && !queue_.empty() && queue_.front().ready <= now) {
    tlm_generic_payload& payload = *queue_.front().payload;
    queue_.pop();
    access(payload);
    port_.respond(payload);
  }
  if (port_.withheld() != nullptr && !queue_.full()) {
    take(*port_.withheld()->payload, now);
    port_.end_request();
  }
  if (!port_.busy() && !queue_.empty()) pace_.wake_at(queue_.front().ready);
}

}  // namespace weft::soc
