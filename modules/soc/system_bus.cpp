#include "soc/system_bus.h"

#include <algorithm>
#include <cstdio>

#include "common/error.h"

namespace weft::soc {

using sc_core::sc_time;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

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
  v.real("latency_ns", latency_ns, {0, 1e6}, "ns", "added to an access on its way to the target");
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
      target_sides_(regions_.size()) {
  for (unsigned i = 0; i < initiators.size(); ++i) {
    initiators[i].register_nb_transport_fw(this, &SystemBus::forward, static_cast<int>(i));
    initiators[i].register_b_transport(this, &SystemBus::blocking, static_cast<int>(i));
    initiators[i].register_get_direct_mem_ptr(this, &SystemBus::dmi, static_cast<int>(i));
    initiators[i].register_transport_dbg(this, &SystemBus::debug, static_cast<int>(i));
  }
  for (unsigned i = 0; i < targets.size(); ++i) {
    targets[i].register_nb_transport_bw(this, &SystemBus::backward, static_cast<int>(i));
    targets[i].register_invalidate_direct_mem_ptr(this, &SystemBus::invalidate, static_cast<int>(i));
  }
  SC_METHOD(work);
  sensitive << wake_;
  dont_initialize();
}

SystemBus::~SystemBus() {
  for (auto& passage : passages_) passage->payload.clear_extension(passage.get());
}

void SystemBus::bind(statistics::Registry& registry, const std::string& prefix) {
  for (unsigned i = 0; i < initiator_sides_.size(); ++i) {
    InitiatorSide& side = initiator_sides_[i];
    const std::string name = prefix + ".initiator" + std::to_string(i);
    registry.counter(name + ".reads", "transactions", "reads", side.reads);
    registry.counter(name + ".writes", "transactions", "writes", side.writes);
    registry.counter(name + ".bytes_read", "bytes", "bytes of the reads", side.bytes_read);
    registry.counter(name + ".bytes_written", "bytes", "bytes of the writes", side.bytes_written);
    registry.counter(name + ".errors", "transactions", "accesses that no region holds", side.errors);
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

void SystemBus::blocking(int initiator, Payload& payload, sc_time& delay) {
  const auto from = static_cast<unsigned>(initiator);
  const std::uint64_t address = payload.get_address();
  const unsigned target = decode(address, payload.get_data_length());
  delay += latency_;
  count(from, payload);
  if (target == kNowhere) {
    ++initiator_sides_[from].errors;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  payload.set_address(address - regions_[target].base);
  targets[target]->b_transport(payload, delay);
  payload.set_address(address);
}

unsigned SystemBus::debug(int, Payload& payload) {
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

bool SystemBus::dmi(int, Payload& payload, tlm::tlm_dmi& granted) {
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
  return given;
}

void SystemBus::invalidate(int target, sc_dt::uint64 begin, sc_dt::uint64 end) {
  const Region& region = regions_[static_cast<unsigned>(target)];
  if (begin >= region.bytes || end < begin) return;
  const std::uint64_t last = std::min<std::uint64_t>(end, region.bytes - 1);
  for (auto& initiator : initiators)
    initiator->invalidate_direct_mem_ptr(region.base + begin, region.base + last);
}

// --- approximately timed

void SystemBus::wake_at(const sc_time& at) {
  const sc_time& now = sc_core::sc_time_stamp();
  wake_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

tlm_sync_enum SystemBus::forward(int initiator, Payload& payload, tlm_phase& phase, sc_time& delay) {
  const auto from = static_cast<unsigned>(initiator);
  InitiatorSide& side = initiator_sides_[from];
  if (phase == tlm::END_RESP) {
    end_response(side);
    wake_at(sc_core::sc_time_stamp() + delay);
    return tlm::TLM_COMPLETED;
  }
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
  const unsigned target = decode(payload.get_address(), payload.get_data_length());
  count(from, payload);
  if (target == kNowhere) {
    ++side.errors;
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += latency_;
    return tlm::TLM_COMPLETED;
  }
  payload.acquire();
  if (side.under_way >= config_.outstanding) {
    side.held = &payload;
    return tlm::TLM_ACCEPTED;
  }
  accept(from, payload, target, sc_core::sc_time_stamp() + delay);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
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
  target_sides_[target].queue.push_back(&passage);
  wake_at(passage.ready);
}

void SystemBus::free(Payload* payload) {
  free_passages_.push_back(payload->get_extension<Passage>());
}

void SystemBus::respond(Passage& passage, const sc_time& at) {
  Payload& origin = *passage.origin;
  origin.set_response_status(passage.payload.get_response_status());
  origin.set_dmi_allowed(passage.payload.is_dmi_allowed());
  initiator_sides_[passage.initiator].responses.push_back({&origin, at});
  passage.payload.release();
  wake_at(at);
}

void SystemBus::end_response(InitiatorSide& side) {
  side.responding->release();
  side.responding = nullptr;
  --side.under_way;
}

tlm_sync_enum SystemBus::backward(int target, Payload& payload, tlm_phase& phase, sc_time& delay) {
  TargetSide& side = target_sides_[static_cast<unsigned>(target)];
  Passage& passage = *payload.get_extension<Passage>();
  if (side.requesting == &passage) side.requesting = nullptr;  // BEGIN_RESP implies END_REQ
  const sc_time at = sc_core::sc_time_stamp() + delay;
  wake_at(at);
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  respond(passage, at);
  return tlm::TLM_COMPLETED;
}

void SystemBus::request_of(unsigned target) {
  TargetSide& side = target_sides_[target];
  const sc_time& now = sc_core::sc_time_stamp();
  while (side.requesting == nullptr && !side.queue.empty() && side.queue.front()->ready <= now) {
    Passage& passage = *side.queue.front();
    side.queue.pop_front();
    side.requesting = &passage;
    tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm_sync_enum result = targets[target]->nb_transport_fw(passage.payload, phase, delay);
    if (result == tlm::TLM_ACCEPTED) continue;
    side.requesting = nullptr;
    if (result == tlm::TLM_UPDATED && phase == tlm::END_REQ) continue;
    if (result == tlm::TLM_UPDATED) {  // BEGIN_RESP: the response ends as soon as it is taken
      passage.payload.acquire();
      respond(passage, now + delay);
      phase = tlm::END_RESP;
      targets[target]->nb_transport_fw(passage.payload, phase, delay);
      passage.payload.release();
    } else {
      respond(passage, now + delay);
    }
  }
  if (side.requesting == nullptr && !side.queue.empty()) wake_at(side.queue.front()->ready);
}

void SystemBus::response_to(unsigned initiator) {
  InitiatorSide& side = initiator_sides_[initiator];
  const sc_time& now = sc_core::sc_time_stamp();
  while (side.responding == nullptr && !side.responses.empty() && side.responses.front().ready <= now) {
    Payload& payload = *side.responses.front().payload;
    side.responses.pop_front();
    side.responding = &payload;
    tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm_sync_enum result = initiators[initiator]->nb_transport_bw(payload, phase, delay);
    if (result == tlm::TLM_COMPLETED || (result == tlm::TLM_UPDATED && phase == tlm::END_RESP))
      end_response(side);
  }
  if (side.responding == nullptr && !side.responses.empty()) wake_at(side.responses.front().ready);
}

void SystemBus::admit(unsigned initiator) {
  InitiatorSide& side = initiator_sides_[initiator];
  if (side.held == nullptr || side.under_way >= config_.outstanding) return;
  Payload& payload = *side.held;
  side.held = nullptr;
  accept(initiator, payload, decode(payload.get_address(), payload.get_data_length()),
         sc_core::sc_time_stamp());
  tlm_phase phase = tlm::END_REQ;
  sc_time delay = sc_core::SC_ZERO_TIME;
  initiators[initiator]->nb_transport_bw(payload, phase, delay);
}

void SystemBus::work() {
  for (unsigned i = 0; i < target_sides_.size(); ++i) request_of(i);
  for (unsigned i = 0; i < initiator_sides_.size(); ++i) response_to(i);
  for (unsigned i = 0; i < initiator_sides_.size(); ++i) admit(i);
}

}  // namespace weft::soc
