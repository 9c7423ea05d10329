#include "weft/memory/memory_image.h"

#include <gtest/gtest.h>

#include "weft/common/error.h"

namespace weft::memory {
namespace {

TEST(MemoryImage, IsZeroUntilWrittenAndAfterReset) {
  MemoryImage image(std::uint64_t{8} << 30);  // far more than is ever touched
  EXPECT_EQ(image.data()[image.bytes() - 1], 0);
  image.data()[12345] = 7;
  image.data()[image.bytes() - 1] = 9;
  image.reset();
  EXPECT_EQ(image.data()[12345], 0);
  EXPECT_EQ(image.data()[image.bytes() - 1], 0);
}

TEST(MemoryImage, KnowsItsBounds) {
  MemoryImage image(4096);
  EXPECT_TRUE(image.contains(4095, 1));
  EXPECT_TRUE(image.contains(0, 4096));
  EXPECT_FALSE(image.contains(4095, 2));
  EXPECT_FALSE(image.contains(1, 4096));
  EXPECT_FALSE(image.contains(UINT64_MAX, 2));
}

TEST(MemoryImage, RefusesImpossibleSizes) {
  EXPECT_THROW(MemoryImage(0), InputError);
  EXPECT_THROW(MemoryImage(UINT64_MAX), InputError);
}

}  // namespace
}  // namespace weft::memory
