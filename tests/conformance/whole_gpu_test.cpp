// A sample of every opcode through the whole simulated GPU; opcodes that only it executes in full.
#include <gtest/gtest.h>

#include "conformance/machine.h"
#include "conformance/table.h"

namespace weft::test::conformance {
namespace {

constexpr unsigned kSample = 128;

TEST(Conformance, WholeGpu) {
  const auto machine = make_gpu_machine();
  Bench bench(*machine);
  std::size_t opcodes = 0;
  for (const Entry& entry : read_table()) {
    const std::vector<Case> cases = cases_of(entry.opcode);
    if (cases.empty()) continue;
    for (std::size_t i = 0; i < std::min<std::size_t>(cases.size(), 8); ++i) {
      const Verdict verdict = judge(cases[i], bench.run(cases[i], kSample, 7));
      ASSERT_EQ(verdict.wrong, 0u) << verdict.text;
    }
    ++opcodes;
  }
  EXPECT_GT(opcodes, 600u);
}

TEST(Conformance, Control) {
  const auto machine = make_gpu_machine();
  Bench bench(*machine);
  std::size_t opcodes = 0;
  for (const Entry& entry : read_table()) {
    for (const Case& c : cases_of(entry.opcode)) {
      if (c.family != "Control") continue;
      const Outcome outcome = bench.run(c);
      const Verdict verdict = judge(c, outcome);
      EXPECT_EQ(verdict.wrong, 0u) << verdict.text;
      EXPECT_GE(outcome.results.size(), 10'000u);
      ++opcodes;
    }
  }
  EXPECT_GE(opcodes, 15u);
}

}  // namespace
}  // namespace weft::test::conformance
