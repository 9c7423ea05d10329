// An initiator that plays a list of accesses as fast as the protocol and its options allow, and writes down
// when what happened. Edges are those of its clock domain.
#ifndef WEFT_TESTS_MEMORY_BENCH_MOCK_INITIATOR_H
#define WEFT_TESTS_MEMORY_BENCH_MOCK_INITIATOR_H

#include <tlm_utils/simple_initiator_socket.h>

#include <deque>
#include <map>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/memory_transaction.h"
#include "memory_bench/hop_gate.h"

namespace weft::bench {

struct Access {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  unsigned bytes = 128;
  AccessKind kind = AccessKind::kRead;
  unsigned lanes = 0;
  Cycle not_before = 0;
};

inline Access read(std::uint64_t address, unsigned bytes = 128, Cycle not_before = 0) {
  return {tlm::TLM_READ_COMMAND, address, bytes, AccessKind::kRead, 0, not_before};
}
inline Access write(std::uint64_t address, unsigned bytes = 128, Cycle not_before = 0) {
  return {tlm::TLM_WRITE_COMMAND, address, bytes, AccessKind::kWrite, 0, not_before};
}
inline Access atomic(std::uint64_t address, unsigned lanes, Cycle not_before = 0) {
  return {tlm::TLM_WRITE_COMMAND, address, 32, AccessKind::kAtomic, lanes, not_before};
}

struct Record {
  Cycle begin_request = 0;
  Cycle end_request = 0;
  Cycle begin_response = 0;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  Cycle latency() const { return begin_response - begin_request; }
};

class MockInitiator : public sc_core::sc_module, public Clocked, public tlm::tlm_mm_interface {
 public:
  struct Options {
    std::size_t outstanding = 1000;
    Cycle response_hold = 0;  // edges for which END_RESP is withheld
    bool foreign = false;     // payloads without TransactionOrigin, data copied
  };
  tlm_utils::simple_initiator_socket<MockInitiator> socket;

  MockInitiator(sc_core::sc_module_name name, ClockDomain& domain, std::vector<Access> accesses,
                Options options)
      : sc_module(name),
        socket("socket"),
        accesses(std::move(accesses)),
        records(this->accesses.size()),
        data(this->accesses.size()),
        domain_(domain),
        index_(domain.add(*this)),
        options_(options) {
    socket.register_nb_transport_bw(this, &MockInitiator::backward);
  }

  const std::vector<Access> accesses;
  std::vector<Record> records;  // per access
  std::vector<std::vector<unsigned char>>
      data;  // per access, for foreign payloads: given for writes, got by reads
  std::vector<std::size_t> completion_order;
  bool done() const { return completion_order.size() == accesses.size(); }
  Cycle last_response() const { return last_response_; }

  Cycle step(Cycle now) override {
    Cycle next = kNever;
    if (held_ != nullptr) {
      if (release_at_ <= now) {
        end_response();
      } else {
        next = release_at_;
      }
    }
    if (next_ == accesses.size() || request_gate_.closed() || open_.size() >= options_.outstanding)
      return next;
    const Access& access = accesses[next_];
    const Cycle allowed = std::max({access.not_before, request_gate_.usable_from(), place_free_from_});
    if (allowed > now) return std::min(next, allowed);
    begin(access, now);
    return request_gate_.closed() ? next : now + 1;
  }

  void free(tlm::tlm_generic_payload* payload) override { delete payload; }

 private:
  void begin(const Access& access, Cycle now) {
    tlm::tlm_generic_payload* payload;
    if (options_.foreign) {
      data[next_].resize(access.bytes);
      payload = new tlm::tlm_generic_payload(this);
      payload->set_command(access.command);
      payload->set_address(access.address);
      payload->set_data_ptr(data[next_].data());
      payload->set_data_length(access.bytes);
      payload->set_streaming_width(access.bytes);
      payload->acquire();
    } else {
      payload = &pool_.acquire(access.command, access.address, access.bytes);
      origin_of(*payload)->kind = access.kind;
      origin_of(*payload)->atomic_lanes = static_cast<std::uint16_t>(access.lanes);
    }
    open_[payload] = next_;
    records[next_].begin_request = now;
    ++next_;
    request_gate_.close();
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const auto result = socket->nb_transport_fw(*payload, phase, delay);
    if (result == tlm::TLM_UPDATED) end_request(*payload);
    if (result == tlm::TLM_COMPLETED) {
      end_request(*payload);
      finish(*payload);
    }
  }

  void end_request(tlm::tlm_generic_payload& payload) {
    request_gate_.open(domain_.next_edge());
    records[open_.at(&payload)].end_request = domain_.current_edge();
  }

  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == tlm::END_REQ) {
      end_request(payload);
      domain_.wake(index_);
      return tlm::TLM_ACCEPTED;
    }
    if (options_.response_hold == 0) {
      finish(payload);
      domain_.wake(index_);
      return tlm::TLM_COMPLETED;
    }
    held_ = &payload;
    records[open_.at(&payload)].begin_response = domain_.current_edge();
    release_at_ = domain_.current_edge() + options_.response_hold;
    domain_.wake_at(index_, release_at_);
    return tlm::TLM_ACCEPTED;
  }

  void end_response() {
    tlm::tlm_generic_payload& payload = *held_;
    held_ = nullptr;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    payload.acquire();
    socket->nb_transport_fw(payload, phase, delay);
    const Cycle begun = records[open_.at(&payload)].begin_response;
    Record& record = records[open_.at(&payload)];
    finish(payload);
    record.begin_response = begun;
    payload.release();
  }

  void finish(tlm::tlm_generic_payload& payload) {
    const std::size_t access = open_.at(&payload);
    records[access].begin_response = domain_.current_edge();
    records[access].status = payload.get_response_status();
    last_response_ = domain_.current_edge();
    if (open_.size() >= options_.outstanding) place_free_from_ = domain_.next_edge();
    completion_order.push_back(access);
    open_.erase(&payload);
    payload.release();
  }

  ClockDomain& domain_;
  const std::size_t index_;
  const Options options_;
  TransactionPool pool_;
  std::size_t next_ = 0;
  HopGate request_gate_;
  Cycle place_free_from_ = 0;
  std::map<tlm::tlm_generic_payload*, std::size_t> open_;
  tlm::tlm_generic_payload* held_ = nullptr;
  Cycle release_at_ = 0;
  Cycle last_response_ = 0;
};

}  // namespace weft::bench

#endif
