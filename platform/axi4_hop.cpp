#include "weft/platform/axi4_hop.h"

#include <string>

#include "common/ring.h"
#include "platform/signal_transfers.h"
#include "platform/signal_words.h"

namespace weft {
namespace {

using Transfer = SignalTransfers::Transfer;

// IHI 0022E: A3-3 (AxBURST), A4-5 (AxCACHE), A3-4 (xRESP).
constexpr std::uint32_t kIncrementing = 1, kNormalNonCacheableBufferable = 3;
constexpr std::uint32_t kOkay = 0, kDecodeError = 3;

tlm::tlm_response_status status_of(std::uint32_t response) {
  if (response == kOkay) return tlm::TLM_OK_RESPONSE;
  return response == kDecodeError ? tlm::TLM_ADDRESS_ERROR_RESPONSE : tlm::TLM_GENERIC_ERROR_RESPONSE;
}

constexpr std::uint32_t log2_of(std::uint32_t power) {
  std::uint32_t log = 0;
  while (power > 1u << log) ++log;
  return log;
}

}  // namespace

template <unsigned kDataBits>
struct Axi4Hop<kDataBits>::State {
  static constexpr unsigned kBytes = kDataBits / 8;

  State(Axi4Signals<kDataBits>& signals, SignalTransfers& all)
      : pins(signals), transfers(all), data(all.places()) {}

  void clear() {
    write_address = read_address = nullptr;
    data.clear();
    offered = false;
  }
  void take_write_responses();
  void take_read_data();
  void end_offers();
  void offer_addresses();
  void offer_data();

  Axi4Signals<kDataBits>& pins;
  SignalTransfers& transfers;
  Transfer *write_address = nullptr, *read_address = nullptr;  // AWVALID, ARVALID
  Ring<Transfer*> data;                                        // writes with data to send, in the order of AW
  bool offered = false;                                        // WVALID
};

template <unsigned kDataBits>
Axi4Hop<kDataBits>::Axi4Hop(sc_core::sc_module_name name, const Hop& hop, const Options& options)
    : SignalHop(name, hop, options, kDataBits / 8), state_(std::make_unique<State>(pins, transfers())) {}

template <unsigned kDataBits>
Axi4Hop<kDataBits>::~Axi4Hop() = default;

// A3.1.2: a manager drives ARVALID, AWVALID and WVALID low.
template <unsigned kDataBits>
void Axi4Hop<kDataBits>::idle_pins() {
  state_->clear();
  for (auto* pin : {&pins.awvalid, &pins.wvalid, &pins.arvalid, &pins.bready, &pins.rready})
    pin->write(false);
}

template <unsigned kDataBits>
void Axi4Hop<kDataBits>::edge() {
  state_->end_offers();
  state_->take_write_responses();
  state_->take_read_data();
  state_->offer_addresses();
  state_->offer_data();
  pins.bready.write(true);
  pins.rready.write(true);
}

// A3.3.1: BVALID waits for AW and for the last write data.
template <unsigned kDataBits>
void Axi4Hop<kDataBits>::State::take_write_responses() {
  if (!pins.bvalid.read() || !pins.bready.read()) return;
  Transfer* const transfer = transfers.sent(pins.bid.read());
  if (transfer == nullptr || !transfer->write || !transfer->address_sent ||
      transfer->sent != transfer->words) {
    return transfers.complain("BID " + std::to_string(pins.bid.read()) +
                              " is of no write whose address and data have been taken");
  }
  transfers.finish(*transfer, status_of(pins.bresp.read()));
}

template <unsigned kDataBits>
void Axi4Hop<kDataBits>::State::take_read_data() {
  if (!pins.rvalid.read() || !pins.rready.read()) return;
  Transfer* const transfer = transfers.sent(pins.rid.read());
  if (transfer == nullptr || transfer->write || !transfer->address_sent) {
    return transfers.complain("RID " + std::to_string(pins.rid.read()) +
                              " is of no read whose address has been taken");
  }
  take_word<kDataBits>(pins.rdata.read(), transfer->data.data() + transfer->answered * kBytes);
  const bool last = ++transfer->answered == transfer->words;
  if (pins.rlast.read() != last) {
    transfers.complain("RLAST is " + std::to_string(pins.rlast.read()) + " at beat " +
                       std::to_string(transfer->answered) + " of " + std::to_string(transfer->words));
  }
  const bool failed = status_of(pins.rresp.read()) != tlm::TLM_OK_RESPONSE;
  if (failed && !transfer->error) transfer->failure = status_of(pins.rresp.read());
  transfer->error = transfer->error || failed;
  if (last) transfers.finish(*transfer, transfer->error ? transfer->failure : tlm::TLM_OK_RESPONSE);
}

template <unsigned kDataBits>
void Axi4Hop<kDataBits>::State::end_offers() {
  if (write_address != nullptr && pins.awready.read()) {
    write_address->address_sent = true;
    write_address = nullptr;
    pins.awvalid.write(false);
  }
  if (read_address != nullptr && pins.arready.read()) {
    read_address->address_sent = true;
    read_address = nullptr;
    pins.arvalid.write(false);
  }
  if (offered && pins.wready.read()) {
    Transfer& transfer = *data.front();
    if (++transfer.sent == transfer.words) data.pop();
    offered = false;
    pins.wvalid.write(false);
  }
}

// Up to one of each kind; a transfer that finds its channel busy holds up those behind it.
template <unsigned kDataBits>
void Axi4Hop<kDataBits>::State::offer_addresses() {
  while (Transfer* const next = transfers.next()) {
    if ((next->write ? write_address : read_address) != nullptr) return;
    transfers.begin(*next);
    if (next->write) {
      write_address = next;
      data.push(next);
      pins.awid.write(next->place);
      pins.awaddr.write(next->first_word);
      pins.awlen.write(next->words - 1);
      pins.awsize.write(log2_of(kBytes));
      pins.awburst.write(kIncrementing);
      pins.awcache.write(kNormalNonCacheableBufferable);
      pins.awvalid.write(true);
    } else {
      read_address = next;
      pins.arid.write(next->place);
      pins.araddr.write(next->first_word);
      pins.arlen.write(next->words - 1);
      pins.arsize.write(log2_of(kBytes));
      pins.arburst.write(kIncrementing);
      pins.arcache.write(kNormalNonCacheableBufferable);
      pins.arvalid.write(true);
    }
  }
}

template <unsigned kDataBits>
void Axi4Hop<kDataBits>::State::offer_data() {
  if (offered || data.empty()) return;
  const Transfer& transfer = *data.front();
  const unsigned word = transfer.sent;
  pins.wdata.write(word_of<kDataBits>(transfer.data.data() + word * kBytes));
  pins.wstrb.write(strobes_of<kBytes>(transfer.strobes.data() + word * kBytes));
  pins.wlast.write(word + 1 == transfer.words);
  pins.wvalid.write(true);
  offered = true;
}

template <unsigned kDataBits>
void Axi4Hop<kDataBits>::trace(sc_core::sc_trace_file* file) const {
  const auto traced = [file](const auto&... fields) {
    (sc_core::sc_trace(file, fields.read(), fields.name()), ...);
  };
  traced(reset_n, pins.awvalid, pins.awready, pins.awaddr, pins.awlock, pins.wvalid, pins.wready, pins.wdata,
         pins.wlast, pins.bvalid, pins.bready, pins.arvalid, pins.arready, pins.araddr, pins.arlock,
         pins.rvalid, pins.rready, pins.rdata, pins.rlast);
  trace_strobes<kDataBits / 8>(file, pins.wstrb);
  for (const auto* field : {&pins.awid, &pins.awlen, &pins.bid, &pins.arid, &pins.arlen, &pins.rid})
    trace_field(file, *field, 8);
  for (const auto* field :
       {&pins.awcache, &pins.awqos, &pins.awregion, &pins.arcache, &pins.arqos, &pins.arregion})
    trace_field(file, *field, 4);
  for (const auto* field : {&pins.awsize, &pins.awprot, &pins.arsize, &pins.arprot})
    trace_field(file, *field, 3);
  for (const auto* field : {&pins.awburst, &pins.arburst, &pins.bresp, &pins.rresp})
    trace_field(file, *field, 2);
}

template class Axi4Hop<32>;
template class Axi4Hop<64>;
template class Axi4Hop<128>;
template class Axi4Hop<256>;
template class Axi4Hop<512>;
template class Axi4Hop<1024>;

}  // namespace weft
