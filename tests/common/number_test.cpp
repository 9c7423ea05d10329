// Numbers that users write: below, at and above their bounds, negative, huge, and no numbers at all.
#include "common/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/input_error.h"

namespace weft::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Bounds kJobs{2, 1024, 1, "runs"};

std::string refusal(const std::string& text, const Bounds& bounds = kJobs) {
  return input_error([&] { read_unsigned("--jobs", text, bounds); });
}

TEST(Number, IsReadWithinItsBounds) {
  EXPECT_EQ(read_unsigned("--jobs", "2", kJobs), 2u);
  EXPECT_EQ(read_unsigned("--jobs", "1024", kJobs), 1024u);
  EXPECT_EQ(read_unsigned("--jobs", "0x10", kJobs), 16u);
  EXPECT_EQ(read_unsigned("n", "0"), 0u);
  EXPECT_EQ(read_unsigned("n", "18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(read_unsigned("n", "0xffffffffffffffff"), UINT64_MAX);
  EXPECT_EQ(read_unsigned("n", "48", {16, 64, 16}), 48u);
}

TEST(Number, OutsideIsRefusedWithWhatIsAllowed) {
  EXPECT_EQ(refusal("1"), "--jobs: found '1'; allowed: a whole number from 2 to 1024 (runs)");
  EXPECT_EQ(refusal("1025"), "--jobs: found '1025'; allowed: a whole number from 2 to 1024 (runs)");
  EXPECT_THAT(refusal("50", {16, 64, 16}), HasSubstr("from 16 to 64, a multiple of 16"));
}

TEST(Number, ThatIsNoneIsRefused) {
  for (const char* text : {"",
                           " ",
                           "-1",
                           "-2",
                           "+3",
                           "3 ",
                           " 3",
                           "3x",
                           "x3",
                           "0x",
                           "0x-1",
                           "1e3",
                           "3.0",
                           "nan",
                           "inf",
                           "--3",
                           "0b1",
                           "18446744073709551616",
                           "99999999999999999999999999",
                           "0x10000000000000000"}) {
    EXPECT_THAT(refusal(text, {}), AllOf(StartsWith("--jobs: found '" + std::string(text) + "'"),
                                         HasSubstr("0 to 18446744073709551615")));
  }
  EXPECT_LT(refusal(std::string(100'000, '9')).size(), 200u) << "a long one is shortened";
}

TEST(Number, WithASignHasItsOwnBounds) {
  EXPECT_EQ(read_signed("n", "-128", -128, 127), -128);
  EXPECT_EQ(read_signed("n", "127", -128, 127), 127);
  for (const char* text : {"-129", "128", "", "x", "1.5", "nan", "99999999999999999999"}) {
    EXPECT_THAT(input_error([&] { read_signed("n", text, -128, 127); }), HasSubstr("from -128 to 127"))
        << text;
  }
}

TEST(Number, OfTheRealOnesIsAboveAndUpTo) {
  constexpr RealBounds kMs{0, 1e9, "ms"};
  EXPECT_EQ(read_real("--max-ms", "0.5", kMs), 0.5);
  EXPECT_EQ(read_real("--max-ms", "1e9", kMs), 1e9);
  for (const char* text : {"0", "-1", "1.1e9", "1e300", "1e999", "nan", "-nan", "inf", "", "ten", "1ms"}) {
    EXPECT_EQ(input_error([&] { read_real("--max-ms", text, kMs); }),
              "--max-ms: found '" + std::string(text) + "'; allowed: a number above 0, up to 1e+09 (ms)");
  }
}

TEST(Number, ThatAProgramGivesIsCheckedLikeOneThatIsRead) {
  EXPECT_NO_THROW(require("limit", 1024, kJobs));
  EXPECT_EQ(input_error([] { require("limit", UINT64_MAX, kJobs); }),
            "limit: found '18446744073709551615'; allowed: a whole number from 2 to 1024 (runs)");
}

}  // namespace
}  // namespace weft::test
