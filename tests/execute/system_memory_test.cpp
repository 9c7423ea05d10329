// Windows and regions of system memory, without a simulation.
#include "execute/system_memory.h"

#include <gtest/gtest.h>

#include "weft/common/error.h"

namespace weft::execute::system_memory_test {
namespace {

struct Bench {
  Bench() {
    memory.reach_through({[this](std::uint64_t address, bool) {
                            ++asked;
                            SystemMemory::Region region;
                            if (address < 0x1000 || address >= 0x9000) return region;
                            region = {0x1000, 0x8fff, bytes};
                            if (address >= 0x8000) region.first = 0x8000;
                            if (address < 0x8000) region.last = 0x7fff;
                            region.data = bytes + (region.first - 0x1000);
                            region.writable = writable;
                            return region;
                          },
                          {},
                          {}});
  }
  std::uint8_t bytes[0x8000] = {};
  bool writable = true;
  int asked = 0;
  SystemMemory memory{machine::AddressWindows(), 1 << 20};
};

TEST(SystemMemory, RegionsAreCutToTheWindowAndAskedForOnce) {
  Bench bench;
  bench.memory.add_window(0x2000, 0x8000);
  const SystemMemory::Region* region = bench.memory.direct(0x3000, 4, true);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->first, 0x2000u);
  EXPECT_EQ(region->last, 0x7fffu);
  EXPECT_EQ(region->at(0x3000), bench.bytes + 0x2000);
  EXPECT_NE(bench.memory.direct(0x7ffc, 4, true), nullptr);
  EXPECT_EQ(bench.asked, 1);
  EXPECT_EQ(bench.memory.direct(0x7ffe, 4, true), nullptr) << "across the end of the region";
  EXPECT_FALSE(bench.memory.contains(0x1ffe, 4));
  EXPECT_TRUE(bench.memory.contains(0x9ffc, 4));
  EXPECT_FALSE(bench.memory.contains(0x9ffd, 4));
}

TEST(SystemMemory, RefusalsAreRememberedByThePage) {
  Bench bench;
  bench.memory.add_window(0x2000, 0x8000);
  EXPECT_NE(bench.memory.direct(0x8000, 4, true), nullptr);
  EXPECT_EQ(bench.memory.direct(0x9000, 4, true), nullptr);
  const int asked = bench.asked;
  EXPECT_EQ(bench.memory.direct(0x9ff0, 4, true), nullptr);
  EXPECT_EQ(bench.asked, asked) << "the page was refused before";
  bench.memory.ask_again();
  EXPECT_EQ(bench.memory.direct(0x9ff0, 4, true), nullptr);
  EXPECT_EQ(bench.asked, asked + 1);
}

TEST(SystemMemory, ForgetsWhatWasTakenBack) {
  Bench bench;
  bench.memory.add_window(0x2000, 0x8000);
  bench.memory.direct(0x3000, 4, true);
  bench.memory.forget(0x7fff, 0x7fff);
  bench.memory.direct(0x3000, 4, true);
  EXPECT_EQ(bench.asked, 2);
  bench.memory.forget(0x0, 0x1fff);
  bench.memory.direct(0x3000, 4, true);
  EXPECT_EQ(bench.asked, 2) << "another part of memory";
  bench.memory.remove_window(0x2000);
  EXPECT_EQ(bench.memory.direct(0x3000, 4, true), nullptr);
}

// What may only be read is read directly.
TEST(SystemMemory, RegionsThatMayOnlyBeRead) {
  Bench bench;
  bench.writable = false;
  bench.memory.add_window(0x2000, 0x8000);
  EXPECT_EQ(bench.memory.direct(0x3000, 4, true), nullptr);
  const SystemMemory::Region* const region = bench.memory.direct(0x3000, 4, false);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->at(0x3000), bench.bytes + 0x2000);
  EXPECT_EQ(bench.memory.direct(0x3000, 4, true), nullptr) << "to be written";
  EXPECT_EQ(bench.asked, 2);
  bench.memory.forget(0x3000, 0x3000);
  EXPECT_NE(bench.memory.direct(0x3000, 4, false), nullptr);
  EXPECT_EQ(bench.asked, 3);
}

// A region for both purposes is asked for once, whichever comes first.
TEST(SystemMemory, RegionsForBothAreAskedForOnce) {
  for (const bool first : {false, true}) {
    Bench bench;
    bench.memory.add_window(0x2000, 0x8000);
    EXPECT_NE(bench.memory.direct(0x3000, 4, first), nullptr);
    EXPECT_NE(bench.memory.direct(0x3000, 4, !first), nullptr);
    EXPECT_EQ(bench.asked, 1);
  }
}

}  // namespace
}  // namespace weft::execute::system_memory_test
