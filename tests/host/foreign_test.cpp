// The GPU on a platform of somebody else: other bus widths, initiators that run ahead of simulated time,
// targets that keep payloads, and sides that break a rule.
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "default_addresses.h"
#include "host/packets.h"
#include "host/test_memory.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/bus_width_adapter.h"
#include "weft/platform/gpu.h"
#include "weft/platform/interrupt_call.h"

namespace weft::test::foreign_test {
namespace {

using sc_core::sc_time;
using Payload = tlm::tlm_generic_payload;

constexpr std::uint64_t kRam = 0x8000'0000, kRamBytes = 1 << 20, kOut = kDeviceBase + 0x2'0000;
constexpr std::uint32_t kWords = 5 * 64;

// A loosely timed initiator, 64 bits wide, that keeps its own time.
struct WideCpu : sc_core::sc_module {
  SC_HAS_PROCESS(WideCpu);
  tlm_utils::simple_initiator_socket<WideCpu, 64> socket;
  bool no_streaming_width = false;
  sc_time local;  // ahead of simulated time
  std::vector<std::uint64_t> invalidated;
  std::function<void()> script;
  bool done = false;

  explicit WideCpu(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &WideCpu::invalidate);
    SC_THREAD(run);
  }
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                  unsigned bytes) {
    Payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(bytes);
    payload.set_streaming_width(no_streaming_width ? 0 : bytes);
    socket->b_transport(payload, local);
    EXPECT_EQ(payload.get_streaming_width(), no_streaming_width ? 0 : bytes);
    EXPECT_EQ(payload.get_address(), address);
    return payload.get_response_status();
  }
  void synchronise() {
    sc_core::wait(local);
    local = sc_core::SC_ZERO_TIME;
  }
  template <class T>
  T get(std::uint64_t address) {
    T value{};
    EXPECT_EQ(access(tlm::TLM_READ_COMMAND, address, &value, sizeof value), tlm::TLM_OK_RESPONSE);
    return value;
  }
  template <class T>
  void put(std::uint64_t address, T value) {
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, address, &value, sizeof value), tlm::TLM_OK_RESPONSE)
        << std::hex << address;
  }

 private:
  void run() {
    script();
    done = true;
  }
  void invalidate(sc_dt::uint64 first, sc_dt::uint64) { invalidated.push_back(first); }
};

// In front of a memory: forgets to set a status, or keeps what comes.
struct Careless : sc_core::sc_module {
  tlm_utils::simple_target_socket<Careless, 128> target;
  tlm_utils::simple_initiator_socket<Careless, 128> initiator;
  bool no_status = false, keeps = false;
  struct Kept {
    Payload* payload;
    std::uint64_t address;
    std::vector<unsigned char> data;
  };
  std::vector<Kept> kept;

  explicit Careless(sc_core::sc_module_name name)
      : sc_module(name), target("target"), initiator("initiator") {
    target.register_b_transport(this, &Careless::blocking);
    target.register_nb_transport_fw(this, &Careless::forward);
    initiator.register_nb_transport_bw(this, &Careless::backward);
  }
  // Each is as it was when its call ended.
  void let_go() {
    for (const Kept& one : kept) {
      EXPECT_EQ(one.payload->get_address(), one.address);
      EXPECT_EQ(std::memcmp(one.payload->get_data_ptr(), one.data.data(), one.data.size()), 0);
      one.payload->release();
    }
    kept.clear();
  }

 private:
  void blocking(Payload& payload, sc_time& delay) {
    initiator->b_transport(payload, delay);
    if (no_status) payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    if (!keeps) return;
    EXPECT_TRUE(payload.has_mm());
    payload.acquire();
    const unsigned char* const data = payload.get_data_ptr();
    kept.push_back({&payload, payload.get_address(), {data, data + payload.get_data_length()}});
  }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    const auto result = initiator->nb_transport_fw(payload, phase, delay);
    if (no_status && result == tlm::TLM_COMPLETED && payload.get_response_status() > 0)
      payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return result;
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (no_status && phase == tlm::BEGIN_RESP) payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    return target->nb_transport_bw(payload, phase, delay);
  }
};

struct Platform {
  explicit Platform(std::vector<std::string> overrides = {})
      : gpu("gpu",
            [&] {
              overrides.insert(overrides.end(), {"sm.count=2", "dram.bytes=4194304"});
              return load_config("gtx480", overrides);
            }(),
            {true, true}) {
    cpu.socket.bind(narrow.target);
    narrow.initiator.bind(gpu.host_socket);
    gpu.dma_socket.bind(wide.target);
    wide.initiator.bind(careless.target);
    careless.initiator.bind(to_memory.target);
    to_memory.initiator.bind(memory.socket);
    for (unsigned q = 0; q < 2; ++q) gpu.queue_irq[q].bind(queue_irq[q]);
    put_kernel(memory, "fill");
    put_arguments(memory, kOut, 3);
    memory.put<std::int64_t>(kSignal, 1);
  }
  ~Platform() { EXPECT_EQ(gpu.violations(), ""); }

  void run(std::function<void()> script) {
    cpu.script = std::move(script);
    const sc_time limit = sc_core::sc_time_stamp() + sc_time(20, sc_core::SC_MS);
    while (!cpu.done && sc_core::sc_time_stamp() < limit) sc_core::sc_start(sc_time(1, sc_core::SC_US));
    ASSERT_TRUE(cpu.done);
  }
  // From the script. Pairs of registers in one access of 8 bytes each.
  void open() {
    cpu.put<std::uint64_t>(WEFT_WINDOW(0, WEFT_WINDOW_BASE_LO), kRam);
    cpu.put<std::uint64_t>(WEFT_WINDOW(0, WEFT_WINDOW_BYTES_LO), kRamBytes);
    cpu.put<std::uint32_t>(WEFT_WINDOW(0, WEFT_WINDOW_CONTROL), WEFT_WINDOW_ENABLE);
    for (unsigned q = 0; q < 2; ++q) {
      cpu.put<std::uint64_t>(WEFT_QUEUE(q, WEFT_QUEUE_RING_BASE_LO), kRing + 0x200 * q);
      cpu.put<std::uint32_t>(WEFT_QUEUE(q, WEFT_QUEUE_RING_PACKETS), 8);
      cpu.put<std::uint64_t>(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BASE_LO),
                             kDeviceBase + 0x10'0000 + 0x8'0000 * q);
      cpu.put<std::uint64_t>(WEFT_QUEUE(q, WEFT_QUEUE_SCRATCH_BYTES_LO), 0x8'0000);
      cpu.put<std::uint32_t>(WEFT_QUEUE(q, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
      cpu.put<std::uint32_t>(WEFT_QUEUE(q, WEFT_QUEUE_IRQ_ENABLE), WEFT_IRQ_COMPLETION | WEFT_IRQ_ERROR);
    }
    EXPECT_EQ(cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE), 0u) << gpu.host_error();
  }
  template <class Packet>
  void write_packet(unsigned q, std::uint32_t index, const Packet& packet) {
    memory.put(kRing + 0x200 * q + index % 8 * 64, packet);
  }
  void ring(unsigned q, std::uint32_t packets) {
    cpu.put<std::uint32_t>(WEFT_QUEUE(q, WEFT_QUEUE_DOORBELL), packets);
  }
  void submit(unsigned q, std::uint32_t index) {
    write_packet(q, index, dispatch_packet(5, 64));
    ring(q, index + 1);
  }
  void wait_for_queue(unsigned q) {
    cpu.synchronise();
    const sc_time limit = sc_core::sc_time_stamp() + sc_time(5, sc_core::SC_MS);
    while (!queue_irq[q].read() && sc_core::sc_time_stamp() < limit)
      sc_core::wait(sc_time(100, sc_core::SC_NS));
    ASSERT_TRUE(queue_irq[q].read()) << "no interrupt";
  }
  void expect_filled() {
    for (std::uint32_t i = 0; i < kWords; i += 2) {
      const std::uint64_t two = 3 * i + 5 + (std::uint64_t{3 * i + 8} << 32);
      ASSERT_EQ(cpu.get<std::uint64_t>(WEFT_APERTURE + (kOut - kDeviceBase) + 4 * i), two) << i;
    }
  }

  WideCpu cpu{"cpu"};
  BusWidthAdapter<64, 32> narrow{"narrow"};
  BusWidthAdapter<32, 128> wide{"wide"};
  Careless careless{"careless"};
  BusWidthAdapter<128, 32> to_memory{"to_memory"};
  TestMemory memory{"memory", kRam, kRamBytes};
  Gpu gpu;
  sc_core::sc_signal<bool> queue_irq[2];
};

std::string transport_of(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

// ---- widths

class ForeignBus : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, ForeignBus, ::testing::Values("at", "lt"), transport_of);

TEST_P(ForeignBus, AdaptersJoinWidthsBothWays) {
  Platform platform({"host.dma_transport=" + GetParam()});
  platform.run([&] {
    platform.open();
    platform.submit(0, 0);
    platform.wait_for_queue(0);
    platform.expect_filled();
    // Direct access to device memory, and its end, and debug accesses.
    Payload payload;
    payload.set_address(WEFT_APERTURE + (kOut - kDeviceBase));
    tlm::tlm_dmi region;
    ASSERT_TRUE(platform.cpu.socket->get_direct_mem_ptr(payload, region));
    std::uint32_t word = 0;
    std::memcpy(&word, region.get_dmi_ptr() + (kOut - kDeviceBase), sizeof word);
    EXPECT_EQ(word, 5u);
    payload.set_read();
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    payload.set_data_length(4);
    payload.set_address(WEFT_REG_ID);
    EXPECT_EQ(platform.cpu.socket->transport_dbg(payload), 4u);
    EXPECT_EQ(word, static_cast<std::uint32_t>(WEFT_ID_VALUE));
    platform.cpu.put<std::uint32_t>(WEFT_REG_CONTROL, WEFT_CONTROL_RESET);
    sc_core::wait(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(platform.cpu.invalidated, std::vector<std::uint64_t>{WEFT_APERTURE});
  });
}

// ---- sides that break a rule

class Sloppy : public ::testing::TestWithParam<std::string> {
 public:
  Sloppy() {
    sc_core::sc_report_handler::set_actions("/weft/host", sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
  }
  static int warnings() { return sc_core::sc_report_handler::get_count("/weft/host", sc_core::SC_WARNING); }
};
INSTANTIATE_TEST_SUITE_P(Transports, Sloppy, ::testing::Values("at", "lt"), transport_of);

TEST_P(Sloppy, AreToleratedWithOneWarningEach) {
  Platform platform({"host.tolerant=true", "host.dma_transport=" + GetParam()});
  platform.cpu.no_streaming_width = true;
  platform.careless.no_status = true;
  platform.run([&] {
    platform.open();
    EXPECT_EQ(warnings(), 1);
    for (std::uint32_t index = 0; index < 2; ++index) {
      platform.memory.put<std::int64_t>(kSignal, 1);
      platform.submit(0, index);
      platform.wait_for_queue(0);
      platform.expect_filled();
      EXPECT_EQ(platform.memory.get<std::int64_t>(kSignal), 0);
      platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_STATUS), UINT32_MAX);
      platform.cpu.synchronise();
      sc_core::wait(sc_time(1, sc_core::SC_US));
    }
  });
  EXPECT_EQ(warnings(), 2);
}

TEST_P(Sloppy, AreRefusedWithoutTheOption) {
  Platform platform({"host.dma_transport=" + GetParam()});
  platform.careless.no_status = true;
  platform.run([&] {
    platform.cpu.no_streaming_width = true;
    std::uint64_t word = 0;
    EXPECT_EQ(platform.cpu.access(tlm::TLM_READ_COMMAND, WEFT_REG_ID, &word, 4),
              tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(platform.cpu.access(tlm::TLM_READ_COMMAND, WEFT_APERTURE, &word, 8),
              tlm::TLM_BURST_ERROR_RESPONSE);
    platform.cpu.no_streaming_width = false;
    platform.open();
    platform.submit(0, 0);
    platform.wait_for_queue(0);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE),
              static_cast<std::uint32_t>(WEFT_ERROR_BUS));
  });
  EXPECT_EQ(warnings(), 0);
}

// An error that a target does report stays one.
TEST_P(Sloppy, ErrorsAreNotTolerated) {
  Platform platform({"host.tolerant=true", "host.dma_transport=" + GetParam()});
  platform.memory.bad_begin = kObject;
  platform.memory.bad_end = kObject + 8;
  platform.run([&] {
    platform.open();
    platform.submit(0, 0);
    platform.wait_for_queue(0);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE),
              static_cast<std::uint32_t>(WEFT_ERROR_BUS));
  });
  EXPECT_EQ(warnings(), 0);
}

// ---- interrupts

// A controller with a function in place of a socket or port, as RISC-V's gateways often have it.
TEST(Interrupts, CallAFunctionAtEachChangeOfTheLine) {
  Platform platform;
  std::vector<bool> levels;
  sc_core::sc_event called;
  InterruptCall to_controller("to_controller", [&](bool high) {
    levels.push_back(high);
    called.notify();
  });
  platform.gpu.irq.bind(to_controller.line);
  platform.run([&] {
    platform.open();
    platform.cpu.put<std::uint32_t>(WEFT_REG_IRQ_ENABLE, WEFT_IRQ_COMPLETION);
    for (std::uint32_t index = 0; index < 2; ++index) {
      platform.submit(0, index);
      platform.cpu.synchronise();
      sc_core::wait(sc_time(5, sc_core::SC_MS), called);
      ASSERT_EQ(levels.size(), 2 * index + 1);
      EXPECT_TRUE(levels.back());
      platform.expect_filled();
      platform.cpu.put<std::uint32_t>(WEFT_REG_IRQ_STATUS, WEFT_IRQ_COMPLETION);
      platform.cpu.synchronise();
      sc_core::wait(sc_time(1, sc_core::SC_US));
      ASSERT_EQ(levels.size(), 2 * index + 2);
      EXPECT_FALSE(levels.back());
    }
  });
}

// ---- payloads

TEST(LooselyTimedPayloads, ATargetMayKeepThem) {
  Platform platform({"host.dma_transport=lt", "host.outstanding=2", "system.enabled=true"});
  platform.careless.keeps = true;
  std::size_t most = 0;
  platform.run([&] {
    platform.open();
    for (std::uint32_t index = 0; index < 3; ++index) {
      platform.memory.put<std::int64_t>(kSignal, 1);
      put_arguments(platform.memory, index == 1 ? kRam + 0x8'0000 : kOut, 3);  // stores to system memory, too
      platform.submit(0, index);
      platform.wait_for_queue(0);
      platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_STATUS), UINT32_MAX);
      sc_core::wait(sc_time(1, sc_core::SC_US));
      if (index < 2) continue;
      most = platform.careless.kept.size();
      platform.careless.let_go();
    }
    platform.expect_filled();
  });
  EXPECT_GT(most, 30u) << "kept at a time";
  for (std::uint32_t i = 0; i < kWords; ++i)
    ASSERT_EQ(platform.memory.get<std::uint32_t>(kRam + 0x8'0000 + 4 * i), 3 * i + 5) << i;
}

// ---- direct access

class DirectAccess : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Machines, DirectAccess, ::testing::Values("gtx480", "dwr-tesla"),
                         [](const auto& info) { return std::string(info.param, 0, 3); });

// Latencies are what an access by b_transport takes.
TEST_P(DirectAccess, TellsTheTimeOfAnAccess) {
  Gpu gpu("gpu", load_config(GetParam(), {"sm.count=2", "dram.bytes=4194304"}), {true, true});
  WideCpu cpu("cpu");
  BusWidthAdapter<64, 32> narrow("narrow");
  cpu.socket.bind(narrow.target);
  narrow.initiator.bind(gpu.host_socket);
  cpu.script = [&] {
    Payload payload;
    payload.set_address(WEFT_APERTURE + 0x100);
    tlm::tlm_dmi region;
    ASSERT_TRUE(cpu.socket->get_direct_mem_ptr(payload, region));
    cpu.get<std::uint32_t>(WEFT_APERTURE + 0x100);
    EXPECT_EQ(region.get_read_latency(), cpu.local);
    EXPECT_GT(cpu.local, sc_core::SC_ZERO_TIME);
    cpu.local = sc_core::SC_ZERO_TIME;
    cpu.put<std::uint32_t>(WEFT_APERTURE + 0x100, 1);
    EXPECT_EQ(region.get_write_latency(), cpu.local);
    EXPECT_GT(cpu.local, sc_core::SC_ZERO_TIME);
  };
  sc_core::sc_start(sc_time(1, sc_core::SC_US));
  EXPECT_TRUE(cpu.done);
}

// A transaction says that direct access is possible where get_direct_mem_ptr grants it, and only there.
TEST(DirectAccessHint, IsTrue) {
  for (const bool carve_out : {false, true}) {
    const auto body = [&] {
      TestMemory memory("memory", 0x9000'0000, 4 << 20);
      Gpu gpu("gpu", load_config(carve_out ? "integrated" : "gtx480", {"sm.count=2", "dram.bytes=4194304"}),
              {true, true});
      WideCpu cpu("cpu");
      BusWidthAdapter<64, 32> narrow("narrow");
      cpu.socket.bind(narrow.target);
      narrow.initiator.bind(gpu.host_socket);
      gpu.dma_socket.bind(memory.socket);
      cpu.script = [&] {
        std::uint32_t word = 0;
        Payload payload;
        payload.set_read();
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        for (const std::uint64_t address : {std::uint64_t{WEFT_REG_ID}, std::uint64_t{WEFT_APERTURE}}) {
          payload.set_address(address);
          payload.set_dmi_allowed(false);
          payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
          sc_time delay;
          cpu.socket->b_transport(payload, delay);
          EXPECT_TRUE(payload.is_response_ok());
          const bool hint = payload.is_dmi_allowed();
          tlm::tlm_dmi region;
          EXPECT_EQ(hint, cpu.socket->get_direct_mem_ptr(payload, region)) << std::hex << address;
          EXPECT_EQ(hint, address != WEFT_REG_ID && !carve_out);
        }
      };
      sc_core::sc_start(sc_time(1, sc_core::SC_US));
      EXPECT_TRUE(cpu.done);
    };
    if (carve_out) {
      body();
    } else {
      EXPECT_EXIT((body(), std::exit(::testing::Test::HasFailure() ? 1 : 0)), ::testing::ExitedWithCode(0),
                  "");
    }
  }
}

// ---- doorbells

// A kernel takes the same time after the doorbell of an initiator that ran ahead as after that of one that
// waited.
TEST(Doorbells, OfAnInitiatorThatRunsAheadRingAtItsLocalTime) {
  Platform platform;
  WideCpu& cpu = platform.cpu;
  const auto time_of = [&](std::uint32_t index, bool ahead) {
    platform.write_packet(0, index, dispatch_packet(5, 64));
    cpu.local = sc_time(20, sc_core::SC_US);
    const sc_time rung = sc_core::sc_time_stamp() + cpu.local;
    if (!ahead) cpu.synchronise();
    platform.ring(0, index + 1);
    cpu.local = sc_core::SC_ZERO_TIME;
    if (ahead) {
      sc_core::wait(sc_time(19, sc_core::SC_US));
      EXPECT_EQ(cpu.get<std::uint32_t>(WEFT_REG_STATUS) & WEFT_STATUS_BUSY, 0u) << "before its time";
      EXPECT_EQ(cpu.get<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_READ_INDEX)), index);
      cpu.local = sc_core::SC_ZERO_TIME;
    }
    sc_core::wait(platform.queue_irq[0].posedge_event());
    const sc_time took = sc_core::sc_time_stamp() - rung;
    cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_STATUS), UINT32_MAX);
    cpu.synchronise();
    sc_core::wait(sc_time(1, sc_core::SC_US));
    return took.to_seconds() * 1e9;
  };
  platform.run([&] {
    platform.open();
    cpu.synchronise();
    time_of(0, false);  // the kernel is read and parsed
    const double waited = time_of(1, false), ahead = time_of(2, true);
    EXPECT_GT(waited, 100);
    EXPECT_NEAR(ahead, waited, 10) << "ns; a few edges of clocks";
  });
}

// What is written to the queue behind its doorbell acts behind it.
TEST(Doorbells, KeepTheirPlaceInTheOrderOfWrites) {
  Platform platform;
  platform.run([&] {
    platform.open();
    platform.cpu.synchronise();
    platform.write_packet(0, 0, dispatch_packet(5, 64));
    platform.cpu.local = sc_time(20, sc_core::SC_US);
    platform.ring(0, 1);
    platform.ring(1, 0);  // of another queue: nothing new
    platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_CONTROL), WEFT_QUEUE_ENABLE);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL)), 1u);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE), 0u) << platform.gpu.host_error();
    platform.wait_for_queue(0);
    platform.expect_filled();
    // The next one, at the same instant in simulated time: by then the first has rung.
    platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_STATUS), UINT32_MAX);
    platform.cpu.synchronise();
    platform.write_packet(0, 1, dispatch_packet(5, 64));
    platform.write_packet(0, 2, dispatch_packet(5, 64));
    platform.cpu.local = sc_time(20, sc_core::SC_US);
    platform.ring(0, 2);
    platform.cpu.local = sc_time(20, sc_core::SC_US);
    platform.cpu.synchronise();
    platform.ring(0, 3);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_DOORBELL)), 3u);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE), 0u) << platform.gpu.host_error();
    sc_core::wait(sc_time(20, sc_core::SC_US));
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_READ_INDEX)), 3u);
    // A reset takes what waits.
    platform.cpu.local = sc_time(20, sc_core::SC_US);
    platform.ring(1, 5);
    platform.cpu.local = sc_core::SC_ZERO_TIME;
    platform.gpu.reset();
    sc_core::wait(sc_time(30, sc_core::SC_US));
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_ERROR_CODE), 0u) << platform.gpu.host_error();
  });
}

// ---- interrupts

TEST(QueueInterrupts, EachQueueHasALineOfItsOwn) {
  Platform platform;
  platform.run([&] {
    platform.open();
    const auto lines = [&] {
      sc_core::wait(sc_time(1, sc_core::SC_US));
      return (platform.queue_irq[0].read() ? 1 : 0) + (platform.queue_irq[1].read() ? 2 : 0);
    };
    const auto status = [&](unsigned q) {
      return platform.cpu.get<std::uint32_t>(WEFT_QUEUE(q, WEFT_QUEUE_IRQ_STATUS));
    };
    platform.submit(1, 0);
    platform.wait_for_queue(1);
    EXPECT_EQ(lines(), 2);
    EXPECT_EQ(status(0), 0u);
    EXPECT_EQ(status(1), static_cast<std::uint32_t>(WEFT_IRQ_COMPLETION));
    // The GPU's own status has it, too, and is cleared by itself.
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_REG_IRQ_STATUS),
              static_cast<std::uint32_t>(WEFT_IRQ_COMPLETION));
    platform.cpu.put<std::uint32_t>(WEFT_REG_IRQ_STATUS, UINT32_MAX);
    EXPECT_EQ(lines(), 2);
    platform.ring(0, 9);  // beyond the ring
    EXPECT_EQ(lines(), 3);
    EXPECT_EQ(status(0), static_cast<std::uint32_t>(WEFT_IRQ_ERROR));
    platform.cpu.put<std::uint32_t>(WEFT_QUEUE(1, WEFT_QUEUE_IRQ_STATUS), WEFT_IRQ_COMPLETION);
    EXPECT_EQ(lines(), 1);
    platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_ENABLE), WEFT_IRQ_COMPLETION);
    EXPECT_EQ(lines(), 0);
    platform.cpu.put<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_ENABLE), UINT32_MAX);
    EXPECT_EQ(platform.cpu.get<std::uint32_t>(WEFT_QUEUE(0, WEFT_QUEUE_IRQ_ENABLE)), 7u);
    EXPECT_EQ(lines(), 1);
    platform.gpu.reset();
    EXPECT_EQ(lines(), 0);
  });
}

}  // namespace
}  // namespace weft::test::foreign_test
