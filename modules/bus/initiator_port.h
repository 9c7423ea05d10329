// The initiator's side of a hop: sends requests and takes responses by the TLM-2.0 base protocol,
// approximately timed.
//
//   tlm::tlm_initiator_socket<32> socket;                       // the module's, public
//   bus::InitiatorPort port(socket, *this, {domain, index});    // the module is its Listener
//   ...
//   if (port.usable(now)) port.send(payload);                   // BEGIN_REQ
//   bool response(unsigned, Payload& payload, Cycle ready);     // TLM_COMPLETED or BEGIN_RESP
//
// One request is open at a time: after BEGIN_REQ the port is not `usable` before the target's END_REQ (or
// what implies it), and not at the edge at which that came. A response for which the listener has no place is
// withheld: END_RESP follows when the module has taken it, which is the back-pressure. The module acquires
// the payloads that it sends, and releases them when it is done with their responses.
#ifndef WEFT_BUS_INITIATOR_PORT_H
#define WEFT_BUS_INITIATOR_PORT_H

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/pace.h"
#include "weft/common/archive.h"

namespace weft::bus {

template <class Pace>
class BasicInitiatorPort final : private tlm::tlm_bw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;
  using Time = typename Pace::Time;
  using Socket = tlm::tlm_base_initiator_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

  class Listener {
   public:
    // The response to a request, which may be used from `ready` on. False: there is no place for it yet. Also
    // called for transactions that the module has forgotten in a reset; it says true to them.
    virtual bool response(unsigned port, Payload& payload, Time ready) = 0;
    // The target takes direct access back.
    virtual void invalidate(unsigned port, sc_dt::uint64 first, sc_dt::uint64 last);

   protected:
    ~Listener() = default;
  };
  struct Withheld {
    Payload* payload = nullptr;
    Time ready = Time();
  };

  // `index` tells the listener which of its ports it is.
  BasicInitiatorPort(Socket& socket, Listener& listener, const Pace& pace, unsigned index = 0);
  // One on each of a module's sockets.
  template <class Sockets>
  static std::vector<std::unique_ptr<BasicInitiatorPort>> on_all(Sockets& sockets, Listener& listener,
                                                                 const Pace& pace) {
    std::vector<std::unique_ptr<BasicInitiatorPort>> ports;
    for (auto& socket : sockets) {
      ports.push_back(
          std::make_unique<BasicInitiatorPort>(socket, listener, pace, static_cast<unsigned>(ports.size())));
    }
    return ports;
  }

  // A request is open.
  bool busy() const { return state_.requesting != nullptr; }
  // The next request may be sent.
  bool usable(const Time& now) const { return !busy() && state_.usable_from <= now; }
  // Unless busy: from when on.
  const Time& usable_from() const { return state_.usable_from; }
  // BEGIN_REQ; only when usable. The response may come at once, in the middle of the call.
  void send(Payload& payload);

  // The response that the listener had no place for; nullptr: none.
  const Withheld* withheld() const {
    if (state_.completed.payload != nullptr) return &state_.completed;
    return state_.response.payload != nullptr ? &state_.response : nullptr;
  }
  // The module has taken `withheld`: END_RESP.
  void end_response();

  // Forgets what is under way, with the target's reset: no phase follows.
  void reset();
  template <class Archiver>
  void archive(Archiver& archive) {
    archive(state_);
  }

 private:
  struct State {
    Payload* requesting = nullptr;  // from BEGIN_REQ to END_REQ
    Time usable_from = Time();
    // Responses withheld, each with a reference of the port's: one that END_RESP will end, and one that came
    // as TLM_COMPLETED; to that belongs the open request, so that there is no second one.
    Withheld response, completed;
    template <class Archiver>  // `Time` may be one that only ports paced by events have
    void archive(Archiver& archive) {
      auto& [requesting_, usable_from_, response_, completed_] = *this;
      archive(at_rest(requesting_), usable_from_, at_rest(response_.payload), at_rest(completed_.payload));
    }
  };

  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override;

  void end_request(const Payload& payload, const sc_core::sc_time& delay);
  void take_completed(Payload& payload, const sc_core::sc_time& delay);
  void take_returned(Payload& payload, sc_core::sc_time& delay);

  sc_core::sc_port_b<tlm::tlm_fw_transport_if<>>& target_;
  Listener& listener_;
  const Pace pace_;
  const unsigned index_;
  State state_;
};

using InitiatorPort = BasicInitiatorPort<EdgePace>;
using EventInitiatorPort = BasicInitiatorPort<EventPace>;

extern template class BasicInitiatorPort<EdgePace>;
extern template class BasicInitiatorPort<EventPace>;

}  // namespace weft::bus

#endif
