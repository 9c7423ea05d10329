// A target that answers in order after a fixed latency, with a finite number of places and, if asked, pauses.
#ifndef WEFT_TESTS_MEMORY_BENCH_MOCK_MEMORY_H
#define WEFT_TESTS_MEMORY_BENCH_MOCK_MEMORY_H

#include <tlm_utils/passthrough_target_socket.h>

#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/memory_transaction.h"
#include "memory_bench/hop_gate.h"

namespace weft::bench {

class MockMemory : public sc_core::sc_module, public Clocked {
 public:
  struct Options {
    std::size_t places = 1000;
    Cycle latency = 10;
    bool grant_dmi = true;
    std::uint64_t bytes = 1 << 20;
  };
  struct Seen {
    tlm::tlm_command command;
    std::uint64_t address;
    unsigned bytes;
    Cycle arrived;
    bool foreign;
    AccessKind kind;
  };
  tlm_utils::passthrough_target_socket<MockMemory> socket;
  std::vector<unsigned char> image;
  std::vector<Seen> seen;

  MockMemory(sc_core::sc_module_name name, ClockDomain& domain, Options options)
      : sc_module(name),
        socket("socket"),
        image(options.bytes),
        domain_(domain),
        index_(domain.add(*this)),
        options_(options) {
    socket.register_nb_transport_fw(this, &MockMemory::forward);
    socket.register_b_transport(this, &MockMemory::blocking);
    socket.register_get_direct_mem_ptr(this, &MockMemory::dmi);
    socket.register_transport_dbg(this, &MockMemory::debug);
  }

  // Tells the initiator that its pointers are void.
  void revoke() { socket->invalidate_direct_mem_ptr(0, options_.bytes - 1); }

  Cycle step(Cycle now) override {
    if (!waiting_.empty() && waiting_.front().ready <= now && gate_.usable(now)) respond(now);
    if (blocked_.payload != nullptr && waiting_.size() < options_.places && blocked_.ready <= now) {
      waiting_.push_back({blocked_.payload, now + 1 + options_.latency});
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      tlm::tlm_generic_payload& payload = *blocked_.payload;
      blocked_.payload = nullptr;
      socket->nb_transport_bw(payload, phase, delay);
    }
    Cycle next = kNever;
    if (blocked_.payload != nullptr && waiting_.size() < options_.places) next = blocked_.ready;
    if (waiting_.empty() || gate_.closed()) return next;
    return std::min(next, std::max(waiting_.front().ready, gate_.usable_from()));
  }

 private:
  struct Waiting {
    tlm::tlm_generic_payload* payload = nullptr;
    Cycle ready = 0;
  };

  void respond(Cycle now) {
    tlm::tlm_generic_payload& payload = *waiting_.front().payload;
    waiting_.pop_front();
    payload.set_response_status(payload.get_address() + payload.get_data_length() <= options_.bytes
                                    ? tlm::TLM_OK_RESPONSE
                                    : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    gate_.close();
    responding_ = &payload;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_COMPLETED) {
      payload.release();
      gate_.open(now + 1);
    }
  }

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    const Cycle usable = domain_.next_edge();
    domain_.wake(index_);
    if (phase == tlm::END_RESP) {
      responding_->release();
      gate_.open(usable);
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    seen.push_back({payload.get_command(), payload.get_address(), payload.get_data_length(), usable - 1,
                    origin_of(payload) == nullptr,
                    origin_of(payload) == nullptr ? AccessKind::kRead : origin_of(payload)->kind});
    if (waiting_.size() == options_.places) {
      blocked_ = {&payload, usable};
      return tlm::TLM_ACCEPTED;
    }
    waiting_.push_back({&payload, usable - 1 + options_.latency});
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    payload.set_response_status(
        debug(payload) == payload.get_data_length() ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sc_core::sc_time(options_.latency, sc_core::SC_NS);
  }

  bool dmi(tlm::tlm_generic_payload&, tlm::tlm_dmi& region) {
    if (!options_.grant_dmi) return false;
    region.allow_read_write();
    region.set_dmi_ptr(image.data());
    region.set_start_address(0);
    region.set_end_address(options_.bytes - 1);
    return true;
  }

  unsigned debug(tlm::tlm_generic_payload& payload) {
    if (payload.get_address() + payload.get_data_length() > options_.bytes) return 0;
    unsigned char* at = image.data() + payload.get_address();
    if (payload.is_write()) std::memmove(at, payload.get_data_ptr(), payload.get_data_length());
    if (payload.is_read()) std::memmove(payload.get_data_ptr(), at, payload.get_data_length());
    return payload.get_data_length();
  }

  ClockDomain& domain_;
  const std::size_t index_;
  const Options options_;
  std::deque<Waiting> waiting_;
  Waiting blocked_;
  tlm::tlm_generic_payload* responding_ = nullptr;
  HopGate gate_;
};

}  // namespace weft::bench

#endif
