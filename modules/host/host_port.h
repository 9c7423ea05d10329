// The target behind host_socket: registers, and the aperture to device memory. Loosely timed, approximately
// timed, DMI, debug; initiators need to know nothing of Weft.
#ifndef WEFT_HOST_HOST_PORT_H
#define WEFT_HOST_HOST_PORT_H

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/target_port.h"
#include "common/ring.h"
#include "host/bus.h"
#include "host/connections.h"
#include "host/gpu_control.h"
#include "host/register_file.h"
#include "host/warn_once.h"
#include "weft/common/statistics.h"

namespace weft::host {

class HostPort : public sc_core::sc_module, private bus::TargetPort::Listener, private TransferClient {
 public:
  // Stands behind `connections.host_socket`. `device` leads to device memory, which is that of `gpu`;
  // `in_reset` refuses all but reads of registers.
  HostPort(sc_core::sc_module_name name, const Config& config, Connections& connections,
           RegisterFile& registers, Bus& bus, BusMaster& device, GpuControl& gpu,
           std::function<bool()> in_reset, ClockDomain& domain, std::size_t index);

  Cycle step(Cycle now);
  // What is under way is answered with an error: its initiator may know nothing of the reset. After the bus
  // masters' resets.
  void reset();
  // Direct access to device memory that was granted ends.
  void withdraw_access();
  // Doorbells of initiators whose local time has come.
  void ring_doorbells();
  const sc_core::sc_event& doorbell_event() const { return doorbell_event_; }
  // Accesses that are not answered yet.
  std::size_t requests() const;
  void bind(statistics::Group& group);

 private:
  using Payload = tlm::tlm_generic_payload;
  enum class Kind : std::uint8_t { kFree, kRegister, kAperture, kAnswered };
  struct Request {
    Payload* payload = nullptr;
    Kind kind = Kind::kFree;
    Cycle ready = 0;     // when a register acts, when an aperture access begins
    bool begun = false;  // aperture
    Transfer transfer;
  };
  // Of an initiator that runs ahead of simulated time.
  struct Doorbell {
    sc_core::sc_time at;
    std::uint64_t address = 0;
    std::uint32_t value = 0;
  };

  bus::Verdict request(unsigned, Payload& payload, Cycle ready, sc_core::sc_time& delay) override;
  void blocking(unsigned, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned, Payload& payload) override;
  unsigned debug_behind(Payload& payload, std::uint64_t offset, unsigned bytes);
  void transferred(Transfer& transfer) override;

  tlm::tlm_response_status check(const Payload& payload);
  tlm::tlm_response_status check_register(const Payload& payload, unsigned width) const;
  tlm::tlm_response_status check_aperture(const Payload& payload, unsigned width) const;
  unsigned streaming_width(const Payload& payload);
  bool grants_access() const { return !in_reset_() && gpu_.memory() != nullptr; }
  void access_register(Payload& payload);
  void blocking_register(Payload& payload, const sc_core::sc_time& delay);
  void ring_before(std::uint64_t address);
  void begin(Payload& payload, Cycle now);
  void begin_transfer(Request& request);
  void answer(Request& request, tlm::tlm_response_status status);
  void respond(Cycle now);
  void admit(Cycle now);

  const Config config_;
  Connections::HostSocket& socket_;
  RegisterFile& registers_;
  Bus& bus_;
  BusMaster& device_;
  GpuControl& gpu_;
  const std::function<bool()> in_reset_;
  ClockDomain& domain_;
  const std::size_t index_;
  bus::TargetPort port_;

  std::vector<Request> requests_;
  Ring<Request*> answers_;  // in the order of their responses
  bool dmi_granted_ = false;
  std::vector<Doorbell> doorbells_;  // in the order of their times
  sc_core::sc_event doorbell_event_;
  WarnOnce warn_of_width_;

  std::uint64_t register_accesses_ = 0, aperture_accesses_ = 0, refused_ = 0, stalls_ = 0;
};

}  // namespace weft::host

#endif
