// Moves bytes between buffers and one bus, as an initiator of plain generic payloads.
//
//   transfer.command = tlm::TLM_READ_COMMAND; transfer.address = ...; transfer.client = this; ...
//   master.start(transfer);                  // client->transferred(transfer) follows in a later step
//
// A transfer is cut into bursts that do not cross a multiple of burst_bytes; those of several transfers take
// turns, so that a long one does not hold up the others. At most one burst begins per cycle, and
// `outstanding` are under way. Each has a buffer of its own: a transaction cannot be taken back from the bus,
// so one that a reset abandons ends in its own buffer, whoever waited for it. A burst that is answered makes
// room for the next one, even if somebody keeps its payload.
#ifndef WEFT_HOST_BUS_MASTER_H
#define WEFT_HOST_BUS_MASTER_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/initiator_port.h"
#include "common/ring.h"
#include "weft/common/statistics.h"
#include "weft/host/config.h"

namespace weft::host {

struct Transfer;

class TransferClient {
 public:
  virtual ~TransferClient() = default;
  // Once, when all is done or after the first error; may start the next transfer. Not after a reset.
  virtual void transferred(Transfer& transfer) = 0;
};

// Belongs to the client, who leaves it alone from `start` to `transferred`.
struct Transfer {
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // not 0
  unsigned char* data = nullptr;
  // Bytes that are moved, and those that are not, repeatedly over the data; at least one is. nullptr: all
  // are.
  const unsigned char* enables = nullptr;
  unsigned enables_bytes = 0;
  bool split = false;  // a burst for each run of such bytes; else one burst with byte enables
  TransferClient* client = nullptr;

  // The first byte from here on that is moved, or that is not; `end` if none is before it.
  std::uint64_t find(bool enabled, std::uint64_t from, std::uint64_t end) const;

  tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;  // the first error, if any
  std::uint64_t failed_address = 0;                        // ... and where

  // The bus master's.
  std::uint64_t begun = 0;  // bytes
  unsigned open = 0;        // bursts
  Transfer* next = nullptr;
};

class BusMaster : public sc_core::sc_module, private bus::InitiatorPort::Listener {
 public:
  using Socket =
      tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
  // Whether an access may go to the bus.
  using Allowed = std::function<bool(std::uint64_t address, std::uint64_t bytes)>;

  Socket socket;

  // Steps of the owner of number `index` in `domain` step this. On the bus an address is transfer.address -
  // base.
  BusMaster(sc_core::sc_module_name name, const Config& config, std::uint64_t base, Allowed allowed,
            ClockDomain& domain, std::size_t index);

  void start(Transfer& transfer);
  // Reads by debug transport, in no time. False: the target does not answer.
  bool peek(std::uint64_t address, unsigned char* to, std::size_t bytes);
  Cycle step(Cycle now);
  // Forgets all transfers. `bus_is_reset`: the bus has dropped its transactions; else they are waited for.
  void reset(bool bus_is_reset);
  // No transaction that a reset abandoned is still under way.
  bool quiet_since_reset() const { return abandoned_ == 0; }
  // No transaction of it is under way.
  bool idle() const { return open_ == 0; }
  std::size_t under_way() const { return open_; }
  bool bound() const { return socket.get_base_port().size() != 0; }
  void bind(statistics::Group& group);

 private:
  struct Burst : tlm::tlm_generic_payload {
    std::vector<unsigned char> buffer, enables;
    Transfer* transfer = nullptr;
    std::uint64_t offset = 0;  // within the transfer
    bool held = false;         // by the master itself
    bool abandoned = false;    // by a reset
  };
  // Owns nothing: gets a burst back when the last who holds it lets go.
  struct Returned : tlm::tlm_mm_interface {
    BusMaster* master = nullptr;
    void free(tlm::tlm_generic_payload* payload) override;
  };
  struct Ended {
    Burst* burst = nullptr;
    Cycle ready = 0;
  };

  bool response(unsigned, tlm::tlm_generic_payload& payload, Cycle ready) override;
  Burst& take_free();
  void begin_burst();
  std::uint64_t length_of_burst(const Transfer& transfer) const;
  static void enable(Burst& burst, const Transfer& transfer, std::uint64_t bytes);
  void finish(const Ended& end);
  void let_go(Burst& burst);
  void settle(Transfer& transfer);
  void append(Transfer& transfer);

  const Config config_;
  const std::uint64_t base_;
  const Allowed allowed_;
  ClockDomain& domain_;
  const std::size_t index_;
  bus::InitiatorPort port_;

  Returned returned_;
  std::vector<std::unique_ptr<Burst>> bursts_;
  std::vector<Burst*> free_;
  std::uint64_t open_ = 0;     // held by the master itself
  Transfer* first_ = nullptr;  // transfers that have bursts to begin
  Transfer* last_ = nullptr;
  unsigned abandoned_ = 0;  // bursts
  Ring<Ended> ended_;

  std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0, errors_ = 0;
};

}  // namespace weft::host

#endif
