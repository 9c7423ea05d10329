// What lanes share, cycle by cycle, on cases worked out by hand: 16 banks of 4 bytes, 4 texture addresses a
// cycle.
#include "sm/lane_calendar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace weft::sm::lane_calendar_test {
namespace {

using execute::LaneAccess;

machine::SmConfig machine(std::uint64_t bank_bytes = 4) {
  machine::SmConfig config;
  config.shared_memory.banks = 16;
  config.shared_memory.bank_bytes = bank_bytes;
  config.texture.threads_per_cycle = 4;
  return config;
}

// An instruction of a warp of 32 on a lane: a group of so many places in each cycle from `ready` on.
struct Warp {
  template <class Address>  // place -> address
  Warp(unsigned lane, unsigned width, Cycle ready, Address&& address, std::uint32_t threads = ~0u,
       std::uint32_t bytes = 4)
      : lane(lane) {
    const std::uint32_t group = width == 32 ? ~0u : (1u << width) - 1;
    for (unsigned from = 0; from < 32; from += width) {
      if ((threads & group << from) != 0) parts.push_back({ready++, 1, group << from});
    }
    access.space = ptx::Space::kShared;
    access.mask = threads;
    access.bytes = bytes;
    for (unsigned place = 0; place < 32; ++place) access.address[place] = address(place);
  }
  LaneWork work() const { return {lane, parts.data(), static_cast<unsigned>(parts.size()), &access, 1}; }

  unsigned lane;
  std::vector<datapath::Part> parts;
  LaneAccess access;
};

struct Bank {
  std::uint64_t operator()(unsigned place) const { return (number + 16 * (first + place)) * 4; }
  std::uint64_t number, first = 0;  // a word of its own for each place, all in one bank
};
std::uint64_t consecutive(unsigned place) {
  return place * 4;
}

class Lanes {
 public:
  explicit Lanes(unsigned count, unsigned width, const machine::SmConfig& config = machine())
      : config_(config), calendar_(config_, count, width) {}
  LaneCalendar::Taken shared(const Warp& warp, bool atomic = false) {
    calendar_.begin(warp.parts.front().ready);
    return calendar_.shared(warp.work(), atomic);
  }
  LaneCalendar::Taken textures(const Warp& warp, unsigned passes) {
    calendar_.begin(warp.parts.front().ready);
    return calendar_.textures(warp.work(), passes);
  }

 private:
  const machine::SmConfig config_;
  LaneCalendar calendar_;
};

// Thread i has its address in cycle 100 + i, and its bank in the next.
TEST(LaneCalendar, ThreadsOfAWarpDoNotConflict) {
  Lanes lanes(8, 1);
  const auto taken = lanes.shared({0, 1, 100, Bank{3}});
  EXPECT_EQ(taken.last, 132u);
  EXPECT_EQ(taken.conflicts, 0u);
  EXPECT_EQ(taken.cycles, 32u);
}

TEST(LaneCalendar, LanesConflictInTheSameBankAndCycle) {
  Lanes lanes(8, 1);
  EXPECT_EQ(lanes.shared({0, 1, 100, Bank{3}}).last, 132u);
  // Bank 3 is taken until cycle 132.
  const auto late = lanes.shared({1, 1, 101, Bank{3, 32}});
  EXPECT_EQ(late.last, 132u + 32);
  EXPECT_EQ(late.conflicts, 133u - 102);
  EXPECT_EQ(late.cycles, 32u);
  // Another bank is free all the time; its cycles have been counted.
  const auto other = lanes.shared({2, 1, 102, Bank{4}});
  EXPECT_EQ(other.last, 134u);
  EXPECT_EQ(other.conflicts, 0u);
  EXPECT_EQ(other.cycles, 0u);
}

// Lane 1 follows lane 0 through the banks, one cycle behind; lane 2 asks for what lane 0 has just then.
TEST(LaneCalendar, AWordIsDeliveredToAllWhoAskInItsCycle) {
  Lanes lanes(8, 1);
  EXPECT_EQ(lanes.shared({0, 1, 100, consecutive}).last, 132u);
  EXPECT_EQ(lanes.shared({1, 1, 101, consecutive}).conflicts, 0u);
  EXPECT_EQ(lanes.shared({2, 1, 100, consecutive}).conflicts, 0u);
  // Other words of the same banks: each bank is taken by lane 0, then by lane 1.
  EXPECT_EQ(lanes.shared({3, 1, 100, [](unsigned place) { return (place + 16) * 4; }}).conflicts, 2u);
}

TEST(LaneCalendar, ALaneOfFourConflictsWithinItsGroups) {
  Lanes lanes(2, 4);
  const auto apart = lanes.shared({0, 4, 100, consecutive});
  EXPECT_EQ(apart.last, 108u);
  EXPECT_EQ(apart.conflicts, 0u);
  const auto same = lanes.shared({0, 4, 200, Bank{0}});
  EXPECT_EQ(same.last, 200u + 32);  // four cycles for each of eight groups
  EXPECT_EQ(same.conflicts, 24u);
  // Stride 2: places 0 to 3 in banks 0, 2, 4, 6.
  EXPECT_EQ(lanes.shared({0, 4, 300, [](unsigned place) { return place * 8; }}).last, 308u);
}

TEST(LaneCalendar, GroupsWithoutThreadsTakeNothing) {
  Lanes lanes(8, 1);
  EXPECT_EQ(lanes.shared({0, 1, 100, Bank{0}, 0x80000001}).last, 102u);
}

TEST(LaneCalendar, AnInstructionFollowsTheOneBeforeOnItsLane) {
  Lanes lanes(8, 1);
  lanes.shared({0, 1, 100, Bank{3}});
  lanes.shared({1, 1, 100, Bank{3, 32}});                         // until 164
  EXPECT_EQ(lanes.shared({1, 1, 132, Bank{5}, 0xf}).last, 168u);  // a lane one wide: one word a cycle
  EXPECT_EQ(lanes.shared({2, 1, 132, Bank{6}, 0xf}).last, 136u);
}

// 64-bit elements are two words: two threads of a lane of four, half a thread of a lane of one.
TEST(LaneCalendar, ALanePresentsAsManyWordsAsItIsWide) {
  const auto doubles = [](unsigned place) { return place * 8; };
  Lanes four(2, 4), one(8, 1), wide(8, 1, machine(8));
  const auto halves = four.shared({0, 4, 100, doubles, ~0u, 8});
  EXPECT_EQ(halves.last, 116u);
  EXPECT_EQ(halves.conflicts, 0u);
  EXPECT_EQ(one.shared({0, 1, 100, doubles, ~0u, 8}).last, 164u);
  EXPECT_EQ(wide.shared({0, 1, 100, doubles, ~0u, 8}).last, 132u);  // banks of 8 bytes
  // Threads 0 and 1 of a group together, in banks 0, 1 and 16, 17 (0 and 1 again); then 2 and 3.
  EXPECT_EQ(four.shared({1, 4, 200, [](unsigned place) { return place * 64; }, 0xf, 8}).last, 204u);
  // 16 bytes: each thread alone.
  EXPECT_EQ(four.shared({0, 4, 300, [](unsigned place) { return place * 16; }, 0xf, 16}).last, 304u);
}

TEST(LaneCalendar, AtomicsOfAllLanesGoOneByOne) {
  Lanes lanes(8, 1);
  EXPECT_EQ(lanes.shared({0, 1, 100, Bank{3}, 0xf}, true).last, 104u);
  EXPECT_EQ(lanes.shared({1, 1, 100, Bank{5}, 0xf}, true).last, 108u);
  // A load of another bank goes on meanwhile.
  EXPECT_EQ(lanes.shared({2, 1, 100, Bank{7}, 0xf}).last, 104u);
  // Not even one word is shared with an atomic.
  EXPECT_EQ(lanes.shared({3, 1, 100, Bank{3}, 1}).last, 105u);
  Lanes four(2, 4);
  const auto same = four.shared({0, 4, 100, [](unsigned) { return 0; }, ~0u, 4}, true);
  EXPECT_EQ(same.last, 132u);
}

TEST(LaneCalendar, AnAtomicOfTwoWordsHasBothForItself) {
  Lanes lanes(4, 2);
  EXPECT_EQ(lanes.shared({0, 2, 100, [](unsigned) { return 0; }, 3, 8}, true).last, 102u);
  EXPECT_EQ(lanes.shared({1, 2, 100, [](unsigned) { return 4; }, 1}).last, 103u);
  EXPECT_EQ(lanes.shared({2, 2, 100, [](unsigned) { return 8; }, 1}).last, 101u);
}

// Eight lanes make eight addresses a cycle, the unit takes four.
TEST(LaneCalendar, TheTextureUnitIsShared) {
  Lanes lanes(8, 1);
  EXPECT_EQ(lanes.textures({0, 1, 100, consecutive}, 1).last, 132u);
  for (unsigned lane = 1; lane < 4; ++lane)
    EXPECT_EQ(lanes.textures({lane, 1, 100, consecutive}, 1).last, 132u);
  for (unsigned lane = 4; lane < 8; ++lane)
    EXPECT_EQ(lanes.textures({lane, 1, 100, consecutive}, 1).last, 133u + 8 * (lane - 4) + 7);
  // Eight texels each: two passes; a lane of four in one cycle is two cycles' work.
  Lanes four(2, 4);
  const auto taken = four.textures({0, 4, 100, consecutive}, 2);
  EXPECT_EQ(taken.last, 116u);
  EXPECT_EQ(taken.cycles, 16u);
}

// One lane of all the width: its groups come one after the other, and only its own places are in their way.
TEST(LaneCalendar, OneLaneConflictsWithItselfAlone) {
  Lanes one(1, 8);
  EXPECT_EQ(one.shared({0, 8, 100, consecutive}).last, 104u);
  EXPECT_EQ(one.shared({0, 8, 200, Bank{3}}).last, 200u + 32);  // eight cycles for each of four groups
  EXPECT_EQ(one.shared({0, 8, 300, [](unsigned place) { return place * 8; }}).conflicts,
            0u);  // 8 of 16 banks
  EXPECT_EQ(one.shared({0, 8, 400, Bank{3}}, true).last, 400u + 32);
  // Four addresses a cycle for groups of eight.
  EXPECT_EQ(one.textures({0, 8, 500, consecutive}, 1).last, 508u);
}

// More than the calendar has pages for at first.
TEST(LaneCalendar, Grows) {
  Lanes lanes(8, 1);
  for (unsigned lane = 0; lane < 8; ++lane) {
    const auto taken = lanes.shared({lane, 1, 100, Bank{3, lane * 32}});
    EXPECT_EQ(taken.last, 132u + 32 * lane);
  }
  EXPECT_EQ(lanes.shared({0, 1, 150, Bank{3, 512}, 1}).last, 357u);
  EXPECT_EQ(lanes.shared({0, 1, 1000, Bank{3}}).last, 1032u);  // all that is over is forgotten
}

// Each cycle a row of banks, looked at one after the other.
class CycleByCycle {
 public:
  explicit CycleByCycle(unsigned lanes, unsigned width) : width_(width), next_(lanes, 0) {}
  LaneCalendar::Taken shared(const Warp& warp, bool atomic) {
    LaneCalendar::Taken taken;
    const std::uint32_t words = std::max(1u, warp.access.bytes / 4);
    for (const datapath::Part& part : warp.parts) {
      if ((warp.access.mask & part.lanes) == 0) continue;
      Cycle from = std::max(part.ready + 1, next_[warp.lane]);
      const Cycle first = from;
      Cycle last = from;
      unsigned room = width_, cycles = 1;
      const auto go_on = [&] {
        from = ++last;
        room = width_;
        ++cycles;
      };
      for (unsigned place = 0; place < 32; ++place) {
        if ((warp.access.mask & part.lanes & 1u << place) == 0) continue;
        if (room < std::min(words, width_)) go_on();
        for (std::uint32_t w = 0; w < words; ++w) {
          if (room == 0) go_on();
          --room;
          const std::uint32_t word = static_cast<std::uint32_t>(warp.access.address[place] / 4) + w;
          last = std::max(last, first_for(word, from, atomic, atomic && w == 0, taken));
        }
      }
      taken.conflicts += static_cast<std::uint32_t>(last - first + 1) - cycles;
      taken.last = last;
      next_[warp.lane] = last + 1;
    }
    return taken;
  }

 private:
  struct Row {
    std::map<std::uint32_t, std::uint32_t> banks;  // its word, or none's
    bool atomic = false;
  };
  Cycle first_for(std::uint32_t word, Cycle from, bool alone, bool begins, LaneCalendar::Taken& taken) {
    for (Cycle cycle = from;; ++cycle) {
      Row& row = rows_[cycle];
      const auto served = row.banks.find(word % 16);
      if (served != row.banks.end() && !alone && served->second == word) return cycle;
      if (served != row.banks.end() || (begins && row.atomic)) continue;
      taken.cycles += row.banks.empty() ? 1 : 0;
      row.banks[word % 16] = alone ? UINT32_MAX : word;
      row.atomic = row.atomic || begins;
      return cycle;
    }
  }

  const unsigned width_;
  std::vector<Cycle> next_;
  std::map<Cycle, Row> rows_;
};

class CalendarOfWidth : public ::testing::TestWithParam<unsigned> {};
TEST_P(CalendarOfWidth, IsAsCountedCycleByCycle) {
  const unsigned width = GetParam(), count = 8 / width;
  std::mt19937 random(width);
  Lanes lanes(count, width);
  CycleByCycle reference(count, width);
  Cycle now = 10;
  for (unsigned i = 0; i < 4000; ++i) {
    now += random() % 4 == 0 ? random() % 40 : i % 1000 == 999 ? 5000 : 1;
    const std::uint32_t stride = 1u << random() % 6, words = 1u << random() % 9,
                        bytes = random() % 4 != 0 ? 4 : 8u << random() % 2;
    const bool scattered = random() % 3 == 0, atomic = random() % 6 == 0;
    std::uint32_t threads = random() % 2 == 0 ? ~0u : static_cast<std::uint32_t>(random());
    const auto address = [&](unsigned place) -> std::uint64_t {
      return (scattered ? random() : place * stride) % words * 4;
    };
    const Warp warp(static_cast<unsigned>(random()) % count, width, now, address, threads | 1,
                    atomic ? std::min(bytes, 8u) : bytes);
    const auto ours = lanes.shared(warp, atomic), theirs = reference.shared(warp, atomic);
    ASSERT_EQ(ours.last, theirs.last) << i;
    ASSERT_EQ(ours.conflicts, theirs.conflicts) << i;
    ASSERT_EQ(ours.cycles, theirs.cycles) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(Lanes, CalendarOfWidth, ::testing::Values(1u, 2u, 4u, 8u));

}  // namespace
}  // namespace weft::sm::lane_calendar_test
