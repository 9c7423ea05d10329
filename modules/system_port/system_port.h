// The way from the crossbar to system memory: takes kernels' transactions, sends plain ones to the outside.
//
// Stands beside the L2 banks. The outside may be any target of the base protocol: transactions there carry no
// extension, so that whoever takes them moves their data. A few are outstanding at a time, answered in any
// order. An atomic is a read and a write with no other transaction of this port between or beside them.
// Lone access: a request that arrives at edge n leaves at n + latency; its answer leaves at the edge after it
// came.
#ifndef WEFT_SYSTEM_PORT_SYSTEM_PORT_H
#define WEFT_SYSTEM_PORT_SYSTEM_PORT_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "common/clock_domain.h"
#include "common/config_visitor.h"
#include "common/hop_gate.h"
#include "common/memory_transaction.h"
#include "common/ring.h"
#include "common/statistics.h"

namespace weft::system_port {

class SystemPort final : public sc_core::sc_module, public Clocked, private tlm::tlm_mm_interface {
 public:
  struct Config {
    std::uint64_t queue = 8;         // requests that wait
    std::uint64_t outstanding = 16;  // transactions under way outside
    std::uint64_t latency = 4;       // interconnect cycles from arrival to departure

    void describe(config::Visitor& v);
  };

  tlm_utils::simple_target_socket<SystemPort> target;     // from the crossbar
  tlm_utils::simple_initiator_socket<SystemPort> system;  // to system memory

  SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain);
  ~SystemPort() override;

  // Told when the outside takes direct access to these bytes back, both included.
  std::function<void(std::uint64_t first, std::uint64_t last)> on_invalidate;

  // Drops everything that is under way. What the outside still answers is ignored.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);
  Cycle step(Cycle now) override;

 private:
  using Payload = tlm::tlm_generic_payload;
  // A request and the transaction that stands for it outside.
  struct Request {
    Payload* payload = nullptr;
    Cycle ready = 0;
  };
  struct Outside {
    Payload payload;
    Payload* request = nullptr;  // nullptr: idle, or forgotten by a reset
    bool busy = false;
    std::vector<unsigned char> kept;  // the data of a transaction whose request was forgotten
    explicit Outside(tlm::tlm_mm_interface* manager) : payload(manager) {}
  };

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last);
  void free(Payload* payload) override;  // the outside is done with it

  Cycle edge_of(const sc_core::sc_time& delay) const;
  static bool is_atomic(const Payload& payload);
  Outside* outside_of(const Payload& payload);
  static void keep_data(Outside& outside);
  void respond(Cycle now);
  void issue(Cycle now);
  void admit(Cycle now);
  Outside* idle();
  void send(Outside& outside, tlm::tlm_command command);
  void answered(Outside& outside, Cycle ready);
  void end_response(Cycle usable_from);
  Cycle next_work(Cycle now) const;

  const Config config_;
  ClockDomain& domain_;
  const std::size_t index_;
  Ring<Request> waiting_;
  Request blocked_;  // END_REQ withheld
  std::vector<std::unique_ptr<Outside>> pool_;
  std::uint64_t under_way_ = 0;
  Outside* exclusive_ = nullptr;  // an atomic
  bool write_back_ = false;       // ... whose read is done
  Cycle write_back_from_ = 0;
  HopGate request_gate_;  // towards the outside
  const Payload* requesting_ = nullptr;
  Ring<Request> answers_;
  Payload* responding_ = nullptr;  // from BEGIN_RESP to END_RESP
  HopGate response_gate_;

  std::uint64_t reads_ = 0, writes_ = 0, atomics_ = 0, errors_ = 0, read_bytes_ = 0, write_bytes_ = 0,
                stalls_ = 0;
};

}  // namespace weft::system_port

#endif
