// What is said of progress, in numbers.
#include "study/terminal/progress.h"

#include <gtest/gtest.h>

namespace weft::study::progress_test {
namespace {

TEST(Progress, TimeIsRoundedToWhatMatters) {
  EXPECT_EQ(rounded_time(0), "0 s");
  EXPECT_EQ(rounded_time(99.4), "99 s");
  EXPECT_EQ(rounded_time(100), "2 min");
  EXPECT_EQ(rounded_time(59 * 60 + 20), "59 min");
  EXPECT_EQ(rounded_time(2 * 3600 + 10 * 60), "2 h 10 min");
}

TEST(Progress, TimeLeftIsThatOfTheRestAtTheSameSpeed) {
  EXPECT_EQ(share_and_time_left(25, 100, 10), "25 %, about 30 s left");
  EXPECT_EQ(share_and_time_left(999, 1000, 999), "99 %, about 1 s left");
  EXPECT_EQ(share_and_time_left(10, 10, 10), "100 %");
  EXPECT_EQ(share_and_time_left(0, 10, 10), "") << "nothing is known yet";
  EXPECT_EQ(share_and_time_left(0, 0, 10), "");
}

}  // namespace
}  // namespace weft::study::progress_test
