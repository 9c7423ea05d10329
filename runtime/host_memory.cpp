#include "runtime/host_memory.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "bus/payload_data.h"
#include "common/hex.h"
#include "runtime/device_impl.h"
#include "weft/common/error.h"

namespace weft::runtime {
namespace {

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

}  // namespace

void check_timing(const HostLink& link) {
  const auto [latency_ns, bytes_per_ns] = link;
  const auto within = [](double value, double low) { return value >= low && value <= 1e6; };
  if (!within(latency_ns, 0) || !within(bytes_per_ns, 0.001)) {
    throw InputError("host memory", "found a latency of " + std::to_string(latency_ns) + " ns and " +
                                        std::to_string(bytes_per_ns) +
                                        " bytes per ns; allowed: 0 to 1e6 and 0.001 to 1e6");
  }
}

HostMemory::HostMemory(sc_core::sc_module_name name, const HostLink& link)
    : sc_module(name), socket("socket"), link_(link), pace_(respond_), port_(socket, *this, pace_) {
  check_timing(link);
  SC_METHOD(respond);
  sensitive << respond_;
  dont_initialize();
}

void HostMemory::add(void* begin, std::uint64_t bytes) {
  insert(address_of(begin), {static_cast<unsigned char*>(begin), bytes, false});
}

void HostMemory::hold(std::uint64_t address, unsigned char* data, std::uint64_t bytes) {
  insert(address, {data, bytes, true});
}

void HostMemory::insert(std::uint64_t address, const Range& range) {
  const std::uint64_t bytes = range.bytes;
  if (bytes == 0) throw InputError("host memory", "a range of 0 bytes; allowed: at least 1");
  const auto after = ranges_.lower_bound(address);
  const bool hits_next = after != ranges_.end() && after->first - address < bytes;
  const bool hits_previous =
      after != ranges_.begin() && address - std::prev(after)->first < std::prev(after)->second.bytes;
  if (hits_next || hits_previous) {
    throw InputError("host memory", "the range of " + std::to_string(bytes) + " bytes at " + hex(address) +
                                        " overlaps an existing range");
  }
  ranges_[address] = range;
}

void HostMemory::remove(void* begin) {
  const auto range = ranges_.find(address_of(begin));
  if (range == ranges_.end() || range->second.held)
    throw InputError("host memory", "no range begins at " + hex(address_of(begin)));
  const auto [address, removed] = *range;
  ranges_.erase(range);
  invalidate(address, removed);
}

void HostMemory::invalidate(std::uint64_t address, const Range& range) {
  socket->invalidate_direct_mem_ptr(address, address + (range.bytes - 1));
}

void HostMemory::clear() {
  for (auto next = ranges_.begin(); next != ranges_.end();) {
    const auto [address, range] = *next;
    if (range.held) {
      ++next;
      continue;
    }
    next = ranges_.erase(next);
    invalidate(address, range);
  }
}

unsigned char* HostMemory::at(std::uint64_t address, std::uint64_t bytes) const {
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  const auto& [begin, range] = *std::prev(after);
  const std::uint64_t offset = address - begin;
  if (offset >= range.bytes || range.bytes - offset < bytes) return nullptr;
  return range.data + offset;
}

// Where the data are the memory's own bytes (an initiator with direct access) there is nothing to move.
bool HostMemory::move(tlm::tlm_generic_payload& payload) const {
  unsigned char* const memory = at(payload.get_address(), payload.get_data_length());
  if (memory == nullptr) return false;
  if (payload.get_data_ptr() != memory) move_data(payload, memory);
  return true;
}

void HostMemory::blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  using sc_core::SC_NS;
  const auto now = sc_core::sc_time_stamp() + delay;
  const double bytes = payload.get_data_length();
  link_free_ = std::max(now, link_free_) + sc_core::sc_time(bytes / link_.bytes_per_ns, SC_NS);
  delay = link_free_ + sc_core::sc_time(link_.latency_ns, SC_NS) - sc_core::sc_time_stamp();
  if (payload.get_streaming_width() < payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (move(payload)) {
    payload.set_dmi_allowed(true);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  } else {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
}

bus::Verdict HostMemory::request(unsigned port, tlm::tlm_generic_payload& payload, sc_core::sc_time,
                                 sc_core::sc_time& delay) {
  sc_core::sc_time taken = delay;
  blocking(port, payload, taken);
  responses_.push_back({&payload, sc_core::sc_time_stamp() + taken});
  pace_.wake_at(responses_.front().ready);
  return bus::Verdict::kTaken;
}

// One at a time, as the base protocol has it.
void HostMemory::respond() {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  while (port_.usable(now) && !responses_.empty() && responses_.front().ready <= now) {
    tlm::tlm_generic_payload& payload = *responses_.front().payload;
    responses_.pop_front();
    port_.respond(payload);
  }
  if (!port_.busy() && !responses_.empty()) pace_.wake_at(responses_.front().ready);
}

bool HostMemory::dmi(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region) {
  const std::uint64_t address = payload.get_address();
  region.set_start_address(address);
  region.set_end_address(address);
  if (at(address, 1) == nullptr) return false;
  const auto& [begin, range] = *std::prev(ranges_.upper_bound(address));
  region.set_start_address(begin);
  region.set_end_address(begin + (range.bytes - 1));
  region.set_dmi_ptr(range.data);
  region.set_read_latency(sc_core::sc_time(link_.latency_ns, sc_core::SC_NS));
  region.set_write_latency(region.get_read_latency());
  region.allow_read_write();
  return true;
}

unsigned HostMemory::debug(unsigned, tlm::tlm_generic_payload& payload) {
  return move(payload) ? payload.get_data_length() : 0;
}

}  // namespace weft::runtime
