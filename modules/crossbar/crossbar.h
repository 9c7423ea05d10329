// The interconnect between SMs and memory: a crossbar of two directions, requests and responses.
//
// One target socket per SM, one initiator socket per L2 bank (or per memory channel, in machines without L2);
// the address map routes. A packet is a header of 8 bytes, and the data where it carries them (write request,
// read response, both ways for atomics), cut into flits. Several SMs may share a network interface; each
// keeps its own queues. All queues are finite: END_REQ and END_RESP are withheld while there is no place.
// Lone packet: a request that arrives at edge n leaves at n + flits + router_latency; a response likewise.
//
// Without write acknowledgements no packet goes back for a write. Its transaction ends all the same when
// memory has answered: a wire of its own tells the requester at the next edge. So who waits for writes
// (fences, the end of a kernel, DMA) waits until they have taken effect, and pays for no packet.
//
// Requests that cross a chunk of the address map get a burst error: their initiator has to split them.
#ifndef WEFT_CROSSBAR_CROSSBAR_H
#define WEFT_CROSSBAR_CROSSBAR_H

#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/initiator_port.h"
#include "bus/memory_transaction.h"
#include "bus/target_port.h"
#include "common/probes.h"
#include "common/ring.h"
#include "crossbar/packet_network.h"
#include "memory/channel_map.h"
#include "weft/common/archive.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"
#include "weft/crossbar/crossbar_config.h"

namespace weft::crossbar {

class Crossbar : public sc_core::sc_module,
                 public Clocked,
                 private bus::TargetPort::Listener,
                 private bus::InitiatorPort::Listener {
 public:
  static constexpr unsigned kMostSms = 256, kMostOthers = 256, kMostMemoryPorts = 129;
  static_assert(kMostSms + kMostOthers <= QueueSet::kMost);

  // One per SM; behind them those of other requesters (DMA, accesses from outside), if there are any.
  sc_core::sc_vector<tlm::tlm_target_socket<32>> sm_sockets;
  // Number map.route(address).port, or .channel without L2. The last one, if asked for, leads to system
  // memory.
  sc_core::sc_vector<tlm::tlm_initiator_socket<32>> memory_sockets;

  // `ports` is map.ports() or, without L2, map.channels(); `system_port`: one more, for the transactions
  // whose origin names system memory; `others`: requesters behind the SMs. Throws InputError unless there are
  // 1 to kMostSms SMs, at most kMostOthers others, and 1 to kMostMemoryPorts ports in all.
  Crossbar(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
           const memory::ChannelMap& map, unsigned sms, unsigned ports, bool system_port = false,
           unsigned others = 0);

  // A b_transport over several chunks goes to each memory port with that port's bytes. Otherwise it goes as a
  // whole to the port of its first byte, because device memory is one image.
  void divide_blocking(bool divide) { divide_blocking_ = divide; }
  // Drops everything that is under way.
  void reset();
  // Between two launches.
  void archive(Archive& archive);
  void bind(statistics::Group& group);
  // Statistics of the requester behind the SMs, number `other` of them.
  void bind_other(statistics::Group& group, unsigned other);
  // Packets in the queues of both directions, at the side of each requester and at that of each memory port.
  void probes(const Probes::Scope& all) const;
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

  // What a transaction is here: where it came from, and what its packets weigh. Attached to its payload while
  // it is under way. Belongs to the crossbar, therefore never deleted by the payload and never copied;
  // `outer` is the path in a crossbar that it went through before.
  struct Path : tlm::tlm_extension<Path> {
    Payload* payload = nullptr;
    TransactionOrigin* origin = nullptr;  // null: it has none
    unsigned sm = 0;
    unsigned response_flits = 0;
    std::uint64_t request_bytes = 0, response_bytes = 0;
    bool answered_by_wire = false;
    Path* outer = nullptr;
    tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm_extension_base&) override {}
    void free() override {}
  };
  // Beside that of its parts: the networks and the ports.
  struct Completion {  // of a write without acknowledgement
    Path* path = nullptr;
    Cycle ready = 0;
  };
  struct State {
    State(const Config& config, std::size_t sms);
    QueueSet blocked_requests;                  // SMs whose request is withheld
    QueueSet blocked_responses;                 // memory ports whose response is withheld
    std::vector<Ring<Completion>> completions;  // per SM
    QueueSet completing;                        // SMs that have completions
    void archive(Archive& archive) {
      auto& [requests_, responses_, completions_, completing_] = *this;
      archive(at_rest(requests_), at_rest(responses_), set_anew(completions_), at_rest(completing_));
    }
  };
  // Of one SM, of another requester, or of a memory port.
  struct Traffic {
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
  };

  bus::Verdict request(unsigned sm, Payload& payload, Cycle ready, sc_core::sc_time& delay) override;
  void blocking(unsigned sm, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned sm, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned sm, Payload& payload) override;
  bool response(unsigned port, Payload& payload, Cycle ready) override;
  void invalidate(unsigned port, sc_dt::uint64 begin, sc_dt::uint64 end) override;

  void block_by_chunk(Payload& payload, sc_core::sc_time& delay);
  unsigned port_of(const Payload& payload, const TransactionOrigin* origin) const;
  // Bytes and flits of a transaction's packets.
  std::uint64_t request_bytes(const Payload& payload, const TransactionOrigin* origin) const;
  struct Response {
    std::uint64_t bytes = 0;  // of all its packets
    unsigned flits = 0;
  };
  Response response_of(const Payload& payload, const TransactionOrigin* origin) const;
  // What a transaction takes here, both ways, when nothing else is under way.
  sc_core::sc_time lone_time(const Payload& payload) const;
  // Is it answered by a wire, without a packet?
  bool answered_by_wire(const Payload& payload, const TransactionOrigin* origin) const;
  bool has_place_for_response(unsigned port, const Payload& payload) const;
  Path& attach_path(Payload& payload, unsigned sm);
  void detach_path(Path& path);
  void push_request(unsigned sm, Payload& payload, Cycle ready);
  void push_response(unsigned port, Path& path, Cycle ready);
  void respond(Path& path);
  void stamp_delivered(const Path& path) const;
  void stamp_answered(const Path& path) const;
  void deliver_requests(Cycle now);
  void deliver_responses(Cycle now);
  void admit_requests(Cycle now);
  void admit_responses(Cycle now);
  Cycle next_work(Cycle now);

  const Config config_;
  ClockDomain& domain_;
  const memory::ChannelMap& map_;
  const bool by_channel_;   // ports are memory channels
  const bool system_port_;  // the last port leads to system memory
  const unsigned sm_count_;
  const std::size_t index_;

  const std::vector<std::unique_ptr<bus::TargetPort>> sm_ports_;
  const std::vector<std::unique_ptr<bus::InitiatorPort>> memory_ports_;
  PacketNetwork requests_;
  PacketNetwork responses_;
  std::vector<Traffic> sms_;
  std::vector<Traffic> memory_;
  bool divide_blocking_ = false;
  State state_;
  std::vector<std::unique_ptr<Path>> paths_;
  std::vector<Path*> free_paths_;

  std::uint64_t request_packets_ = 0;
  std::uint64_t response_packets_ = 0;
  std::uint64_t request_stalls_ = 0;
  std::uint64_t response_stalls_ = 0;
};

}  // namespace weft::crossbar

#endif
