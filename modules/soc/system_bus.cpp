#include "soc/system_bus.h"

#include <algorithm>
#include <cstdio>

#include "weft/common/error.h"

namespace weft::soc {

using sc_core::sc_time;

namespace {

std::string text(const SystemBus::Region& region) {
  char range[64];
  std::snprintf(range, sizeof range, " [0x%llx, 0x%llx]", static_cast<unsigned long long>(region.base),
                static_cast<unsigned long long>(region.base + region.bytes - 1));
  return region.name + range;
}

std::vector<SystemBus::Region> checked(const std::string& where, std::vector<SystemBus::Region> regions) {
  for (const auto& region : regions) {
    if (region.bytes == 0 || region.base + (region.bytes - 1) < region.base)
      throw InputError(where, "region " + region.name + " is empty or ends beyond 2^64");
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    for (std::size_t j = i + 1; j < regions.size(); ++j) {
      const auto& a = regions[i];
      const auto& b = regions[j];
      if (a.base <= b.base + (b.bytes - 1) && b.base <= a.base + (a.bytes - 1))
        throw InputError(where, "regions " + text(a) + " and " + text(b) + " overlap");
    }
  }
  return regions;
}

}  // namespace

void SystemBus::Config::describe(config::Visitor& v) {
  v.real("latency_ns", latency_ns, {0, 1e6}, "ns", "latency added to an access on its way to the target");
  v.integer("outstanding", outstanding, {1, 1024}, "accesses",
            "approximately timed accesses of an initiator under way at a time");
}

SystemBus::SystemBus(sc_core::sc_module_name name, const Config& config, unsigned count,
                     std::vector<Region> regions)
    : sc_module(name),
      initiators("initiator", count),
      targets("target", regions.size()),
      config_(config),
      latency_(config.latency_ns, sc_core::SC_NS),
      regions_(checked(this->name(), std::move(regions))),
      initiator_sides_(count),
      queues_(regions_.size()),
      pace_(wake_),
      initiator_ports_(bus::EventTargetPort::on_all(initiators, *this, pace_)),
      target_ports_(bus::EventInitiatorPort::on_all(targets, *this, pace_)) {
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

SystemBus::~SystemBus() {
  for (auto& passage : passages_) passage->payload.clear_extension(passage.get());
}

void SystemBus::bind(statistics::Group& group) {
  for (unsigned i = 0; i < initiator_sides_.size(); ++i) {
    InitiatorSide& side = initiator_sides_[i];
    statistics::Group& initiator = group.group("initiator", i);
    initiator.counter("reads", units::kTransactions, "reads", side.reads);
    initiator.counter("writes", units::kTransactions, "writes", side.writes);
    initiator.counter("bytes_read", units::kBytes, "bytes of the reads", side.bytes_read);
    initiator.counter("bytes_written", units::kBytes, "bytes of the writes", side.bytes_written);
    initiator.counter("errors", units::kTransactions, "accesses outside of all regions", side.errors);
  }
}

unsigned SystemBus::decode(std::uint64_t address, std::uint64_t bytes) const {
  for (unsigned i = 0; i < regions_.size(); ++i) {
    const Region& region = regions_[i];
    if (address < region.base || address - region.base >= region.bytes) continue;
    return bytes <= region.bytes - (address - region.base) ? i : kNowhere;
  }
  return kNowhere;
}

void SystemBus::count(unsigned initiator, const Payload& payload) {
  InitiatorSide& side = initiator_sides_[initiator];
  const bool write = payload.is_write();
  ++(write ? side.writes : side.reads);
  (write ? side.bytes_written : side.bytes_read) += payload.get_data_length();
}

void SystemBus::blocking(unsigned initiator, Payload& payload, sc_time& delay) {
  const std::uint64_t address = payload.get_address();
  const unsigned target = decode(address, payload.get_data_length());
  delay += latency_;
  count(initiator, payload);
  if (target == kNowhere) {
    ++initiator_sides_[initiator].errors;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  payload.set_address(address - regions_[target].base);
  targets[target]->b_transport(payload, delay);
  payload.set_address(address);
}

unsigned SystemBus::debug(unsigned, Payload& payload) {
  const std::uint64_t address = payload.get_address();
  const unsigned target = decode(address, 1);
  if (target == kNowhere) return 0;
  const Region& region = regions_[target];
  const unsigned bytes = payload.get_data_length();
  payload.set_address(address - region.base);
  payload.set_data_length(
      static_cast<unsigned>(std::min<std::uint64_t>(bytes, region.bytes - (address - region.base))));
  const unsigned moved = targets[target]->transport_dbg(payload);
  payload.set_address(address);
  payload.set_data_length(bytes);
  return moved;
}

bool SystemBus::dmi(unsigned, Payload& payload, tlm::tlm_dmi& granted) {
  const std::uint64_t address = payload.get_address();
  const unsigned target = decode(address, 1);
  if (target == kNowhere) return false;
  const Region& region = regions_[target];
  payload.set_address(address - region.base);
  const bool given = targets[target]->get_direct_mem_ptr(payload, granted);
  payload.set_address(address);
  const std::uint64_t begin = std::min<std::uint64_t>(granted.get_start_address(), region.bytes - 1);
  const std::uint64_t end = std::min<std::uint64_t>(granted.get_end_address(), region.bytes - 1);
  granted.set_start_address(region.base + begin);
  granted.set_end_address(region.base + end);
  granted.set_read_latency(granted.get_read_latency() + latency_);
  granted.set_write_latency(granted.get_write_latency() + latency_);
  return given;
}

void SystemBus::invalidate(unsigned target, sc_dt::uint64 begin, sc_dt::uint64 end) {
  const Region& region = regions_[target];
  if (begin >= region.bytes || end < begin) return;
  const std::uint64_t last = std::min<std::uint64_t>(end, region.bytes - 1);
  for (auto& initiator : initiators)
    initiator->invalidate_direct_mem_ptr(region.base + begin, region.base + last);
}

// --- approximately timed

bus::Verdict SystemBus::request(unsigned initiator, Payload& payload, sc_time ready, sc_time& delay) {
  InitiatorSide& side = initiator_sides_[initiator];
  const unsigned target = decode(payload.get_address(), payload.get_data_length());
  count(initiator, payload);
  if (target == kNowhere) {
    ++side.errors;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += latency_;
    return bus::Verdict::kCompleted;
  }
  if (full(initiator)) return bus::Verdict::kWithheld;
  accept(initiator, payload, target, ready);
  return bus::Verdict::kTaken;
}

bool SystemBus::full(unsigned initiator) const {
  return initiator_sides_[initiator].under_way + (initiator_ports_[initiator]->busy() ? 1 : 0) >=
         config_.outstanding;
}

void SystemBus::accept(unsigned initiator, Payload& payload, unsigned target, const sc_time& at) {
  if (free_passages_.empty()) {
    passages_.push_back(std::make_unique<Passage>(static_cast<tlm::tlm_mm_interface*>(this)));
    free_passages_.push_back(passages_.back().get());
  }
  Passage& passage = *free_passages_.back();
  free_passages_.pop_back();
  Payload& onward = passage.payload;
  onward.acquire();
  onward.set_command(payload.get_command());
  onward.set_address(payload.get_address() - regions_[target].base);
  onward.set_data_ptr(payload.get_data_ptr());
  onward.set_data_length(payload.get_data_length());
  onward.set_byte_enable_ptr(payload.get_byte_enable_ptr());
  onward.set_byte_enable_length(payload.get_byte_enable_length());
  onward.set_streaming_width(payload.get_streaming_width());
  onward.set_dmi_allowed(false);
  onward.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  passage.origin = &payload;
  passage.initiator = initiator;
  passage.ready = at + latency_;
  ++initiator_sides_[initiator].under_way;
  queues_[target].push_back(&passage);
  pace_.wake_at(passage.ready);
}

void SystemBus::free(Payload* payload) {
  free_passages_.push_back(payload->get_extension<Passage>());
}

bool SystemBus::response(unsigned, Payload& payload, sc_time ready) {
  const Passage& passage = *payload.get_extension<Passage>();
  Payload& origin = *passage.origin;
  origin.set_response_status(payload.get_response_status());
  origin.set_dmi_allowed(payload.is_dmi_allowed());
  initiator_sides_[passage.initiator].responses.push_back({&origin, ready});
  payload.release();
  pace_.wake_at(ready);
  return true;
}

void SystemBus::request_of(unsigned target) {
  std::deque<Passage*>& queue = queues_[target];
  bus::EventInitiatorPort& port = *target_ports_[target];
  const sc_time& now = sc_core::sc_time_stamp();
  while (port.usable(now) && !queue.empty() && queue.front()->ready <= now) {
    Passage& passage = *queue.front();
    queue.pop_front();
    port.send(passage.payload);
  }
  if (!port.busy() && !queue.empty()) pace_.wake_at(queue.front()->ready);
}

void SystemBus::response_to(unsigned initiator) {
  InitiatorSide& side = initiator_sides_[initiator];
  bus::EventTargetPort& port = *initiator_ports_[initiator];
  const sc_time& now = sc_core::sc_time_stamp();
  while (port.usable(now) && !side.responses.empty() && side.responses.front().ready <= now) {
    Payload& payload = *side.responses.front().payload;
    side.responses.pop_front();
    --side.under_way;
    port.respond(payload);
  }
  if (!port.busy() && !side.responses.empty()) pace_.wake_at(side.responses.front().ready);
}

void SystemBus::admit(unsigned initiator) {
  bus::EventTargetPort& port = *initiator_ports_[initiator];
  if (port.withheld() == nullptr || full(initiator)) return;
  Payload& payload = *port.withheld()->payload;
  accept(initiator, payload, decode(payload.get_address(), payload.get_data_length()),
         sc_core::sc_time_stamp());
  port.end_request();
}

void SystemBus::work() {
  for (unsigned i = 0; i < target_ports_.size(); ++i) request_of(i);
  for (unsigned i = 0; i < initiator_ports_.size(); ++i) response_to(i);
  for (unsigned i = 0; i < initiator_ports_.size(); ++i) admit(i);
}

}  // namespace weft::soc
