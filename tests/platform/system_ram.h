// System memory for tests: a loosely-timed target that knows nothing of Weft.
#ifndef WEFT_TESTS_PLATFORM_SYSTEM_RAM_H
#define WEFT_TESTS_PLATFORM_SYSTEM_RAM_H

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>
#include <vector>

namespace weft::test {

class SystemRam : public sc_core::sc_module {
 public:
  enum class Access : std::uint8_t { kTransactions, kDirect, kDirectReadOnly };

  tlm_utils::simple_target_socket<SystemRam> socket;

  SystemRam(sc_core::sc_module_name name, std::uint64_t first, std::size_t bytes, Access access,
            const sc_core::sc_time& latency = sc_core::sc_time(100, sc_core::SC_NS))
      : sc_module(name), socket("socket"), base(first), data(bytes), access_(access), latency_(latency) {
    socket.register_b_transport(this, &SystemRam::transport);
    socket.register_get_direct_mem_ptr(this, &SystemRam::direct);
    socket.register_transport_dbg(this, &SystemRam::debug);
  }
  std::uint32_t& word(std::uint64_t offset) { return *reinterpret_cast<std::uint32_t*>(&data[offset]); }

  const std::uint64_t base;
  std::vector<unsigned char> data;
  std::uint64_t reads = 0, writes = 0, bytes = 0, enabled_writes = 0;
  std::uint64_t bad_from = UINT64_MAX;  // offsets from here on answer with an address error
  bool behind_bus = false;  // which leaves the payload with its target's address, as interconnects may

 protected:
  void count(const tlm::tlm_generic_payload& payload) {
    ++(payload.is_write() ? writes : reads);
    bytes += payload.get_data_length();
  }
  bool move(tlm::tlm_generic_payload& payload) {
    const bool moved = copy(payload);
    if (behind_bus) payload.set_address(payload.get_address() - base);
    return moved;
  }

 private:
  bool copy(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - base;
    const unsigned length = payload.get_data_length();
    if (payload.get_address() < base || offset + length > data.size() || offset + length > bad_from)
      return false;
    const unsigned char* const enables = payload.get_byte_enable_ptr();
    if (payload.is_write() && enables != nullptr) {
      ++enabled_writes;
      for (unsigned i = 0; i < length; ++i) {
        if (enables[i % payload.get_byte_enable_length()] == TLM_BYTE_ENABLED)
          data[offset + i] = payload.get_data_ptr()[i];
      }
      return true;
    }
    if (payload.is_write()) std::memcpy(&data[offset], payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &data[offset], length);
    return true;
  }

  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    count(payload);
    delay += latency_;
    payload.set_response_status(move(payload) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  bool direct(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t offset = payload.get_address() - base;
    if (access_ == Access::kTransactions || offset >= data.size() || offset >= bad_from) return false;
    dmi.set_start_address(base);
    dmi.set_end_address(base + data.size() - 1);
    dmi.set_dmi_ptr(data.data());
    access_ == Access::kDirect ? dmi.allow_read_write() : dmi.allow_read();
    return true;
  }
  unsigned debug(tlm::tlm_generic_payload& payload) { return move(payload) ? payload.get_data_length() : 0; }

  const Access access_;
  const sc_core::sc_time latency_;
};

// Approximately timed, with any number of accesses under way: reads are done after 20 ns, writes after 5 us.
// So what comes later may be done before.
class LateRam : public SystemRam {
 public:
  LateRam(sc_core::sc_module_name name, std::uint64_t first, std::size_t size, Access access)
      : SystemRam(name, first, size, access), done_(this, &LateRam::done) {
    using Forward =
        tlm::tlm_sync_enum (SystemRam::*)(tlm::tlm_generic_payload&, tlm::tlm_phase&, sc_core::sc_time&);
    socket.register_nb_transport_fw(this, static_cast<Forward>(&LateRam::forward));
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) {  // END_RESP
      responding_ = false;
      respond();
      return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    count(payload);
    const sc_core::sc_time takes(payload.is_write() ? 5000 : 20, sc_core::SC_NS);
    done_.notify(payload, tlm::BEGIN_RESP, delay + takes);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void done(tlm::tlm_generic_payload& payload, const tlm::tlm_phase&) {
    payload.set_response_status(move(payload) ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    answers_.push_back(&payload);
    respond();
  }
  void respond() {
    while (!responding_ && !answers_.empty()) {
      tlm::tlm_generic_payload& payload = *answers_.front();
      answers_.pop_front();
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_core::sc_time delay;
      responding_ = socket->nb_transport_bw(payload, phase, delay) == tlm::TLM_ACCEPTED;
      payload.release();
    }
  }

  tlm_utils::peq_with_cb_and_phase<LateRam> done_;
  std::deque<tlm::tlm_generic_payload*> answers_;
  bool responding_ = false;
};

}  // namespace weft::test

#endif
