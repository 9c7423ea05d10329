// System memory for tests: a loosely-timed target that knows nothing of Weft.
#ifndef WEFT_TESTS_PLATFORM_SYSTEM_RAM_H
#define WEFT_TESTS_PLATFORM_SYSTEM_RAM_H

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <cstring>
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
  std::uint64_t reads = 0, writes = 0, bytes = 0;
  std::uint64_t bad_from = UINT64_MAX;  // offsets from here on answer with an address error

 private:
  bool move(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - base;
    const unsigned length = payload.get_data_length();
    if (payload.get_address() < base || offset + length > data.size() || offset + length > bad_from)
      return false;
    if (payload.get_data_ptr() == &data[offset]) return true;
    if (payload.is_write()) std::memcpy(&data[offset], payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &data[offset], length);
    return true;
  }
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    ++(payload.is_write() ? writes : reads);
    bytes += payload.get_data_length();
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

}  // namespace weft::test

#endif
