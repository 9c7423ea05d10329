// What the tests of HARP and CROWN share: their tables as the papers' examples have them, on a machine of
// four lanes.
#ifndef WEFT_TESTS_WARP_FORMATION_REINCARNATION_BENCH_H
#define WEFT_TESTS_WARP_FORMATION_REINCARNATION_BENCH_H

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/reincarnating_options.h"
#include "warp_formation/steps.h"

namespace weft::warp_formation::test {

inline Config config_of(const std::string& scheme, LookupDepart depart = LookupDepart::kSlot) {
  Config config;
  config.scheme = scheme;
  for (ReincarnationTables* tables :
       std::initializer_list<ReincarnationTables*>{&config.own<HarpOptions>(), &config.own<CrownOptions>()}) {
    tables->lookup_depart = depart;
    // The figures have one table of warps: a warp leaves the lookup when the scheduler has none.
    tables->lookup_threshold = 1;
    tables->waiting_lookup = 0;
  }
  return config;
}

// A branches to B and C, D is the reconvergence point; the lower PC is listed first.
inline const std::string kBranch = R"(
  @%p1 bra second;         // 0: A
  bra D;                   // 1: one path
second:
  add.u32 %r1, %r1, 1;     // 2: the other
D:
  ret;                     // 3: D)";
inline constexpr ptx::Pc kA = 0, kLow = 1, kHigh = 2, kD = 3;

inline const std::string kLookup = "is held in the Ready-Lookup, slot ";
inline std::vector<std::string> lookup(const Steps& steps) {
  std::vector<std::string> held;
  for (const std::string& line : steps.lines(kLookup)) {
    const auto pc = line.find("at pc "), threads = line.find("threads ");
    held.push_back(line.substr(0, 1) + ": pc " + line.substr(pc + 6, 1) + " " + line.substr(threads + 8));
  }
  std::sort(held.begin(), held.end());
  return held;
}
// Which lanes have reached the barriers in use.
inline std::vector<std::string> barriers(const Steps& steps) {
  std::vector<std::string> masks;
  for (const std::string& line : steps.lines("reached ")) masks.push_back(line.substr(0, line.find(',')));
  return masks;
}

// Cycles until something is issued; 0: in the cycle that the commit is in. The SM may sleep meanwhile.
inline unsigned cycles_to_issue(Steps& steps) {
  for (unsigned cycles = 0; cycles < 10; ++cycles) {
    const Cycle next = steps.unit().next_event(steps.now());
    steps.cycle();
    if (steps.issue().empty()) continue;
    if (cycles != 0) {
      EXPECT_EQ(next, steps.now()) << "the SM would have slept";
    }
    return cycles;
  }
  return 10;
}

}  // namespace weft::warp_formation::test

#endif
