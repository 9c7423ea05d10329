// The way to system memory: takes the GPU's transactions, sends plain ones to the outside.
//
// Stands beside the L2 banks, for kernels' accesses to windows of system memory; or below them, in place of
// memory controllers, where device memory itself lies there (CarveOut). The outside may be any target of the
// base protocol: transactions there carry no extension, so that whoever takes them moves their data. A few
// are outstanding at a time, answered in any order. An atomic is a read and a write with no other transaction
// of this port between or beside them. What writes some bytes only goes out in parts, or with byte enables.
// No transaction outside crosses a multiple of the outside's burst, so longer requests go out in parts, too.
// Lone access: a request that arrives at edge n leaves at n + latency; its answer leaves at the edge after it
// came. At each edge one request leaves, and one answer per target.
#ifndef WEFT_SYSTEM_PORT_SYSTEM_PORT_H
#define WEFT_SYSTEM_PORT_SYSTEM_PORT_H

#include <cstdint>
#include <functional>
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
#include "system_port/carve_out.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"
#include "weft/system_port/system_port_config.h"

namespace weft::system_port {

class SystemPort final : public sc_core::sc_module,
                         public Clocked,
                         private bus::TargetPort::Listener,
                         private bus::InitiatorPort::Listener,
                         private tlm::tlm_mm_interface {
 public:
  sc_core::sc_vector<tlm::tlm_target_socket<32>> targets;
  tlm::tlm_initiator_socket<32> system;  // to system memory

  static constexpr std::uint64_t kLongestBurst = 4096;
  // Without `carve_out` requests have addresses of system memory; with it they have offsets into device
  // memory, and those beyond its end get an address error. `burst_bytes` is a power of two.
  SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
             unsigned target_count = 1, CarveOut* carve_out = nullptr,
             std::uint64_t burst_bytes = kLongestBurst);
  ~SystemPort() override;

  // Told when the outside takes direct access to these bytes back, both included.
  std::function<void(std::uint64_t first, std::uint64_t last)> on_invalidate;
  // Told when a write to a window is done, from which address on: the payload's may be another's by now.
  std::function<void(std::uint64_t address, const tlm::tlm_generic_payload& write)> on_written;
  // Nothing is under way.
  bool quiet() const;

  // Drops everything that is under way. What the outside still answers is ignored.
  void reset();
  void bind(statistics::Group& group);
  void probes(const Probes::Scope& scope) const;
  Cycle step(Cycle now) override;

 private:
  using Payload = tlm::tlm_generic_payload;
  // A request and the transaction that stands for it outside.
  struct Request {
    Payload* payload = nullptr;
    unsigned target = 0;  // where it came in
    Cycle ready = 0;
  };
  struct Outside final : Payload {
    Request request;                  // without payload: idle, or forgotten by a reset
    unsigned first = 0, bytes = 0;    // the part of its data
    unsigned moved = 0;               // ... of which an atomic has read, or then written, so many bytes
    std::uint64_t at = 0;             // its address inside; outside, a bus may change the payload's
    bool busy = false;                // somebody outside holds it
    bool open = false;                // it is not answered yet
    bool own = false;                 // the request was of Weft's own origin
    std::vector<unsigned char> kept;  // data that are not the request's
    std::vector<unsigned char> kept_enables;
    explicit Outside(tlm::tlm_mm_interface* manager) : Payload(manager) {}
  };

  // Beside that of the ports. What the outside still holds is not the port's to reset: `pool_`, `open_`, and
  // the request that is open there.
  struct State {
    State(const Config& config, std::size_t targets);
    Ring<Request> waiting;
    unsigned sent = 0;       // of the first one's data: the parts before have been sent
    Ring<unsigned> blocked;  // targets whose request is withheld
    std::uint64_t under_way = 0;
    Outside* exclusive = nullptr;  // an atomic: it reads its part, then writes it, burst after burst
    bool writes = false;           // ... it has read all
    bool goes_on = false;          // ... with the next burst
    Cycle goes_on_from = 0;
    std::vector<Ring<Request>> answers;  // by target
  };

  bus::Verdict request(unsigned target, Payload& payload, Cycle ready, sc_core::sc_time& delay) override;
  void blocking(unsigned target, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned target, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned target, Payload& payload) override;
  bool response(unsigned, Payload& payload, Cycle ready) override;
  void invalidate(unsigned, sc_dt::uint64 first, sc_dt::uint64 last) override;
  void free(Payload* payload) override;  // the outside is done with it

  static bool is_atomic(const Payload& payload);
  tlm::tlm_response_status check_request(const Payload& payload) const;
  void forget(Outside& outside);
  static void keep_data(Outside& outside);
  void respond(unsigned target, Cycle now);
  void issue(Cycle now);
  void admit(Cycle now);
  void go_on(Cycle now);
  Outside& take_idle();
  void take_part(Outside& outside, bool atomic);
  unsigned part_end(const Payload& payload, unsigned first, bool atomic) const;
  std::uint64_t up_to_burst(std::uint64_t address, std::uint64_t bytes) const;
  static void apply(Outside& outside);
  void prepare(Outside& outside, tlm::tlm_command command);
  void set_enables(Outside& outside, bool write);
  bool finish_part(const Request& request, tlm::tlm_response_status status);
  unsigned char* own_data(Outside& outside);
  static void fill(const Outside& outside);
  void transport(Payload& payload, sc_core::sc_time& delay);
  bool move_on(Outside& outside, Cycle ready);
  void send(Outside& outside, tlm::tlm_command command);
  void count(bool write, unsigned bytes);
  void landed(const Outside& outside);
  void answered(Outside& outside, Cycle ready);
  Cycle next_work(Cycle now) const;

  const Config config_;
  ClockDomain& domain_;
  const std::size_t index_;
  CarveOut* const carve_out_;
  const std::uint64_t base_;  // of the requests' addresses, outside
  const std::uint64_t burst_bytes_;
  const std::vector<std::unique_ptr<bus::TargetPort>> target_ports_;
  bus::InitiatorPort outside_;
  // As many as somebody holds: one that is answered makes room for the next, whoever keeps it.
  std::vector<std::unique_ptr<Outside>> pool_;
  std::vector<Outside*> idle_;
  std::uint64_t open_ = 0;  // outside and not answered, those of before a reset included
  State state_;

  std::uint64_t reads_ = 0, writes_ = 0, atomics_ = 0, errors_ = 0, read_bytes_ = 0, write_bytes_ = 0,
                stalls_ = 0;
};

}  // namespace weft::system_port

#endif
