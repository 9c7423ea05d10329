#include "crossbar/packet_network.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

namespace weft::crossbar {
namespace {

PacketNetwork::Shape square(unsigned n) {
  PacketNetwork::Shape shape;
  shape.inputs = shape.outputs = n;
  shape.input_queue = shape.output_queue = 1000;
  return shape;
}

// Runs until edge `end`, taking every packet as soon as it may leave; counts packets per content.
std::vector<int> run(PacketNetwork& network, Cycle end, std::vector<Cycle>* when = nullptr) {
  std::vector<int> counts(QueueSet::kMost);
  for (Cycle now = 1; now < end; ++now) {
    for (unsigned output = 0; output < QueueSet::kMost; ++output) {
      if (!network.occupied().contains(output) || network.head(output).ready > now) continue;
      ++counts[reinterpret_cast<std::uintptr_t>(network.head(output).content)];
      if (when != nullptr) when->push_back(now);
      network.pop(output);
    }
    network.arbitrate(now);
  }
  return counts;
}

void* content(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr)
}

TEST(QueueSet, IsVisitedInOrderFromAnyPlace) {
  QueueSet set;
  EXPECT_TRUE(set.empty());
  for (const unsigned number : {511u, 3u, 64u, 200u, 63u}) set.insert(number);
  std::vector<unsigned> seen;
  set.for_each([&](unsigned number) {
    seen.push_back(number);
    set.erase(511);  // what goes meanwhile is visited all the same
  });
  EXPECT_EQ(seen, (std::vector<unsigned>{3, 63, 64, 200, 511}));
  EXPECT_FALSE(set.contains(511));
  EXPECT_TRUE(set.contains(64));
  const auto order_from = [&](unsigned start) {
    std::vector<unsigned> order;
    EXPECT_EQ(set.find_from(start,
                            [&](unsigned number) {
                              order.push_back(number);
                              return false;
                            }),
              QueueSet::kNone);
    return order;
  };
  EXPECT_EQ(order_from(0), (std::vector<unsigned>{3, 63, 64, 200}));
  EXPECT_EQ(order_from(4), (std::vector<unsigned>{63, 64, 200, 3}));
  EXPECT_EQ(order_from(64), (std::vector<unsigned>{64, 200, 3, 63}));
  EXPECT_EQ(order_from(65), (std::vector<unsigned>{200, 3, 63, 64}));
  EXPECT_EQ(order_from(200), (std::vector<unsigned>{200, 3, 63, 64}));
  EXPECT_EQ(order_from(201), (std::vector<unsigned>{3, 63, 64, 200}));
  EXPECT_EQ(order_from(400), (std::vector<unsigned>{3, 63, 64, 200}));
  EXPECT_EQ(order_from(QueueSet::kMost), (std::vector<unsigned>{3, 63, 64, 200}));
  EXPECT_EQ(set.find_from(4, [](unsigned number) { return number > 60; }), 63u);
}

// Against a plain set, over all words.
TEST(QueueSet, IsASetOfNumbers) {
  std::mt19937 random(1);
  std::set<unsigned> numbers, others;
  QueueSet set, other;
  for (int i = 0; i < 3000; ++i) {
    const unsigned number = random() % QueueSet::kMost;
    if (random() % 2 == 0) {
      set.insert(number);
      numbers.insert(number);
    } else {
      set.erase(number);
      numbers.erase(number);
    }
    if (i % 100 == 0) {
      other.insert(number);
      others.insert(number);
    }
    EXPECT_EQ(set.contains(number), numbers.count(number) != 0);
    EXPECT_EQ(set.empty(), numbers.empty());
    const auto from = numbers.lower_bound(number);
    const auto next = from != numbers.end() ? from : numbers.begin();
    EXPECT_EQ(set.find_from(number, [](unsigned) { return true; }),
              numbers.empty() ? QueueSet::kNone : *next);
  }
  std::vector<unsigned> seen;
  (set | other).for_each([&](unsigned number) { seen.push_back(number); });
  numbers.insert(others.begin(), others.end());
  EXPECT_EQ(seen, std::vector<unsigned>(numbers.begin(), numbers.end()));
  for (const unsigned number : numbers) set.erase(number);
  EXPECT_TRUE(set.empty());
}

TEST(PacketNetwork, ALonePacketTakesItsFlitsAndTheRouter) {
  PacketNetwork::Shape shape = square(4);
  shape.router_latency = 7;
  PacketNetwork network(shape);
  network.push(2, content(2), 3, 5, 1);
  std::vector<Cycle> when;
  run(network, 100, &when);
  EXPECT_EQ(when, (std::vector<Cycle>{1 + 5 - 1 + 7}));
}

TEST(PacketNetwork, RoundRobinIsFair) {
  PacketNetwork network(square(5));
  for (unsigned input = 0; input < 5; ++input) {
    for (int i = 0; i < 500; ++i) network.push(input, content(input), 1, 3, 1);
  }
  const std::vector<int> counts = run(network, 1 + 3 * 1000 + 1);
  for (unsigned input = 0; input < 5; ++input) EXPECT_EQ(counts[input], 200) << input;
}

TEST(PacketNetwork, AllPortsOfTheWidestNetworkTakePart) {
  constexpr unsigned kWidest = QueueSet::kMost;
  PacketNetwork network(square(kWidest));
  for (unsigned input = 0; input < kWidest; ++input) {
    for (int i = 0; i < 20; ++i) network.push(input, content(input), kWidest - 1, 1, 1);
  }
  const std::vector<int> counts = run(network, 1 + kWidest * 10 + 1);
  for (unsigned input = 0; input < kWidest; ++input) EXPECT_EQ(counts[input], 10) << input;
}

TEST(PacketNetwork, OldestGoesFirst) {
  PacketNetwork::Shape shape = square(3);
  shape.arbitration = Arbitration::kOldest;
  PacketNetwork network(shape);
  for (unsigned input : {2u, 0u, 2u, 1u, 2u}) network.push(input, content(input), 0, 1, 1);
  std::vector<unsigned> order;
  for (Cycle now = 1; now < 20; ++now) {
    if (!network.occupied().empty() && network.head(0).ready <= now) {
      order.push_back(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(network.head(0).content)));
      network.pop(0);
    }
    network.arbitrate(now);
  }
  EXPECT_EQ(order, (std::vector<unsigned>{2, 0, 2, 1, 2}));
}

// The packets of one input go to outputs 1, 2, 0 and 3. In ascending order output 0 has chosen when its
// packet comes to the head, so that packet goes one edge later, and the one behind it at the same edge.
TEST(PacketNetwork, AscendingOutputsChooseOncePerEdge) {
  const auto granted_at = [](Arbitration arbitration) {
    PacketNetwork::Shape shape = square(4);
    shape.input_speedup = 4;
    shape.arbitration = arbitration;
    PacketNetwork network(shape);
    for (const unsigned output : {1u, 2u, 0u, 3u}) network.push(0, content(output), output, 1, 1);
    std::vector<std::size_t> waiting;
    for (Cycle now = 10; now < 13; ++now) {
      network.arbitrate(now);
      waiting.push_back(network.waiting_in(0));
    }
    return waiting;
  };
  EXPECT_EQ(granted_at(Arbitration::kAscending), (std::vector<std::size_t>{2, 0, 0}));
  EXPECT_EQ(granted_at(Arbitration::kRoundRobin), (std::vector<std::size_t>{0, 0, 0}));
}

// With packets for one output only, ascending order is round robin among the inputs.
TEST(PacketNetwork, AscendingOutputsAreFairToInputs) {
  PacketNetwork::Shape shape = square(5);
  shape.arbitration = Arbitration::kAscending;
  PacketNetwork network(shape);
  for (unsigned input = 0; input < 5; ++input) {
    for (int i = 0; i < 50; ++i) network.push(input, content(input), 1, 3, 1);
  }
  const std::vector<int> counts = run(network, 1 + 3 * 100 + 1);
  for (unsigned input = 0; input < 5; ++input) EXPECT_EQ(counts[input], 20) << input;
}

TEST(PacketNetwork, DistinctPathsDoNotDisturbEachOther) {
  PacketNetwork network(square(4));
  for (unsigned input = 0; input < 4; ++input) {
    for (int i = 0; i < 100; ++i) network.push(input, content(input), 3 - input, 2, 1);
  }
  const std::vector<int> counts = run(network, 1 + 2 * 100 + 1);
  for (unsigned input = 0; input < 4; ++input) EXPECT_EQ(counts[input], 100);
}

// Four inputs on one interface have its bandwidth between them, though each goes to an output of its own.
TEST(PacketNetwork, ASharedInterfaceSharesItsFlits) {
  PacketNetwork::Shape shape = square(4);
  shape.inputs_per_interface = 4;
  PacketNetwork network(shape);
  for (unsigned input = 0; input < 4; ++input) {
    for (int i = 0; i < 100; ++i) network.push(input, content(input), input, 2, 1);
  }
  const std::vector<int> counts = run(network, 1 + 2 * 200 + 1);
  int sum = 0;
  for (unsigned input = 0; input < 4; ++input) {
    EXPECT_NEAR(counts[input], 50, 2);
    sum += counts[input];
  }
  EXPECT_EQ(sum, 200);
}

TEST(PacketNetwork, ASharedOutputInterfaceSharesItsFlits) {
  PacketNetwork::Shape shape = square(4);
  shape.outputs_per_interface = 2;
  PacketNetwork network(shape);
  for (unsigned input = 0; input < 4; ++input) {
    for (int i = 0; i < 100; ++i) network.push(input, content(input), input, 4, 1);
  }
  const std::vector<int> counts = run(network, 1 + 4 * 100 + 1);
  for (unsigned input = 0; input < 4; ++input) EXPECT_EQ(counts[input], 50);
}

// Input 1 has a packet for output 0, which input 0 keeps busy, and behind it one for output 1, which is free.
TEST(PacketNetwork, ASpeedupMakesUpForTimeLostAtTheHeadOfTheQueue) {
  for (const unsigned speedup : {1u, 2u}) {
    PacketNetwork::Shape shape = square(2);
    shape.input_speedup = speedup;
    PacketNetwork network(shape);
    network.push(0, content(0), 0, 6, 1);  // granted at 1, output 0 is free at 7
    network.push(1, content(1), 0, 2, 1);  // granted at 7
    network.push(1, content(1), 1, 2, 1);  // granted at 9; with a speed-up of 2 at 7
    std::vector<Cycle> when;
    run(network, 100, &when);
    const Cycle last = speedup == 1 ? 9 : 7;
    EXPECT_EQ(when, (std::vector<Cycle>{1 + 6, 7 + 2, last + 2})) << speedup;
  }
}

// One flit per cycle comes in, whatever the speed-up; so a lone input gets no more through.
TEST(PacketNetwork, ASpeedupWidensNothing) {
  for (const unsigned speedup : {1u, 2u, 3u}) {
    PacketNetwork::Shape shape = square(4);
    shape.input_speedup = speedup;
    PacketNetwork network(shape);
    for (unsigned i = 0; i < 400; ++i) network.push(2, content(i % 4), i % 4, 3, 1);
    const std::vector<int> counts = run(network, 1 + 3 * 200 + 1);
    EXPECT_EQ(counts[0] + counts[1] + counts[2] + counts[3], 200) << speedup;
  }
}

// Packets of one flit for random outputs. One queue per input gets 2 - sqrt(2) of the flits through (Karol,
// Hluchyj, Morgan 1987), with many inputs; virtual output queues get nearly all of them through.
TEST(PacketNetwork, VirtualOutputQueuesAreNotStoppedByTheirHead) {
  for (const bool virtual_queues : {false, true}) {
    PacketNetwork::Shape shape = square(32);
    shape.virtual_output_queues = virtual_queues;
    PacketNetwork network(shape);
    std::mt19937 random(5);
    for (unsigned i = 0; i < 32 * 800; ++i) network.push(i % 32, content(0), random() % 32, 1, 1);
    run(network, 501);
    std::uint64_t flits = 0;
    for (unsigned out = 0; out < 32; ++out) flits += network.flits(out);
    const double share = static_cast<double>(flits) / (32 * 500);
    if (virtual_queues) {
      EXPECT_GT(share, 0.98);
    } else {
      EXPECT_NEAR(share, 0.586, 0.02);
    }
  }
}

// Input 0 passes one packet at a time, whichever queues they wait in. Those for one output stay in order.
TEST(PacketNetwork, VirtualOutputQueuesShareTheirInput) {
  PacketNetwork::Shape shape = square(3);
  shape.virtual_output_queues = true;
  shape.input_queue = 4;
  PacketNetwork network(shape);
  for (const unsigned output : {0u, 0u, 1u, 2u}) network.push(0, content(output), output, 2, 1);
  EXPECT_TRUE(network.input_full(0));
  std::vector<Cycle> when;
  const std::vector<int> counts = run(network, 100, &when);
  EXPECT_EQ((std::vector<int>{counts[0], counts[1], counts[2]}), (std::vector<int>{2, 1, 1}));
  EXPECT_EQ(when, (std::vector<Cycle>{3, 5, 7, 9})) << "granted two cycles apart";
  EXPECT_EQ(network.waiting_in(0), 0u);
}

// Every input sends to outputs chosen at random: heads that wait for an output keep back what lies behind.
TEST(PacketNetwork, ASpeedupRaisesTheThroughputOfRandomTraffic) {
  std::array<std::uint64_t, 2> flits{};
  for (const unsigned speedup : {1u, 2u}) {
    PacketNetwork::Shape shape = square(8);
    shape.input_speedup = speedup;
    PacketNetwork network(shape);
    std::mt19937 random(3);
    for (unsigned i = 0; i < 8 * 800; ++i) network.push(i % 8, content(0), random() % 8, 4, 1);
    run(network, 2000);
    for (unsigned out = 0; out < 8; ++out) flits[speedup - 1] += network.flits(out);
  }
  EXPECT_GT(static_cast<double>(flits[1]), 1.15 * static_cast<double>(flits[0]));
  EXPECT_LE(flits[1], 8u * 2000);
}

TEST(PacketNetwork, AFullOutputQueueStopsGrants) {
  PacketNetwork::Shape shape = square(2);
  shape.output_queue = 2;
  PacketNetwork network(shape);
  for (int i = 0; i < 5; ++i) network.push(0, content(0), 1, 1, 1);
  for (Cycle now = 1; now < 50; ++now) network.arbitrate(now);
  EXPECT_EQ(network.flits(1), 2u);
  EXPECT_EQ(network.next_grant(50), kNever);
  network.pop(1);
  EXPECT_EQ(network.next_grant(50), 51u);
}

}  // namespace
}  // namespace weft::crossbar
