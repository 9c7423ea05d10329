// The port to system memory between a mock initiator and a mock memory, with a monitor on each hop.
#include "system_port/system_port.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "bus/hop_monitor.h"
#include "memory_bench/mock_initiator.h"
#include "memory_bench/mock_memory.h"

namespace weft::system_port::system_port_test {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

constexpr Cycle kLatency = 7;
constexpr Cycle kMemory = 50;

Config config_of(std::uint64_t queue = 8, std::uint64_t outstanding = 16) {
  Config config;
  config.queue = queue;
  config.outstanding = outstanding;
  config.latency = kLatency;
  return config;
}

class PortBench {
 public:
  explicit PortBench(std::vector<bench::Access> accesses, Config config = config_of(),
                     bench::MockInitiator::Options options = {}, bool sleeping = true,
                     const std::string& prefix = "", std::uint64_t burst = SystemPort::kLongestBurst)
      : domain((prefix + "clock").c_str(), 1000),
        port((prefix + "port").c_str(), config, domain, 1, nullptr, burst),
        initiator((prefix + "initiator").c_str(), domain, std::move(accesses), options),
        memory((prefix + "memory").c_str(), domain, memory_options()),
        above((prefix + "above").c_str()),
        below((prefix + "below").c_str()) {
    domain.set_sleeping(sleeping);
    port.bind(tree.group("port"));
    initiator.socket.bind(above.target);
    above.initiator.bind(port.targets[0]);
    port.system.bind(below.target);
    below.initiator.bind(memory.socket);
  }
  void run(Cycle cycles = 2000) { sc_core::sc_start(static_cast<double>(cycles), sc_core::SC_NS); }
  void expect_complete() {
    EXPECT_TRUE(initiator.done());
    above.check_complete();
    below.check_complete();
    EXPECT_EQ(above.report() + below.report(), "");
    for (const auto& seen : memory.seen) EXPECT_TRUE(seen.foreign) << "the outside must move the data";
  }
  static bench::MockMemory::Options memory_options() {
    bench::MockMemory::Options options;
    options.latency = kMemory;
    return options;
  }

  ClockDomain domain;
  SystemPort port;
  bench::MockInitiator initiator;
  bench::MockMemory memory;
  HopMonitor above, below;
  statistics::Group tree;
};

// To the memory after the port's latency; its answer is taken at the edge after it.
TEST(SystemPort, ALoneAccessTakesItsLatencyAndTheMemorys) {
  PortBench bench({read(0x1000), write(0x2000, 12, 500), read(0x30000, 16, 1000)});
  bench.run();
  bench.expect_complete();
  for (const auto& record : bench.initiator.records) {
    EXPECT_EQ(record.latency(), kLatency + kMemory + 1);
    EXPECT_EQ(record.end_request, record.begin_request);
    EXPECT_EQ(record.status, tlm::TLM_OK_RESPONSE);
  }
  ASSERT_EQ(bench.memory.seen.size(), 3u);
  EXPECT_EQ(bench.memory.seen[0].arrived, bench.initiator.records[0].begin_request + kLatency);
  EXPECT_EQ(bench.memory.seen[1].address, 0x2000u);
  EXPECT_EQ(bench.memory.seen[1].bytes, 12u);
  EXPECT_EQ(bench.memory.seen[1].command, tlm::TLM_WRITE_COMMAND);
}

// A read and a write, each with the memory's latency and the edge after; nothing else goes out meanwhile.
TEST(SystemPort, AnAtomicIsAReadAndAWriteAlone) {
  PortBench bench({read(0x100), atomic(0x1000, 1), read(0x200)});
  bench.run();
  bench.expect_complete();
  const auto& records = bench.initiator.records;
  const Cycle first = records[0].begin_request;
  ASSERT_EQ(bench.memory.seen.size(), 4u);
  // The atomic waits until the read before it has been answered, the read behind it until it is done.
  const Cycle answered = first + kLatency + kMemory + 1;
  EXPECT_EQ(records[0].begin_response, answered);
  EXPECT_EQ(bench.memory.seen[1].arrived, answered);
  EXPECT_EQ(bench.memory.seen[1].command, tlm::TLM_READ_COMMAND);
  EXPECT_EQ(bench.memory.seen[2].arrived, answered + kMemory + 1);
  EXPECT_EQ(bench.memory.seen[2].command, tlm::TLM_WRITE_COMMAND);
  EXPECT_EQ(bench.memory.seen[2].address, 0x1000u);
  EXPECT_EQ(records[1].begin_response, answered + 2 * (kMemory + 1));
  EXPECT_EQ(bench.memory.seen[3].arrived, answered + 2 * (kMemory + 1));
  EXPECT_EQ(bench.tree.sample()["port"]["atomics"], 1);
}

TEST(SystemPort, NoMoreThanSoManyAreOutstanding) {
  PortBench bench({read(0), read(128), read(256), read(384)}, config_of(8, 2));
  bench.run();
  bench.expect_complete();
  const Cycle first = bench.initiator.records[0].begin_request + kLatency;
  EXPECT_EQ(bench.memory.seen[0].arrived, first);
  EXPECT_EQ(bench.memory.seen[1].arrived, first + 1);
  EXPECT_EQ(bench.memory.seen[2].arrived, first + kMemory + 1);
  EXPECT_EQ(bench.memory.seen[3].arrived, first + kMemory + 2);
}

TEST(SystemPort, AFullQueueWithholdsEndReq) {
  PortBench bench({read(0), read(128), read(256), read(384)}, config_of(1, 1));
  bench.run();
  bench.expect_complete();
  EXPECT_GT(bench.initiator.records[1].end_request, bench.initiator.records[1].begin_request);
  EXPECT_GE(bench.tree.sample()["port"]["stalls"], 2);
}

TEST(SystemPort, ErrorsComeBack) {
  PortBench bench({read(0x100000, 16), atomic(0x100000, 1), read(0, 16)});
  bench.run();
  bench.expect_complete();
  EXPECT_EQ(bench.initiator.records[0].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.initiator.records[1].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.initiator.records[2].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.memory.seen.size(), 3u) << "nothing is written back after a failed read";
  EXPECT_EQ(bench.tree.sample()["port"]["errors"], 2);
}

TEST(SystemPort, SleepingChangesNothing) {
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 100; ++i) {
    const Cycle when = i / 10 * 150;
    accesses.push_back(i % 7 == 3   ? atomic(256 * i, 1, when)
                       : i % 3 == 0 ? write(256 * i, 64, when)
                                    : read(256 * i, 128, when));
  }
  bench::MockInitiator::Options options;
  options.response_hold = 3;
  PortBench asleep(accesses, config_of(3, 4), options, true, "a_");
  PortBench awake(accesses, config_of(3, 4), options, false, "b_");
  sc_core::sc_start(20, sc_core::SC_US);
  asleep.expect_complete();
  awake.expect_complete();
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    EXPECT_EQ(asleep.initiator.records[i].begin_request, awake.initiator.records[i].begin_request) << i;
    EXPECT_EQ(asleep.initiator.records[i].begin_response, awake.initiator.records[i].begin_response) << i;
  }
  EXPECT_EQ(asleep.tree.sample(), awake.tree.sample());
}

// What is longer than the outside's burst goes out in parts, which are answered together.
TEST(SystemPort, RequestsAreCutIntoBursts) {
  PortBench bench({read(0x1008, 40), write(0x2000, 48, 500)}, config_of(), {}, true, "", 16);
  bench.run();
  bench.expect_complete();
  struct Part {
    std::uint64_t address;
    unsigned bytes;
  };
  const Part expected[] = {{0x1008, 8}, {0x1010, 16}, {0x1020, 16}, {0x2000, 16}, {0x2010, 16}, {0x2020, 16}};
  ASSERT_EQ(bench.memory.seen.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(bench.memory.seen[i].address, expected[i].address) << i;
    EXPECT_EQ(bench.memory.seen[i].bytes, expected[i].bytes) << i;
  }
  // The parts leave at consecutive edges, and the memory answers one at an edge.
  for (const auto& record : bench.initiator.records) EXPECT_EQ(record.latency(), kLatency + kMemory + 1 + 2);
  EXPECT_EQ(bench.tree.sample()["port"]["reads"], 3);
  EXPECT_EQ(bench.tree.sample()["port"]["read_bytes"], 40);
}

// An atomic reads all of its bytes before it writes them, burst after burst, with nothing beside it.
TEST(SystemPort, AnAtomicGoesOnBurstAfterBurst) {
  PortBench bench({atomic(0x1000, 1), read(0x200, 8)}, config_of(), {}, true, "", 16);
  bench.run();
  bench.expect_complete();
  const auto& seen = bench.memory.seen;
  ASSERT_EQ(seen.size(), 5u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(seen[i].command, i < 2 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND) << i;
    EXPECT_EQ(seen[i].address, 0x1000u + i % 2 * 16) << i;
    EXPECT_EQ(seen[i].bytes, 16u) << i;
    EXPECT_EQ(seen[i].arrived, seen[0].arrived + i * (kMemory + 1)) << i;
  }
  EXPECT_EQ(seen[4].address, 0x200u);
  EXPECT_EQ(bench.tree.sample()["port"]["atomics"], 1);
}

TEST(SystemPort, TellsOfDirectAccessThatEnds) {
  PortBench bench({});
  std::uint64_t first = 1, last = 0;
  bench.port.on_invalidate = [&](std::uint64_t f, std::uint64_t l) {
    first = f;
    last = l;
  };
  bench.memory.revoke();
  EXPECT_EQ(first, 0u);
  EXPECT_EQ(last, (1u << 20) - 1);
}

}  // namespace
}  // namespace weft::system_port::system_port_test
