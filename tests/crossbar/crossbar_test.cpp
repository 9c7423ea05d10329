#include "crossbar/crossbar.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bus/hop_monitor.h"
#include "memory_bench/mock_initiator.h"
#include "memory_bench/mock_memory.h"
#include "weft/common/error.h"

namespace weft::crossbar {
namespace {

using bench::atomic;
using bench::read;
using bench::write;

// Chunks of 256 bytes go round the ports.
memory::ChannelMapConfig chunks_over(unsigned ports) {
  memory::ChannelMapConfig config;
  config.channels = ports;
  return config;
}

// SMs, crossbar, one mock memory per port; a monitor on each hop.
class CrossbarBench {
 public:
  CrossbarBench(const std::string& prefix, const Config& config, std::vector<std::vector<bench::Access>> sms,
                unsigned ports, bench::MockMemory::Options memory = {},
                bench::MockInitiator::Options initiator = {}, bool sleeping = true)
      : domain((prefix + "_clock").c_str(), 1000),
        map(chunks_over(ports)),
        crossbar((prefix + "_crossbar").c_str(), config, domain, map, static_cast<unsigned>(sms.size()),
                 ports) {
    domain.set_sleeping(sleeping);
    crossbar.bind(tree.group("crossbar"));
    for (std::size_t i = 0; i < sms.size(); ++i) {
      const std::string number = std::to_string(i);
      this->sms.push_back(std::make_unique<bench::MockInitiator>((prefix + "_sm" + number).c_str(), domain,
                                                                 std::move(sms[i]), initiator));
      monitors.push_back(std::make_unique<HopMonitor>((prefix + "_sm_monitor" + number).c_str()));
      this->sms[i]->socket.bind(monitors[i]->target);
      monitors[i]->initiator.bind(crossbar.sm_sockets[i]);
    }
    for (unsigned i = 0; i < ports; ++i) {
      const std::string number = std::to_string(i);
      memories.push_back(
          std::make_unique<bench::MockMemory>((prefix + "_memory" + number).c_str(), domain, memory));
      monitors.push_back(std::make_unique<HopMonitor>((prefix + "_memory_monitor" + number).c_str()));
      crossbar.memory_sockets[i].bind(monitors.back()->target);
      monitors.back()->initiator.bind(memories[i]->socket);
    }
  }

  // Everything answered, the hops silent, and as many bytes in as out, in each direction.
  void expect_complete() {
    for (const auto& sm : sms) EXPECT_TRUE(sm->done());
    std::uint64_t bytes[2] = {0, 0};
    for (std::size_t i = 0; i < monitors.size(); ++i) {
      monitors[i]->check_complete();
      EXPECT_EQ(monitors[i]->report(), "");
      bytes[i < sms.size() ? 0 : 1] += monitors[i]->bytes_responded();
    }
    EXPECT_EQ(bytes[0], bytes[1]);
    const auto statistics = this->statistics();
    for (const char* direction : {"request_bytes", "response_bytes"}) {
      EXPECT_EQ(sum(statistics, "sm", sms.size(), direction),
                sum(statistics, "port", memories.size(), direction));
    }
  }
  static std::uint64_t sum(const nlohmann::ordered_json& statistics, const std::string& side,
                           std::size_t count, const char* name) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i)
      total += statistics[side + std::to_string(i)][name].get<std::uint64_t>();
    return total;
  }
  nlohmann::ordered_json statistics() const { return tree.sample()["crossbar"]; }

  ClockDomain domain;
  memory::ChannelMap map;
  Crossbar crossbar;
  statistics::Group tree;
  std::vector<std::unique_ptr<bench::MockInitiator>> sms;
  std::vector<std::unique_ptr<bench::MockMemory>> memories;
  std::vector<std::unique_ptr<HopMonitor>> monitors;
};

TEST(Crossbar, LatencyOfALonePacketIsFlitsAndRouterBothWays) {
  // Read: 8 bytes there (1 flit), 136 back (5). Write: 136 there, 8 back. Atomic: 40 both ways (2).
  // Memory: 10.
  CrossbarBench bench("b", {}, {{read(0), write(256, 128, 100), atomic(512, 4, 200)}}, 6);
  sc_core::sc_start();
  bench.expect_complete();
  const std::vector<bench::Record>& records = bench.sms[0]->records;
  EXPECT_EQ(records[0].latency(), (1u + 4) + 10 + (5 + 4));
  EXPECT_EQ(records[1].latency(), (5u + 4) + 10 + (1 + 4));
  EXPECT_EQ(records[2].latency(), (2u + 4) + 10 + (2 + 4));
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["sm0"]["request_bytes"], 8 + 136 + 40);
  EXPECT_EQ(statistics["sm0"]["response_bytes"], 136 + 8 + 40);
  EXPECT_EQ(statistics["port1"]["request_flits"], 5);
  EXPECT_EQ(statistics["interface0"]["response_flits"], 5 + 1 + 2);
}

// Sectors of 32 bytes, which fit into a flit with their header. Read of 128 bytes: 4 back. Write: its 4
// sectors are acknowledged one by one. Atomic: 32 bytes, which is one. A read across a border: 2.
TEST(Crossbar, EachSectorHasAResponseOfItsOwn) {
  Config config;
  config.flit_bytes = 40;
  config.response_sector_bytes = 32;
  CrossbarBench bench("b", config, {{read(0), write(256, 128, 100), atomic(512, 4, 200), read(540, 8, 300)}},
                      6);
  sc_core::sc_start();
  bench.expect_complete();
  const std::vector<bench::Record>& records = bench.sms[0]->records;
  EXPECT_EQ(records[0].latency(), (1u + 4) + 10 + (4 + 4));
  EXPECT_EQ(records[1].latency(), (4u + 4) + 10 + (4 + 4));
  EXPECT_EQ(records[2].latency(), (1u + 4) + 10 + (1 + 4));
  EXPECT_EQ(records[3].latency(), (1u + 4) + 10 + (2 + 4));
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["sm0"]["response_bytes"], 4 * 40 + 4 * 8 + 40 + 2 * 40);
  EXPECT_EQ(statistics["interface0"]["response_flits"], 4 + 4 + 1 + 2);
}

Config without_headers_and_acknowledgements() {
  Config config;
  config.response_flit_bytes = 64;
  config.read_reply_header = false;
  config.write_acknowledgements = false;
  config.input_speedup = 2;
  return config;
}

// As above. Read: 128 bytes back (2 flits of 64). Write: no flit back, known at the next edge. Atomic: 32
// back (1).
TEST(Crossbar, AWriteWithoutAcknowledgementEndsWithoutAPacket) {
  CrossbarBench bench("b", without_headers_and_acknowledgements(),
                      {{read(0), write(256, 128, 100), atomic(512, 4, 200)}}, 6);
  sc_core::sc_start();
  bench.expect_complete();
  const std::vector<bench::Record>& records = bench.sms[0]->records;
  EXPECT_EQ(records[0].latency(), (1u + 4) + 10 + (2 + 4));
  EXPECT_EQ(records[1].latency(), (5u + 4) + 10 + 1);
  EXPECT_EQ(records[2].latency(), (2u + 4) + 10 + (1 + 4));
  const auto statistics = bench.statistics();
  EXPECT_EQ(statistics["response_packets"], 2);
  EXPECT_EQ(statistics["sm0"]["request_bytes"], 8 + 136 + 40);
  EXPECT_EQ(statistics["sm0"]["response_bytes"], 128 + 32);
  EXPECT_EQ(statistics["interface0"]["response_flits"], 2 + 1);
}

// Endings of writes and packets leave in the order in which they are due; an error of a write comes back too.
TEST(Crossbar, EndingsOfWritesWaitForTheirRequester) {
  Config config = without_headers_and_acknowledgements();
  config.output_queue = 2;
  bench::MockMemory::Options memory;
  memory.bytes = 4096;
  bench::MockInitiator::Options initiator;
  initiator.response_hold = 20;
  std::vector<bench::Access> accesses;
  for (unsigned i = 0; i < 24; ++i) accesses.push_back(i % 4 == 3 ? read(i * 128) : write(i * 128, 32));
  accesses.push_back(write(8192));
  CrossbarBench bench("b", config, {accesses}, 6, memory, initiator);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_GT(bench.statistics()["response_stalls"].get<int>(), 0);
  EXPECT_EQ(bench.statistics()["response_packets"], 6);
  EXPECT_EQ(bench.sms[0]->records.front().status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.sms[0]->records.back().status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(Crossbar, RoutesByTheAddressMap) {
  std::vector<bench::Access> accesses;
  for (unsigned chunk = 0; chunk < 18; ++chunk) accesses.push_back(read(chunk * 256 + 32, 32));
  CrossbarBench bench("b", {}, {accesses}, 6);
  sc_core::sc_start();
  bench.expect_complete();
  for (unsigned port = 0; port < 6; ++port) {
    ASSERT_EQ(bench.memories[port]->seen.size(), 3u);
    for (unsigned i = 0; i < 3; ++i)
      EXPECT_EQ(bench.memories[port]->seen[i].address, (i * 6 + port) * 256 + 32);
  }
}

// All SMs send writes of 5 flits to one port: it moves a flit per cycle, and each SM gets its share.
TEST(Crossbar, AHotPortIsSharedFairlyAtFullRate) {
  std::vector<std::vector<bench::Access>> sms(5, std::vector<bench::Access>(100, write(0)));
  CrossbarBench bench("b", {}, sms, 6);
  sc_core::sc_start();
  bench.expect_complete();
  Cycle first = kNever;
  Cycle last = 0;
  for (const auto& sm : bench.sms) {
    first = std::min(first, sm->last_response());
    last = std::max(last, sm->last_response());
  }
  EXPECT_LE(last - first, 5u * 5) << "all SMs end within one round";
  EXPECT_NEAR(static_cast<double>(last), 500 * 5, 40);
}

TEST(Crossbar, SMsThatShareAnInterfaceShareItsBandwidth) {
  std::vector<std::vector<bench::Access>> sms;
  for (unsigned sm = 0; sm < 4; ++sm) sms.emplace_back(100, write(sm * 256));
  Config shared;
  shared.sms_per_interface = 4;
  CrossbarBench alone("alone", {}, sms, 4);
  CrossbarBench together("together", shared, sms, 4);
  sc_core::sc_start();
  alone.expect_complete();
  together.expect_complete();
  EXPECT_NEAR(static_cast<double>(alone.sms[0]->last_response()), 100 * 5, 40);
  EXPECT_NEAR(static_cast<double>(together.sms[0]->last_response()), 400 * 5, 60);
}

// The same towards the SMs: read data of 5 flits to four SMs behind one interface.
TEST(Crossbar, ResponsesShareTheInterfaceToo) {
  std::vector<std::vector<bench::Access>> sms;
  for (unsigned sm = 0; sm < 4; ++sm) sms.emplace_back(100, read(sm * 256));
  Config shared;
  shared.sms_per_interface = 4;
  CrossbarBench bench("b", shared, sms, 4);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_NEAR(static_cast<double>(bench.sms[3]->last_response()), 400 * 5, 60);
}

void stall_and_drain(Config config) {
  config.input_queue = config.output_queue = 1;
  bench::MockMemory::Options memory;
  memory.places = 1;
  bench::MockInitiator::Options initiator;
  initiator.response_hold = 15;
  std::mt19937 random(5);
  std::vector<std::vector<bench::Access>> sms(6);
  for (auto& accesses : sms) {
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t address = random() % 64 * 128;
      accesses.push_back(random() % 2 == 0 ? read(address) : write(address));
    }
  }
  CrossbarBench bench("b", config, sms, 3, memory, initiator);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_GT(bench.statistics()["request_stalls"].get<int>(), 100);
  EXPECT_GT(bench.statistics()["response_stalls"].get<int>(), 10);
}

TEST(Crossbar, QueuesOfOneStallAndDrain) {
  stall_and_drain({});
}

TEST(Crossbar, QueuesOfOneStallAndDrainWithoutAcknowledgements) {
  stall_and_drain(without_headers_and_acknowledgements());
}

TEST(Crossbar, RequestsAcrossChunksGetABurstErrorAtOnce) {
  CrossbarBench bench("b", {}, {{read(192), read(0, 0), read(128)}}, 6);
  sc_core::sc_start();
  EXPECT_EQ(bench.sms[0]->records[0].status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(bench.sms[0]->records[1].status, tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(bench.sms[0]->records[2].status, tlm::TLM_OK_RESPONSE);
}

TEST(Crossbar, ForeignPayloadsAndErrorsPass) {
  bench::MockMemory::Options memory;
  memory.bytes = 4096;
  bench::MockInitiator::Options initiator;
  initiator.foreign = true;
  CrossbarBench bench("b", {}, {{read(0), read(8192), write(256)}}, 6, memory, initiator);
  sc_core::sc_start();
  bench.expect_complete();
  EXPECT_EQ(bench.sms[0]->records[0].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.sms[0]->records[1].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.sms[0]->records[2].status, tlm::TLM_OK_RESPONSE);
}

// An early completion (as a target gives for errors) is answered like any other response.
struct Refuser : sc_core::sc_module {
  tlm_utils::passthrough_target_socket<Refuser> socket;
  explicit Refuser(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_nb_transport_fw(this, &Refuser::forward);
  }
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
};

TEST(Crossbar, EarlyCompletionsComeBack) {
  ClockDomain domain("clock", 1000);
  const memory::ChannelMap map(chunks_over(1));
  Config config;
  config.input_queue = config.output_queue = 1;
  Crossbar crossbar("crossbar", config, domain, map, 2, 1);
  bench::MockInitiator::Options options;
  options.response_hold = 9;
  bench::MockInitiator first("first", domain, std::vector<bench::Access>(20, read(0)), options);
  bench::MockInitiator second("second", domain, std::vector<bench::Access>(20, read(0)), options);
  HopMonitor monitor("monitor");
  HopMonitor memory_monitor("memory_monitor");
  Refuser refuser("refuser");
  first.socket.bind(monitor.target);
  monitor.initiator.bind(crossbar.sm_sockets[0]);
  second.socket.bind(crossbar.sm_sockets[1]);
  crossbar.memory_sockets[0].bind(memory_monitor.target);
  memory_monitor.initiator.bind(refuser.socket);
  sc_core::sc_start();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done());
  for (const bench::Record& record : first.records) EXPECT_EQ(record.status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  monitor.check_complete();
  memory_monitor.check_complete();
  EXPECT_EQ(monitor.report() + memory_monitor.report(), "");
}

struct InvalidationLog : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<InvalidationLog> socket;
  std::vector<std::uint64_t> ends;
  explicit InvalidationLog(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &InvalidationLog::invalidate);
  }
  void invalidate(sc_dt::uint64, sc_dt::uint64 end) { ends.push_back(end); }
};

TEST(Crossbar, DmiDebugBlockingAndInvalidationsPass) {
  ClockDomain domain("clock", 1000);
  const memory::ChannelMap map(chunks_over(1));
  Crossbar crossbar("crossbar", {}, domain, map, 1, 1);
  InvalidationLog initiator("initiator");
  bench::MockMemory memory("memory", domain, {});
  HopMonitor monitor("monitor");
  initiator.socket.bind(monitor.target);
  monitor.initiator.bind(crossbar.sm_sockets[0]);
  crossbar.memory_sockets[0].bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  unsigned char data[4] = {1, 2, 3, 4};
  tlm::tlm_generic_payload payload;
  payload.set_write();
  payload.set_address(300);
  payload.set_data_ptr(data);
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  EXPECT_EQ(initiator.socket->transport_dbg(payload), 4u);
  EXPECT_EQ(memory.image[302], 3);
  tlm::tlm_dmi region;
  ASSERT_TRUE(initiator.socket->get_direct_mem_ptr(payload, region));
  EXPECT_EQ(region.get_dmi_ptr(), memory.image.data());
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  initiator.socket->b_transport(payload, delay);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(delay, sc_core::sc_time(10 + 2 * 4 + 1 + 1, sc_core::SC_NS));
  memory.revoke();
  EXPECT_EQ(initiator.ends, (std::vector<std::uint64_t>{(1u << 20) - 1}));
  EXPECT_EQ(monitor.report(), "");
}

void compare_sleeping_with_awake(Config config) {
  std::mt19937_64 random(17);
  std::vector<std::vector<bench::Access>> sms(7);
  for (auto& accesses : sms) {
    Cycle at = 0;
    for (int i = 0; i < 400; ++i) {
      at += random() % 9 == 0 ? random() % 300 : random() % 5;
      const std::uint64_t address = random() % 512 * 64;
      const unsigned bytes = 32u << random() % 2;
      switch (random() % 3) {
        case 0:
          accesses.push_back(read(address, bytes, at));
          break;
        case 1:
          accesses.push_back(write(address, bytes, at));
          break;
        default:
          accesses.push_back(atomic(address, 8, at));
      }
    }
  }
  config.input_queue = 2;
  config.output_queue = 2;
  config.sms_per_interface = 3;
  bench::MockMemory::Options memory;
  memory.places = 2;
  bench::MockInitiator::Options initiator;
  initiator.response_hold = 2;
  CrossbarBench sleeping("sleeping", config, sms, 5, memory, initiator, true);
  CrossbarBench awake("awake", config, sms, 5, memory, initiator, false);
  sc_core::sc_start(60, sc_core::SC_US);
  sleeping.expect_complete();
  awake.expect_complete();
  EXPECT_EQ(sleeping.statistics().dump(1), awake.statistics().dump(1));
  for (std::size_t sm = 0; sm < sms.size(); ++sm) {
    EXPECT_EQ(sleeping.sms[sm]->completion_order, awake.sms[sm]->completion_order);
    for (std::size_t i = 0; i < sms[sm].size(); ++i) {
      EXPECT_EQ(sleeping.sms[sm]->records[i].begin_response, awake.sms[sm]->records[i].begin_response);
    }
  }
}

TEST(Crossbar, SleepingChangesNothing) {
  compare_sleeping_with_awake({});
}

TEST(Crossbar, SleepingChangesNothingWithoutAcknowledgements) {
  compare_sleeping_with_awake(without_headers_and_acknowledgements());
}

TEST(Crossbar, RefusesMorePortsThanItHas) {
  ClockDomain domain("clock", 1000);
  const memory::ChannelMap map(chunks_over(6));
  EXPECT_THROW(Crossbar("a", {}, domain, map, 257, 6), InputError);
  EXPECT_THROW(Crossbar("d", {}, domain, map, 256, 6, false, 257), InputError);
  EXPECT_THROW(Crossbar("b", {}, domain, map, 0, 6), InputError);
  EXPECT_THROW(Crossbar("c", {}, domain, map, 16, 5), InputError);
}

}  // namespace
}  // namespace weft::crossbar
