// The reconvergence stack: calls, where a reconvergence point belongs to a call depth; turning paths so that
// another one runs. Warps of 8 threads.
#include "weft/warp_formation/reconvergence_stack.h"

#include <gtest/gtest.h>

namespace weft::warp_formation::reconvergence_stack_test {
namespace {

WarpMask mask(std::uint32_t bits) {
  WarpMask result;
  result.words[0] = bits;
  return result;
}

struct Expected {
  ptx::Pc pc, rpc;
  unsigned depth, rpc_depth;
  std::uint32_t bits;
};

void expect_stack(const ReconvergenceStack& stack, std::initializer_list<Expected> bottom_up) {
  ASSERT_EQ(stack.depth(), bottom_up.size());
  std::size_t i = 0;
  for (const Expected& e : bottom_up) {
    const StackEntry& entry = stack.entries()[i++];
    EXPECT_EQ(entry.pc, e.pc) << "entry " << i;
    EXPECT_EQ(entry.rpc, e.rpc) << "entry " << i;
    EXPECT_EQ(entry.depth, e.depth) << "entry " << i;
    EXPECT_EQ(entry.rpc_depth, e.rpc_depth) << "entry " << i;
    EXPECT_TRUE(entry.mask == mask(e.bits)) << "entry " << i;
  }
}

constexpr ptx::Pc kNone = ptx::kNoPc;

// 0xf0 waits at 20 for 0x0f, of which 0x0c waits at 15 for 0x01 and 0x02, which are apart.
TEST(ReconvergenceStack, HoldsBackWhoWaitsAtAPointForOneThatStands) {
  ReconvergenceStack stack(8);
  stack.start(1, mask(0xff));
  const ReconvergenceStack::Path outer[] = {{20, 0, mask(0xf0)}, {2, 0, mask(0x0f)}};
  stack.advance(outer, 2, 20, 0);
  const ReconvergenceStack::Path inner[] = {{15, 0, mask(0x0c)}, {4, 0, mask(0x02)}, {3, 0, mask(0x01)}};
  stack.advance(inner, 3, 15, 0);
  EXPECT_TRUE(stack.held_back(mask(0x01)) == mask(0xfc));
  EXPECT_TRUE(stack.held_back(mask(0x02)) == mask(0xfc)) << "on a path below the top";
  EXPECT_TRUE(stack.held_back(mask(0x04)) == mask(0xf0)) << "for itself nobody waits";
  EXPECT_TRUE(stack.held_back(mask(0xf0)) == mask(0));
  EXPECT_TRUE(stack.held_back(mask(0)) == mask(0));
  EXPECT_TRUE(stack.advance_together(15, 0));
  EXPECT_TRUE(stack.held_back(mask(0x01)) == mask(0xf0)) << "it has come to 15 itself";
  EXPECT_TRUE(stack.held_back(mask(0x02)) == mask(0xfd));
}

// f: 10 @p bra 13; 11 call f; 12 ...; 13 return. Half of the threads recurse, and half of those once more: 13
// at depth 2 is no reconvergence point of the branch at depth 1.
TEST(ReconvergenceStack, ARecursiveFunctionReconvergesAtItsOwnDepth) {
  ReconvergenceStack stack(8);
  stack.start(5, mask(0xff));
  EXPECT_FALSE(stack.advance_together(10, 1));  // call f
  const ReconvergenceStack::Path first[] = {{13, 1, mask(0xf0)}, {11, 1, mask(0x0f)}};
  stack.advance(first, 2, 13, 1);
  expect_stack(stack, {{13, kNone, 1, 0, 0xff}, {11, 13, 1, 1, 0x0f}});
  EXPECT_FALSE(stack.advance_together(10, 2));
  const ReconvergenceStack::Path second[] = {{13, 2, mask(0x0c)}, {11, 2, mask(0x03)}};
  stack.advance(second, 2, 13, 2);
  expect_stack(stack, {{13, kNone, 1, 0, 0xff}, {13, 13, 2, 1, 0x0f}, {11, 13, 2, 2, 0x03}});
  EXPECT_FALSE(stack.advance_together(10, 3));
  EXPECT_FALSE(stack.advance_together(13, 3)) << "the return at depth 3 is not that of depth 2";
  EXPECT_FALSE(stack.advance_together(12, 2));
  EXPECT_TRUE(stack.advance_together(13, 2));
  expect_stack(stack, {{13, kNone, 1, 0, 0xff}, {13, 13, 2, 1, 0x0f}});
  EXPECT_FALSE(stack.advance_together(12, 1));
  EXPECT_TRUE(stack.advance_together(13, 1));
  expect_stack(stack, {{13, kNone, 1, 0, 0xff}});
}

// 5 call through a register to functions at 20 and 30; they return to 6 at the caller's depth.
TEST(ReconvergenceStack, ADivergentCallReconvergesBehindTheCall) {
  ReconvergenceStack stack(8);
  stack.start(5, mask(0xff));
  const ReconvergenceStack::Path paths[] = {{30, 1, mask(0xcc)}, {20, 1, mask(0x33)}};
  stack.advance(paths, 2, 6, 0);
  expect_stack(stack, {{6, kNone, 0, 0, 0xff}, {30, 6, 1, 0, 0xcc}, {20, 6, 1, 0, 0x33}});
  EXPECT_TRUE(stack.advance_together(6, 0));
  EXPECT_FALSE(stack.advance_together(31, 1));
  EXPECT_TRUE(stack.advance_together(6, 0));
  expect_stack(stack, {{6, kNone, 0, 0, 0xff}});
}

// The call is the last instruction before the point where its branch reconverges: no entry of its own.
TEST(ReconvergenceStack, ADivergentCallAtTheEndOfAnArm) {
  ReconvergenceStack stack(8);
  stack.start(3, mask(0xff));
  const ReconvergenceStack::Path branch[] = {{6, 0, mask(0x0f)}, {5, 0, mask(0xf0)}};
  stack.advance(branch, 2, 6, 0);
  const ReconvergenceStack::Path call[] = {{30, 1, mask(0xc0)}, {20, 1, mask(0x30)}};
  stack.advance(call, 2, 6, 0);
  expect_stack(stack, {{6, kNone, 0, 0, 0xff}, {30, 6, 1, 0, 0xc0}, {20, 6, 1, 0, 0x30}});
}

// Threads that return to different callers keep the reconvergence point of their entry.
TEST(ReconvergenceStack, ADivergentReturnKeepsTheEntrysPoint) {
  ReconvergenceStack stack(8);
  stack.start(3, mask(0xff));
  const ReconvergenceStack::Path branch[] = {{9, 0, mask(0x0f)}, {4, 0, mask(0xf0)}};
  stack.advance(branch, 2, 12, 0);
  EXPECT_FALSE(stack.advance_together(20, 1));
  const ReconvergenceStack::Path back[] = {{7, 0, mask(0xc0)}, {5, 0, mask(0x30)}};
  stack.advance(back, 2, stack.top().rpc, stack.top().rpc_depth);
  expect_stack(stack,
               {{12, kNone, 0, 0, 0xff}, {9, 12, 0, 0, 0x0f}, {7, 12, 0, 0, 0xc0}, {5, 12, 0, 0, 0x30}});
}

using Paths = std::vector<ReconvergenceStack::Path>;

void part(ReconvergenceStack& stack, const Paths& paths, ptx::Pc rpc) {
  stack.advance(paths.data(), static_cast<unsigned>(paths.size()), rpc, 0);
}

std::vector<ptx::Pc> pcs(const ReconvergenceStack& stack) {
  std::vector<ptx::Pc> list;
  for (const auto& entry : stack.entries()) list.push_back(entry.pc);
  return list;
}

bool bring(ReconvergenceStack& stack, std::uint32_t threads) {
  return stack.bring_up([&](const WarpMask& path) { return path == mask(threads); });
}

// Threads 0 and 1 at 10, 2 at 21, 3 at 22; the latter two meet at 25, all at 30.
ReconvergenceStack two_levels() {
  ReconvergenceStack stack(32);
  stack.start(0, mask(0xf));
  part(stack, {{10, 0, mask(0x3)}, {20, 0, mask(0xc)}}, 30);
  part(stack, {{21, 0, mask(0x4)}, {22, 0, mask(0x8)}}, 25);
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
  EXPECT_EQ(stack.top().mask, mask(0xc));
  EXPECT_TRUE(stack.advance_together(30, 0));
  EXPECT_EQ(stack.top().pc, 11u);
  EXPECT_TRUE(stack.advance_together(30, 0));
  EXPECT_EQ(pcs(stack), std::vector<ptx::Pc>{30});
  EXPECT_EQ(stack.top().mask, mask(0xf));
}

// Threads leave the top entry for paths of their own, and join there who may.
TEST(SetAside, PathsStandBesideTheTop) {
  ReconvergenceStack stack(32);
  stack.start(0, mask(0xff));
  part(stack, {{10, 0, mask(0x0f)}, {20, 0, mask(0xf0)}}, 30);
  const auto anyone = [](const WarpMask&) { return true; };
  stack.set_aside(mask(0x10), 22, 0, anyone);
  stack.set_aside(mask(0x20), 22, 0, anyone);
  stack.set_aside(mask(0x40), 22, 0, [](const WarpMask&) { return false; });
  expect_stack(stack, {{30, kNone, 0, 0, 0xff},
                       {10, 30, 0, 0, 0x0f},
                       {22, 30, 0, 0, 0x30},
                       {22, 30, 0, 0, 0x40},
                       {20, 30, 0, 0, 0x80}});
  EXPECT_TRUE(bring(stack, 0x30));
  EXPECT_TRUE(stack.advance_together(30, 0));
}

// 2 has come to 25, where it waits for 3; 4 to 7 are at 10. Then 2 goes on to 30 as a path of its own, and so
// does 3; at 30 nobody can go on without others that are there too.
TEST(GoOnWithout, OnlyThoseThatHaveArrivedGo) {
  ReconvergenceStack stack(32);
  stack.start(0, mask(0xfc));
  part(stack, {{10, 0, mask(0xf0)}, {20, 0, mask(0x0c)}}, 30);
  EXPECT_FALSE(stack.go_on_without()) << "nobody has arrived";
  part(stack, {{25, 0, mask(0x4)}, {22, 0, mask(0x8)}}, 25);
  EXPECT_TRUE(stack.go_on_without());
  expect_stack(stack,
               {{30, kNone, 0, 0, 0xfc}, {10, 30, 0, 0, 0xf0}, {25, 30, 0, 0, 0x04}, {22, 30, 0, 0, 0x08}});
  EXPECT_TRUE(bring(stack, 0x4));
  EXPECT_TRUE(stack.advance_together(30, 0));
  EXPECT_TRUE(stack.go_on_without());
  expect_stack(stack, {{30, kNone, 0, 0, 0x04}, {10, kNone, 0, 0, 0xf0}, {22, kNone, 0, 0, 0x08}});
  EXPECT_TRUE(bring(stack, 0x4));
  EXPECT_FALSE(stack.go_on_without());
}

// A branch whose paths meet where the path itself reconverges adds no level: its paths become siblings.
TEST(BringUp, PathsOfATailBranchAreSiblings) {
  ReconvergenceStack stack(32);
  stack.start(0, mask(0xf));
  part(stack, {{10, 0, mask(0x3)}, {20, 0, mask(0xc)}}, 30);
  part(stack, {{21, 0, mask(0x4)}, {22, 0, mask(0x8)}}, 30);
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 10, 21, 22}));
  EXPECT_TRUE(bring(stack, 0x3));
  EXPECT_EQ(pcs(stack), (std::vector<ptx::Pc>{30, 21, 22, 10}));
}

// Threads 0 to 3 at PC 2 and 4 to 7 at PC 1; both probably come to PC 4 before PC 5.
ReconvergenceStack parted_before_a_likely_point() {
  ReconvergenceStack stack(8);
  stack.start(0, mask(0xff));
  const ReconvergenceStack::Path paths[] = {{2, 0, mask(0x0f)}, {1, 0, mask(0xf0)}};
  stack.advance(paths, 2, 5, 0, 4);
  return stack;
}

TEST(LikelyEntry, IsJoinedByThosePathsThatComeThere) {
  ReconvergenceStack stack = parted_before_a_likely_point();
  constexpr ptx::Pc kNone = ptx::kNoPc;
  expect_stack(stack, {{5, kNone, 0, 0, 0xff}, {4, 5, 0, 0, 0}, {2, 5, 0, 0, 0x0f}, {1, 5, 0, 0, 0xf0}});
  EXPECT_TRUE(stack.advance_together(4, 0));
  EXPECT_FALSE(stack.advance_together(4, 1)) << "at another call depth";
  stack.advance_together(3, 0);
  EXPECT_TRUE(stack.advance_together(4, 0));
  expect_stack(stack, {{5, kNone, 0, 0, 0xff}, {4, 5, 0, 0, 0xff}});
  EXPECT_TRUE(stack.advance_together(5, 0));
  expect_stack(stack, {{5, kNone, 0, 0, 0xff}});
  EXPECT_EQ(stack.likely_made(), 1u);
  EXPECT_EQ(stack.likely_joins(), 2u);
}

TEST(LikelyEntry, GoesWithoutThreads) {
  ReconvergenceStack stack = parted_before_a_likely_point();
  EXPECT_TRUE(stack.advance_together(5, 0));
  EXPECT_TRUE(stack.advance_together(5, 0));
  expect_stack(stack, {{5, ptx::kNoPc, 0, 0, 0xff}});
  EXPECT_EQ(stack.likely_joins(), 0u);
}

// It runs because the others wait; those come later.
TEST(LikelyEntry, ThatHasGoneOnIsPassed) {
  ReconvergenceStack stack = parted_before_a_likely_point();
  EXPECT_FALSE(stack.bring_up([](const WarpMask& m) { return m.empty(); })) << "nobody is there yet";
  EXPECT_TRUE(stack.advance_together(4, 0));
  const auto holds = [](std::uint32_t threads) {
    return [threads](const WarpMask& m) { return m.words[0] == threads; };
  };
  EXPECT_TRUE(stack.bring_up(holds(0xf0)));
  EXPECT_EQ(stack.top().pc, 4u);
  EXPECT_FALSE(stack.advance_together(4, 0));
  EXPECT_TRUE(stack.bring_up(holds(0x0f)));
  EXPECT_FALSE(stack.advance_together(4, 0));
  EXPECT_EQ(stack.top().mask, mask(0x0f));
}

TEST(LikelyEntry, StaysForTheOthersOfAnExitAndGoesWithTheLast) {
  ReconvergenceStack stack = parted_before_a_likely_point();
  stack.exit(mask(0x0f));
  expect_stack(stack, {{5, ptx::kNoPc, 0, 0, 0xf0}, {4, 5, 0, 0, 0}, {1, 5, 0, 0, 0xf0}});
  EXPECT_TRUE(stack.advance_together(4, 0));
  EXPECT_EQ(stack.top().mask, mask(0xf0));
  stack.exit(mask(0xf0));
  EXPECT_TRUE(stack.empty());
}

}  // namespace
}  // namespace weft::warp_formation::reconvergence_stack_test
