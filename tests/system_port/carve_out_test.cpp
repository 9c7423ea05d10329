// Device memory in system memory: whose bytes are where, and the port in the place of memory controllers.
#include "system_port/carve_out.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "bus/hop_monitor.h"
#include "memory_bench/mock_initiator.h"
#include "memory_bench/mock_memory.h"
#include "system_port/system_port.h"
#include "weft/common/error.h"

namespace weft::system_port::carve_out_test {
namespace {

using bench::atomic;
using bench::read;
using bench::write;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kBase = 0x40000;
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBytes = 8 * kPage;

// System memory from kBase on, without time.
struct Outside {
  explicit Outside(bool grants, std::uint64_t size = kBytes) : bytes(size), direct(grants) {}
  CarveOut::Path path() {
    CarveOut::Path path;
    path.direct = [this](std::uint64_t address, std::uint64_t length) -> unsigned char* {
      return direct && address >= kBase && address - kBase + length <= bytes.size()
                 ? bytes.data() + (address - kBase)
                 : nullptr;
    };
    path.move = [this](bool to, std::uint64_t address, unsigned char* data, unsigned length) {
      ++moves;
      if (address < kBase || address - kBase + length > bytes.size()) return false;
      unsigned char* const at = bytes.data() + (address - kBase);
      to ? std::copy_n(data, length, at) : std::copy_n(at, length, data);
      return true;
    };
    return path;
  }
  std::vector<unsigned char> bytes;
  bool direct;
  int moves = 0;
};

struct Carved {
  explicit Carved(bool grants) : outside(grants) {}
  void attach() { memory.attach(outside.path(), "gpu"); }
  unsigned char& image(std::uint64_t at) { return bytes.data()[at]; }
  unsigned char& there(std::uint64_t at) { return outside.bytes[at]; }

  memory::MemoryImage bytes{kBytes};
  Outside outside;
  CarveOut memory{bytes, kBase};
};

class CarveOutAccess : public ::testing::TestWithParam<bool> {};

// Page by page where the image is not all zero; the others when they are exchanged.
TEST_P(CarveOutAccess, WhatWasWrittenBeforeTheSimulationMovesAlong) {
  Carved carved(GetParam());
  carved.image(5) = 50;
  carved.there(kPage + 1) = 60;
  carved.image(kBytes - 1) = 70;
  carved.attach();
  carved.memory.exchange(kPage, kPage);
  for (const auto& [at, value] : {std::pair{std::uint64_t{5}, 50}, {kPage + 1, 60}, {kBytes - 1, 70}}) {
    EXPECT_EQ(carved.image(at), value) << at;
    EXPECT_EQ(carved.there(at), value) << at;
  }
}

TEST_P(CarveOutAccess, AResetClearsBothSides) {
  Carved carved(GetParam());
  carved.attach();
  carved.image(10) = 1;
  carved.there(3 * kPage) = 2;
  carved.memory.exchange(0, kPage);
  carved.memory.reset();
  for (std::uint64_t at = 0; at < kBytes; ++at) {
    ASSERT_EQ(carved.image(at), 0) << at;
    ASSERT_EQ(carved.there(at), 0) << at;
  }
}

TEST_P(CarveOutAccess, AtOnceMeansForEverybody) {
  Carved carved(GetParam());
  carved.attach();
  unsigned char data[2] = {8, 9};
  carved.memory.move(true, kPage - 1, data, 2);
  EXPECT_EQ(carved.there(kPage - 1), 8);
  EXPECT_EQ(carved.there(kPage), 9);
  carved.there(kPage) = 10;
  carved.memory.move(false, kPage - 1, data, 2);
  EXPECT_EQ(data[0], 8);
  EXPECT_EQ(data[1], 10);
  EXPECT_EQ(carved.image(kPage), 10);
}

INSTANTIATE_TEST_SUITE_P(Ways, CarveOutAccess, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Direct" : "Carried"; });

TEST(CarveOut, ExchangesTheChangesOfBothSides) {
  Carved carved(false);
  carved.attach();
  carved.image(0) = 1;
  carved.there(1) = 2;
  carved.image(2) = 3;
  carved.there(2) = 4;  // the GPU's goes first
  EXPECT_EQ(carved.there(0), 0) << "before an exchange nothing moves";
  EXPECT_EQ(carved.image(1), 0);
  carved.memory.exchange(0, 4);
  for (std::uint64_t at = 0; at < 3; ++at) {
    EXPECT_EQ(carved.image(at), at + 1);
    EXPECT_EQ(carved.there(at), at + 1);
  }
  carved.there(0) = 9;  // known to both now: a change of it is the other side's
  carved.memory.exchange(0, 4);
  EXPECT_EQ(carved.image(0), 9);
}

TEST(CarveOut, ExchangesMappedPagesOnly) {
  Carved carved(false);
  carved.attach();
  std::vector<std::uint8_t> mapped(kBytes / kPage, 0);
  mapped[2] = 1;
  for (std::uint64_t page = 0; page < mapped.size(); ++page) carved.image(page * kPage + 7) = 1;
  carved.memory.exchange(mapped, kPage);
  for (std::uint64_t page = 0; page < mapped.size(); ++page)
    EXPECT_EQ(carved.there(page * kPage + 7), mapped[page]) << page;
}

// A write that took time brings bytes that are no longer the last: of the GPU, and of another.
TEST(CarveOut, AWriteThatLandsLateLosesNothing) {
  Carved carved(false);
  carved.attach();
  carved.image(0) = 1;
  carved.memory.exchange(0, 3);
  const unsigned char under_way[3] = {carved.image(0), carved.image(1), carved.image(2)};
  carved.image(0) = 2;
  carved.there(1) = 3;
  carved.memory.exchange(0, 3);
  std::copy_n(under_way, 3, carved.outside.bytes.begin());  // it lands
  EXPECT_EQ(carved.there(0), 1);
  carved.memory.landed(0, under_way, 3);
  EXPECT_EQ(carved.there(0), 2);
  EXPECT_EQ(carved.there(1), 3);
  EXPECT_EQ(carved.there(2), 0);
}

TEST(CarveOut, KeepsItsBytesWhenDirectAccessEnds) {
  Carved carved(true);
  carved.attach();
  carved.there(100) = 42;
  const int before = carved.outside.moves;
  carved.memory.withdraw(0, kBase - 1);  // other memory
  carved.memory.withdraw(kBase + kBytes, UINT64_MAX);
  carved.memory.exchange(100, 2);
  EXPECT_EQ(carved.outside.moves, before) << "directly";
  EXPECT_EQ(carved.image(100), 42);
  carved.memory.withdraw(kBase + 5, kBase + 6);
  carved.there(100) = 43;
  carved.image(101) = 44;
  EXPECT_EQ(carved.image(100), 42);
  carved.memory.exchange(100, 2);
  EXPECT_GT(carved.outside.moves, before);
  EXPECT_EQ(carved.image(100), 43);
  EXPECT_EQ(carved.there(101), 44);
}

TEST(CarveOut, SaysWhatIsNotThere) {
  Outside small(false, kBytes - 1);
  memory::MemoryImage image(kBytes);
  CarveOut memory(image, kBase);
  EXPECT_THAT([&] { memory.attach(small.path(), "gpu"); },
              Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("gpu"), HasSubstr("0x40000 to "),
                                                                   HasSubstr("does not reach 0x47fff")))));
}

// ---- the port

constexpr Cycle kMemory = 50;

struct PortBench {
  PortBench(std::vector<std::vector<bench::Access>> accesses, Config config = {16, 64, 1}, bool direct = true,
            bench::MockInitiator::Options options = {})
      : domain("clock", 1000),
        memory("memory", domain, memory_options(direct)),
        port("port", config, domain, static_cast<unsigned>(accesses.size()), &carve_out) {
    for (unsigned i = 0; i < accesses.size(); ++i) {
      const std::string number = std::to_string(i);
      initiators.emplace_back(("initiator" + number).c_str(), domain, accesses[i], options);
      monitors.emplace_back(("above" + number).c_str());
      initiators.back().socket.bind(monitors.back().target);
      monitors.back().initiator.bind(port.targets[i]);
    }
    monitors.emplace_back("below");
    port.system.bind(monitors.back().target);
    monitors.back().initiator.bind(memory.socket);
    port.bind(tree.group("port"));
  }
  static bench::MockMemory::Options memory_options(bool direct) {
    bench::MockMemory::Options options;
    options.latency = kMemory;
    options.grant_dmi = direct;
    return options;
  }
  void run() {
    CarveOut::Path path;
    path.direct = [this](std::uint64_t address, std::uint64_t) -> unsigned char* {
      tlm::tlm_generic_payload payload;
      tlm::tlm_dmi dmi;
      return port.system->get_direct_mem_ptr(payload, dmi) ? dmi.get_dmi_ptr() + address : nullptr;
    };
    path.move = [this](bool to, std::uint64_t address, unsigned char* data, unsigned length) {
      unsigned char* const at = memory.image.data() + address;
      to ? std::copy_n(data, length, at) : std::copy_n(at, length, data);
      return true;
    };
    carve_out.attach(path, "gpu");
    sc_core::sc_start(5, sc_core::SC_US);
    for (const auto& initiator : initiators) EXPECT_TRUE(initiator.done());
    EXPECT_TRUE(port.quiet());
    for (auto& monitor : monitors) {
      monitor.check_complete();
      EXPECT_EQ(monitor.report(), "");
    }
    for (const auto& seen : memory.seen) EXPECT_TRUE(seen.foreign) << "the outside must move the data";
  }

  memory::MemoryImage image{kBytes};
  CarveOut carve_out{image, kBase};
  ClockDomain domain;
  bench::MockMemory memory;
  SystemPort port;
  std::deque<bench::MockInitiator> initiators;
  std::deque<HopMonitor> monitors;
  statistics::Group tree;
};

// An edge to take the request, the memory's time, an edge to take the answer. Addresses become the bus's.
TEST(CarveOutPort, ALoneAccessTakesTheMemorysTimeAndTwoEdges) {
  PortBench bench({{read(0x1000), write(0x2000, 32, 500)}});
  bench.run();
  for (const auto& record : bench.initiators[0].records) {
    EXPECT_EQ(record.latency(), 1 + kMemory + 1);
    EXPECT_EQ(record.status, tlm::TLM_OK_RESPONSE);
  }
  ASSERT_EQ(bench.memory.seen.size(), 2u);
  EXPECT_EQ(bench.memory.seen[0].address, kBase + 0x1000);
  EXPECT_EQ(bench.memory.seen[1].address, kBase + 0x2000);
  EXPECT_EQ(bench.memory.seen[1].bytes, 32u);
}

// One request leaves per edge, in the order of arrival; the answers reach the two targets side by side.
TEST(CarveOutPort, BanksShareTheWayOut) {
  PortBench bench({{read(0), read(256)}, {read(128), read(384)}});
  bench.run();
  const Cycle first = bench.memory.seen[0].arrived;
  ASSERT_EQ(bench.memory.seen.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    EXPECT_EQ(bench.memory.seen[i].arrived, first + i);
    EXPECT_EQ(bench.memory.seen[i].address, kBase + 128 * i) << "in turn";
  }
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 2; ++j)
      EXPECT_EQ(bench.initiators[i].records[j].begin_response, first + i + 2 * j + kMemory + 1);
  }
}

// With one place in the queue and one outside, the second bank's request is admitted when the first's leaves.
TEST(CarveOutPort, AFullQueueWithholdsEndReqOfEachBank) {
  PortBench bench({{read(0), read(256)}, {read(128), read(384)}}, {1, 1, 1});
  bench.run();
  ASSERT_EQ(bench.memory.seen.size(), 4u);
  for (unsigned i = 1; i < 4; ++i)
    EXPECT_EQ(bench.memory.seen[i].arrived, bench.memory.seen[i - 1].arrived + kMemory + 1);
  EXPECT_GT(bench.initiators[1].records[0].end_request, bench.initiators[1].records[0].begin_request);
  EXPECT_EQ(bench.tree.sample()["port"]["stalls"], 3);
}

TEST(CarveOutPort, RefusesWhatLiesBeyondDeviceMemory) {
  PortBench bench({{read(kBytes - 128), read(kBytes), read(kBytes - 64)}});
  bench.run();
  EXPECT_EQ(bench.initiators[0].records[0].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bench.initiators[0].records[1].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.initiators[0].records[2].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(bench.memory.seen.size(), 1u);
}

// Of a machine without L2. Its operation was done at issue: only the time is left.
TEST(CarveOutPort, AnAtomicIsAReadAndAWrite) {
  PortBench bench({{atomic(0x100, 4)}});
  bench.run();
  ASSERT_EQ(bench.memory.seen.size(), 2u);
  EXPECT_EQ(bench.memory.seen[0].command, tlm::TLM_READ_COMMAND);
  EXPECT_EQ(bench.memory.seen[1].command, tlm::TLM_WRITE_COMMAND);
  EXPECT_EQ(bench.initiators[0].records[0].latency(), 1 + 2 * (kMemory + 1));
}

class CarveOutPortAccess : public ::testing::TestWithParam<bool> {};

// Reads and writes carry bytes of their own, and change nothing of the image's. Nobody gets at these
// directly.
TEST_P(CarveOutPortAccess, TransactionsCarryBytes) {
  PortBench bench({{write(0x1000, 64), read(0x2000, 64, 200)}}, {16, 64, 1}, GetParam());
  for (unsigned i = 0; i < 64; ++i) {
    bench.image.data()[0x1000 + i] = static_cast<unsigned char>(i + 1);
    bench.memory.image[kBase + 0x2000 + i] = static_cast<unsigned char>(i + 100);
  }
  bench.run();
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi region;
  EXPECT_FALSE(bench.initiators[0].socket->get_direct_mem_ptr(payload, region));
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(bench.memory.image[kBase + 0x1000 + i], i + 1);
    EXPECT_EQ(bench.image.data()[0x2000 + i], i + 100) << "known when it was read";
  }
  EXPECT_EQ(bench.initiators[0].records[0].latency(), 1 + kMemory + 1) << "the time is the same";
}
INSTANTIATE_TEST_SUITE_P(Ways, CarveOutPortAccess, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Direct" : "Debug"; });

}  // namespace
}  // namespace weft::system_port::carve_out_test
