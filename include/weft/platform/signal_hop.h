// What adapters between a hop and signals share (ready_valid_hop.h, axi4_hop.h): RTL in the place of a hop's
// target, such as a memory controller.
//
//   sc_core::sc_clock clock("clock", 1, sc_core::SC_NS);
//   std::vector<weft::ReadyValidHop<256>*> adapters;          // the GPU owns them
//   weft::Gpu::Options options;
//   options.replace("hop_dram*", [&](const weft::Hop& hop) {
//     auto adapter = std::make_unique<weft::ReadyValidHop<256>>(("rtl_" + hop.name).c_str(), hop);
//     adapter->clock(clock);
//     adapters.push_back(adapter.get());
//     return adapter;
//   });
//   weft::Gpu gpu("gpu", config, options);
//   rtl.request_valid(adapters[0]->pins.request_valid);       // the ports of the RTL, and so on
//
// Addresses on the signals are local to the hop (HopAddresses::local): a channel's controller sees its bytes
// from 0 on, without gaps. An adapter also stands alone at any other initiator, such as `dma_socket`:
//
//   weft::Axi4Hop<128> memory("memory", weft::Hop{"memory", bytes, {base}});
//   gpu.dma_socket.bind(memory.target);
//
// Data. The RTL's memory has the bytes of device memory beside the GPU's own image, and is kept the same:
// - A write of an SM or an L2 bank has changed the image when it was issued. The adapter sends the bytes that
//   the image has when the write leaves for the RTL, so one that was overtaken changes nothing back.
// - A write from outside the GPU (the aperture, a copy) changes the RTL, then the image.
// - A read brings the bytes of the RTL. What comes from outside gets them, and so does the system memory of
//   kernels. SMs and L2 banks took theirs from the image; the adapter compares, and counts those that are
//   newer there (Counters::bytes_newer): a store has been issued, and is in a cache or on its way.
// - What comes from outside can thus be too old if data caches of SMs keep dirty lines when kernels end
//   (sm.l1d.kept with write_policy=back) and there is no L2: Counters::bytes_stale is not 0 then. An L2
//   answers with the bytes of the image.
// - `refresh` is for changes of the image that no transaction makes: direct access (DMI) and debug through
//   the aperture, Gpu::memory(), and the first values of a module's variables.
//
// Order. Transactions leave in the order in which they come. One waits while an earlier one to one of the
// same words is not answered and either writes. So the RTL may answer in any order.
//
// Errors. A transaction lies in one chunk of HopAddresses, crosses no multiple of 4096 (local), and touches
// up to 256 words of the data signals; others get TLM_BURST_ERROR_RESPONSE. One that does not lie behind this
// hop gets TLM_ADDRESS_ERROR_RESPONSE. b_transport waits for the RTL within the call.
//
// Reset. `reset_n` is low in the first Options::reset_edges cycles and after each reset of the GPU, which
// forgets what was under way. The image is 0 then, and the RTL's memory should be.
#ifndef WEFT_PLATFORM_SIGNAL_HOP_H
#define WEFT_PLATFORM_SIGNAL_HOP_H

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <type_traits>

#include "weft/platform/hop_observer.h"

namespace weft {

class SignalTransfers;

// The value of a signal of so many bits: what Verilator gives a port (without --pins-bv and the like).
template <unsigned kBits>
using SignalValue = std::conditional_t<
    kBits == 1, bool,
    std::conditional_t<kBits <= 32, std::uint32_t,
                       std::conditional_t<kBits <= 64, std::uint64_t, sc_dt::sc_bv<int{kBits}>>>>;

class SignalHop : public sc_core::sc_module, public HopObserver {
 public:
  struct Options {
    unsigned in_flight = 16;    // transactions that the adapter holds: 1 to 255
    unsigned reset_edges = 16;  // rising edges of `clock` for which reset_n is low: 1 to 1048576
  };
  struct Counters {
    std::uint64_t reads = 0, writes = 0;  // transactions answered
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::uint64_t bytes_newer = 0;  // of those read for SMs and L2 banks: the image had other ones
    std::uint64_t bytes_stale = 0;  // of those read from outside the GPU: the same
    std::uint64_t refreshed = 0;    // bytes written because of refresh()
  };

  sc_core::sc_in<bool> clock;               // signals change and are read at its rising edges
  sc_core::sc_signal<bool> reset_n;         // to the RTL, active low
  tlm::tlm_target_socket<32> target;        // from the initiator
  tlm::tlm_initiator_socket<32> initiator;  // to the replaced target; may stay unbound

  ~SignalHop() override;

  const Counters& counters() const;
  // What the RTL did against the protocol, a line each, as far as an adapter sees it; empty: nothing.
  const std::string& violations() const;
  // No transaction is under way.
  bool idle() const;
  // The image has other bytes there, which the RTL gets before any later transaction. Only those behind this
  // hop count.
  void refresh(std::uint64_t address, std::uint64_t bytes);

  tlm::tlm_base_target_socket<32>& target_socket() override { return target; }
  tlm::tlm_base_initiator_socket<32>& initiator_socket() override { return initiator; }
  void reset() override;

 protected:
  // `word_bytes`: of the data signals; a power of two.
  SignalHop(sc_core::sc_module_name name, const Hop& hop, const Options& options, unsigned word_bytes);

  // All outputs to the RTL as in a reset.
  virtual void idle_pins() = 0;
  // A rising edge outside a reset: takes what the RTL has answered, and offers what goes next.
  virtual void edge() = 0;
  SignalTransfers& transfers() { return *transfers_; }

 private:
  void before_end_of_elaboration() override;
  void step();

  const unsigned reset_edges_;
  unsigned reset_left_;
  std::unique_ptr<SignalTransfers> transfers_;
};

}  // namespace weft

#endif
