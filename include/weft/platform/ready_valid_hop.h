// A hop as ready/valid signals: a simple port of a memory controller (signal_hop.h explains adapters).
//
// A request is a read or write of one word of kDataBits; a transaction becomes one request for each word that
// it touches. Each request has one response, writes too; responses may come in any order. A transfer happens
// at each rising edge at which `valid` and `ready` are both high. A side that has raised `valid` keeps it,
// and what belongs to it, until then. `valid` does not wait for `ready`.
//
// Verilog sees ports of these names and widths. Bytes are in little-endian order: byte i of a word is
// [8 * i +: 8].
//
//   request_valid       1              to the RTL
//   request_ready       1              from the RTL
//   request_id         32              number of the request, unique until its response
//   request_write       1              1: write, 0: read
//   request_address    64              local byte address, a multiple of the word
//   request_data       kDataBits       of a write
//   request_strobe     kDataBits / 8   bit i: byte i is written, or needed by the read
//   response_valid      1              from the RTL
//   response_ready      1              to the RTL; always 1 outside a reset
//   response_id        32              of the request
//   response_data      kDataBits       of a read
//   response_error      1              1: TLM_GENERIC_ERROR_RESPONSE
#ifndef WEFT_PLATFORM_READY_VALID_HOP_H
#define WEFT_PLATFORM_READY_VALID_HOP_H

#include <cstdint>
#include <memory>
#include <systemc>

#include "weft/platform/signal_hop.h"

namespace weft {

template <unsigned kDataBits>
struct ReadyValidSignals {
  sc_core::sc_signal<bool> request_valid{"request_valid"}, request_ready{"request_ready"};
  sc_core::sc_signal<std::uint32_t> request_id{"request_id"};
  sc_core::sc_signal<bool> request_write{"request_write"};
  sc_core::sc_signal<std::uint64_t> request_address{"request_address"};
  sc_core::sc_signal<SignalValue<kDataBits>> request_data{"request_data"};
  sc_core::sc_signal<SignalValue<kDataBits / 8>> request_strobe{"request_strobe"};
  sc_core::sc_signal<bool> response_valid{"response_valid"}, response_ready{"response_ready"};
  sc_core::sc_signal<std::uint32_t> response_id{"response_id"};
  sc_core::sc_signal<SignalValue<kDataBits>> response_data{"response_data"};
  sc_core::sc_signal<bool> response_error{"response_error"};
};

// kDataBits: 32, 64, 128, 256, 512 or 1024.
template <unsigned kDataBits>
class ReadyValidHop final : public SignalHop {
 public:
  ReadyValidSignals<kDataBits> pins;

  // Throws InputError if an option is out of its range.
  ReadyValidHop(sc_core::sc_module_name name, const Hop& hop, const Options& options = Options());
  ~ReadyValidHop() override;

  // All signals, under the adapter's name; for sc_trace and the trace file of Gpu::trace.
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void idle_pins() override;
  void edge() override;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft

#endif
