// One DRAM channel: controller, bus and devices, with the device memory image behind it.
//
// Final target of the memory hops. A request waits extra_latency cycles, then in the scheduler's queue; when
// its last burst has moved, its response waits in the queue of its port. END_REQ is withheld while no place
// is free, and a request is not begun while its port has no room for the response: back-pressure in both
// directions. Latency of a lone request, in cycles from BEGIN_REQ to BEGIN_RESP:
//   1 + extra_latency + [t_rp +] [t_rcd +] t_cl + (bursts - 1) * column gap + burst cycles.
#ifndef WEFT_DRAM_DRAM_CHANNEL_H
#define WEFT_DRAM_DRAM_CHANNEL_H

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/memory_transaction.h"
#include "bus/target_port.h"
#include "common/fast_divider.h"
#include "common/probes.h"
#include "common/ring.h"
#include "dram/bank_scheduler.h"
#include "memory/channel_map.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"
#include "weft/memory/memory_image.h"

namespace weft::dram {

class DramChannel : public sc_core::sc_module, public Clocked, private bus::TargetPort::Listener {
 public:
  // One per L2 bank of the channel, or one for the crossbar.
  sc_core::sc_vector<tlm::tlm_target_socket<32>> sockets;

  // `channel` is this channel's number in the map. Throws InputError if a burst is larger than the map's
  // chunk.
  DramChannel(sc_core::sc_module_name name, const ChannelConfig& config, ClockDomain& domain,
              memory::MemoryImage& image, const memory::ChannelMap& map, unsigned channel, unsigned ports);

  // Drops all requests, closes all rows. The image is reset by its owner.
  void reset();
  // Between two launches: open rows, and when which command may go.
  void archive(Archive& archive);
  void bind(statistics::Group& group);
  Cycle step(Cycle now) override;

  // Requests, and the row that each bank has open.
  void probes(const Probes::Scope& all) const;

  // Requests accepted whose last burst is not sent yet: at most queue_size + extra_latency.
  std::size_t queued() const { return state_.waiting; }

 private:
  using Payload = tlm::tlm_generic_payload;

  struct Flight {
    Payload* payload = nullptr;
    unsigned port = 0;
    Cycle arrived = 0;
    Cycle ready = 0;  // first edge at which the scheduler may see it
    bool atomic = false;
    bool write = false;  // an atomic is none: it reads the row
  };
  struct Response {
    std::uint32_t flight;
    Cycle done;
  };
  struct Port {
    explicit Port(std::size_t places) : responses(places) {}
    Ring<Response> responses;  // by time of completion
    std::size_t reserved = 0;  // places taken in `responses`, or promised to requests under way
    void archive(Archive& archive) {
      auto& [responses_, reserved_] = *this;
      archive(at_rest(responses_), at_rest(reserved_));
    }
  };

  // Beside that of its parts: scheduler and ports.
  struct State {
    State(const ChannelConfig& config, std::size_t places, std::size_t ports);
    std::vector<Port> ports;
    std::vector<Flight> flights;
    std::vector<std::uint32_t> free_flights;
    Ring<std::uint32_t> arrivals;  // accepted, not yet in the scheduler's queue
    Ring<unsigned> blocked;        // ports whose request is withheld
    std::size_t waiting = 0;       // accepted, last burst not yet sent
    Cycle first_done = kNever;     // no response has its data before this edge
    void archive(Archive& archive) {
      auto& [ports_, flights_, free_flights_, arrivals_, blocked_, waiting_, first_done_] = *this;
      archive(at_rest(waiting_), at_rest(arrivals_), at_rest(blocked_), set_anew(flights_), free_flights_,
              set_anew(first_done_));
      archive_each(archive, ports_);
    }
  };

  bus::Verdict request(unsigned port, Payload& payload, Cycle ready, sc_core::sc_time& delay) override;
  void blocking(unsigned port, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned port, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned port, Payload& payload) override;

  tlm::tlm_response_status check_request(const Payload& payload) const;
  unsigned bursts_of(const Payload& payload) const;
  sc_core::sc_time lone_time(const Payload& payload) const;
  void accept(unsigned port, Payload& payload, Cycle arrived, Cycle ready);
  // The edge from which on the scheduler can take the next request; kNever: none waits, or it has no place.
  Cycle next_arrival() const {
    if (state_.arrivals.empty()) return kNever;
    const Flight& flight = state_.flights[state_.arrivals.front()];
    return scheduler_.full(flight.write) ? kNever : flight.ready;
  }
  void take_arrivals(Cycle now);
  void schedule(Cycle now);
  void admit_blocked(Cycle now);
  void respond(Cycle now);
  void send_response(unsigned port);
  static void insert(Ring<Response>& responses, const Response& response);
  Cycle next_work(Cycle now) const;

  const ChannelConfig config_;
  ClockDomain& domain_;
  memory::MemoryImage& image_;
  const memory::ChannelMap& map_;
  const unsigned channel_;
  const std::size_t index_;
  const std::size_t places_;  // requests that may wait: in the queue and in the latency before it
  const FastDivider burst_;   // bytes

  const std::vector<std::unique_ptr<bus::TargetPort>> hops_;
  BankScheduler scheduler_;
  State state_;

  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t bytes_read_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint64_t read_latency_ = 0;
  std::uint64_t blocked_requests_ = 0;
};

}  // namespace weft::dram

#endif
