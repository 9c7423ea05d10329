// The micro-benchmark of lanes against the laws that its machines follow: a chain of dependent operations on
// 8 lanes together (SIMT), or on 8/k lanes of k places that each run warps of 32 of their own. What a loop
// adds to the chain (three instructions in 192), and how operations of several warps meet, is within 2 %.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"
#include "workloads/workload.h"

namespace weft::datapath::lane_laws_test {
namespace {

constexpr double kTogether = 16, kApart = 12;  // cycles from an operation to the one that needs its result

struct Machine {
  const char* name;
  unsigned width;  // of a lane; 0: SIMT
  const char* instruction_register;
};

class LaneLaws : public ::testing::TestWithParam<Machine> {
 protected:
  LaneLaws() : device_(load_config("stsimt", settings()), {}) {}

  static std::vector<std::string> settings() {
    std::vector<std::string> settings = {"sm.count=1"};
    if (GetParam().width == 0) return settings;
    settings.emplace_back("datapath.kind=temporal");
    settings.push_back("datapath.lane_width=" + std::to_string(GetParam().width));
    settings.push_back(std::string("datapath.instruction_register=") + GetParam().instruction_register);
    return settings;
  }

  struct Rates {
    double threads, beats;  // thread operations of a cycle; cycles that a lane works on an operation
  };
  // Of twice as many rounds of the chain, after so many. Every result is compared with the CPU's.
  Rates rates(unsigned active, unsigned warps, unsigned rounds, const std::string& masks = "") {
    run(active, warps, 1, masks);  // as much of the program and its data is in the caches for both
    const Counts few = run(active, warps, rounds, masks), many = run(active, warps, 3 * rounds, masks);
    return {(many.threads - few.threads) / (many.cycles - few.cycles),
            (many.beats - few.beats) / (many.operations - few.operations)};
  }

 private:
  struct Counts {
    double cycles = 0, threads = 0, operations = 0, beats = 0;
  };
  // Since the device was made.
  Counts counts() {
    const Totals totals = device_.gpu().totals();
    Counts counts;
    counts.cycles = static_cast<double>(totals.cycles);
    counts.threads = static_cast<double>(totals.thread_instructions);
    counts.operations = static_cast<double>(totals.warp_instructions);
    for (const statistics::Group* sm : device_.gpu().statistics().groups({"sm"}))
      counts.beats += static_cast<double>(sm->sum({"active_beats"}).value());
    return counts;
  }
  Counts run(unsigned active, unsigned warps, unsigned rounds, const std::string& masks) {
    const auto benchmark = workloads::find("lane_benchmark");
    const auto values = workloads::values_of(*benchmark, "active=" + std::to_string(active) +
                                                             ",warps=" + std::to_string(warps) +
                                                             ",rounds=" + std::to_string(rounds) + masks);
    const Counts before = counts();
    const auto result = benchmark->run(device_, values, benchmark->code());
    EXPECT_TRUE(result.verified) << result.message;
    const Counts after = counts();
    return {after.cycles - before.cycles, after.threads - before.threads,
            after.operations - before.operations, after.beats - before.beats};
  }

  runtime::Device device_;
};

// Thread operations per cycle of `warps` warps of which the first `active` threads work.
double law(unsigned width, unsigned active, unsigned warps) {
  if (width == 0) return active * std::min(1.0 / 4, warps / kTogether);
  const unsigned lanes = 8 / width;
  const double cycles = std::ceil(static_cast<double>(active) / width);
  double issues = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned mine = (warps + lanes - 1 - lane) / lanes;
    issues += std::min(1 / cycles, mine / std::max(cycles, kApart));
  }
  return active * std::min(1.0, issues);  // one issue per cycle
}

TEST_P(LaneLaws, HoldForThreadsAndWarps) {
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    for (const unsigned active : {1u, 4u, 7u, 12u, 20u, 32u}) {
      const double want = law(GetParam().width, active, warps);
      EXPECT_NEAR(rates(active, warps, 8).threads / want, 1, 0.02)
          << warps << " warps of " << active << " threads: " << want;
    }
  }
}

// A thread works with probability p: groups of k have one that works with 1 - (1 - p)^k.
TEST_P(LaneLaws, HoldForRandomMasks) {
  const unsigned width = GetParam().width == 0 ? 8 : GetParam().width;
  for (const unsigned active : {8u, 16u}) {
    const double want = 32.0 / width * (1 - std::pow(1 - active / 32.0, width));
    EXPECT_NEAR(rates(active, 16, 1, ",masks=64,seed=3").beats / want, 1, 0.02)
        << "probability " << active / 32.0 << ": " << want;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, LaneLaws,
                         ::testing::Values(Machine{"SIMT", 0, ""}, Machine{"TSIMT", 1, "lane"},
                                           Machine{"STSIMT2", 2, "lane"}, Machine{"STSIMT4", 4, "lane"},
                                           Machine{"TSIMT_units", 1, "unit"},
                                           Machine{"STSIMT2_units", 2, "unit"},
                                           Machine{"STSIMT4_units", 4, "unit"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::datapath::lane_laws_test
