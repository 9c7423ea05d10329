// Derived values over each kind of source, against numbers made by hand.
#include "measures/measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "measures/sources.h"

namespace weft::measures::measures_test {

using nlohmann::ordered_json;

const Definition kShare = Definition("x", "x", units::kRatio, "A share.")
                              .ratio({kNoReadyCycles, kMemoryBlockedCycles}, {kHeldCycles});
const Definition kRest = Definition("y", "y", units::kRatio, "The rest.")
                             .one_minus_ratio({kActiveBeats}, {kHeldCycles}, {kBeatsInACycle});
const Definition kMisses =
    Definition("z", "z", units::kRatio, "Misses.").ratio({kL1dAccesses, {kL1dHits, -1}}, {kL1dAccesses});

NumberOf numbers(std::map<std::string, double> of) {
  return [of = std::move(of)](const Counter& counter) -> std::optional<double> {
    const auto found = of.find(counter.column);
    return found == of.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Value, IsTheSumAboveOverTheSumBelow) {
  const auto counted = numbers({{"no_ready_cycles", 3}, {"memory_blocked_cycles", 2}, {"held_cycles", 8}});
  EXPECT_EQ(value_of(kShare, counted), 5.0 / 8);
}

TEST(Value, MayBeWhatIsLeftOfOne) {
  EXPECT_EQ(value_of(kRest, numbers({{"active_beats", 3}, {"held_cycles", 2}, {"beats_in_a_cycle", 4}})),
            1 - 3.0 / 8);
}

TEST(Value, WeighsCounters) {
  EXPECT_EQ(value_of(kMisses, numbers({{"l1d_accesses", 10}, {"l1d_hits", 7}})), 0.3);
}

TEST(Value, OfNothingIsZeroUnlessToldOtherwise) {
  const auto none = numbers({{"active_beats", 0}, {"held_cycles", 0}, {"beats_in_a_cycle", 1}});
  EXPECT_EQ(value_of(kRest, none), 0.0) << "not 1";
  EXPECT_EQ(value_of(kRest, none, -1), -1.0);
}

TEST(Value, IsMissingWithoutACounter) {
  EXPECT_FALSE(value_of(kShare, numbers({{"no_ready_cycles", 3}, {"held_cycles", 8}})).has_value());
}

TEST(Reading, FindsItsPlacesOnce) {
  int asked = 0;
  const auto reading = Reading::of(kMisses, [&](const Counter& counter) {
    ++asked;
    return std::optional<std::size_t>(std::string(counter.column) == "l1d_hits" ? 1 : 0);
  });
  ASSERT_TRUE(reading.has_value());
  std::array<std::uint64_t, 2> counted{10, 7};
  const auto value = [&] { return reading->value([&](std::size_t place) { return counted[place]; }); };
  EXPECT_EQ(value(), 0.3);
  counted = {4, 4};
  EXPECT_EQ(value(), 0.0);
  counted = {0, 0};
  EXPECT_FALSE(value().has_value());
  EXPECT_EQ(asked, 3);
}

// Two SMs with two schedulers each, as the tree of a GPU and as a file.
struct Machine {
  Machine() {
    for (unsigned sm = 0; sm < 2; ++sm) {
      statistics::Group& group = root.group("sm", sm);
      group.counter("active_beats", units::kCycles, "beats", counted[sm][0]);
      for (unsigned scheduler = 0; scheduler < 2; ++scheduler) {
        statistics::Group& of = group.group("scheduler", scheduler);
        of.counter("held_cycles", units::kCycles, "held", counted[sm][1 + scheduler]);
        of.counter("no_ready_cycles", units::kCycles, "idle", counted[sm][3 + scheduler]);
      }
    }
    root.group("l2", 0).group("tags").counter("hits", units::kAccesses, "hits", hits);
    root.group("l2", 0).group("tags").counter("accesses", units::kAccesses, "accesses", accesses);
  }

  statistics::Group root;
  std::uint64_t counted[2][5] = {{10, 20, 30, 1, 2}, {40, 50, 60, 3, 4}};
  std::uint64_t hits = 3, accesses = 4;
};

TEST(Tree, SumsTheInstancesOfEachStep) {
  const Machine machine;
  EXPECT_EQ(sum_of(machine.root, "sm*.scheduler*.held_cycles").value(), 160u);
  EXPECT_EQ(sum_of(machine.root, "l2_*.tags.hits").value(), 3u);
  EXPECT_TRUE(sum_of(machine.root, "sm*.oracle.issues").empty());
  EXPECT_EQ(sum_of(*machine.root.groups({{"sm", 1}}).front(), "scheduler*.held_cycles").value(), 110u);
}

TEST(Tree, HasTheRowsWhoseCountersItHas) {
  Machine machine;
  const TreeReadings readings(kTotals, machine.root);
  const auto values = [&] {
    std::map<std::string, double> values;
    readings.each({100, 32, 2, 0}, [&](const Definition& row, double value) { values[row.name] = value; });
    return values;
  };
  using Values = std::map<std::string, double>;
  EXPECT_EQ(values(), (Values{{"idle_share", 10.0 / 160}, {"idle_share_k", 1 - 50.0 / 320}}));
  machine.counted[0][3] = 7;
  EXPECT_EQ(values().at("idle_share"), 16.0 / 160) << "as it is counted now";
}

TEST(File, HasTheSameValuesAsTheTree) {
  const Machine machine;
  const ordered_json stats{{"cycles", 100}, {"lanes", 32}, {"statistics", machine.root.sample()}};
  EXPECT_EQ(value_in(stats, get("idle_share")), 10.0 / 160);
  EXPECT_EQ(value_in(stats, get("idle_share_k")), 1 - 50.0 / 160) << "one beat in a cycle";
  EXPECT_EQ(value_in(stats, get("l2_hit_rate")), 0.75);
  EXPECT_FALSE(value_in(stats, get("ipc")).has_value());
  EXPECT_FALSE(value_in(ordered_json::object(), get("idle_share")).has_value());
}

TEST(File, KeepsWhatTheRunWrote) {
  const ordered_json stats{{"simd_efficiency", 0.5}, {"statistics", ordered_json::object()}};
  EXPECT_EQ(value_in(stats, get("simd_efficiency")), 0.5);
}

TEST(Columns, AreAskedByCounterAndTheRunByNumber) {
  const std::array<double, 2> row{6, 3};
  const Readings readings(kTables, [](const Counter& counter) -> std::optional<std::size_t> {
    const std::string name = counter.column;
    if (name == "thread_instructions") return 0;
    if (name == "active_beats") return 1;
    return std::nullopt;
  });
  std::map<std::string, double> values;
  readings.each([&](std::size_t place) { return row[place]; }, {12, 32, 1, 0},
                [&](const Definition& found, double value) { values[found.name] = value; });
  EXPECT_EQ(values, (std::map<std::string, double>{{"ipc", 0.5}}));
}

TEST(Rows, HaveNamesOfTheirOwnAndSaySomething) {
  std::set<std::string> names;
  for (const Definition& row : rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find(row.name), &row);
    EXPECT_THAT(row.meaning, testing::EndsWith(".")) << row.name;
    EXPECT_FALSE(std::string(row.heading).empty()) << row.name;
    EXPECT_FALSE(row.unit.name().empty()) << row.name;
    EXPECT_NE(row.above.size() * row.below.size(), 0u) << row.name;
    if (row.subject != Subject::kNone) {
      EXPECT_FALSE(std::string(row.column).empty()) << row.name;
      EXPECT_FALSE(std::string(row.legend).empty()) << row.name;
    }
  }
  EXPECT_EQ(find("cycles"), nullptr);
  EXPECT_THROW(get("cycles"), std::out_of_range);
}

TEST(Formula, NamesTheCountersAsTheListDoes) {
  EXPECT_EQ(formula_of(get("ipc")), "sm*.thread_instructions / cycles");
  EXPECT_EQ(formula_of(kRest), "1 - sm*.active_beats / (sm*.scheduler*.held_cycles x beats_in_a_cycle)");
  EXPECT_EQ(formula_of(kMisses), "(sm*.memory.l1d.accesses - sm*.memory.l1d.hits) / sm*.memory.l1d.accesses");
}

}  // namespace weft::measures::measures_test
