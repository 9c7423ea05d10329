// One channel, mock initiators in the same clock domain, a monitor on each hop.
#ifndef WEFT_TESTS_DRAM_DRAM_BENCH_H
#define WEFT_TESTS_DRAM_DRAM_BENCH_H

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "dram/dram_channel.h"
#include "memory_bench/mock_initiator.h"

namespace weft::dram {

// One channel, so that every address is ours; two rows' worth of bytes go to bank 0, bank 1, ...
inline memory::ChannelMapConfig one_channel() {
  memory::ChannelMapConfig config;
  config.channels = 1;
  return config;
}

// The address of a byte, from where it should lie.
inline std::uint64_t at(unsigned bank, std::uint64_t row, std::uint64_t column = 0) {
  return (row * 16 + bank) * 2048 + column;
}

class DramBench {
 public:
  using Accesses = std::vector<bench::Access>;
  DramBench(const std::string& prefix, const ChannelConfig& config, std::vector<Accesses> ports,
            bench::MockInitiator::Options options = {}, bool sleeping = true)
      : domain((prefix + "_clock").c_str(), 1000),
        image(std::uint64_t{1} << 30),
        map(one_channel()),
        channel((prefix + "_channel").c_str(), config, domain, image, map, 0,
                static_cast<unsigned>(ports.size())) {
    domain.set_sleeping(sleeping);
    channel.bind(tree.group("dram"));
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const std::string number = std::to_string(i);
      monitors.push_back(std::make_unique<HopMonitor>((prefix + "_monitor" + number).c_str()));
      initiators.push_back(std::make_unique<bench::MockInitiator>((prefix + "_initiator" + number).c_str(),
                                                                  domain, std::move(ports[i]), options));
      initiators[i]->socket.bind(monitors[i]->target);
      monitors[i]->initiator.bind(channel.sockets[i]);
      monitors[i]->set_memory_bytes(image.bytes());
    }
  }

  // After the simulation: everything answered, nothing wrong on the hops.
  void expect_complete() {
    for (std::size_t i = 0; i < initiators.size(); ++i) {
      EXPECT_TRUE(initiators[i]->done());
      monitors[i]->check_complete();
      EXPECT_EQ(monitors[i]->report(), "");
      EXPECT_EQ(monitors[i]->transactions(), initiators[i]->accesses.size());
    }
  }
  Cycle latency(std::size_t access) const { return initiators[0]->records[access].latency(); }
  nlohmann::ordered_json statistics() const { return tree.sample()["dram"]; }

  ClockDomain domain;
  memory::MemoryImage image;
  memory::ChannelMap map;
  DramChannel channel;
  statistics::Group tree;
  std::vector<std::unique_ptr<HopMonitor>> monitors;
  std::vector<std::unique_ptr<bench::MockInitiator>> initiators;
};

}  // namespace weft::dram

#endif
