// A bank of the L2 between an initiator and a memory of latency kMemory, with a monitor on both hops.
#ifndef WEFT_TESTS_L2_BENCH_H
#define WEFT_TESTS_L2_BENCH_H

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bus/hop_monitor.h"
#include "l2/l2_bank.h"
#include "memory_bench/mock_initiator.h"
#include "memory_bench/mock_memory.h"

namespace weft::l2 {

inline constexpr Cycle kLatency = 20;
inline constexpr Cycle kMemory = 50;
inline constexpr Cycle kMiss = kLatency + kMemory + 1;  // memory's answer is taken at the edge after it

inline Config small() {
  Config config;
  config.tags.sets = 4;
  config.tags.ways = 2;
  config.latency = kLatency;
  config.mshrs = {8, 4};
  return config;
}

inline memory::ChannelMapConfig one_bank() {
  memory::ChannelMapConfig config;
  config.channels = 1;
  return config;
}

inline bench::MockMemory::Options memory_options() {
  bench::MockMemory::Options options;
  options.latency = kMemory;
  return options;
}

class L2Bench {
 public:
  L2Bench(const std::string& prefix, const Config& config, std::vector<bench::Access> accesses,
          bench::MockMemory::Options behind = memory_options(), bench::MockInitiator::Options options = {},
          bool sleeping = true)
      : domain((prefix + "_clock").c_str(), 1000),
        map(one_bank()),
        bank((prefix + "_l2").c_str(), config, domain, map, 0, 0),
        initiator((prefix + "_initiator").c_str(), domain, std::move(accesses), options),
        memory((prefix + "_memory").c_str(), domain, behind),
        above((prefix + "_above").c_str()),
        below((prefix + "_below").c_str()) {
    domain.set_sleeping(sleeping);
    bank.bind(tree.group("l2"));
    initiator.socket.bind(above.target);
    above.initiator.bind(bank.target);
    bank.memory.bind(below.target);
    below.initiator.bind(memory.socket);
  }
  void expect_complete() {
    EXPECT_TRUE(initiator.done());
    EXPECT_TRUE(bank.idle());
    above.check_complete();
    below.check_complete();
    EXPECT_EQ(above.report() + below.report(), "");
  }
  Cycle latency(std::size_t access) const { return initiator.records[access].latency(); }
  nlohmann::ordered_json statistics() const { return tree.sample()["l2"]; }
  std::vector<std::uint64_t> written_back() const {
    std::vector<std::uint64_t> addresses;
    for (const bench::MockMemory::Seen& seen : memory.seen) {
      if (seen.kind == AccessKind::kWriteBack) addresses.push_back(seen.address);
    }
    return addresses;
  }

  ClockDomain domain;
  memory::ChannelMap map;
  L2Bank bank;
  bench::MockInitiator initiator;
  bench::MockMemory memory;
  HopMonitor above;
  HopMonitor below;
  statistics::Group tree;
};

// With queues of one or two.
inline Config narrow() {
  Config config = small();
  config.mshrs = {3, 2};
  config.input_queue = config.response_queue = config.write_back_buffers = 1;
  config.miss_queue = 2;
  return config;
}

inline Config narrow_sectored() {
  Config config = narrow();
  config.sector_bytes = 32;
  config.write_back_buffers = 2;
  config.miss_queue = 3;
  return config;
}

}  // namespace weft::l2

#endif
