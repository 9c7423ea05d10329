// A breadth-first search by packets alone: a plain TLM initiator, no firmware. Every level is a kernel
// dispatch with a copy behind it that brings the flag "something changed" back to system memory.
#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <random>
#include <sstream>

#include "host/gpu_machine.h"

namespace weft::test {
namespace {

constexpr std::uint32_t kVertices = 1500;
constexpr std::uint32_t kThreads = 128;
constexpr std::uint64_t kGraph = kRam + 0x2'0000;  // row, neighbour, level, flag
constexpr std::uint64_t kZero = kRam + 0x200;
constexpr std::uint64_t kThere = kDeviceBase + 0x2'0000;  // the same in device memory

struct Graph {
  std::vector<std::int32_t> row, neighbour, level;

  // Random edges among all vertices but the last hundred, which nobody reaches.
  explicit Graph(std::uint32_t seed) : level(kVertices, -1) {
    std::mt19937 random(seed);
    for (std::uint32_t vertex = 0; vertex < kVertices; ++vertex) {
      row.push_back(static_cast<std::int32_t>(neighbour.size()));
      for (std::uint32_t edges = random() % 4 + 1; edges-- > 0;)
        neighbour.push_back(static_cast<std::int32_t>(random() % (kVertices - 100)));
    }
    row.push_back(static_cast<std::int32_t>(neighbour.size()));
    level[0] = 0;
  }
  // By a queue, where the kernel goes level by level.
  std::vector<std::int32_t> searched() const {
    std::vector<std::int32_t> found = level;
    std::deque<std::int32_t> queue{0};
    for (; !queue.empty(); queue.pop_front()) {
      const auto vertex = static_cast<std::size_t>(queue.front());
      for (auto edge = static_cast<std::size_t>(row[vertex]);
           edge < static_cast<std::size_t>(row[vertex + 1]); ++edge) {
        const std::int32_t next = neighbour[edge];
        if (found[static_cast<std::size_t>(next)] >= 0) continue;
        found[static_cast<std::size_t>(next)] = found[vertex] + 1;
        queue.push_back(next);
      }
    }
    return found;
  }
};

std::string text_of_kernel() {
  std::ifstream file(WEFT_BFS_PTX);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// C++ mangles it.
std::string name_of_kernel(const std::string& text) {
  const std::string before = ".entry ";
  const std::size_t entry = text.find(before + "_Z3bfs");
  EXPECT_NE(entry, std::string::npos);
  const std::size_t begin = entry + before.size();
  return text.substr(begin, text.find('(', begin) - begin);
}

class PacketBfs : public ::testing::TestWithParam<const char*> {
 public:
  PacketBfs()
      : machine(config_of(GetParam(), std::string(GetParam()) == "integrated"
                                          ? std::vector<std::string>{kCarveOut}
                                          : std::vector<std::string>{})) {
    machine.with_ram();
  }

  // Copies of everything, in the order of the queue; returns when the last is done.
  void copy(std::initializer_list<weft_copy_packet> copies) {
    machine.ram.put<std::int64_t>(kSignal, static_cast<std::int64_t>(copies.size()));
    for (const auto& packet : copies) machine.submit(0, index++, packet);
    wait();
  }
  void wait() {
    while (machine.ram.get<std::int64_t>(kSignal) != 0 && machine.reg(WEFT_REG_ERROR_CODE) == 0)
      sc_core::wait(sc_core::sc_time(1, sc_core::SC_US));
    ASSERT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
  }
  // One level; whether it reached anything.
  bool advance(std::int32_t current) {
    machine.ram.put(kArguments + 24, current);
    machine.ram.put<std::int64_t>(kSignal, 3);
    machine.submit(0, index++, copy_packet(kZero, flag, 4));
    machine.submit(0, index++, dispatch_packet((kVertices + kThreads - 1) / kThreads, kThreads));
    machine.submit(0, index++, copy_packet(flag, kSignal + 64, 4));
    wait();
    return machine.ram.get<std::int32_t>(kSignal + 64) != 0;
  }

  Machine machine;
  std::uint32_t index = 0;
  std::uint64_t flag = 0;
};

TEST_P(PacketBfs, FindsEveryLevel) {
  const Graph graph(7);
  const std::string text = text_of_kernel();
  put_kernel(machine.ram, name_of_kernel(text), text);
  ASSERT_LT(kText + text.size(), kGraph);
  const std::uint64_t row = 0, neighbour = row + 4 * graph.row.size(),
                      level = neighbour + 4 * graph.neighbour.size(), end = level + 4 * kVertices;
  flag = kThere + end;
  machine.ram.put_bytes(kGraph + row, graph.row.data(), 4 * graph.row.size());
  machine.ram.put_bytes(kGraph + neighbour, graph.neighbour.data(), 4 * graph.neighbour.size());
  machine.ram.put_bytes(kGraph + level, graph.level.data(), 4 * kVertices);
  machine.ram.put(kArguments, kThere + row);
  machine.ram.put(kArguments + 8, kThere + neighbour);
  machine.ram.put(kArguments + 16, kThere + level);
  machine.ram.put(kArguments + 32, flag);
  machine.ram.put<std::int32_t>(kArguments + 40, kVertices);

  const std::vector<std::int32_t> expected = graph.searched();
  const std::int32_t deepest = *std::max_element(expected.begin(), expected.end());
  ASSERT_GT(deepest, 3);
  ASSERT_EQ(std::count(expected.begin() + (kVertices - 100), expected.end(), -1), 100);
  std::int32_t levels = 0;
  ASSERT_TRUE(machine.cpu.run(
      [&] {
        machine.open();
        copy({copy_packet(kGraph, kThere, end)});
        while (advance(levels) && levels < 100) ++levels;
        copy({copy_packet(kThere + level, kGraph + level, 4 * kVertices)});
      },
      sc_core::sc_time(100, sc_core::SC_MS)));
  EXPECT_EQ(levels, deepest);
  for (std::uint32_t vertex = 0; vertex < kVertices; ++vertex)
    ASSERT_EQ(machine.ram.get<std::int32_t>(kGraph + level + 4 * vertex), expected[vertex]) << vertex;
  EXPECT_EQ(machine.gpu.statistics().sample().at("host").at("queue0").at("kernels"), levels + 1);
}

INSTANTIATE_TEST_SUITE_P(Machines, PacketBfs, ::testing::Values("gtx480", "dwr-tesla", "integrated"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace weft::test
