// Turning the paths of a reconvergence stack so that another one runs.
#include "warp_formation/reconvergence_stack.h"

#include <gtest/gtest.h>

namespace weft::warp_formation::test {
namespace {

WarpMask mask_of(std::uint32_t threads) {
  WarpMask mask;
  mask.words[0] = threads;
  return mask;
}

using Paths = std::vector<ReconvergenceStack::Path>;

void part(ReconvergenceStack& stack, const Paths& paths, ptx::Pc rpc) {
  stack.advance(paths.data(), static_cast<unsigned>(paths.size()), rpc);
}

std::vector<ptx::Pc> pcs(const ReconvergenceStack& stack) {
  std::vector<ptx::Pc> list;
  for (const auto& entry : stack.entries()) list.push_back(entry.pc);
  return list;
}

bool bring(ReconvergenceStack& stack, std::uint32_t threads) {
  return stack.bring_up([&](const WarpMask& mask) { return mask == mask_of(threads); });
}

// Threads 0 and 1 at 10, 2 at 21, 3 at 22; the latter two meet at 25, all at 30.
ReconvergenceStack two_levels() {
  ReconvergenceStack stack(32);
  stack.start(0, mask_of(0xf));
  part(stack, {{10, 0, mask_of(0x3)}, {20, 0, mask_of(0xc)}}, 30);
  part(stack, {{21, 0, mask_of(0x4)}, {22, 0, mask_of(0x8)}}, 25);
  return stack;
}

TEST(BringUp, SiblingsAndWholeSubtreesTurnRound) {
  ReconvergenceStack stack = two_levels();
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 25, 21, 22}));
  EXPECT_TRUE(bring(stack, 0x3));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 25, 21, 22, 10}));
  EXPECT_TRUE(bring(stack, 0x4));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 25, 22, 21}));
  EXPECT_TRUE(bring(stack, 0x4));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 25, 22, 21}));
}

TEST(BringUp, EntriesThatWaitForOthersDoNotRun) {
  ReconvergenceStack stack = two_levels();
  EXPECT_FALSE(bring(stack, 0xf));
  EXPECT_FALSE(bring(stack, 0xc));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 25, 21, 22}));
}

// After turning, each path still reconverges with its own.
TEST(BringUp, PathsReconvergeAsBefore) {
  ReconvergenceStack stack = two_levels();
  EXPECT_TRUE(bring(stack, 0x3));
  EXPECT_FALSE(stack.advance_together(11, 0));
  EXPECT_TRUE(bring(stack, 0x8));
  EXPECT_TRUE(stack.advance_together(25, 0));
  EXPECT_EQ(stack.top().pc, 21u);
  EXPECT_TRUE(stack.advance_together(25, 0));
  EXPECT_EQ(stack.top().mask, mask_of(0xc));
  EXPECT_TRUE(stack.advance_together(30, 0));
  EXPECT_EQ(stack.top().pc, 11u);
  EXPECT_TRUE(stack.advance_together(30, 0));
  EXPECT_EQ(pcs(stack), std::vector<ptx::Pc>{30});
  EXPECT_EQ(stack.top().mask, mask_of(0xf));
}

// A branch whose paths meet where the path itself reconverges adds no level: its paths become siblings.
TEST(BringUp, PathsOfATailBranchAreSiblings) {
  ReconvergenceStack stack(32);
  stack.start(0, mask_of(0xf));
  part(stack, {{10, 0, mask_of(0x3)}, {20, 0, mask_of(0xc)}}, 30);
  part(stack, {{21, 0, mask_of(0x4)}, {22, 0, mask_of(0x8)}}, 30);
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 21, 22}));
  EXPECT_TRUE(bring(stack, 0x3));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 21, 22, 10}));
}

}  // namespace
}  // namespace weft::warp_formation::test
