// The rules of the TLM-2.0 base protocol on one hop: what a HopMonitor finds. Clauses are those of IEEE
// 1666-2011. Two rules are stricter than the standard: the address must not change in flight, because no
// component between an SM and its memory translates addresses (the standard lets an interconnect do it), and
// a phase that comes back with TLM_COMPLETED is END_RESP or as it was sent (the standard has it ignored).
#ifndef WEFT_BUS_HOP_CHECKS_H
#define WEFT_BUS_HOP_CHECKS_H

#include <cstddef>
#include <cstdint>
#include <deque>
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
  kReturn,            // 11.1.2.5: TLM_UPDATED with another phase; TLM_ACCEPTED with the same phase and delay
  kRequestExclusion,  // 15.2.6 e: one open request on a hop
  kResponseExclusion,  // 15.2.6 f: one open response on a hop
  kTiming,             // 15.2.7 c: now + delay may not decrease
  kRequestStatus,      // 14.17: the response status starts INCOMPLETE
  kRequestDmi,         // 14.8: the DMI hint starts false
  kDataPointer,        // 14.11: there is a data array
  kLength,             // 14.12: ... of at least one byte
  kStreamingWidth,     // 14.13: the streaming width is set
  kEnablesLength,      // 14.15: byte enables have at least one byte
  kMemoryManager,      // 14.5 i: nb_transport needs a memory manager
  kReferenceCount,     // 14.5 t: ... and a reference count above 0
  kEarlyStatus,        // 14.17: the status is set by the time of the response, not before it
  kMissingStatus,      // 14.17: a response carries a status other than INCOMPLETE
  kStatusChanged,      // 14.17: nobody changes the status after BEGIN_RESP
  kAttributesChanged,  // 14.7: command, address, data pointer, length, enables, streaming width, option stay
  kDataChanged,        // 14.7: so do the data of a write, and from BEGIN_RESP on those of a read
  kEnablesChanged,     // 14.7: and the byte enables
  kMixedTransport,     // 15.2.10 c: b_transport not on a transaction that nb_transport has open
  kCalledFromMethod,   // 11.1.1.4 b: b_transport is called from a thread
  kDmiRange,    // 11.2.5: the end address is inclusive, and a granted region holds the address asked for
  kDmiGrant,    // 11.2.5: what is granted has a pointer, and may be read or written
  kDebugCount,  // 11.3.4: transport_dbg moves at most the bytes asked for
  kBytes,       // when all have ended: responses have brought as many bytes as requests asked for
  kUnfinished,  // every transaction ends
};

// The rule's name, as in its enumerator: "RequestExclusion".
const char* to_string(HopRule rule);

class HopChecks {
 public:
  HopChecks(const HopChecks&) = delete;
  HopChecks& operator=(const HopChecks&) = delete;

  struct Violation {
    HopRule rule;
    std::string text;  // where and when, which transaction, what was seen
  };

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

 protected:
  using Payload = tlm::tlm_generic_payload;

  explicit HopChecks(std::string name) : name_(std::move(name)) {}
  ~HopChecks() = default;

  // The calls of the hop, each passed on in between.
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(Payload& payload, sc_core::sc_time& delay);
  bool dmi(Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(Payload& payload);

 private:
  enum class State : std::uint8_t { kRequest, kWaiting, kResponse };

  // What nobody may change while a transaction is in flight.
  struct Attributes {
    Attributes() = default;
    explicit Attributes(const Payload& payload);
    tlm::tlm_command command = tlm::TLM_IGNORE_COMMAND;
    std::uint64_t address = 0;
    const unsigned char* data = nullptr;
    unsigned length = 0;
    const unsigned char* enables = nullptr;
    unsigned enables_length = 0;
    unsigned streaming_width = 0;
    tlm::tlm_gp_option option = tlm::TLM_MIN_PAYLOAD;
  };
  struct Open {
    State state = State::kRequest;
    Attributes attributes;
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;  // as of BEGIN_RESP
    sc_core::sc_time latest;
    bool holds_data = false;
    std::vector<unsigned char> data, enables;  // as they have to stay
  };

  virtual tlm::tlm_sync_enum pass_forward(Payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) = 0;
  virtual tlm::tlm_sync_enum pass_backward(Payload& payload, tlm::tlm_phase& phase,
                                           sc_core::sc_time& delay) = 0;
  virtual void pass_blocking(Payload& payload, sc_core::sc_time& delay) = 0;
  virtual bool pass_dmi(Payload& payload, tlm::tlm_dmi& region) = 0;
  virtual unsigned pass_debug(Payload& payload) = 0;

  void check_request_attributes(const Payload& payload);
  void check_data_attributes(const Payload& payload);
  void check_return(const Payload& payload, tlm::tlm_sync_enum result, tlm::tlm_phase sent,
                    tlm::tlm_phase back, bool same_delay);
  void begin_request(const Payload& payload, const sc_core::sc_time& delay);
  void end_request(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void begin_response(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void end_response(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  void advance_time(const Payload& payload, Open& open, const sc_core::sc_time& delay);
  static void remember(const Payload& payload, Open& open);
  void check_unchanged(const Payload& payload, Open& open);
  void check_bytes(const Payload& payload, HopRule rule, std::vector<unsigned char>& was,
                   const unsigned char* is, const char* what);
  Open& add(const Payload& payload);
  void remove(const Payload& payload);
  Open* find(const Payload& payload, const char* phase);
  void violate(HopRule rule, const Payload* payload, const std::string& what);

  const std::string name_;
  std::unordered_map<const Payload*, Open*> open_;  // looked up only, never iterated for output
  std::deque<Open> all_;
  std::vector<Open*> idle_;
  const Payload* request_ = nullptr;  // the open request of the hop
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
