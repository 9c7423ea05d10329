// Replaced hops, and adapters between hops and signals in front of memories that are hostile.
#include "weft/platform/signal_hop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <functional>
#include <random>

#include "bus/hop_monitor.h"
#include "default_addresses.h"
#include "memory/channel_map.h"
#include "platform/divergent_kernel.h"
#include "signal_memories.h"
#include "weft/common/error.h"
#include "weft/memory/memory_image.h"
#include "weft/weft_registers.h"

namespace weft::test::signal_hop_test {
namespace {

using sc_core::sc_time;
using ::testing::AllOf;
using ::testing::HasSubstr;

// ---- addresses

TEST(HopAddresses, AreThoseOfTheMap) {
  std::mt19937_64 random(3);
  for (const unsigned channels : {1u, 2u, 6u}) {
    for (const auto& [banks, order] : {std::pair{1u, memory::SliceOrder::kChannels},
                                       {2u, memory::SliceOrder::kChannels},
                                       {2u, memory::SliceOrder::kL2Banks}}) {
      memory::ChannelMapConfig config;
      config.channels = channels;
      config.l2_banks = banks;
      config.slice_order = order;
      const memory::ChannelMap map(config);
      for (unsigned i = 0; i < 1000; ++i) {
        const std::uint64_t address = random() % (1u << 30);
        const memory::ChannelMap::Route route = map.route(address);
        const HopAddresses hop{0, map.chunk_bytes(), map.ports(), map.index_of(route.port)};
        EXPECT_TRUE(hop.within(address, 1));
        EXPECT_EQ(hop.local(address), route.offset);
        EXPECT_EQ(hop.global(route.offset), address);
      }
    }
  }
  const HopAddresses second{0x1000, 256, 2, 1};
  EXPECT_FALSE(second.within(0x1000, 4));
  EXPECT_TRUE(second.within(0x1100, 256));
  EXPECT_FALSE(second.within(0x1100, 257));
  EXPECT_FALSE(second.within(0x0fff, 1));
  EXPECT_FALSE(second.within(0x1100, 0));
}

// ---- what may be replaced

std::string message(const Gpu::Options& options) {
  try {
    const Gpu gpu("gpu", load_config("gtx480", {"sm.count=1"}), options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::unique_ptr<HopObserver> make_adapter(const Hop& hop, const std::string& name) {
  return std::make_unique<ReadyValidHop<256>>((name + hop.name).c_str(), hop);
}

TEST(Replace, NamesAHopThatIsThere) {
  const auto none = [](const Hop&) { return nullptr; };
  EXPECT_THAT(message(Gpu::Options().replace("hop_gddr5_*", none)),
              AllOf(HasSubstr("no hop of this GPU matches 'hop_gddr5_*'"), HasSubstr("hop_dram0")));
}
TEST(Replace, ObserversNameAHopToo) {
  const auto none = [](const Hop&) { return nullptr; };
  EXPECT_THAT(message(Gpu::Options().observe("hop_sn*", none)),
              AllOf(HasSubstr("no hop of this GPU matches 'hop_sn*'"), HasSubstr("hop_sm0")));
}
TEST(Replace, AHopHasOneTarget) {
  Gpu::Options options;
  options.replace("hop_dram*", [](const Hop& hop) { return make_adapter(hop, "one_"); });
  options.replace("hop_dram0", [](const Hop& hop) { return make_adapter(hop, "two_"); });
  EXPECT_THAT(message(options), HasSubstr("hop_dram0: two modules replace its target; allowed: one"));
}
TEST(Replace, AdaptersRefuseImpossibleSizes) {
  try {
    const Axi4Hop<128> adapter("adapter", {}, {300, 16});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "adapter: in_flight is 300; allowed: 1 to 255");
  }
}

// ---- adapters alone

constexpr std::uint64_t kBase = 0x10000, kBytes = 1 << 16;

// Threads that each read and write a part of memory at random, by b_transport, and know what is there.
class Traffic : public sc_core::sc_module {
 public:
  static constexpr unsigned kThreads = 6;
  sc_core::sc_vector<tlm_utils::simple_initiator_socket<Traffic>> sockets;
  unsigned done = 0, different = 0, errors = 0;

  explicit Traffic(const sc_core::sc_module_name& name, unsigned turns)
      : sc_module(name), sockets("socket", kThreads), turns_(turns) {
    for (unsigned i = 0; i < kThreads; ++i) sc_core::sc_spawn([this, i] { run(i); });
  }

 private:
  void run(unsigned thread) {
    constexpr std::uint64_t kPart = 8192;
    std::mt19937 random(thread);
    std::vector<unsigned char> known(kPart), data(512), enables(512);
    for (unsigned turn = 0; turn < turns_; ++turn) {
      const unsigned length = 1 + random() % 500;
      unsigned at = random() % (kPart - length);
      if (at / 4096 != (at + length - 1) / 4096) at = 0;
      tlm::tlm_generic_payload payload;
      const bool write = random() % 2 == 0;
      payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
      payload.set_address(kBase + thread * kPart + at);
      payload.set_data_ptr(data.data());
      payload.set_data_length(length);
      payload.set_streaming_width(length);
      const unsigned period = random() % 3 == 0 ? 1 + random() % length : 0;
      for (unsigned i = 0; i < period; ++i)
        enables[i] = random() % 2 == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
      if (period != 0) {
        payload.set_byte_enable_ptr(enables.data());
        payload.set_byte_enable_length(period);
      }
      for (auto& byte : data) byte = static_cast<unsigned char>(random());
      const std::vector<unsigned char> before = data;
      sc_time delay;
      sockets[thread]->b_transport(payload, delay);
      wait(delay);
      ++done;
      if (payload.is_response_error()) ++errors;
      for (unsigned i = 0; i < length; ++i) {
        const bool enabled = period == 0 || enables[i % period] == TLM_BYTE_ENABLED;
        if (write && enabled) known[at + i] = data[i];
        if (!write) different += data[i] != (enabled ? known[at + i] : before[i]) ? 1 : 0;
      }
    }
    if (++ended_ == kThreads && turns_ != 0) sc_core::sc_pause();
  }
  const unsigned turns_;
  unsigned ended_ = 0;
};

// Joins the sockets of several initiators of b_transport.
class Join : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Join> initiator;
  sc_core::sc_vector<tlm_utils::simple_target_socket<Join>> targets;

  explicit Join(const sc_core::sc_module_name& name)
      : sc_module(name), initiator("initiator"), targets("target", Traffic::kThreads) {
    for (auto& target : targets) target.register_b_transport(this, &Join::transport);
  }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    initiator->b_transport(payload, delay);
  }
};

template <class Adapter, class Memory>
struct AloneBench {
  sc_core::sc_clock clock{"clock", sc_time(1, sc_core::SC_NS)};
  Adapter adapter{"adapter", Hop{"memory", kBytes, {kBase}}};
  Memory memory{"memory", adapter, kBytes};
  Traffic traffic;
  Join join{"join"};
  HopMonitor monitor{"monitor"};

  explicit AloneBench(unsigned turns) : traffic("traffic", turns) {
    adapter.clock(clock);
    for (unsigned i = 0; i < Traffic::kThreads; ++i) traffic.sockets[i].bind(join.targets[i]);
    join.initiator.bind(monitor.target);
    monitor.initiator.bind(adapter.target);
  }
};

template <class Bench>
void expect_traffic(Bench& bench, unsigned turns) {
  sc_core::sc_start(10, sc_core::SC_MS);
  EXPECT_EQ(bench.traffic.done, turns * Traffic::kThreads);
  EXPECT_EQ(bench.traffic.errors, 0u);
  EXPECT_EQ(bench.traffic.different, 0u);
  EXPECT_EQ(bench.memory.wrong, "");
  EXPECT_EQ(bench.adapter.violations(), "");
  EXPECT_EQ(bench.monitor.report(), "");
  EXPECT_TRUE(bench.adapter.idle());
  const auto& counters = bench.adapter.counters();
  EXPECT_EQ(counters.reads + counters.writes, turns * Traffic::kThreads);
  EXPECT_GT(counters.reads, turns * 2);
}

template <class Adapter, class Memory>
void expect_right(unsigned turns) {
  AloneBench<Adapter, Memory> bench(turns);
  expect_traffic(bench, turns);
}

TEST(ReadyValidHop, BringsWhatWasWritten32) {
  expect_right<ReadyValidHop<32>, ReadyValidMemory<32>>(100);
}
TEST(ReadyValidHop, BringsWhatWasWritten256) {
  expect_right<ReadyValidHop<256>, ReadyValidMemory<256>>(500);
}
TEST(Axi4Hop, BringsWhatWasWritten32) {
  expect_right<Axi4Hop<32>, Axi4Memory<32>>(100);
}
TEST(Axi4Hop, BringsWhatWasWritten64) {
  expect_right<Axi4Hop<64>, Axi4Memory<64>>(200);
}
TEST(Axi4Hop, BringsWhatWasWritten1024) {
  expect_right<Axi4Hop<1024>, Axi4Memory<1024>>(500);
}
TEST(Axi4Hop, HasSeveralReadsUnderWay) {
  AloneBench<Axi4Hop<128>, Axi4Memory<128>> bench(500);
  expect_traffic(bench, 500);
  EXPECT_GT(bench.memory.most_open, 2u);
}

// A read; its status.
template <class Bench>
std::string status_of(Bench& bench, std::uint64_t address, unsigned length = 4) {
  const auto status = std::make_shared<std::string>("not answered");  // the process may live longer
  sc_core::sc_spawn([&bench, status, address, length] {
    std::vector<unsigned char> data(length);
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(length);
    payload.set_streaming_width(length);
    sc_time delay;
    bench.join.initiator->b_transport(payload, delay);
    *status = payload.get_response_string();
  });
  sc_core::sc_start(1, sc_core::SC_US);
  return *status;
}

TEST(Axi4Hop, SaysWhatTheRtlDoesWrong) {
  AloneBench<Axi4Hop<128>, Axi4Memory<128>> bench(0);
  bench.memory.response = 2;
  EXPECT_EQ(status_of(bench, kBase), "TLM_GENERIC_ERROR_RESPONSE");
  bench.memory.response = 3;
  EXPECT_EQ(status_of(bench, kBase), "TLM_ADDRESS_ERROR_RESPONSE");
  EXPECT_EQ(bench.adapter.violations(), "");
  bench.memory.response = 0;
  bench.memory.wrong_last = true;
  EXPECT_EQ(status_of(bench, kBase), "TLM_OK_RESPONSE");
  EXPECT_THAT(bench.adapter.violations(), HasSubstr("adapter: RLAST is 0 at beat 1 of 1"));
}
TEST(Axi4Hop, RefusesWhatIsNoBurst) {
  AloneBench<Axi4Hop<32>, Axi4Memory<32>> bench(0);
  EXPECT_EQ(status_of(bench, kBase - 4), "TLM_ADDRESS_ERROR_RESPONSE");
  EXPECT_EQ(status_of(bench, kBase + kBytes - 2), "TLM_ADDRESS_ERROR_RESPONSE");
  EXPECT_EQ(status_of(bench, kBase + 4094), "TLM_BURST_ERROR_RESPONSE");  // across 4 KiB
  EXPECT_EQ(status_of(bench, kBase, 1028), "TLM_BURST_ERROR_RESPONSE");   // 257 beats
  EXPECT_EQ(status_of(bench, kBase, 1024), "TLM_OK_RESPONSE");
}
TEST(ReadyValidHop, SaysWhatTheRtlDoesWrong) {
  AloneBench<ReadyValidHop<64>, ReadyValidMemory<64>> bench(0);
  bench.memory.fail = true;
  EXPECT_EQ(status_of(bench, kBase), "TLM_GENERIC_ERROR_RESPONSE");
  bench.memory.wrong_id = 7;
  EXPECT_EQ(status_of(bench, kBase), "not answered");
  EXPECT_THAT(bench.adapter.violations(), HasSubstr("adapter: response_id 8 is of no request"));
}

// ---- in a GPU

template <class Adapter, class Memory>
struct GpuWithMemories {
  sc_core::sc_clock clock{"clock", sc_time(1, sc_core::SC_NS)};
  std::vector<std::pair<Hop, Adapter*>> adapters;
  std::vector<std::unique_ptr<Memory>> memories;
  std::unique_ptr<GpuBench> bench;
  std::uint64_t data = 0, data_bytes = 0;  // of the last run

  explicit GpuWithMemories(std::vector<std::string> overrides) {
    runtime::DeviceOptions options;
    options.monitors = true;
    options.observations.push_back({"hop_dram*",
                                    [this](const Hop& hop) {
                                      const std::string name = "rtl_" + hop.name;
                                      auto adapter = std::make_unique<Adapter>(name.c_str(), hop);
                                      adapter->clock(clock);
                                      adapters.emplace_back(hop, adapter.get());
                                      return adapter;
                                    },
                                    true, true});
    for (const char* more : {"sm.count=2", "dram.channels=2", "dram.bytes=1048576"})
      overrides.emplace_back(more);
    bench = std::make_unique<GpuBench>(overrides, "gtx480", options);
    for (const auto& [hop, adapter] : adapters) {
      const std::size_t bytes = (1u << 20) / adapters.size();
      memories.push_back(std::make_unique<Memory>(("memory_" + hop.name).c_str(), *adapter, bytes));
    }
  }
  // Bytes of the RTL's memory that are not those of the image.
  std::uint64_t differing(std::uint64_t address, std::uint64_t bytes) const {
    const unsigned char* const image = bench->device.gpu().memory().data();
    std::uint64_t count = 0;
    for (std::uint64_t at = address; at < address + bytes; ++at) {
      for (std::size_t i = 0; i < adapters.size(); ++i) {
        const HopAddresses& map = adapters[i].first.addresses;
        if (map.within(at, 1)) count += memories[i]->bytes[map.local(at)] != image[at] ? 1 : 0;
      }
    }
    return count;
  }
  std::string violations() const {
    std::string all = bench->device.gpu().violations();
    for (std::size_t i = 0; i < adapters.size(); ++i)
      all += adapters[i].second->violations() + memories[i]->wrong;
    return all;
  }
  std::uint64_t transactions() const {
    std::uint64_t count = 0;
    for (const auto& [hop, adapter] : adapters)
      count += adapter->counters().reads + adapter->counters().writes;
    return count;
  }
};

// The sum of the memory that the divergent kernel leaves behind. `written`: the device has put its data into
// the image itself.
std::uint64_t run_kernel(
    GpuBench& bench, const std::function<void(std::uint64_t, std::uint64_t)>& written = [](auto, auto) {}) {
  std::vector<std::uint32_t> data(kDivergentWords + 1);
  for (std::uint32_t i = 0; i < kDivergentWords; ++i) data[i] = i * i;
  const auto address = bench.words(data);
  written(address - kDeviceBase, 4 * data.size());
  bench.load(divergent_kernel());
  bench.run({12, 1, 1}, {100, 1, 1}, runtime::Arguments().add(address));
  std::uint64_t sum = 0;
  for (const std::uint32_t word : bench.read(address, kDivergentWords + 1)) sum = sum * 31 + word;
  return sum;
}
template <class Bench>
std::uint64_t run_in(Bench& gpu) {
  return run_kernel(*gpu.bench, [&gpu](std::uint64_t address, std::uint64_t bytes) {
    gpu.data = address;
    gpu.data_bytes = bytes;
    for (const auto& [hop, adapter] : gpu.adapters) adapter->refresh(address, bytes);
  });
}

// Stores and atomics of many threads to the same words overtake each other on their way.
template <class Adapter, class Memory>
void expect_same_memory() {
  const std::string plain = apart([] {
    GpuBench bench({"sm.count=2"});
    return std::to_string(run_kernel(bench));
  });
  GpuWithMemories<Adapter, Memory> gpu({"l2.enabled=false"});
  EXPECT_EQ(std::to_string(run_in(gpu)), plain);
  EXPECT_GT(gpu.transactions(), 500u);
  EXPECT_EQ(gpu.violations(), "");
  EXPECT_EQ(gpu.differing(gpu.data, gpu.data_bytes), 0u);
}
// Their chunks do not come in turns.
TEST(ReadyValidHop, IsRefusedBehindAHash) {
  using Gpu = GpuWithMemories<ReadyValidHop<128>, ReadyValidMemory<128>>;
  try {
    Gpu gpu({"dram.slice_hash=polynomial"});
    ADD_FAILURE() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("dram/slice_hash"), HasSubstr("allowed: none")));
  }
}
TEST(ReadyValidHop, HasTheDeviceMemoryOfAGpu) {
  expect_same_memory<ReadyValidHop<128>, ReadyValidMemory<128>>();
}
TEST(Axi4Hop, HasTheDeviceMemoryOfAGpu) {
  expect_same_memory<Axi4Hop<128>, Axi4Memory<128>>();
}
TEST(Axi4Hop, StandsBehindAnL2) {
  GpuWithMemories<Axi4Hop<128>, Axi4Memory<128>> gpu({"l2.sets=4", "l2.ways=2"});
  ASSERT_EQ(gpu.adapters.size(), 4u);  // two banks per channel
  run_in(gpu);
  EXPECT_GT(gpu.transactions(), 500u);
  EXPECT_EQ(gpu.violations(), "");
}

// A reset in the middle takes the RTL with it.
template <class Adapter, class Memory>
void expect_resets() {
  GpuWithMemories<Adapter, Memory> gpu({"l2.enabled=false"});
  const std::uint64_t first = run_in(gpu);
  for (unsigned turn = 1; turn < 6; ++turn) {
    gpu.bench->reset();
    const auto data = gpu.bench->zeros(4 * (kDivergentWords + 1));
    auto& module = gpu.bench->device.load_module(divergent_kernel(), "v.ptx");
    gpu.bench->device.launch(module, "k", {9, 1, 1}, {100, 1, 1}, runtime::Arguments().add(data));
    sc_core::sc_start(sc_time(turn * 700, sc_core::SC_NS));
    gpu.bench->reset();
    EXPECT_EQ(run_in(gpu), first) << turn;
    EXPECT_EQ(gpu.violations(), "") << turn;
    EXPECT_EQ(gpu.differing(gpu.data, gpu.data_bytes), 0u) << turn;
  }
}
TEST(ReadyValidHop, IsResetWithTheGpu) {
  expect_resets<ReadyValidHop<128>, ReadyValidMemory<128>>();
}
TEST(Axi4Hop, IsResetWithTheGpu) {
  expect_resets<Axi4Hop<128>, Axi4Memory<128>>();
}

// The image changes behind the back of the hops.
TEST(ReadyValidHop, TakesWhatHasChangedElsewhere) {
  GpuWithMemories<ReadyValidHop<128>, ReadyValidMemory<128>> gpu({"l2.enabled=false"});
  sc_core::sc_start(100, sc_core::SC_NS);
  for (unsigned i = 0; i < 5000; ++i)
    gpu.bench->device.gpu().memory().data()[1000 + i] = static_cast<unsigned char>(i | 1);
  EXPECT_EQ(gpu.differing(0, 1 << 20), 5000u);
  for (const auto& [hop, adapter] : gpu.adapters) adapter->refresh(1000, 5000);
  for (const auto& [hop, adapter] : gpu.adapters) adapter->refresh(1 << 20, 5000);  // nothing is there
  sc_core::sc_start(100, sc_core::SC_US);
  EXPECT_EQ(gpu.differing(0, 1 << 20), 0u);
  EXPECT_EQ(gpu.adapters[0].second->counters().refreshed + gpu.adapters[1].second->counters().refreshed,
            5000u);
}

struct Cpu : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Cpu> socket{"socket"};
  explicit Cpu(const sc_core::sc_module_name& name) : sc_module(name) {}
};

// A loosely timed access reaches over chunks of several channels, each with an adapter of its own.
TEST(Axi4Hop, TakesItsPartOfBlockingAccesses) {
  constexpr unsigned kAt = 1100, kLength = 3000;
  GpuWithMemories<Axi4Hop<64>, Axi4Memory<64>> gpu({"l2.enabled=false"});
  Cpu cpu("cpu");
  cpu.socket.bind(gpu.bench->device.gpu().host_socket);
  std::vector<unsigned char> written(kLength), read(kLength);
  for (unsigned i = 0; i < kLength; ++i) written[i] = static_cast<unsigned char>(1 + i % 251);
  unsigned char enables[] = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
  bool done = false;
  sc_core::sc_spawn([&] {
    sc_core::wait(100, sc_core::SC_NS);
    for (const bool write : {true, false}) {
      tlm::tlm_generic_payload payload;
      payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
      payload.set_address(WEFT_APERTURE + kAt);
      payload.set_data_ptr(write ? written.data() : read.data());
      payload.set_data_length(kLength);
      payload.set_streaming_width(kLength);
      if (write) {
        payload.set_byte_enable_ptr(enables);
        payload.set_byte_enable_length(sizeof enables);
      }
      sc_time delay;
      const sc_time before = sc_core::sc_time_stamp();
      cpu.socket->b_transport(payload, delay);
      EXPECT_TRUE(payload.is_response_ok()) << payload.get_response_string();
      EXPECT_GT(sc_core::sc_time_stamp(), before);  // the time of the memory
    }
    done = true;
  });
  sc_core::sc_start(1, sc_core::SC_MS);
  ASSERT_TRUE(done);
  for (unsigned i = 0; i < kLength; ++i) ASSERT_EQ(read[i], i % 3 == 1 ? 0 : written[i]) << i;
  EXPECT_EQ(gpu.differing(0, 1 << 20), 0u);
  EXPECT_EQ(gpu.violations(), "");
  EXPECT_EQ(gpu.adapters[0].second->counters().writes, 7u);  // chunks 4, 6, ... 16
  EXPECT_EQ(gpu.adapters[1].second->counters().writes, 6u);
}

// A word that a kernel has stored, read through the aperture.
std::uint32_t word_behind(const char* kept, std::uint64_t& stale) {
  GpuWithMemories<ReadyValidHop<64>, ReadyValidMemory<64>> gpu(
      {"l2.enabled=false", "sm.l1d.write_policy=back", kept});
  Cpu cpu("cpu");
  cpu.socket.bind(gpu.bench->device.gpu().host_socket);
  const auto out = gpu.bench->zeros(128);
  gpu.bench->load(kernel_text(".param .u64 out", R"(  ld.param.u64 %rd1, [out];
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd1], 77;
  ret;)"));
  gpu.bench->run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(out));
  std::uint32_t word = 0;
  sc_core::sc_spawn([&] {
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(WEFT_APERTURE + out - kDeviceBase);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&word));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_time delay;
    cpu.socket->b_transport(payload, delay);
  });
  sc_core::sc_start(10, sc_core::SC_US);
  stale = 0;
  for (const auto& [hop, adapter] : gpu.adapters) stale += adapter->counters().bytes_stale;
  return word;
}
TEST(ReadyValidHop, HasTheStoresOfCachesThatWriteBackWhenAKernelEnds) {
  std::uint64_t stale = 0;
  EXPECT_EQ(word_behind("sm.l1d.kept=false", stale), 77u);
  EXPECT_EQ(stale, 0u);
}
TEST(ReadyValidHop, CountsWhatCachesKeep) {
  std::uint64_t stale = 0;
  EXPECT_EQ(word_behind("sm.l1d.kept=true", stale), 0u);
  EXPECT_EQ(stale, 1u);
}

}  // namespace
}  // namespace weft::test::signal_hop_test
