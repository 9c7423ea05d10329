// The tree of statistics: groups and instances, sums over paths, snapshots, and the same tree read back.
#include "weft/common/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/statistics_sample.h"
#include "common/statistics_table.h"
#include "weft/common/error.h"

namespace weft {
namespace {

using statistics::Group;
using statistics::Quantity;

TEST(Statistics, SamplesInTheOrderOfRegistration) {
  std::uint64_t misses = 3, cycles = 7;
  std::vector<std::uint64_t> lanes{1, 2};
  Group root;
  Group& sm = root.group("sm", 0);
  sm.group("l1d").counter("misses", units::kAccesses, "lines not found", misses);
  root.counter("cycles", units::kCycles, "core cycles", cycles);
  sm.histogram("lanes", units::kIssues, "issues by active lanes", lanes);
  root.group("sm", 0).group("l1d").ratio("rate", units::kRatio, "misses per cycle", {{&misses}, {&cycles}});
  misses = 14;
  EXPECT_EQ(root.sample().dump(), R"({"sm0":{"l1d":{"misses":14,"rate":2.0},"lanes":[1,2]},"cycles":7})");
}

TEST(Statistics, GroupsWithNothingToShowAreLeftOut) {
  std::uint64_t length = 3;
  Group root;
  root.group("empty").group("within");
  root.group("queue").gauge("length", units::kRequests, "waiting", [&] { return length; });
  EXPECT_EQ(root.sample().dump(), "{}");
  const auto found = root.find({"queue", "length"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->value(), 3.0);
  EXPECT_EQ(found[0]->quantity, Quantity::kLevel);
}

TEST(Statistics, InstancesAreNamedByKindAndNumber) {
  Group root;
  EXPECT_EQ(root.group("sm", 3).name(), "sm3");
  EXPECT_EQ(root.group("l2", 0).name(), "l2_0");  // a digit would run into the number
  EXPECT_EQ(root.group("l2", 0).kind(), "l2");
  EXPECT_EQ(root.group("l2", 0).index(), 0U);
  EXPECT_FALSE(root.group("crossbar").index().has_value());
  EXPECT_EQ(statistics::pattern_of("dram"), "dram*");
  EXPECT_EQ(root.nodes().size(), 3U);  // each was made once
}

TEST(Statistics, RatiosOfNothing) {
  std::uint64_t part = 0, whole = 0;
  Group root;
  root.ratio("zero", units::kRatio, "", {{&part}, {&whole}});
  root.ratio("none", units::kRatio, "", {{&part}, {&whole}, 1, statistics::kNothing});
  root.derived("nan", Quantity::kLevel, units::kRatio, "",
               [] { return std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_EQ(root.sample().dump(), R"({"zero":0.0,"none":null,"nan":null})");
  part = 6;
  whole = 4;
  root.ratio("scaled", units::kRatio, "", {{&part, &part}, {&whole}, 2});
  EXPECT_EQ(root.sample()["scaled"], 1.5);
}

TEST(Statistics, LargestCounter) {
  std::uint64_t value = std::numeric_limits<std::uint64_t>::max();
  Group root;
  root.counter("x", units::kBytes, "", value);
  EXPECT_EQ(root.sample().dump(), R"({"x":18446744073709551615})");
}

TEST(Statistics, ResetZeroesWhatIsCountedAndNotWhatIsDerived) {
  std::uint64_t count = 5, most = 4;
  std::vector<std::uint64_t> bins{1, 2, 3};
  Group root;
  Group& below = root.group("a").group("b");
  below.counter("count", units::kLines, "", count);
  below.maximum("most", units::kLines, "", most);
  below.histogram("bins", units::kLines, "", bins);
  root.derived("twice", Quantity::kSum, units::kLines, "", [&] { return 2.0 * static_cast<double>(count); });
  root.reset();
  EXPECT_EQ(count + most, 0U);
  EXPECT_EQ(bins, std::vector<std::uint64_t>(3, 0));
  EXPECT_EQ(root.sample()["twice"], 0.0);
}

TEST(Statistics, RefusesANameThatIsTaken) {
  std::uint64_t value = 0;
  Group root;
  root.group("l1d").counter("misses", units::kLines, "", value);
  EXPECT_THROW(root.group("l1d").counter("misses", units::kLines, "", value), std::logic_error);
  EXPECT_THROW(root.counter("l1d", units::kLines, "", value), std::logic_error);
  EXPECT_THROW(root.group("l1d").group("misses"), std::logic_error);
  root.group("sm", 1);
  EXPECT_THROW(root.group("sm1"), std::logic_error);  // another group with the same name in JSON
  EXPECT_NO_THROW(root.group("l1d").counter("hits", units::kLines, "", value));
}

TEST(Statistics, RefusesWhatIsNoName) {
  std::uint64_t value = 0;
  Group root;
  for (const char* name : {"", ".", "a.b", "a b", "a/b", "a,b"}) {
    EXPECT_THROW(root.counter(name, units::kLines, "", value), std::logic_error) << name;
    EXPECT_THROW(root.group(name), std::logic_error) << name;
  }
  EXPECT_THROW(root.derived("f", Quantity::kLevel, units::kLines, "", {}), std::logic_error);
  EXPECT_THROW(root.gauge("g", units::kLines, "", {}), std::logic_error);
  EXPECT_THROW(root.ratio("r", units::kLines, "", {}), std::logic_error);
}

TEST(Statistics, KeepsTextsThatDoNotLiveOn) {
  Group root;
  std::uint64_t value = 1;
  {
    std::string name = "a_name_too_long_for_a_small_string", meaning = "its meaning, which is longer still";
    const char* const pointer = name.c_str();
    root.counter(name, units::kLines, meaning, value);
    root.group("pointer").counter(pointer, units::kLines, meaning + ", and more", value);
    name.assign(name.size(), 'x');
    meaning.assign(meaning.size(), 'x');
  }
  const Group moved = std::move(root);
  const statistics::Entry& entry = *moved.nodes()[0].entry;
  EXPECT_EQ(entry.name, "a_name_too_long_for_a_small_string");
  EXPECT_EQ(entry.description, "its meaning, which is longer still");
  const statistics::Entry& below = *moved.nodes()[1].group->nodes()[0].entry;
  EXPECT_EQ(below.name, "a_name_too_long_for_a_small_string");
  EXPECT_EQ(below.description, "its meaning, which is longer still, and more");
}

// Two SMs with two schedulers each, and a crossbar with groups of the same name.
struct Machine {
  Machine() {
    for (unsigned sm = 0; sm < 2; ++sm) {
      for (unsigned s = 0; s < 2; ++s)
        root.group("sm", sm).group("scheduler", s).counter("issued", units::kCycles, "", issued[sm][s]);
      root.group("sm", sm).maximum("most", units::kWarps, "", most[sm]);
      root.group("crossbar").group("sm", sm).counter("bytes", units::kBytes, "", bytes[sm]);
    }
  }
  std::uint64_t issued[2][2] = {{1, 10}, {100, 1000}}, most[2] = {3, 4}, bytes[2] = {5, 6};
  Group root;
};

TEST(StatisticsPaths, LeaveOutInstances) {
  Machine m;
  EXPECT_EQ(m.root.sum({"sm", "scheduler", "issued"}).value(), 1111U);
  EXPECT_EQ(m.root.sum({{"sm", 1}, "scheduler", "issued"}).value(), 1100U);
  EXPECT_EQ(m.root.sum({"sm", {"scheduler", 0}, "issued"}).value(), 101U);
  EXPECT_EQ(m.root.sum({"crossbar", {"sm", 0}, "bytes"}).value(), 5U);
  EXPECT_EQ(m.root.groups({"sm", "scheduler"}).size(), 4U);
  EXPECT_TRUE(m.root.find({"sm", "issued"}).empty());
  EXPECT_TRUE(m.root.find({{"sm", 2}, "scheduler", "issued"}).empty());
}

TEST(StatisticsPaths, SumsFollowTheCounters) {
  Machine m;
  statistics::Sum sum = m.root.sum({{"sm", 0}, "scheduler", "issued"});
  m.issued[0][1] = 20;
  EXPECT_EQ(sum.value(), 21U);
  sum += m.root.sum({{"sm", 1}, {"scheduler", 0}, "issued"});
  EXPECT_EQ(sum.value(), 121U);
}

TEST(StatisticsPaths, OnlyWhatAddsUpIsSummed) {
  Machine m;
  EXPECT_THROW(m.root.sum({"sm", "most"}), std::logic_error);
  EXPECT_THROW(m.root.sum({"sm", "scheduler", "nothing"}), std::logic_error);
}

TEST(StatisticsPaths, EachVisitsInOrder) {
  Machine m;
  std::string text;
  m.root.each([&](const std::vector<const Group*>& way, const statistics::Entry& entry) {
    for (const Group* group : way) text += group->name() + "/";
    text += std::string(entry.name) + " ";
  });
  EXPECT_EQ(text,
            "sm0/scheduler0/issued sm0/scheduler1/issued sm0/most crossbar/sm0/bytes crossbar/sm1/bytes "
            "sm1/scheduler0/issued sm1/scheduler1/issued sm1/most ");
}

TEST(StatisticsTable, SnapshotsSubtract) {
  Machine m;
  const statistics::Columns columns{{"issued", m.root.sum({"sm", "scheduler", "issued"})},
                                    {"bytes", m.root.sum({"crossbar", "sm", "bytes"})}};
  statistics::Snapshot before(columns.size()), now(columns.size());
  before.take(columns);
  m.issued[1][1] += 7;
  m.bytes[0] += 2;
  now.take(columns);
  now -= before;
  EXPECT_EQ(now.values(), (std::vector<std::uint64_t>{7, 2}));
  now += before;
  EXPECT_EQ(now[0], 1118U);
  now.clear();
  EXPECT_EQ(now[1], 0U);
}

TEST(StatisticsSample, AnswersThePathsOfTheTree) {
  Machine m;
  const nlohmann::ordered_json json = m.root.sample();
  const statistics::Sample sample(json);
  EXPECT_EQ(sample.sum({"sm", "scheduler", "issued"}), 1111);
  EXPECT_EQ(sample.sum({{"sm", 1}, "scheduler", "issued"}), 1100);
  EXPECT_EQ(sample.sum({"crossbar", {"sm", 1}, "bytes"}), 6);
  EXPECT_EQ(sample.find({"sm"}).size(), 2U);
  EXPECT_FALSE(sample.has({"sm", "oracle"}));
  EXPECT_THROW(sample.sum({"sm", "oracle", "issues"}), InputError);
  EXPECT_THROW(sample.sum({"sm", "scheduler"}), nlohmann::json::exception);
}

}  // namespace
}  // namespace weft
