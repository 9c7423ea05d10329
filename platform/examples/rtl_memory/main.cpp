// RTL beside TLM: memory controllers in Verilog, translated by Verilator, in a platform with the GPU. All
// data lie in memory arrays of the Verilog.
//
//   cpu ──▶ gpu.host_socket
//   gpu.hop_dram* ──▶ ReadyValidHop ──▶ dram_controller.v        device memory, a controller per channel
//   gpu.dma_socket ──▶ Axi4Hop ──▶ axi4_dram.v                   system memory
//
//   rtl_memory [rtl [WAVES]]     WAVES.vcd: signals of the GPU, of the adapters and of the Verilog
//   rtl_memory weft [WAVES]      device memory behind Weft's own controllers, for comparison
//
// A breadth-first search runs twice: over a graph that is copied to device memory, and in place in system
// memory.
#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "Vaxi4_dram.h"
#include "Vaxi4_dram___024root.h"
#include "Vdram_controller.h"
#include "Vdram_controller___024root.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/axi4_hop.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/platform/ready_valid_hop.h"

extern "C" {
#include "bfs_program.h"
}

namespace {

constexpr std::uint64_t kMemoryBase = 0x8000'0000;
constexpr std::uint64_t kChannels = 2,
                        kChannelBytes = 2 << 20;  // of device memory; WORDS_LOG2 in the Verilog

// One channel of device memory: the adapter in the place of Weft's controller, and the RTL behind it.
class RtlChannel : public sc_core::sc_module {
 public:
  using Adapter = weft::ReadyValidHop<256>;

  SC_HAS_PROCESS(RtlChannel);
  RtlChannel(const sc_core::sc_module_name& name, const weft::Hop& hop, Adapter& adapter)
      : sc_module(name), hop_(hop), adapter_(adapter), rtl_("rtl") {
    auto& pins = adapter.pins;
    rtl_.clk(adapter.clock);
    rtl_.reset_n(adapter.reset_n);
    rtl_.request_valid(pins.request_valid);
    rtl_.request_ready(pins.request_ready);
    rtl_.request_id(pins.request_id);
    rtl_.request_write(pins.request_write);
    rtl_.request_address(pins.request_address);
    rtl_.request_data(pins.request_data);
    rtl_.request_strobe(pins.request_strobe);
    rtl_.response_valid(pins.response_valid);
    rtl_.response_ready(pins.response_ready);
    rtl_.response_id(pins.response_id);
    rtl_.response_data(pins.response_data);
    rtl_.response_error(pins.response_error);
    // What is inside the RTL becomes signals, after its edge.
    SC_METHOD(sample);
    sensitive << adapter.clock.neg();
    dont_initialize();
  }
  const Adapter& adapter() const { return adapter_; }
  // Bytes that are not those of the GPU's image.
  std::uint64_t differing(const weft::memory::MemoryImage& image) const {
    const auto* const bytes =
        reinterpret_cast<const unsigned char*>(&rtl_.rootp->dram_controller__DOT__memory[0]);
    std::uint64_t differing = 0;
    for (std::uint64_t i = 0; i < kChannelBytes; ++i)
      differing += bytes[i] != image.data()[hop_.addresses.global(i)] ? 1 : 0;
    return differing;
  }
  void trace(sc_core::sc_trace_file* file) const override {
    adapter_.trace(file);
    const std::string scope = std::string("rtl.") + hop_.name + ".";
    sc_core::sc_trace(file, queued_.read(), scope + "queued", 8);
    sc_core::sc_trace(file, bank_busy_.read(), scope + "bank_busy", 8);
    for (std::size_t bank = 0; bank < row_.size(); ++bank)
      sc_core::sc_trace(file, row_[bank].read(), scope + "row" + std::to_string(bank), 8);
  }

 private:
  void sample() {
    queued_.write(rtl_.rootp->dram_controller__DOT__queued);
    bank_busy_.write(rtl_.rootp->dram_controller__DOT__bank_busy);
    for (std::size_t bank = 0; bank < row_.size(); ++bank)
      row_[bank].write(rtl_.rootp->dram_controller__DOT__bank_row[bank]);
  }

  const weft::Hop hop_;
  Adapter& adapter_;
  Vdram_controller rtl_;
  sc_core::sc_signal<std::uint32_t> queued_, bank_busy_;
  std::array<sc_core::sc_signal<std::uint32_t>, 8> row_;
};

// System memory: an initiator's socket, AXI4 signals, and the RTL with its memory.
class RtlMemory {
 public:
  static constexpr std::uint64_t kBytes = 16 << 20;
  weft::Axi4Hop<128> adapter;

  explicit RtlMemory(sc_core::sc_clock& clock)
      : adapter("memory", weft::Hop{"memory", kBytes, {kMemoryBase}}), rtl_("rtl_memory") {
    auto& pins = adapter.pins;
    adapter.clock(clock);
    rtl_.aclk(clock);
    rtl_.aresetn(adapter.reset_n);
    rtl_.awvalid(pins.awvalid);
    rtl_.awready(pins.awready);
    rtl_.awid(pins.awid);
    rtl_.awaddr(pins.awaddr);
    rtl_.awlen(pins.awlen);
    rtl_.wvalid(pins.wvalid);
    rtl_.wready(pins.wready);
    rtl_.wdata(pins.wdata);
    rtl_.wstrb(pins.wstrb);
    rtl_.wlast(pins.wlast);
    rtl_.bvalid(pins.bvalid);
    rtl_.bready(pins.bready);
    rtl_.bid(pins.bid);
    rtl_.bresp(pins.bresp);
    rtl_.arvalid(pins.arvalid);
    rtl_.arready(pins.arready);
    rtl_.arid(pins.arid);
    rtl_.araddr(pins.araddr);
    rtl_.arlen(pins.arlen);
    rtl_.rvalid(pins.rvalid);
    rtl_.rready(pins.rready);
    rtl_.rid(pins.rid);
    rtl_.rdata(pins.rdata);
    rtl_.rresp(pins.rresp);
    rtl_.rlast(pins.rlast);
  }
  // The memory array of the Verilog, in which the CPU's program has its data.
  unsigned char* data() {
    return reinterpret_cast<unsigned char*>(&rtl_.rootp->axi4_dram__DOT__controller__DOT__memory[0]);
  }

 private:
  Vaxi4_dram rtl_;
};

class Cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Cpu> socket;
  sc_core::sc_in<bool> irq;

  SC_HAS_PROCESS(Cpu);
  Cpu(const sc_core::sc_module_name& name, const weft::Gpu& gpu, RtlMemory& memory, std::string ptx)
      : sc_module(name), socket("socket"), irq("irq"), gpu_(gpu), memory_(memory), ptx_(std::move(ptx)) {
    SC_THREAD(run);
  }
  bool right() const { return right_; }

 private:
  void run() {
    wait(memory_.adapter.reset_n.posedge_event());
    weft_io io{};
    io.context = this;
    io.read32 = [](void* cpu, std::uint64_t offset) {
      return static_cast<Cpu*>(cpu)->access(tlm::TLM_READ_COMMAND, offset, 0);
    };
    io.write32 = [](void* cpu, std::uint64_t offset, std::uint32_t value) {
      static_cast<Cpu*>(cpu)->access(tlm::TLM_WRITE_COMMAND, offset, value);
    };
    io.mask = [](void*) {};
    io.sleep = [](void* context) {
      auto* const cpu = static_cast<Cpu*>(context);
      while (!cpu->irq.read()) sc_core::wait(cpu->irq.value_changed_event());
    };
    io.unmask = [](void* context) {
      auto* const cpu = static_cast<Cpu*>(context);
      if (cpu->irq.read()) weft_interrupt(&cpu->driver_);
    };
    io.memory = memory_.data();
    io.memory_address = kMemoryBase;
    io.memory_bytes = RtlMemory::kBytes;
    weft_queue queue;
    if (weft_open(&driver_, &io) != 0 || weft_open_queue(&queue, &driver_, 0, 64, 1 << 16) != 0)
      SC_REPORT_FATAL("cpu", "the GPU cannot be opened");
    const std::uint64_t kernel = weft_kernel(&driver_, ptx_.data(), ptx_.size(), "bfs", 1 << 16);
    right_ = search(queue, kernel, 0, "in device memory") && search(queue, kernel, 1, "in system memory");
    sc_core::sc_stop();
  }

  bool search(weft_queue& queue, std::uint64_t kernel, int shared, const char* where) {
    const bfs_options options{2000, 4, shared};
    bfs_result result{};
    const std::uint64_t before = gpu_.totals().cycles;
    const int error = bfs_run(&queue, kernel, &options, &result);
    std::printf("%s: error %d, %u levels, %u vertices reached, %u wrong, %llu cycles\n", where, error,
                result.levels, result.reached, result.wrong,
                static_cast<unsigned long long>(gpu_.totals().cycles - before));
    return error == 0 && result.wrong == 0 && result.reached > 1;
  }

  std::uint32_t access(tlm::tlm_command command, std::uint64_t offset, std::uint32_t value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(sizeof value);
    payload.set_streaming_width(sizeof value);
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    wait(delay);
    if (payload.is_response_error()) SC_REPORT_FATAL("cpu", payload.get_response_string().c_str());
    return value;
  }

  const weft::Gpu& gpu_;
  RtlMemory& memory_;
  const std::string ptx_;
  weft_gpu driver_{};
  bool right_ = false;
};

void print(const weft::SignalHop& adapter) {
  const weft::SignalHop::Counters& counters = adapter.counters();
  std::printf("%s: %llu reads of %llu bytes (%llu newer in the image), %llu writes of %llu bytes\n",
              adapter.basename(), static_cast<unsigned long long>(counters.reads),
              static_cast<unsigned long long>(counters.bytes_read),
              static_cast<unsigned long long>(counters.bytes_newer),
              static_cast<unsigned long long>(counters.writes),
              static_cast<unsigned long long>(counters.bytes_written));
}

}  // namespace

int sc_main(int argc, char* argv[]) try {
  const std::string who = argc > 1 ? argv[1] : "rtl";
  if (who != "rtl" && who != "weft") {
    std::fprintf(stderr, "rtl_memory: found '%s' as first argument; allowed: rtl, weft\n", who.c_str());
    return 2;
  }
  std::ifstream text(PTX, std::ios::binary);
  const std::string ptx((std::istreambuf_iterator<char>(text)), {});

  sc_core::sc_clock clock("clock", sc_core::sc_time(1, sc_core::SC_NS));
  weft::Gpu::Options options;
  options.monitors = true;
  std::vector<std::pair<weft::Hop, RtlChannel::Adapter*>> replaced;
  if (who == "rtl") {
    options.replace("hop_dram*", [&](const weft::Hop& hop) {
      auto adapter = std::make_unique<RtlChannel::Adapter>(("rtl_" + hop.name).c_str(), hop);
      adapter->clock(clock);
      replaced.emplace_back(hop, adapter.get());
      return adapter;
    });
  }
  const weft::GpuConfig config =
      weft::load_config(CONFIG, {"system.enabled=true", "l2.enabled=false", "sm.count=4",
                                 "dram.channels=" + std::to_string(kChannels),
                                 "dram.bytes=" + std::to_string(kChannels * kChannelBytes)});
  weft::Gpu gpu("gpu", config, options);
  std::vector<std::unique_ptr<RtlChannel>> channels;
  for (const auto& [hop, adapter] : replaced)
    channels.push_back(std::make_unique<RtlChannel>(("channel_" + hop.name).c_str(), hop, *adapter));
  RtlMemory memory(clock);
  Cpu cpu("cpu", gpu, memory, ptx);
  sc_core::sc_signal<bool> irq("irq");
  cpu.socket.bind(gpu.host_socket);
  gpu.dma_socket.bind(memory.adapter.target);
  gpu.irq.bind(irq);
  cpu.irq.bind(irq);

  sc_core::sc_trace_file* file = nullptr;
  if (argc > 2) {
    file = sc_core::sc_create_vcd_trace_file(argv[2]);
    file->set_time_unit(1, sc_core::SC_PS);
    sc_core::sc_trace(file, clock, "clock");
    gpu.trace(file, "launch,kernel,sm0.scheduler*,crossbar");
    memory.adapter.trace(file);
    for (const auto& channel : channels) channel->trace(file);
  }
  sc_core::sc_start();
  if (file != nullptr) sc_core::sc_close_vcd_trace_file(file);

  std::string violations = gpu.violations() + memory.adapter.violations();
  std::uint64_t differing = 0;
  for (const auto& channel : channels) {
    violations += channel->adapter().violations();
    differing += channel->differing(gpu.memory());
    print(channel->adapter());
  }
  print(memory.adapter);
  std::printf("%llu bytes of the RTL's device memory differ, %zu bytes of violations\n%s",
              static_cast<unsigned long long>(differing), violations.size(), violations.c_str());
  return cpu.right() && differing == 0 && violations.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rtl_memory: %s\n", error.what());
  return 2;
}
