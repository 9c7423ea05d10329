// The TLM side of an adapter between a hop and signals (weft/platform/signal_hop.h): takes transactions by
// the base protocol, holds them in a fixed number of places, moves their bytes, and answers them. The signal
// side asks for the next one, and says when the RTL has answered it.
//
//   transfers.work();                                   // at each edge: responses, freed places
//   if (Transfer* next = transfers.next()) {            // the first that may go
//     transfers.begin(*next);                           // its bytes are in data and strobes now
//     ...
//   transfers.finish(*transfer, tlm::TLM_OK_RESPONSE);  // of a read: data has its words
#ifndef WEFT_PLATFORM_SIGNAL_TRANSFERS_H
#define WEFT_PLATFORM_SIGNAL_TRANSFERS_H

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "bus/memory_transaction.h"
#include "bus/target_port.h"
#include "common/ring.h"
#include "weft/platform/signal_hop.h"

namespace weft {

class SignalTransfers final : private bus::EventTargetPort::Listener,
                              private tlm::tlm_fw_transport_if<>,
                              private tlm::tlm_bw_transport_if<> {
 public:
  using Payload = tlm::tlm_generic_payload;

  struct Blocked;  // a call of b_transport that waits
  struct Transfer {
    enum class State : std::uint8_t { kFree, kQueued, kSent, kDone };
    State state = State::kFree;
    unsigned place = 0;
    Payload* payload = nullptr;  // nullptr: a refresh
    Blocked* blocked = nullptr;
    bool write = false;
    std::uint64_t address = 0;     // in the payload
    std::uint64_t first_word = 0;  // local address
    unsigned bytes = 0;
    unsigned lead = 0;  // bytes of the first word that lie before those of the transaction
    unsigned words = 0;
    sc_core::sc_time ready;
    // Of all words; strobes: a byte for each byte of data, 1 if it belongs to the transaction.
    std::vector<unsigned char> data, strobes;
    // For the signal side.
    unsigned sent = 0, answered = 0;  // words
    bool address_sent = false;
    bool error = false;
    tlm::tlm_response_status failure = tlm::TLM_GENERIC_ERROR_RESPONSE;  // of the first word with an error
  };

  SignalTransfers(const char* name, const Hop& hop, unsigned in_flight, unsigned word_bytes,
                  tlm::tlm_target_socket<32>& target, tlm::tlm_initiator_socket<32>& initiator);

  // What is unbound then, stays so.
  void bind_rest();
  void reset();
  void refresh(std::uint64_t address, std::uint64_t bytes);

  void work();
  Transfer* next();
  void begin(Transfer& transfer);
  void finish(Transfer& transfer, tlm::tlm_response_status status);

  // The one that is sent and not answered in this place; nullptr: none.
  Transfer* sent(std::uint64_t place);
  unsigned word_bytes() const { return word_bytes_; }
  unsigned places() const { return static_cast<unsigned>(places_.size()); }
  bool idle() const;

  // The RTL breaks the protocol. The first ones are kept.
  void complain(const std::string& what);
  const std::string& violations() const { return violations_; }
  const SignalHop::Counters& counters() const { return counters_; }

 private:
  bus::Verdict request(unsigned, Payload& payload, sc_core::sc_time ready, sc_core::sc_time& delay) override;
  void blocking(unsigned, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned, Payload& payload) override;
  // From the replaced target.
  tlm::tlm_sync_enum nb_transport_bw(Payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    target_->invalidate_direct_mem_ptr(first, last);
  }
  // In place of one: nobody calls.
  tlm::tlm_sync_enum nb_transport_fw(Payload&, tlm::tlm_phase&, sc_core::sc_time&) override {
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(Payload&, sc_core::sc_time&) override {}
  bool get_direct_mem_ptr(Payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(Payload&) override { return 0; }

  tlm::tlm_response_status check(const Payload& payload) const;
  Transfer* free_place();
  void accept(Transfer& place, Payload& payload, const sc_core::sc_time& ready);
  void fill(Transfer& place, std::uint64_t address, unsigned bytes);
  void take_refresh();
  bool overlaps(const Transfer& transfer) const;
  void respond();
  void take_read(Transfer& transfer);
  void put_written(const Transfer& transfer);
  // Of the image, by debug.
  bool image(tlm::tlm_command command, std::uint64_t address, unsigned char* bytes, unsigned count);

  const std::string name_;
  const Hop hop_;
  const unsigned word_bytes_;
  tlm::tlm_target_socket<32>& target_;
  tlm::tlm_initiator_socket<32>& initiator_;
  bool has_image_ = false;

  sc_core::sc_event wake_, unblock_;
  bus::EventTargetPort port_;
  std::vector<Transfer> places_;  // the last one is for refreshes
  Ring<unsigned> queue_, done_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> changed_;  // to refresh: address, bytes
  std::vector<unsigned char> scratch_;
  std::string violations_;
  unsigned complaints_ = 0;
  SignalHop::Counters counters_;
};

}  // namespace weft

#endif
