// Weft's numbers for the traces that modules/dram/README.md compares with Ramulator 2.
#include "request_trace.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace weft::dram::request_trace_test {
namespace {

struct Case {
  const char* standard;
  const char* pattern;
  std::uint64_t cycles;
  double hit_share, utilisation;
  bool refreshes = false, drain = false;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.standard << ", " << one.pattern;
}

class RequestTrace : public ::testing::TestWithParam<Case> {};

TEST_P(RequestTrace, HasTheNumbersOfTheComparison) {
  const Case& expected = GetParam();
  Standard standard = standard_of(std::string(WEFT_CONFIG_FOLDER) + "/dram/" + expected.standard + ".json",
                                  expected.refreshes);
  if (expected.drain) standard.scheduler.write_drain = write_drain_of_the_comparison();
  const Replay result = replay(standard, trace_of(standard, expected.pattern, 20'000));
  EXPECT_EQ(result.cycles, expected.cycles);
  EXPECT_NEAR(result.hit_share, expected.hit_share, 5e-5);
  EXPECT_EQ(result.row_hits + result.row_misses + result.row_conflicts, 20'000u);
  EXPECT_NEAR(result.utilisation, expected.utilisation, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(
    All, RequestTrace,
    ::testing::Values(
        Case{"gddr6", "sequential", 40055, 0.9686, 0.9986}, Case{"gddr6", "random", 160157, 0.00015, 0.2498},
        Case{"gddr6", "strided", 57932, 0.77145, 0.6905}, Case{"gddr6", "writes", 64584, 0.77005, 0.6193},
        Case{"gddr6", "mixed", 64183, 0.7654, 0.6232}, Case{"hbm2", "sequential", 20046, 0.9684, 0.9977},
        Case{"hbm2", "random", 60135, 0.00025, 0.3326}, Case{"hbm2", "strided", 31053, 0.6802, 0.6441},
        Case{"hbm2", "writes", 37667, 0.68245, 0.5310}, Case{"hbm2", "mixed", 37070, 0.6689, 0.5395},
        Case{"gddr6", "sequential", 43658, 0.9660, 0.9162, true},
        Case{"gddr6", "random", 176329, 0.00015, 0.2268, true},
        Case{"hbm2", "sequential", 22015, 0.9664, 0.9085, true},
        Case{"hbm2", "random", 66300, 0.00025, 0.3017, true},
        Case{"gddr6", "mixed", 79874, 0.70715, 0.5008, false, true},
        Case{"hbm2", "mixed", 43811, 0.5898, 0.4565, false, true}),
    [](const ::testing::TestParamInfo<Case>& info) {
      return std::string(info.param.standard) + "_" + info.param.pattern +
             (info.param.refreshes ? "_refreshed" : "") + (info.param.drain ? "_drained" : "");
    });

}  // namespace
}  // namespace weft::dram::request_trace_test
