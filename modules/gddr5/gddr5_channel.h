// One GDDR5 memory channel: controller, bus and devices, with the device memory image behind it.
//
// Final target of the memory hops. A request waits extra_latency cycles, then in the scheduler's queue; when
// its last burst has moved, its response waits in the queue of its port. END_REQ is withheld while no place
// is free, and a request is not begun while its port has no room for the response: back-pressure in both
// directions. Latency of a lone request, in cycles from BEGIN_REQ to BEGIN_RESP:
//   1 + extra_latency + [t_rp +] [t_rcd +] t_cl + (bursts - 1) * column gap + burst cycles.
#ifndef WEFT_GDDR5_GDDR5_CHANNEL_H
#define WEFT_GDDR5_GDDR5_CHANNEL_H

#include <tlm_utils/passthrough_target_socket.h>

#include <systemc>
#include <tlm>
#include <vector>

#include "common/clock_domain.h"
#include "common/hop_gate.h"
#include "common/memory_transaction.h"
#include "common/ring.h"
#include "common/statistics.h"
#include "gddr5/address_map.h"
#include "gddr5/bank_scheduler.h"
#include "gddr5/memory_image.h"

namespace weft::gddr5 {

class Gddr5Channel : public sc_core::sc_module, public Clocked {
 public:
  struct Config {
    BankScheduler::Config scheduler;
    std::uint64_t extra_latency = 0;
    std::uint64_t response_queue = 16;
    std::uint64_t atomic_interval = 1;

    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  };

  // One per L2 bank of the channel, or one for the crossbar.
  sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<Gddr5Channel>> sockets;

  // `channel` is this channel's number in the map. Throws InputError if a burst is larger than the map's
  // chunk.
  Gddr5Channel(sc_core::sc_module_name name, const Config& config, ClockDomain& domain, MemoryImage& image,
               const AddressMap& map, unsigned channel, unsigned ports);

  // Drops all requests, closes all rows. The image is reset by its owner.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);
  Cycle step(Cycle now) override;

  // Requests accepted whose last burst is not sent yet: at most queue_size + extra_latency.
  std::size_t queued() const { return waiting_; }

 private:
  using Payload = tlm::tlm_generic_payload;

  struct Flight {
    Payload* payload = nullptr;
    unsigned port = 0;
    Cycle arrived = 0;
    Cycle ready = 0;  // first edge at which the scheduler may see it
  };
  struct Response {
    std::uint32_t flight;
    Cycle done;
  };
  struct Port {
    std::vector<Response> responses;  // by time of completion; capacity response_queue
    std::size_t reserved = 0;         // places taken in `responses`, or promised to requests under way
    Payload* responding = nullptr;    // from BEGIN_RESP to END_RESP
    HopGate gate;
  };

  tlm::tlm_sync_enum forward(int index, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(int port, Payload& payload, sc_core::sc_time& delay);
  bool dmi(int port, Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(int port, Payload& payload);

  tlm::tlm_response_status check_request(const Payload& payload) const;
  unsigned bursts_of(const Payload& payload) const;
  void accept(std::uint32_t flight, Cycle ready);
  void take_arrivals(Cycle now);
  void schedule(Cycle now);
  void admit_blocked(Cycle now);
  void respond(Port& port, Cycle now);
  void end_response(Port& port, Cycle usable_from);
  Cycle next_work(Cycle now) const;

  const Config config_;
  ClockDomain& domain_;
  MemoryImage& image_;
  const AddressMap& map_;
  const unsigned channel_;
  const std::size_t index_;
  const std::size_t places_;  // requests that may wait: in the queue and in the latency before it

  BankScheduler scheduler_;
  std::vector<Port> ports_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_flights_;
  Ring<std::uint32_t> arrivals_;  // accepted, not yet in the scheduler's queue
  Ring<std::uint32_t> blocked_;   // END_REQ withheld; at most one per port
  std::size_t waiting_ = 0;       // accepted, last burst not yet sent

  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t read_latency_ = 0;
  std::uint64_t blocked_requests_ = 0;
};

}  // namespace weft::gddr5

#endif
