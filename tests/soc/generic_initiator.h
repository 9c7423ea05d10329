// Initiators that know nothing of Weft: plain generic payloads, loosely timed from a test's thread, or
// approximately timed from a list.
#ifndef WEFT_TESTS_SOC_GENERIC_INITIATOR_H
#define WEFT_TESTS_SOC_GENERIC_INITIATOR_H

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <deque>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft::test {

inline void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
                 void* data, unsigned bytes) {
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

// Runs `script` in a thread of the simulation.
class BlockingInitiator : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(BlockingInitiator);
  tlm_utils::simple_initiator_socket<BlockingInitiator> socket;
  std::function<void(BlockingInitiator&)> script;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> invalidated;
  sc_core::sc_time delay;  // of the last access

  explicit BlockingInitiator(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &BlockingInitiator::invalidate);
    SC_THREAD(run);
  }

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data, unsigned bytes,
                                  unsigned char* enables = nullptr, unsigned width = 0) {
    tlm::tlm_generic_payload payload;
    fill(payload, command, address, data, bytes);
    if (width != 0) payload.set_streaming_width(width);
    if (enables != nullptr) {
      payload.set_byte_enable_ptr(enables);
      payload.set_byte_enable_length(bytes);
    }
    delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    EXPECT_EQ(payload.get_address(), address);
    return payload.get_response_status();
  }
  std::uint32_t read32(std::uint64_t address) {
    std::uint32_t value = 0xdeadbeef;
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, 4), tlm::TLM_OK_RESPONSE) << std::hex << address;
    return value;
  }
  void write32(std::uint64_t address, std::uint32_t value) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, 4), tlm::TLM_OK_RESPONSE)
        << std::hex << address;
  }

 private:
  void run() {
    if (script) script(*this);
  }
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) { invalidated.emplace_back(begin, end); }
};

// Sends its accesses as fast as END_REQ allows, all of them from time 0 on.
class TimedInitiator : public sc_core::sc_module, private tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(TimedInitiator);
  struct Access {
    tlm::tlm_command command = tlm::TLM_READ_COMMAND;
    std::uint64_t address = 0;
    std::vector<unsigned char> data;
    double request_ended = -1, response = -1;  // ns
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  };
  tlm_utils::simple_initiator_socket<TimedInitiator> socket;
  std::vector<Access> accesses;
  double hold_ns = 0;  // for which END_RESP is withheld; 0: TLM_COMPLETED at once

  explicit TimedInitiator(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_bw(this, &TimedInitiator::backward);
    SC_THREAD(run);
    SC_METHOD(end_response);
    sensitive << release_;
    dont_initialize();
  }
  ~TimedInitiator() override {
    for (auto* payload : payloads_) delete payload;
  }
  void add(tlm::tlm_command command, std::uint64_t address, unsigned bytes, unsigned char value = 0) {
    accesses.push_back({command, address, std::vector<unsigned char>(bytes, value)});
  }

 private:
  static double now() { return sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS); }
  void free(tlm::tlm_generic_payload*) override {}
  Access& of(const tlm::tlm_generic_payload& payload) {
    for (std::size_t i = 0; i < payloads_.size(); ++i)
      if (payloads_[i] == &payload) return accesses[i];
    ADD_FAILURE() << "a payload that nobody sent";
    return accesses.at(0);
  }

  void run() {
    for (Access& access : accesses) {
      auto* payload = new tlm::tlm_generic_payload(this);
      payloads_.push_back(payload);
      payload->acquire();
      fill(*payload, access.command, access.address, access.data.data(),
           static_cast<unsigned>(access.data.size()));
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      open_ = true;
      const auto result = socket->nb_transport_fw(*payload, phase, delay);
      if (result == tlm::TLM_COMPLETED) {
        open_ = false;
        access.request_ended = now();
        finish(*payload, delay / sc_core::sc_time(1, sc_core::SC_NS));
      } else if (result == tlm::TLM_UPDATED) {
        open_ = false;
        access.request_ended = now();
      }
      while (open_) wait(request_ended_);
    }
  }
  void finish(tlm::tlm_generic_payload& payload, double later) {
    of(payload).response = now() + later;
    of(payload).status = payload.get_response_status();
    payload.release();
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time&) {
    Access& access = of(payload);
    if (access.request_ended < 0) {
      access.request_ended = now();
      open_ = false;
      request_ended_.notify(sc_core::SC_ZERO_TIME);
    }
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    if (hold_ns == 0) {
      finish(payload, 0);
      return tlm::TLM_COMPLETED;
    }
    held_ = &payload;
    release_.notify(hold_ns, sc_core::SC_NS);
    return tlm::TLM_ACCEPTED;
  }
  void end_response() {
    tlm::tlm_generic_payload& payload = *held_;
    held_ = nullptr;
    of(payload).response = now() - hold_ns;
    of(payload).status = payload.get_response_status();
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_fw(payload, phase, delay);
    payload.release();
  }

  std::vector<tlm::tlm_generic_payload*> payloads_;
  bool open_ = false;
  sc_core::sc_event request_ended_, release_;
  tlm::tlm_generic_payload* held_ = nullptr;
};

}  // namespace weft::test

#endif
