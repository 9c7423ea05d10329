// Which path of a warp runs next, and until where.
#include "functional/warp_paths.h"

#include <gtest/gtest.h>

namespace weft::functional {
namespace {

using State = Path::State;

TEST(WarpPaths, RunsTheLowestPcUntilTheNextOne) {
  WarpPaths paths;
  paths.add({40, 0x0f, 0, State::kRunnable, 0});
  paths.add({12, 0xf0, 0, State::kRunnable, 0});
  Path path;
  ptx::Pc limit = 0;
  ASSERT_TRUE(paths.take(path, limit, false));
  EXPECT_EQ(path.pc, 12u);
  EXPECT_EQ(path.mask, 0xf0u);
  EXPECT_EQ(limit, 40u) << "there the other path waits";
}

TEST(WarpPaths, JoinsPathsThatMeet) {
  WarpPaths paths;
  for (const std::uint32_t mask : {1u, 2u, 8u}) paths.add({7, mask, 0, State::kRunnable, 0});
  paths.add({7, 16, 1, State::kRunnable, 0});
  Path path;
  ptx::Pc limit = 0;
  ASSERT_TRUE(paths.take(path, limit, false));
  EXPECT_EQ(path.mask, 16u) << "the deeper call first, which meets nobody of a shallower one";
  EXPECT_EQ(limit, ptx::kNoPc);
  ASSERT_TRUE(paths.take(path, limit, false));
  EXPECT_EQ(path.mask, 11u);
  EXPECT_TRUE(paths.empty());
}

TEST(WarpPaths, LeavesPathsAtBarriersUntilTheirRelease) {
  WarpPaths paths;
  paths.add({3, 1, 0, State::kBarrier, 5});
  paths.add({9, 2, 0, State::kRunnable, 0});
  Path path;
  ptx::Pc limit = 0;
  ASSERT_TRUE(paths.take(path, limit, false));
  EXPECT_EQ(path.pc, 9u);
  EXPECT_FALSE(paths.take(path, limit, false));
  EXPECT_FALSE(paths.release(4));
  EXPECT_TRUE(paths.release(5));
  ASSERT_TRUE(paths.take(path, limit, false));
  EXPECT_EQ(path.pc, 3u);
}

TEST(WarpPaths, GivesTheLastPathItsTurn) {
  WarpPaths paths;
  paths.add({4, 1, 0, State::kRunnable, 0});
  paths.add({20, 2, 0, State::kRunnable, 0});
  Path path;
  ptx::Pc limit = 0;
  ASSERT_TRUE(paths.take(path, limit, true));
  EXPECT_EQ(path.pc, 20u);
  EXPECT_EQ(limit, ptx::kNoPc) << "it may come past the path that it leaves behind";
}

}  // namespace
}  // namespace weft::functional
