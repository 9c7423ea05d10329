// The interconnect between SMs and memory: a crossbar of two directions, requests and responses.
//
// One target socket per SM, one initiator socket per L2 bank (or per memory channel, in machines without L2);
// the address map routes. A packet is a header of 8 bytes, and the data where it carries them (write request,
// read response, both ways for atomics), cut into flits. Several SMs may share a network interface; each
// keeps its own queues. All queues are finite: END_REQ and END_RESP are withheld while there is no place.
// Lone packet: a request that arrives at edge n leaves at n + flits + router_latency; a response likewise.
//
// Requests that cross a chunk of the address map get a burst error: their initiator has to split them.
#ifndef WEFT_CROSSBAR_CROSSBAR_H
#define WEFT_CROSSBAR_CROSSBAR_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/clock_domain.h"
#include "common/config_visitor.h"
#include "common/hop_gate.h"
#include "common/statistics.h"
#include "crossbar/packet_network.h"
#include "gddr5/address_map.h"

namespace weft::crossbar {

class Crossbar : public sc_core::sc_module, public Clocked {
 public:
  struct Config {
    std::uint64_t flit_bytes = 32;
    std::uint64_t input_queue = 8;
    std::uint64_t output_queue = 8;
    std::uint64_t sms_per_interface = 1;
    std::uint64_t router_latency = 4;
    Arbitration arbitration = Arbitration::kRoundRobin;

    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  };

  // One per SM; behind them those of other requesters (DMA, accesses from outside), if there are any.
  sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<Crossbar>> sm_sockets;
  // Number map.route(address).port, or .channel without L2. The last one, if asked for, leads to system
  // memory.
  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<Crossbar>> memory_sockets;

  // `ports` is map.ports() or, without L2, map.channels(); `system_port`: one more, for the transactions
  // whose origin names system memory; `others`: requesters behind the SMs. Throws InputError unless there are
  // 1 to 64 SMs, with the others at most 64, and 1 to 64 ports in all.
  Crossbar(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
           const gddr5::AddressMap& map, unsigned sms, unsigned ports, bool system_port = false,
           unsigned others = 0);

  // Drops everything that is under way.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);
  // Statistics of the requester behind the SMs, number `other` of them.
  void bind_other(statistics::Registry& registry, const std::string& name, unsigned other);
  Cycle step(Cycle now) override;

  // For the watchdog: bytes of SMs that came in and went out so far, and whether a packet is on its way.
  std::uint64_t bytes_of_sms() const {
    std::uint64_t bytes = 0;
    for (unsigned sm = 0; sm < sm_count_; ++sm) bytes += sms_[sm].bytes_in + sms_[sm].bytes_out;
    return bytes;
  }
  bool transmits() const {
    const Cycle now = domain_.current_edge();
    return requests_.transmits(now) || responses_.transmits(now);
  }

 private:
  using Payload = tlm::tlm_generic_payload;

  // Where a payload came from, attached while it is under way. Belongs to the crossbar, therefore never
  // deleted by the payload and never copied; `outer` is the path in a crossbar that it went through before.
  struct Path : tlm::tlm_extension<Path> {
    Payload* payload = nullptr;
    unsigned sm = 0;
    Path* outer = nullptr;
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base&) override {}
    void free() override {}
  };
  struct Blocked {
    Payload* payload = nullptr;
    Cycle ready = 0;  // first edge at which it may be let in
  };
  // The side of one SM, or of another requester.
  struct SmSide {
    Blocked request;                // END_REQ withheld
    Payload* responding = nullptr;  // from BEGIN_RESP to END_RESP
    HopGate response_gate;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
  };
  // The side of one memory port.
  struct MemorySide {
    HopGate request_gate;
    Payload* requesting = nullptr;  // from BEGIN_REQ to END_REQ
    Blocked completed;  // answered by TLM_COMPLETED: waits for a place, and the next request with it
    Blocked response;   // END_RESP withheld
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
  };

  tlm::tlm_sync_enum forward(int index, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(int index, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(int sm, Payload& payload, sc_core::sc_time& delay);
  bool dmi(int sm, Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(int sm, Payload& payload);
  void invalidate(int port, sc_dt::uint64 begin, sc_dt::uint64 end);

  unsigned port_of(const Payload& payload) const;
  Cycle edge_of(const sc_core::sc_time& delay) const;
  unsigned flits(std::uint64_t bytes) const;
  void attach_path(Payload& payload, unsigned sm);
  void detach_path(Path& path);
  void push_request(unsigned sm, Payload& payload, Cycle ready);
  void push_response(unsigned port, Payload& payload, Cycle ready);
  void deliver_requests(Cycle now);
  void deliver_responses(Cycle now);
  void admit_requests(Cycle now);
  void admit_responses(Cycle now);
  void hold_response(unsigned port, Payload& payload, Cycle ready);
  void end_response(SmSide& side, Cycle usable_from);
  Cycle next_work(Cycle now) const;

  const Config config_;
  ClockDomain& domain_;
  const gddr5::AddressMap& map_;
  const bool by_channel_;   // ports are memory channels
  const bool system_port_;  // the last port leads to system memory
  const unsigned sm_count_;
  const std::size_t index_;

  PacketNetwork requests_;
  PacketNetwork responses_;
  std::vector<SmSide> sms_;
  std::vector<MemorySide> memory_;
  std::uint64_t blocked_requests_ = 0;   // one bit per SM
  std::uint64_t blocked_responses_ = 0;  // one bit per port: `completed` or `response` is set
  std::vector<std::unique_ptr<Path>> paths_;
  std::vector<Path*> free_paths_;

  std::uint64_t request_packets_ = 0;
  std::uint64_t response_packets_ = 0;
  std::uint64_t request_stalls_ = 0;
  std::uint64_t response_stalls_ = 0;
};

}  // namespace weft::crossbar

#endif
