#include "weft/platform/transaction_trace.h"

#include <fnmatch.h>
#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <systemc>
#include <tlm>
#include <unordered_map>

#include "bus/memory_transaction.h"
#include "common/growing_file.h"
#include "weft/common/error.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/hop_observer.h"

namespace weft {
namespace {

using Payload = tlm::tlm_generic_payload;
using Range = TransactionFilter::Range;

constexpr std::uint64_t kNotYet = ~std::uint64_t{0};
constexpr std::uint16_t kNoSm = 0xffff;
enum Phase : std::uint8_t { kBeginRequest, kEndRequest, kBeginResponse, kEndResponse, kPhases };

const char* name_of(const TransactionOrigin* origin) {
  if (origin == nullptr) return "";
  constexpr std::array<const char*, 7> kNames = {"read",     "write",   "atomic",    "instruction",
                                                 "constant", "texture", "write_back"};
  return kNames[static_cast<std::size_t>(origin->kind)];
}

const char* name_of(tlm::tlm_command command) {
  return command == tlm::TLM_READ_COMMAND ? "read" : command == tlm::TLM_WRITE_COMMAND ? "write" : "ignore";
}

const char* name_of(tlm::tlm_response_status status) {
  switch (status) {
    case tlm::TLM_OK_RESPONSE:
      return "ok";
    case tlm::TLM_INCOMPLETE_RESPONSE:
      return "incomplete";
    case tlm::TLM_ADDRESS_ERROR_RESPONSE:
      return "address_error";
    case tlm::TLM_COMMAND_ERROR_RESPONSE:
      return "command_error";
    case tlm::TLM_BURST_ERROR_RESPONSE:
      return "burst_error";
    case tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE:
      return "byte_enable_error";
    default:
      return "error";
  }
}

bool holds(const std::vector<Range>& ranges, std::uint64_t first, std::uint64_t last) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return first <= range.second && last >= range.first; });
}

std::uint64_t picoseconds(const sc_core::sc_time& delay) {
  return static_cast<std::uint64_t>((sc_core::sc_time_stamp() + delay) / sc_core::sc_time(1, sc_core::SC_PS));
}

}  // namespace

// What the observers of all hops write to.
struct TransactionTrace::Impl {
  struct Open {
    std::uint64_t number = 0;
    std::string kernel;
    std::array<std::uint64_t, kPhases> times{};
  };
  // On one hop.
  using OpenTransactions = std::unordered_map<const Payload*, Open>;
  struct OnHop {
    std::string name;
    bool of_system = false;  // addresses are those of system memory
    OpenTransactions open;
  };
  // A transaction keeps its number on its way over several hops.
  struct Number {
    std::uint64_t number = 0;
    unsigned hops = 0;
  };

  GrowingFile file;
  const TransactionFilter filter;
  const Gpu* gpu = nullptr;
  std::vector<std::unique_ptr<OnHop>> hops;
  std::unordered_map<const Payload*, Number> numbers;
  std::uint64_t next_number = 0;

  Impl(const std::string& name, TransactionFilter f) : file(name, "\n"), filter(std::move(f)) {
    file.text() +=
        "hop,transaction,kernel,sm,kind,command,address,bytes,begin_req_ps,end_req_ps,begin_resp_ps,"
        "end_resp_ps,status\n";
    file.flush();
    if (!file.error().empty()) throw InputError("", file.error());
  }

  std::uint64_t address_of(const OnHop& hop, const Payload& payload) const {
    const TransactionOrigin* const origin = origin_of(payload);
    const bool of_system = hop.of_system || (origin != nullptr && origin->system);
    return payload.get_address() + (of_system || gpu == nullptr ? 0 : gpu->device_base());
  }

  // Not at once a row: none of its times is known yet.
  Open* begins(OnHop& hop, const Payload& payload) {
    const TransactionOrigin* const origin = origin_of(payload);
    const bool of_sm = origin != nullptr && origin->sm != kNoSm;
    if (!file.open() || gpu == nullptr) return nullptr;
    if (!filter.sms.empty() && !(of_sm && holds(filter.sms, origin->sm, origin->sm))) return nullptr;
    const std::string_view kernel = of_sm ? gpu->kernel_of(origin->sm) : std::string_view();
    if (!filter.kernel.empty() && kernel != filter.kernel) return nullptr;
    const std::uint64_t address = address_of(hop, payload), bytes = payload.get_data_length();
    if (!filter.addresses.empty() &&
        !holds(filter.addresses, address, address + std::max<std::uint64_t>(bytes, 1) - 1))
      return nullptr;
    Open& open = hop.open[&payload];
    Number& number = numbers[&payload];
    if (number.hops++ == 0) number.number = next_number++;
    open.number = number.number;
    open.kernel = kernel;
    open.times.fill(kNotYet);
    return &open;
  }

  void phase(OnHop& hop, const Payload& payload, const tlm::tlm_phase& phase, const sc_core::sc_time& delay) {
    const auto found = hop.open.find(&payload);
    if (found == hop.open.end()) return;
    auto& times = found->second.times;
    const std::uint64_t now = picoseconds(delay);
    if (phase == tlm::END_REQ) times[kEndRequest] = now;
    if (phase == tlm::BEGIN_RESP) {
      if (times[kEndRequest] == kNotYet) times[kEndRequest] = now;  // which it implies
      times[kBeginResponse] = now;
    }
    if (phase == tlm::END_RESP) ends(hop, payload, now);
  }

  void ends(OnHop& hop, const Payload& payload, std::uint64_t now) {
    const auto found = hop.open.find(&payload);
    if (found == hop.open.end()) return;
    found->second.times[kEndResponse] = now;
    write(hop, payload, found->second);
    hop.open.erase(found);
    const auto number = numbers.find(&payload);
    if (--number->second.hops == 0) numbers.erase(number);
  }

  void add(std::uint64_t value, int base = 10) {
    std::array<char, 24> digits;
    const auto last = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    file.text().append(digits.data(), last);
  }

  void write(const OnHop& hop, const Payload& payload, const Open& open) {
    const TransactionOrigin* const origin = origin_of(payload);
    std::string& text = file.text();
    text.append(hop.name).append(",");
    add(open.number);
    text.append(open.kernel.empty() ? "," : ",\"")
        .append(open.kernel)
        .append(open.kernel.empty() ? "," : "\",");
    if (origin != nullptr && origin->sm != kNoSm) add(origin->sm);
    text.append(",").append(name_of(origin)).append(",").append(name_of(payload.get_command())).append(",0x");
    add(address_of(hop, payload), 16);
    text.append(",");
    add(payload.get_data_length());
    for (const std::uint64_t time : open.times) {
      text.append(",");
      if (time != kNotYet) add(time);
    }
    text.append(",").append(name_of(payload.get_response_status())).append("\n");
    file.grown();
  }
};

namespace {

// Passes everything on at once.
template <class Trace, class OnHop>
struct Recorder final : HopObserver, sc_core::sc_module {
  tlm_utils::passthrough_target_socket<Recorder> target;
  tlm_utils::simple_initiator_socket<Recorder> initiator;
  const std::shared_ptr<Trace> trace;
  OnHop& hop;

  Recorder(const sc_core::sc_module_name& name, std::shared_ptr<Trace> t, OnHop& h)
      : sc_module(name), target("target"), initiator("initiator"), trace(std::move(t)), hop(h) {
    target.register_nb_transport_fw(this, &Recorder::forward);
    target.register_b_transport(this, &Recorder::blocking);
    target.register_get_direct_mem_ptr(this, &Recorder::dmi);
    target.register_transport_dbg(this, &Recorder::debug);
    initiator.register_nb_transport_bw(this, &Recorder::backward);
    initiator.register_invalidate_direct_mem_ptr(this, &Recorder::invalidate);
  }
  tlm::tlm_base_target_socket<32>& target_socket() override { return target; }
  tlm::tlm_base_initiator_socket<32>& initiator_socket() override { return initiator; }
  void reset() override {
    for (const auto& [payload, open] : hop.open) {
      const auto number = trace->numbers.find(payload);
      if (--number->second.hops == 0) trace->numbers.erase(number);
    }
    hop.open.clear();
  }

  // What the call came back with is a phase of the other side.
  void returned(Payload& payload, tlm::tlm_sync_enum how, const tlm::tlm_phase& phase,
                const sc_core::sc_time& delay) {
    if (how == tlm::TLM_UPDATED) trace->phase(hop, payload, phase, delay);
    if (how == tlm::TLM_COMPLETED) {
      trace->phase(hop, payload, tlm::BEGIN_RESP, delay);
      trace->phase(hop, payload, tlm::END_RESP, delay);
    }
  }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    // A payload may be used again as soon as it has ended.
    if (phase == tlm::END_RESP) {
      trace->phase(hop, payload, phase, delay);
      return initiator->nb_transport_fw(payload, phase, delay);
    }
    if (phase == tlm::BEGIN_REQ) {
      if (auto* const open = trace->begins(hop, payload)) open->times[kBeginRequest] = picoseconds(delay);
    }
    const tlm::tlm_sync_enum how = initiator->nb_transport_fw(payload, phase, delay);
    returned(payload, how, phase, delay);
    return how;
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    trace->phase(hop, payload, phase, delay);
    // The other side may let go of the payload when it answers that all is done.
    payload.acquire();
    const tlm::tlm_sync_enum how = target->nb_transport_bw(payload, phase, delay);
    if (how == tlm::TLM_COMPLETED) trace->phase(hop, payload, tlm::END_RESP, delay);
    if (how == tlm::TLM_UPDATED) trace->phase(hop, payload, phase, delay);
    payload.release();
    return how;
  }
  void blocking(Payload& payload, sc_core::sc_time& delay) {
    if (auto* const open = trace->begins(hop, payload)) open->times[kBeginRequest] = picoseconds(delay);
    initiator->b_transport(payload, delay);
    trace->ends(hop, payload, picoseconds(delay));
  }
  bool dmi(Payload& payload, tlm::tlm_dmi& region) { return initiator->get_direct_mem_ptr(payload, region); }
  unsigned debug(Payload& payload) { return initiator->transport_dbg(payload); }
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) { target->invalidate_direct_mem_ptr(begin, end); }
};

}  // namespace

TransactionTrace::TransactionTrace(const std::string& file, TransactionFilter filter)
    : impl_(std::make_shared<Impl>(file, std::move(filter))) {}
TransactionTrace::~TransactionTrace() = default;

const std::string& TransactionTrace::hops() const {
  return impl_->filter.hops;
}

HopObserverFactory TransactionTrace::observer() {
  return [impl = impl_](const Hop& hop) {
    impl->hops.push_back(std::make_unique<Impl::OnHop>());
    Impl::OnHop& on = *impl->hops.back();
    on.name = hop.name;
    on.of_system = hop.name == "hop_system";
    return std::make_unique<Recorder<Impl, Impl::OnHop>>(("trace_" + hop.name).c_str(), impl, on);
  };
}

void TransactionTrace::begin(const Gpu& gpu) {
  impl_->gpu = &gpu;
  const std::uint64_t sms = gpu.config().sm.count;
  for (const Range& range : impl_->filter.sms) {
    if (range.second < sms) continue;
    throw InputError(impl_->file.path(), "found SM " + std::to_string(range.second) +
                                             " in the selection of transactions; allowed: 0 to " +
                                             std::to_string(sms - 1));
  }
  if (impl_->hops.empty()) {
    throw InputError(impl_->file.path(), "no hop of this GPU matches '" + impl_->filter.hops +
                                             "'; see weft/platform/hop_observation.h");
  }
}

void TransactionTrace::close() {
  if (!impl_->file.open() && impl_->file.error().empty()) return;
  for (const auto& hop : impl_->hops) {
    for (const auto& [payload, open] : hop->open) impl_->write(*hop, *payload, open);
    hop->open.clear();
  }
  impl_->numbers.clear();
  impl_->file.close();
  if (!impl_->file.error().empty()) throw InputError("", impl_->file.error());
}

}  // namespace weft
