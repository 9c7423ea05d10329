// A target of 32-bit registers: what a peripheral has in common. Loosely timed accesses, debug accesses
// without side effects, and approximately timed ones that complete at once with the latency annotated.
// Registers are little endian and taken whole: another length or an unaligned address is a burst or address
// error, byte enables an error of their own, a register that is not there or not writable an address or
// command error.
#ifndef WEFT_SOC_REGISTER_DEVICE_H
#define WEFT_SOC_REGISTER_DEVICE_H

#include <tlm_utils/passthrough_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace weft::soc {

class RegisterDevice : public sc_core::sc_module {
 public:
  tlm_utils::passthrough_target_socket<RegisterDevice> socket;

 protected:
  RegisterDevice(sc_core::sc_module_name name, const sc_core::sc_time& latency);

  enum class Access : std::uint8_t { kDone, kNoRegister, kNotAllowed };
  // `offset` is a multiple of 4. `at` is the time of the access, which may lie ahead of the simulated time. A
  // read with `debug` must not have side effects.
  virtual Access read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time& at, bool debug) = 0;
  virtual Access write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) = 0;

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& payload);
  tlm::tlm_response_status access(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);

  const sc_core::sc_time latency_;
};

}  // namespace weft::soc

#endif
