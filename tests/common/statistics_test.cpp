#include "common/statistics.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using statistics::Registry;

TEST(Statistics, SamplesTheBoundValuesInOrderOfRegistration) {
  std::uint64_t misses = 0;
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> lanes{0, 0};
  Registry registry;
  registry.counter("sm0.l1d.misses", "accesses", "lines not found", misses);
  registry.counter("cycles", "cycles", "core cycles", cycles);
  registry.histogram("sm0.lanes", "issues", "issues by active lanes", lanes);
  registry.derived("sm0.l1d.rate", "ratio", "misses per cycle",
                   [&] { return static_cast<double>(misses) / static_cast<double>(cycles); });
  misses = 3;
  cycles = 4;
  lanes = {5, 6, 7};
  EXPECT_EQ(registry.sample().dump(),
            R"({"sm0":{"l1d":{"misses":3,"rate":0.75},"lanes":[5,6,7]},"cycles":4})");
}

TEST(Statistics, ARateOfNothingIsNull) {
  Registry registry;
  registry.derived("rate", "ratio", "0/0", [] { return std::numeric_limits<double>::quiet_NaN(); });
  EXPECT_EQ(registry.sample().dump(), R"({"rate":null})");
}

TEST(Statistics, KeepsCountersExact) {
  std::uint64_t value = UINT64_MAX;
  Registry registry;
  registry.counter("x", "bytes", "", value);
  EXPECT_EQ(registry.sample().dump(), R"({"x":18446744073709551615})");
}

TEST(Statistics, ResetZeroesCountersAndKeepsTheSizeOfHistograms) {
  std::uint64_t count = 7;
  std::vector<std::uint64_t> bins{1, 2, 3};
  Registry registry;
  registry.counter("count", "", "", count);
  registry.histogram("bins", "", "", bins);
  registry.derived("twice", "", "", [&] { return 2.0 * static_cast<double>(count); });
  registry.reset();
  EXPECT_EQ(count, 0U);
  EXPECT_EQ(bins, (std::vector<std::uint64_t>{0, 0, 0}));
  EXPECT_EQ(registry.sample()["twice"], 0.0);
}

TEST(Statistics, RefusesNamesThatHideOneAnother) {
  std::uint64_t value = 0;
  Registry registry;
  registry.counter("sm0.l1d.misses", "", "", value);
  EXPECT_THROW(registry.counter("sm0.l1d.misses", "", "", value), std::logic_error);
  EXPECT_THROW(registry.counter("sm0.l1d", "", "", value), std::logic_error);
  EXPECT_THROW(registry.counter("sm0.l1d.misses.late", "", "", value), std::logic_error);
  EXPECT_NO_THROW(registry.counter("sm0.l1d.hits", "", "", value));
  EXPECT_EQ(registry.entries().size(), 2U);
}

TEST(Statistics, RefusesNamesWithEmptyLevels) {
  std::uint64_t value = 0;
  Registry registry;
  for (const char* name : {"", ".", "a.", ".a", "a..b"}) {
    EXPECT_THROW(registry.counter(name, "", "", value), std::logic_error) << name;
  }
}

TEST(Statistics, EntriesDescribeThemselves) {
  std::uint64_t value = 0;
  Registry registry;
  registry.counter("a.b", "bytes", "what it is", value);
  ASSERT_EQ(registry.entries().size(), 1U);
  EXPECT_EQ(registry.entries()[0].name, "a.b");
  EXPECT_EQ(registry.entries()[0].unit, "bytes");
  EXPECT_EQ(registry.entries()[0].description, "what it is");
}

}  // namespace
}  // namespace weft
