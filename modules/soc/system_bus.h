// A memory-mapped bus: initiators reach targets by address. Targets see offsets from the base of their
// region.
//
//   SystemBus bus("bus", config, 2, {{"ram", 0x8000'0000, bytes}, {"uart", 0x1000'0000, 4096}});
//   cpu.socket.bind(bus.initiators[0]);
//   bus.targets[0].bind(ram.socket);
//
// Loosely timed accesses pass through with the latency added; they do not wait for each other. Approximately
// timed ones go on as transactions of the bus's own (the address differs on the two sides), one request at a
// time per target and in order of arrival; an initiator has at most `outstanding` of them under way, then
// END_REQ is withheld. An access outside all regions, or across the end of one, is an address error. DMI
// regions and their invalidation are translated.
#ifndef WEFT_SOC_SYSTEM_BUS_H
#define WEFT_SOC_SYSTEM_BUS_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/initiator_port.h"
#include "bus/target_port.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::soc {

class SystemBus : public sc_core::sc_module,
                  private bus::EventTargetPort::Listener,
                  private bus::EventInitiatorPort::Listener,
                  private tlm::tlm_mm_interface {
 public:
  SC_HAS_PROCESS(SystemBus);
  struct Config {
    double latency_ns = 10;
    std::uint64_t outstanding = 16;
    void describe(config::Visitor& v);
  };
  struct Region {
    std::string name;
    std::uint64_t base = 0, bytes = 0;
  };

  sc_core::sc_vector<tlm::tlm_target_socket<32>> initiators;
  sc_core::sc_vector<tlm::tlm_initiator_socket<32>> targets;  // one per region

  // Throws InputError if a region is empty, ends beyond 2^64, or overlaps another.
  SystemBus(sc_core::sc_module_name name, const Config& config, unsigned count, std::vector<Region> regions);
  ~SystemBus() override;

  void bind(statistics::Group& group);

 private:
  using Payload = tlm::tlm_generic_payload;
  static constexpr unsigned kNowhere = ~0u;

  // A transaction on the target's side, and whom it serves. Belongs to the bus for life.
  struct Passage : tlm::tlm_extension<Passage> {
    explicit Passage(tlm::tlm_mm_interface* manager) : payload(manager) { payload.set_extension(this); }
    Payload payload;
    Payload* origin = nullptr;
    unsigned initiator = 0;
    sc_core::sc_time ready;
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base&) override {}
    void free() override {}
  };
  struct Response {
    Payload* payload = nullptr;
    sc_core::sc_time ready;
  };
  struct InitiatorSide {
    std::uint64_t under_way = 0;  // without the one whose response is open
    std::deque<Response> responses;
    std::uint64_t reads = 0, writes = 0, bytes_read = 0, bytes_written = 0, errors = 0;
  };

  bus::Verdict request(unsigned initiator, Payload& payload, sc_core::sc_time ready,
                       sc_core::sc_time& delay) override;
  void blocking(unsigned initiator, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned initiator, Payload& payload, tlm::tlm_dmi& granted) override;
  unsigned debug(unsigned initiator, Payload& payload) override;
  bool response(unsigned target, Payload& payload, sc_core::sc_time ready) override;
  void invalidate(unsigned target, sc_dt::uint64 begin, sc_dt::uint64 end) override;
  void free(Payload* payload) override;  // of a passage

  unsigned decode(std::uint64_t address, std::uint64_t bytes) const;
  void accept(unsigned initiator, Payload& payload, unsigned target, const sc_core::sc_time& at);
  bool full(unsigned initiator) const;
  void work();
  void request_of(unsigned target);
  void response_to(unsigned initiator);
  void admit(unsigned initiator);
  void count(unsigned initiator, const Payload& payload);

  const Config config_;
  const sc_core::sc_time latency_;
  const std::vector<Region> regions_;
  std::vector<InitiatorSide> initiator_sides_;
  std::vector<std::deque<Passage*>> queues_;  // by target
  std::vector<std::unique_ptr<Passage>> passages_;
  std::vector<Passage*> free_passages_;
  sc_core::sc_event wake_;
  const bus::EventPace pace_;
  const std::vector<std::unique_ptr<bus::EventTargetPort>> initiator_ports_;
  const std::vector<std::unique_ptr<bus::EventInitiatorPort>> target_ports_;
};

}  // namespace weft::soc

#endif
