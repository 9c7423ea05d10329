// Breakpoints and watchpoints, as packets insert and remove them.
#include "debugger/stop_points.h"

#include <gtest/gtest.h>

namespace weft::debugger {
namespace stop_points_test {

TEST(StopPoints, AreInsertedAndRemoved) {
  StopPoints points;
  EXPECT_TRUE(points.insert("0,40001000,4"));
  ASSERT_NE(points.code(0x40001000, false), nullptr);
  EXPECT_TRUE(points.code(0x40001000, false)->empty());
  EXPECT_EQ(points.code(0x40001004, false), nullptr);
  EXPECT_TRUE(points.remove("0,40001000,4"));
  EXPECT_EQ(points.code(0x40001000, false), nullptr);
}

TEST(StopPoints, HaveConditions) {
  StopPoints points;
  EXPECT_TRUE(points.insert("1,1000,4;X2,2227;X3,220127"));
  ASSERT_NE(points.code(0x1000, false), nullptr);
  EXPECT_EQ(points.code(0x1000, false)->size(), 2u);
}

// While one thread steps over it.
TEST(StopPoints, StayForOthersUntilAllGoOn) {
  StopPoints points;
  points.insert("0,1000,4");
  points.all_go_on();
  points.remove("0,1000,4");
  EXPECT_EQ(points.code(0x1000, false), nullptr);
  EXPECT_NE(points.code(0x1000, true), nullptr);
  points.all_go_on();
  EXPECT_EQ(points.code(0x1000, true), nullptr);
}

TEST(StopPoints, WatchWhatOverlaps) {
  StopPoints points;
  EXPECT_TRUE(points.insert("2,1000,4"));
  EXPECT_NE(points.watched(0x1003, 1, false, true), nullptr);
  EXPECT_NE(points.watched(0xffc, 8, false, true), nullptr);
  EXPECT_EQ(points.watched(0x1004, 4, false, true), nullptr);
  EXPECT_EQ(points.watched(0xffc, 4, false, true), nullptr);
  EXPECT_EQ(points.watched(0x1000, 4, true, false), nullptr);
  EXPECT_TRUE(points.insert("3,2000,4"));
  EXPECT_NE(points.watched(0x2000, 4, true, false), nullptr);
  EXPECT_TRUE(points.insert("4,3000,4"));
  EXPECT_NE(points.watched(0x3000, 4, true, false), nullptr);
  EXPECT_TRUE(points.remove("2,1000,4"));
  EXPECT_EQ(points.watched(0x1000, 4, false, true), nullptr);
}

TEST(StopPoints, RefuseWhatIsNone) {
  StopPoints points;
  for (const char* wrong :
       {"", "0", "0,", "0,x,4", "5,1000,4", "0,1000", "0,1000,4;X9,22", "0,1000,4;Xz", "0,1000,4x"})
    EXPECT_FALSE(points.insert(wrong)) << wrong;
  EXPECT_FALSE(points.any_code());
}

}  // namespace stop_points_test
}  // namespace weft::debugger
