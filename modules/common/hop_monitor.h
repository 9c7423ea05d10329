// Stands on a hop and checks the TLM-2.0 base protocol there: every phase of every transaction, in zero time.
//
//   initiator.socket.bind(monitor.target);
//   monitor.initiator.bind(target.socket);
//   ...
//   monitor.check_complete();                  // at the end: nothing open, bytes out equal bytes in
//   EXPECT_TRUE(monitor.violations().empty());
//
// The monitor changes nothing and can stay on a hop for good; it costs a table lookup per call. Clauses are
// those of IEEE 1666-2011. One rule is stricter than the standard: the address must not change in flight,
// because no component between an SM and its memory translates addresses.
#ifndef WEFT_COMMON_HOP_MONITOR_H
#define WEFT_COMMON_HOP_MONITOR_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <unordered_map>
#include <vector>

namespace weft {

enum class HopRule : std::uint8_t {
  kPhaseOrder,        // 15.2.4: BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP of a transaction, each once
  kPhaseDirection,    // 15.2.3 c: END_REQ and BEGIN_RESP never forward, BEGIN_REQ and END_RESP never backward
  kRequestExclusion,  // 15.2.6 e: one open request on a hop
  kResponseExclusion,  // 15.2.6 f: one open response on a hop
  kTiming,             // 15.2.7 c: now + delay may not decrease
  kRequestStatus,      // 14.17: the response status starts INCOMPLETE
  kRequestDmi,         // 14.8: the DMI hint starts false
  kStreamingWidth,     // 14.12: the streaming width is set
  kMemoryManager,      // 14.5 i: nb_transport needs a memory manager
  kReferenceCount,     // 14.5 t: ... and a reference count above 0
  kEarlyStatus,        // 14.17: the status is set by the time of the response, not before it
  kMissingStatus,      // 14.17: a response carries a status other than INCOMPLETE
  kStatusChanged,      // 14.17: nobody changes the status after BEGIN_RESP
  kAttributesChanged,  // 14.7: command, address, data pointer, length, enables, streaming width stay as they
                       // are
  kMixedTransport,     // 15.2.10 c: b_transport not on a transaction that nb_transport has open
  kDmiRange,    // 11.2.4: the end address is inclusive, and a granted region holds the address asked for
  kBytes,       // when all have ended: responses have brought as many bytes as requests asked for
  kUnfinished,  // every transaction ends
};

// The rule's name, as in its enumerator: "RequestExclusion".
const char* to_string(HopRule rule);

class HopMonitor : public sc_core::sc_module {
 public:
  struct Violation {
    HopRule rule;
    std::string text;  // which transaction, what was seen
  };

  tlm_utils::passthrough_target_socket<HopMonitor> target;
  tlm_utils::simple_initiator_socket<HopMonitor> initiator;

  explicit HopMonitor(sc_core::sc_module_name name);

  // Called at each violation, also at those beyond the stored ones.
  void on_violation(std::function<void(const Violation&)> callback) { callback_ = std::move(callback); }
  // The size of the memory behind the hop, if it is known: a DMI region may not reach beyond it.
  void set_memory_bytes(std::uint64_t bytes) { memory_bytes_ = bytes; }
  // To be called when all should be done.
  void check_complete();
  // Forgets transactions in flight, as at a reset of both sides; keeps violations and sums.
  void reset();

  // The first 1,000; `violation_count` counts them all.
  const std::vector<Violation>& violations() const { return violations_; }
  std::uint64_t violation_count() const { return violation_count_; }
  // All violations, one a line.
  std::string report() const;

  std::uint64_t transactions() const { return transactions_; }
  std::uint64_t bytes_requested() const { return bytes_requested_; }
  std::uint64_t bytes_responded() const { return bytes_responded_; }
  std::size_t open_transactions() const { return open_.size(); }

 private:
  using Payload = tlm::tlm_generic_payload;
  enum class State : std::uint8_t { kRequest, kWaiting, kResponse };

  // What nobody may change while a transaction is in flight.
  struct Attributes {
    explicit Attributes(const Payload& payload);
    tlm::tlm_command command;
    std::uint64_t address;
    const unsigned char* data;
    unsigned length;
    const unsigned char* enables;
    unsigned enables_length;
    unsigned streaming_width;
  };
  struct Open {
    explicit Open(const Payload& payload) : attributes(payload) {}
    State state = State::kRequest;
    Attributes attributes;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;  // as of BEGIN_RESP
    sc_core::sc_time latest;
  };

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(Payload& payload, sc_core::sc_time& delay);
  bool dmi(Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(Payload& payload);
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end);

  void check_request_attributes(const Payload& payload);
  void begin_request(const Payload& payload, const sc_core::sc_time& delay);
  void end_request(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void begin_response(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void end_response(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void advance_time(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void check_unchanged(const Payload& payload, Open& open);
  Open* find(const Payload& payload, const char* phase);
  void violate(HopRule rule, const Payload* payload, const std::string& what);

  std::unordered_map<const Payload*, Open> open_;  // looked up only, never iterated for output
  const Payload* request_ = nullptr;               // the open request of the hop
  const Payload* response_ = nullptr;
  sc_core::sc_time latest_request_;
  sc_core::sc_time latest_response_;
  std::uint64_t memory_bytes_ = 0;

  std::vector<Violation> violations_;
  std::uint64_t violation_count_ = 0;
  std::function<void(const Violation&)> callback_;
  std::uint64_t transactions_ = 0;
  std::uint64_t bytes_requested_ = 0;
  std::uint64_t bytes_responded_ = 0;
};

}  // namespace weft

#endif
