// What a kernel's instructions say of lines and branches, on kernels small enough to be worked out by hand.
#include "study/page/instruction_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace weft::study::instruction_lines_test {
namespace {

// `threads` of `places`, in one issue per 32 places.
ProfiledInstruction instruction(std::uint32_t pc, std::uint64_t threads, std::uint64_t places) {
  ProfiledInstruction in;
  in.pc = pc;
  in.kind = "arithmetic";
  in.counts.issues = places / 32;
  in.counts.threads = in.counts.executed = threads;
  in.counts.places = places;
  return in;
}

ProfiledInstruction branch(std::uint32_t pc, std::uint64_t threads, std::uint64_t places,
                           std::uint32_t target, std::optional<std::uint32_t> meets) {
  ProfiledInstruction in = instruction(pc, threads, places);
  in.kind = "branch";
  in.target = target;
  in.reconvergence = meets;
  in.counts.parted = 1;
  return in;
}

const BranchCost& of_pc(const std::vector<BranchCost>& costs, std::uint32_t pc) {
  for (const BranchCost& cost : costs) {
    if (cost.branch->pc == pc) return cost;
  }
  throw std::out_of_range("no such branch");
}

TEST(BranchCosts, OfNestedIfs) {
  // if (a) { 1; if (b) { 3 } 4 } 5: half of a warp goes into the outer one, a quarter into the inner one.
  ProfiledKernel kernel;
  kernel.instructions = {branch(0, 32, 32, 5, 5), instruction(1, 16, 32), branch(2, 16, 32, 4, 4),
                         instruction(3, 8, 32),   instruction(4, 16, 32), instruction(5, 32, 32)};
  const auto costs = branch_costs(kernel);
  ASSERT_EQ(costs.size(), 2u);
  const BranchCost& outer = of_pc(costs, 0);
  EXPECT_EQ(outer.places, 128u);
  EXPECT_EQ(outer.empty, 16u + 16 + 24 + 16);
  EXPECT_DOUBLE_EQ(outer.lost, 4 * 16);
  const BranchCost& inner = of_pc(costs, 2);
  EXPECT_EQ(inner.places, 32u);
  EXPECT_DOUBLE_EQ(inner.lost, 8);
  EXPECT_DOUBLE_EQ(outer.lost + inner.lost, static_cast<double>(outer.empty));
  EXPECT_EQ(costs[0].branch->pc, 0u) << "the one that loses most comes first";
}

TEST(BranchCosts, OfALoop) {
  // 0; do { 1 } while (2 -> 1); 3: of 32 threads 16 go round a second time.
  ProfiledKernel kernel;
  kernel.instructions = {instruction(0, 32, 32), instruction(1, 48, 64), branch(2, 48, 64, 1, 3),
                         instruction(3, 32, 32)};
  const auto costs = branch_costs(kernel);
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs[0].places, 128u);
  EXPECT_EQ(costs[0].empty, 32u);
  EXPECT_DOUBLE_EQ(costs[0].lost, 32);
}

TEST(BranchCosts, OfALoopThatIsEnteredInTheMiddle) {
  // 0 jumps to 3; 1, 2 -> 3 (back), 3, 4 -> 1 (meets again at 1): as compilers rotate loops.
  ProfiledKernel kernel;
  kernel.instructions = {instruction(0, 32, 32), instruction(1, 48, 64), branch(2, 48, 64, 4, 3),
                         instruction(3, 32, 32), instruction(4, 48, 64), instruction(5, 48, 64)};
  kernel.instructions[0].kind = "jump";
  kernel.instructions[0].target = 4;
  kernel.instructions[3].kind = "exit";
  kernel.instructions[5].kind = "jump";
  kernel.instructions[5].target = 1;
  const auto costs = branch_costs(kernel);
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_EQ(costs[0].places, 4 * 64u);
  EXPECT_DOUBLE_EQ(costs[0].lost, 4 * 16);
}

TEST(BranchCosts, CountThreadsThatWereBroughtTogether) {
  ProfiledKernel kernel;
  kernel.instructions = {branch(0, 16, 64, 2, 2), instruction(1, 16, 32), instruction(2, 16, 32)};
  EXPECT_DOUBLE_EQ(branch_costs(kernel)[0].lost, 32 * (0.25 - 0.5));
}

TEST(Lines, AddUpInstructionsOfALine) {
  ProfiledKernel kernel;
  kernel.instructions = {instruction(0, 32, 32), instruction(1, 8, 32), instruction(2, 4, 32),
                         instruction(3, 2, 32)};
  for (const std::uint32_t pc : {0u, 2u}) {
    kernel.instructions[pc].source_file = "a.cu";
    kernel.instructions[pc].source_line = 7;
  }
  kernel.instructions[1].source_file = "a.cu";
  kernel.instructions[1].source_line = 3;
  kernel.rest.cycles[10] = 5;
  const auto lines = lines_of(kernel, LinesOf::kSource);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].line, 3u);
  EXPECT_EQ(lines[0].counts.threads, 8u);
  EXPECT_EQ(lines[1].line, 7u);
  EXPECT_EQ(lines[1].counts.threads, 36u);
  EXPECT_EQ(lines[2].line, 0u) << "those without a line";
  EXPECT_EQ(lines[2].counts.threads, 2u);
  EXPECT_EQ(kernel.sum().threads, 46u);
  EXPECT_EQ(kernel.sum().all_cycles(), 5u);
}

TEST(Lines, KnowTheirLargestStall) {
  LineCounts counts;
  EXPECT_EQ(main_stall(counts), "");
  counts.cycles = {100, 1, 0, 3};
  double share = 0;
  EXPECT_EQ(main_stall(counts, &share), "memory");
  EXPECT_DOUBLE_EQ(share, 0.75);
}

}  // namespace
}  // namespace weft::study::instruction_lines_test
