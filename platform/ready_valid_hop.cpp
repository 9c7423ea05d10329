#include "weft/platform/ready_valid_hop.h"

#include <vector>

#include "platform/signal_transfers.h"
#include "platform/signal_words.h"

namespace weft {
namespace {

constexpr unsigned kIds = 256;

}  // namespace

template <unsigned kDataBits>
struct ReadyValidHop<kDataBits>::State {
  struct Request {
    SignalTransfers::Transfer* transfer = nullptr;  // nullptr: the number is free
    unsigned word = 0;
  };
  std::vector<Request> requests = std::vector<Request>(kIds);
  SignalTransfers::Transfer* sending = nullptr;  // has words that are not offered yet
  bool offered = false;                          // request_valid
  std::uint32_t next_id = 0;
};

template <unsigned kDataBits>
ReadyValidHop<kDataBits>::ReadyValidHop(sc_core::sc_module_name name, const Hop& hop, const Options& options)
    : SignalHop(name, hop, options, kDataBits / 8), state_(std::make_unique<State>()) {}

template <unsigned kDataBits>
ReadyValidHop<kDataBits>::~ReadyValidHop() = default;

template <unsigned kDataBits>
void ReadyValidHop<kDataBits>::idle_pins() {
  *state_ = State();
  pins.request_valid.write(false);
  pins.response_ready.write(false);
}

template <unsigned kDataBits>
void ReadyValidHop<kDataBits>::edge() {
  constexpr unsigned kBytes = kDataBits / 8;
  State& state = *state_;
  if (pins.response_valid.read() && pins.response_ready.read()) {
    const std::uint32_t id = pins.response_id.read();
    auto* const transfer = id < kIds ? state.requests[id].transfer : nullptr;
    if (transfer == nullptr) {
      transfers().complain("response_id " + std::to_string(id) + " is of no request");
    } else {
      if (!transfer->write)
        take_word<kDataBits>(pins.response_data.read(),
                             transfer->data.data() + state.requests[id].word * kBytes);
      transfer->error = transfer->error || pins.response_error.read();
      state.requests[id].transfer = nullptr;
      if (++transfer->answered == transfer->words)
        transfers().finish(*transfer,
                           transfer->error ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    }
  }
  pins.response_ready.write(true);

  if (state.offered && !pins.request_ready.read()) return;
  state.offered = false;
  if (state.sending == nullptr) {
    state.sending = transfers().next();
    if (state.sending != nullptr) transfers().begin(*state.sending);
  }
  if (state.sending != nullptr && state.requests[state.next_id].transfer == nullptr) {
    SignalTransfers::Transfer& transfer = *state.sending;
    const unsigned word = transfer.sent++;
    state.requests[state.next_id] = {&transfer, word};
    pins.request_id.write(state.next_id);
    pins.request_write.write(transfer.write);
    pins.request_address.write(transfer.first_word + std::uint64_t{word} * kBytes);
    pins.request_data.write(word_of<kDataBits>(transfer.data.data() + word * kBytes));
    pins.request_strobe.write(strobes_of<kBytes>(transfer.strobes.data() + word * kBytes));
    state.next_id = (state.next_id + 1) % kIds;
    if (transfer.sent == transfer.words) state.sending = nullptr;
    state.offered = true;
  }
  pins.request_valid.write(state.offered);
}

template <unsigned kDataBits>
void ReadyValidHop<kDataBits>::trace(sc_core::sc_trace_file* file) const {
  const auto traced = [file](const auto&... fields) {
    (sc_core::sc_trace(file, fields.read(), fields.name()), ...);
  };
  traced(reset_n, pins.request_valid, pins.request_ready);
  trace_field(file, pins.request_id, 8);
  traced(pins.request_write, pins.request_address, pins.request_data, pins.response_valid,
         pins.response_ready);
  trace_strobes<kDataBits / 8>(file, pins.request_strobe);
  trace_field(file, pins.response_id, 8);
  traced(pins.response_data, pins.response_error);
}

template class ReadyValidHop<32>;
template class ReadyValidHop<64>;
template class ReadyValidHop<128>;
template class ReadyValidHop<256>;
template class ReadyValidHop<512>;
template class ReadyValidHop<1024>;

}  // namespace weft
