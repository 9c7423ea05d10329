// An initiator that knows nothing of Weft: plain generic payloads, loosely or approximately timed.
//
// Its thread runs scripts; a script calls `access` (one at a time) or `burst` (many, pipelined).
#ifndef WEFT_TESTS_HOST_TRAFFIC_H
#define WEFT_TESTS_HOST_TRAFFIC_H

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

namespace weft::test {

class Traffic : public sc_core::sc_module {
 public:
  enum class Style : std::uint8_t { kLoose, kApproximate };
  struct Access {
    tlm::tlm_command command = tlm::TLM_READ_COMMAND;
    std::uint64_t address = 0;
    unsigned char* data = nullptr;
    unsigned bytes = 4;
    unsigned char* enables = nullptr;
    unsigned enables_bytes = 0;
    unsigned streaming_width = 0;  // 0: as `bytes`
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
    bool dmi_hint = false;
  };

  SC_HAS_PROCESS(Traffic);
  tlm_utils::simple_initiator_socket<Traffic> socket;
  Style style = Style::kApproximate;
  bool late_end = false;  // answers BEGIN_RESP by an END_RESP call of its own, 3 ns later
  std::vector<std::pair<std::uint64_t, std::uint64_t>> invalidated;

  explicit Traffic(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_bw(this, &Traffic::backward);
    socket.register_invalidate_direct_mem_ptr(this, &Traffic::invalidate);
    SC_THREAD(run_scripts);
    SC_METHOD(end_response);
    sensitive << end_event_;
    dont_initialize();
  }
  ~Traffic() override {
    for (auto* payload : all_) delete payload;
  }

  // Runs `script` in the thread and the simulation until it is done. False: it was not, after `limit`.
  bool run(std::function<void()> script,
           const sc_core::sc_time& limit = sc_core::sc_time(20, sc_core::SC_MS));

  // From a script.
  tlm::tlm_response_status access(Access& access);
  void burst(std::vector<Access>& accesses);
  std::uint32_t read32(std::uint64_t address);
  tlm::tlm_response_status write32(std::uint64_t address, std::uint32_t value);
  void write64(std::uint64_t address, std::uint64_t value) {
    write32(address, static_cast<std::uint32_t>(value));
    write32(address + 4, static_cast<std::uint32_t>(value >> 32));
  }

 private:
  struct Payload : tlm::tlm_generic_payload {
    Access* access = nullptr;
  };
  struct Manager : tlm::tlm_mm_interface {
    std::vector<Payload*>* idle = nullptr;
    void free(tlm::tlm_generic_payload* payload) override {
      payload->reset();
      idle->push_back(static_cast<Payload*>(payload));
    }
  };

  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end) { invalidated.emplace_back(begin, end); }
  void run_scripts();
  void end_response();
  void fill(Payload& payload, Access& access);
  void finish(Payload& payload);
  void begin(Access& access);

  std::function<void()> script_;
  bool done_ = true;
  sc_core::sc_event start_, request_ended_, finished_, end_event_;
  Manager manager_;
  std::vector<Payload*> all_, idle_;
  Payload* requesting_ = nullptr;
  Payload* ending_ = nullptr;
  std::size_t open_ = 0;
};

}  // namespace weft::test

#endif
