// Home lanes of threads.
#include "weft/warp_formation/lane_permutation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft::warp_formation::test::lane_permutation_test {
namespace {

constexpr unsigned kChunks = 48;

// By rule, lanes and chunk.
class Rules : public ::testing::TestWithParam<LanePermutation> {};

// Each lane of a row has one thread, of the same row, and the way back is the same.
TEST_P(Rules, PutEveryThreadOfARowOnALaneOfItsOwn) {
  for (unsigned lanes = 4; lanes <= 32; lanes *= 2) {
    const LanePermuter home(GetParam(), lanes, kChunks);
    for (unsigned chunk = 0; chunk < kChunks; ++chunk) {
      std::uint32_t seen = 0;
      for (unsigned p = 0; p < 32; ++p) {
        const std::uint32_t bit = home(chunk, 1u << p);
        ASSERT_EQ(bit, 1u << (p / lanes * lanes + home.lane_of(chunk, p)));
        ASSERT_EQ(home(chunk, bit), 1u << p);
        seen |= bit;
      }
      ASSERT_EQ(seen, ~0u);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, Rules,
                         ::testing::Values(LanePermutation::kIdentity, LanePermutation::kMirrorOdd,
                                           LanePermutation::kMirrorHalf, LanePermutation::kXor,
                                           LanePermutation::kXorReverse, LanePermutation::kBalanced));

// The lane of thread 1 on 8 lanes, in chunks 0 to 4 and in one of the upper half.
TEST(LanePermutation, RulesAreTheirFormulas) {
  const auto lanes = [](LanePermutation rule) {
    const LanePermuter home(rule, 8, 32);
    std::vector<unsigned> lanes;
    for (const unsigned chunk : {0u, 1u, 2u, 3u, 4u, 20u}) lanes.push_back(home.lane_of(chunk, 1));
    return lanes;
  };
  using Lanes = std::vector<unsigned>;
  EXPECT_EQ(lanes(LanePermutation::kIdentity), (Lanes{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(lanes(LanePermutation::kMirrorOdd), (Lanes{1, 6, 1, 6, 1, 1}));
  EXPECT_EQ(lanes(LanePermutation::kMirrorHalf), (Lanes{1, 1, 1, 1, 1, 6}));
  EXPECT_EQ(lanes(LanePermutation::kXor), (Lanes{1, 0, 3, 2, 5, 5}));
  EXPECT_EQ(lanes(LanePermutation::kXorReverse), (Lanes{1, 5, 3, 7, 0, 0}));
  EXPECT_EQ(lanes(LanePermutation::kBalanced), (Lanes{1, 6, 0, 7, 3, 3}));
}

}  // namespace
}  // namespace weft::warp_formation::test::lane_permutation_test
