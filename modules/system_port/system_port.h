// The way to system memory: takes the GPU's transactions, sends plain ones to the outside.
//
// Stands beside the L2 banks, for kernels' accesses to windows of system memory; or below them, in place of
// memory controllers, where device memory itself lies there (CarveOut). The outside may be any target of the
// base protocol: transactions there carry no extension, so that whoever takes them moves their data. A few
// are outstanding at a time, answered in any order. An atomic is a read and a write with no other transaction
// of this port between or beside them. Lone access: a request that arrives at edge n leaves at n + latency;
// its answer leaves at the edge after it came. At each edge one request leaves, and one answer per target.
#ifndef WEFT_SYSTEM_PORT_SYSTEM_PORT_H
#define WEFT_SYSTEM_PORT_SYSTEM_PORT_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

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
#include "system_port/carve_out.h"

namespace weft::system_port {

class SystemPort final : public sc_core::sc_module, public Clocked, private tlm::tlm_mm_interface {
 public:
  struct Config {
    std::uint64_t queue = 8;         // requests that wait
    std::uint64_t outstanding = 16;  // transactions under way outside
    std::uint64_t latency = 4;       // interconnect cycles from arrival to departure

    void describe(config::Visitor& v);
  };

  sc_core::sc_vector<tlm_utils::passthrough_target_socket_tagged<SystemPort>> targets;
  tlm_utils::simple_initiator_socket<SystemPort> system;  // to system memory

  // Without `carve_out` requests have addresses of system memory; with it they have offsets into device
  // memory, and those beyond its end get an address error.
  SystemPort(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
             unsigned target_count = 1, CarveOut* carve_out = nullptr);
  ~SystemPort() override;

  // Told when the outside takes direct access to these bytes back, both included.
  std::function<void(std::uint64_t first, std::uint64_t last)> on_invalidate;
  // What the carve-out has taken back (CarveOut::withdraw): targets' initiators are told that their direct
  // access is void, and what is under way outside gets copies of its bytes. While the old ones are there.
  void withdraw_access();
  // Nothing is under way.
  bool quiet() const;

  // Drops everything that is under way. What the outside still answers is ignored.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);
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
    bool busy = false;                // the outside holds it
    bool own = false;                 // the request was of Weft's own origin
    std::vector<unsigned char> kept;  // data that are not the request's
    std::vector<unsigned char> kept_enables;
    explicit Outside(tlm::tlm_mm_interface* manager) : Payload(manager) {}
  };
  struct Side {  // of a target
    Ring<Request> answers;
    Payload* responding = nullptr;  // from BEGIN_RESP to END_RESP
    HopGate gate;
  };

  tlm::tlm_sync_enum forward(int target, Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(int target, Payload& payload, sc_core::sc_time& delay);
  bool dmi(int target, Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(int target, Payload& payload);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last);
  void free(Payload* payload) override;  // the outside is done with it

  Cycle edge_of(const sc_core::sc_time& delay) const;
  static bool is_atomic(const Payload& payload);
  tlm::tlm_response_status check_request(const Payload& payload) const;
  // Whether the bytes of device memory have to be carried by transactions.
  bool carries_bytes() const { return carve_out_ != nullptr && !carve_out_->direct(); }
  void forget(Outside& outside);
  static void keep_data(Outside& outside);
  void respond(unsigned target, Cycle now);
  void issue(Cycle now);
  void admit(Cycle now);
  Outside* take_idle();
  void prepare(Outside& outside, tlm::tlm_command command);
  void send(Outside& outside, tlm::tlm_command command);
  void landed(const Outside& outside);
  void answered(Outside& outside, Cycle ready);
  void end_response(Side& side, Cycle usable_from);
  Cycle next_work(Cycle now) const;

  const Config config_;
  ClockDomain& domain_;
  const std::size_t index_;
  CarveOut* const carve_out_;
  const std::uint64_t base_;  // of the requests' addresses, outside
  Ring<Request> waiting_;
  Ring<Request> blocked_;  // END_REQ withheld; at most one per target
  std::vector<std::unique_ptr<Outside>> pool_;
  std::vector<Outside*> idle_;
  std::uint64_t under_way_ = 0;
  Outside* exclusive_ = nullptr;  // an atomic
  bool write_back_ = false;       // ... whose read is done
  Cycle write_back_from_ = 0;
  HopGate request_gate_;  // towards the outside
  const Payload* requesting_ = nullptr;
  std::vector<Side> sides_;

  std::uint64_t reads_ = 0, writes_ = 0, atomics_ = 0, errors_ = 0, read_bytes_ = 0, write_bytes_ = 0,
                stalls_ = 0;
};

}  // namespace weft::system_port

#endif
