// A hop as an AXI4 manager (signal_hop.h explains adapters). The protocol is AXI4 of Arm's AMBA AXI and ACE
// Protocol Specification (IHI 0022, issues E to H); section numbers are those of issue E.
//
// A transaction becomes one burst (A3.4.1) of kDataBits wide beats: AxBURST INCR, AxSIZE the whole width, and
// the address of the first beat aligned to it. So a burst begins at the aligned address. A write disables the
// bytes that it does not mean by WSTRB (A3.4.3). A burst crosses no boundary of 4 KiB and has up to 256
// beats; TLM_BURST_ERROR_RESPONSE refuses a transaction that would.
//
// The ID is the number of the adapter's place for the transaction (0 to in_flight; the last is for
// refreshes), and unique until the last response. So the order of responses is free (A5.3), also that of read
// data of different IDs. Write data come in the order of AW (A5.2.3), and may come before their AW is taken.
// BREADY and RREADY are 1 outside a reset. OKAY becomes TLM_OK_RESPONSE, DECERR TLM_ADDRESS_ERROR_RESPONSE,
// and all else TLM_GENERIC_ERROR_RESPONSE (A3.4.4).
//
// Verilog sees ports of these names and widths (A2.2 to A2.6). The clock is ACLK, `reset_n` is ARESETn.
// Accesses are Normal Non-cacheable Bufferable (AxCACHE 0b0011, A4.4), unprivileged secure data accesses
// (AxPROT 0b000, A4.7), not locked, without QoS and regions.
//
//   awvalid 1  awready 1  awid 8  awaddr 64  awlen 8  awsize 3  awburst 2
//                                 awlock 1  awcache 4  awprot 3  awqos 4  awregion 4
//   wvalid  1  wready  1  wdata kDataBits  wstrb kDataBits / 8  wlast 1
//   bvalid  1  bready  1  bid 8  bresp 2
//   arvalid 1  ... as aw
//   rvalid  1  rready  1  rid 8  rdata kDataBits  rresp 2  rlast 1
#ifndef WEFT_PLATFORM_AXI4_HOP_H
#define WEFT_PLATFORM_AXI4_HOP_H

#include <cstdint>
#include <memory>
#include <systemc>

#include "weft/platform/signal_hop.h"

namespace weft {

template <unsigned kDataBits>
struct Axi4Signals {
  using Bit = sc_core::sc_signal<bool>;
  using Field = sc_core::sc_signal<std::uint32_t>;
  using Address = sc_core::sc_signal<std::uint64_t>;
  using Data = sc_core::sc_signal<SignalValue<kDataBits>>;

  Bit awvalid{"awvalid"}, awready{"awready"};
  Field awid{"awid"};
  Address awaddr{"awaddr"};  // local byte address
  Field awlen{"awlen"}, awsize{"awsize"}, awburst{"awburst"};
  Bit awlock{"awlock"};
  Field awcache{"awcache"}, awprot{"awprot"}, awqos{"awqos"}, awregion{"awregion"};

  Bit wvalid{"wvalid"}, wready{"wready"};
  Data wdata{"wdata"};
  sc_core::sc_signal<SignalValue<kDataBits / 8>> wstrb{"wstrb"};
  Bit wlast{"wlast"};

  Bit bvalid{"bvalid"}, bready{"bready"};
  Field bid{"bid"}, bresp{"bresp"};

  Bit arvalid{"arvalid"}, arready{"arready"};
  Field arid{"arid"};
  Address araddr{"araddr"};
  Field arlen{"arlen"}, arsize{"arsize"}, arburst{"arburst"};
  Bit arlock{"arlock"};
  Field arcache{"arcache"}, arprot{"arprot"}, arqos{"arqos"}, arregion{"arregion"};

  Bit rvalid{"rvalid"}, rready{"rready"};
  Field rid{"rid"};
  Data rdata{"rdata"};
  Field rresp{"rresp"};
  Bit rlast{"rlast"};
};

// kDataBits: 32, 64, 128, 256, 512 or 1024.
template <unsigned kDataBits>
class Axi4Hop final : public SignalHop {
 public:
  Axi4Signals<kDataBits> pins;

  // Throws InputError if an option is out of its range.
  Axi4Hop(sc_core::sc_module_name name, const Hop& hop, const Options& options = Options());
  ~Axi4Hop() override;

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
