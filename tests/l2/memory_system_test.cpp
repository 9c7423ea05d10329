// The whole way: SMs, crossbar, L2 banks, DRAM channels, in three clock domains, a monitor on every hop.
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "crossbar/crossbar.h"
#include "dram/dram_channel.h"
#include "l2/l2_bank.h"
#include "memory_bench/mock_initiator.h"

namespace weft {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

struct Clocks {
  double core = 700;
  double interconnect = 700;
  double memory = 924;
};

class MemorySystem {
 public:
  MemorySystem(const std::string& prefix, std::vector<std::vector<bench::Access>> accesses, bool with_l2,
               Clocks clocks = {}, bool sleeping = true, bench::MockInitiator::Options options = {})
      : core((prefix + "_core").c_str(), clocks.core),
        interconnect((prefix + "_interconnect").c_str(), clocks.interconnect),
        memory((prefix + "_memory").c_str(), clocks.memory),
        image(1 << 24),
        map(map_config()),
        crossbar((prefix + "_crossbar").c_str(), {}, interconnect, map,
                 static_cast<unsigned>(accesses.size()), with_l2 ? map.ports() : map.channels()) {
    interconnect.runs_after(memory);
    core.runs_after(interconnect);
    for (ClockDomain* domain : {&core, &interconnect, &memory}) domain->set_sleeping(sleeping);
    crossbar.bind(tree.group("crossbar"));
    dram::ChannelConfig dram_config;
    dram_config.extra_latency = 20;
    dram_config.scheduler.timing.refi = 3600;
    dram_config.scheduler.timing.rfc = 100;
    for (unsigned c = 0; c < map.channels(); ++c) {
      const std::string name = prefix + "_dram" + std::to_string(c);
      channels.push_back(std::make_unique<dram::DramChannel>(name.c_str(), dram_config, memory, image, map, c,
                                                             with_l2 ? map.l2_banks() : 1));
      channels[c]->bind(tree.group("dram", c));
      if (!with_l2) connect(crossbar.memory_sockets[c], channels[c]->sockets[0]);
    }
    for (unsigned port = 0; with_l2 && port < map.ports(); ++port) {
      const unsigned channel = port / map.l2_banks();
      const unsigned bank = port % map.l2_banks();
      const std::string name = prefix + "_l2_" + std::to_string(port);
      l2::Config config;
      config.latency = 30;
      config.tags.sets = 16;
      banks.push_back(std::make_unique<l2::L2Bank>(name.c_str(), config, interconnect, map, channel, bank));
      banks[port]->bind(tree.group("l2", port));
      connect(crossbar.memory_sockets[port], banks[port]->target);
      connect(banks[port]->memory, channels[channel]->sockets[bank]);
    }
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      const std::string name = prefix + "_sm" + std::to_string(i);
      sms.push_back(
          std::make_unique<bench::MockInitiator>(name.c_str(), core, std::move(accesses[i]), options));
      connect(sms[i]->socket, crossbar.sm_sockets[i]);
    }
  }

  static memory::ChannelMapConfig map_config() {
    memory::ChannelMapConfig config;
    config.channels = 3;
    config.l2_banks = 2;
    return config;
  }

  void expect_complete() {
    for (const auto& sm : sms) EXPECT_TRUE(sm->done());
    for (const auto& bank : banks) EXPECT_TRUE(bank->idle());
    for (const auto& monitor : monitors) {
      monitor->check_complete();
      EXPECT_EQ(monitor->report(), "");
    }
  }
  // Simulated time of the last response, in core cycles.
  Cycle end() const {
    Cycle last = 0;
    for (const auto& sm : sms) last = std::max(last, sm->last_response());
    return last;
  }

  ClockDomain core;
  ClockDomain interconnect;
  ClockDomain memory;
  memory::MemoryImage image;
  memory::ChannelMap map;
  crossbar::Crossbar crossbar;
  statistics::Group tree;
  std::vector<std::unique_ptr<dram::DramChannel>> channels;
  std::vector<std::unique_ptr<l2::L2Bank>> banks;
  std::vector<std::unique_ptr<bench::MockInitiator>> sms;
  std::vector<std::unique_ptr<HopMonitor>> monitors;

 private:
  template <class Initiator, class Target>
  void connect(Initiator& initiator, Target& target) {
    monitors.push_back(std::make_unique<HopMonitor>(sc_core::sc_gen_unique_name("monitor")));
    monitors.back()->set_memory_bytes(image.bytes());
    initiator.bind(monitors.back()->target);
    monitors.back()->initiator.bind(target);
  }
};

std::vector<std::vector<bench::Access>> random_traffic(unsigned sms, int count) {
  std::mt19937_64 random(23);
  std::vector<std::vector<bench::Access>> traffic(sms);
  for (auto& accesses : traffic) {
    Cycle at = 0;
    for (int i = 0; i < count; ++i) {
      at += random() % 20 == 0 ? random() % 1000 : random() % 8;
      const std::uint64_t address = random() % 4096 * 128;
      switch (random() % 4) {
        case 0:
          accesses.push_back(write(address, 128, at));
          break;
        case 1:
          accesses.push_back(atomic(address, 1 + random() % 32, at));
          break;
        case 2:
          accesses.push_back(read(address + 64, 32, at));
          break;
        default:
          accesses.push_back(read(address, 128, at));
      }
    }
  }
  return traffic;
}

class SleepingChangesNothing : public ::testing::TestWithParam<std::pair<bool, Clocks>> {};

TEST_P(SleepingChangesNothing, OnTheWholeWay) {
  const auto [with_l2, clocks] = GetParam();
  bench::MockInitiator::Options options;
  options.outstanding = 40;
  MemorySystem sleeping("sleeping", random_traffic(5, 400), with_l2, clocks, true, options);
  MemorySystem awake("awake", random_traffic(5, 400), with_l2, clocks, false, options);
  sc_core::sc_start(60, sc_core::SC_US);
  sleeping.expect_complete();
  awake.expect_complete();
  EXPECT_EQ(sleeping.tree.sample().dump(1), awake.tree.sample().dump(1));
  EXPECT_EQ(sleeping.end(), awake.end());
}

INSTANTIATE_TEST_SUITE_P(Machines, SleepingChangesNothing,
                         ::testing::Values(std::pair{true, Clocks{}}, std::pair{false, Clocks{}},
                                           std::pair{true, Clocks{1150, 650, 1500}},
                                           std::pair{false, Clocks{1300, 650, 800}}));

// Streams from all SMs: three channels of 64 bytes per 2 cycles at 924 MHz. The crossbar brings 32 bytes per
// cycle and bank at 700 MHz, 36 with the header in 5 flits for 4 of data: 6 banks x 128 / 5 cycles, the
// narrowest stage is DRAM.
TEST(MemorySystem, AStreamReachesNinetyPercentOfItsNarrowestStage) {
  constexpr unsigned kSms = 8;
  constexpr unsigned kRequests = 1500;
  std::vector<std::vector<bench::Access>> traffic(kSms);
  for (unsigned i = 0; i < kSms * kRequests; ++i) traffic[i % kSms].push_back(read(i * 128u));
  MemorySystem system("system", traffic, true);
  sc_core::sc_start();
  system.expect_complete();
  const double seconds = static_cast<double>(system.end()) / 700e6;
  const double bytes = double{kSms} * kRequests * 128;
  const double dram = 3 * 32.0 * 924e6 * (1 - 100.0 / 3600);  // after refresh
  const double crossbar = 6 * 128.0 / 5 * 700e6;
  EXPECT_GT(bytes / seconds, 0.9 * std::min(dram, crossbar));
  EXPECT_LE(bytes / seconds, std::min(dram, crossbar));
}

TEST(MemorySystem, ForeignDataArriveThroughEveryLevel) {
  bench::MockInitiator::Options options;
  options.foreign = true;
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 100; ++i) accesses.push_back(write(i * 256, 64));
  for (unsigned i = 0; i < 100; ++i) accesses.push_back(read(i * 256 + 32, 4, 5000));
  MemorySystem system("system", {accesses}, true, {}, true, options);
  for (unsigned i = 0; i < 100; ++i) system.sms[0]->data[i].assign(64, static_cast<unsigned char>(i + 1));
  sc_core::sc_start();
  system.expect_complete();
  for (unsigned i = 0; i < 100; ++i) {
    EXPECT_EQ(system.sms[0]->data[100 + i],
              (std::vector<unsigned char>(4, static_cast<unsigned char>(i + 1))));
    EXPECT_EQ(system.image.data()[i * 256 + 63], i + 1);
  }
}

}  // namespace
}  // namespace weft
