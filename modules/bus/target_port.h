// The target's side of a hop: takes requests and sends responses by the TLM-2.0 base protocol, approximately
// timed. The other calls of the socket go to the module as they are.
//
//   tlm::tlm_target_socket<32> socket;                       // the module's, public
//   bus::TargetPort port(socket, *this, {domain, index});    // the module is its Listener
//   ...
//   Verdict request(unsigned, Payload& payload, Cycle ready, sc_time& delay);  // BEGIN_REQ
//   if (port.usable(now)) port.respond(payload);                               // BEGIN_RESP, when it is done
//
// A request for which the module has no place is withheld: the port keeps it, and END_REQ follows when the
// module has taken it, which is the back-pressure. One response is open at a time: after BEGIN_RESP the port
// is not `usable` before the initiator's END_RESP, and not at the edge at which that came. The port acquires
// the payload of each request that it does not answer at once. It releases it when the response has ended; a
// module that drops one in a reset releases it itself.
#ifndef WEFT_BUS_TARGET_PORT_H
#define WEFT_BUS_TARGET_PORT_H

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/pace.h"
#include "weft/common/archive.h"

namespace weft::bus {

enum class Verdict : std::uint8_t {
  kTaken,     // END_REQ at once
  kWithheld,  // no place: END_REQ later
  kCompleted  // the response status is set and nothing follows, as for an error: TLM_COMPLETED
};

template <class Pace>
class BasicTargetPort final : private tlm::tlm_fw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;
  using Time = typename Pace::Time;
  using Socket = tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

  class Listener {
   public:
    // A request, which may be used from `ready` on. `delay`: as annotated; kCompleted may add to it.
    virtual Verdict request(unsigned port, Payload& payload, Time ready, sc_core::sc_time& delay) = 0;
    virtual void blocking(unsigned port, Payload& payload, sc_core::sc_time& delay) = 0;
    virtual bool dmi(unsigned port, Payload& payload, tlm::tlm_dmi& region) = 0;
    virtual unsigned debug(unsigned port, Payload& payload) = 0;

   protected:
    ~Listener() = default;
  };
  struct Withheld {
    Payload* payload = nullptr;
    Time ready = Time();
  };

  // `index` tells the listener which of its ports it is.
  BasicTargetPort(Socket& socket, Listener& listener, const Pace& pace, unsigned index = 0);
  // One on each of a module's sockets.
  template <class Sockets>
  static std::vector<std::unique_ptr<BasicTargetPort>> on_all(Sockets& sockets, Listener& listener,
                                                              const Pace& pace) {
    std::vector<std::unique_ptr<BasicTargetPort>> ports;
    for (auto& socket : sockets) {
      ports.push_back(
          std::make_unique<BasicTargetPort>(socket, listener, pace, static_cast<unsigned>(ports.size())));
    }
    return ports;
  }

  // The request that the module had no place for; nullptr: none.
  const Withheld* withheld() const { return state_.request.payload != nullptr ? &state_.request : nullptr; }
  // The module has taken `withheld`: END_REQ.
  void end_request();

  // A response is open.
  bool busy() const { return state_.responding != nullptr; }
  // The next response may be sent.
  bool usable(const Time& now) const { return !busy() && state_.usable_from <= now; }
  // Unless busy: from when on.
  const Time& usable_from() const { return state_.usable_from; }
  // BEGIN_RESP, with the status set; only when usable.
  void respond(Payload& payload);

  // Forgets what is under way, with the initiator's reset: no phase follows.
  void reset();
  template <class Archiver>
  void archive(Archiver& archive) {
    archive(state_);
  }

 private:
  struct State {
    Withheld request;
    Payload* responding = nullptr;  // from BEGIN_RESP to END_RESP
    Time usable_from = Time();
    template <class Archiver>  // `Time` may be one that only ports paced by events have
    void archive(Archiver& archive) {
      auto& [request_, responding_, usable_from_] = *this;
      archive(at_rest(request_.payload), at_rest(responding_), usable_from_);
    }
  };

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(Payload& payload, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& region) override;
  unsigned transport_dbg(Payload& payload) override;

  tlm::tlm_sync_enum begin_request(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void end_response(const Payload& payload, const sc_core::sc_time& delay);

  sc_core::sc_port_b<tlm::tlm_bw_transport_if<>>& initiator_;
  Listener& listener_;
  const Pace pace_;
  const unsigned index_;
  State state_;
};

using TargetPort = BasicTargetPort<EdgePace>;
using EventTargetPort = BasicTargetPort<EventPace>;

extern template class BasicTargetPort<EdgePace>;
extern template class BasicTargetPort<EventPace>;

}  // namespace weft::bus

#endif
