#include "weft/memory/memory_image.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

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

// Another process maps the file; here the same one does.
TEST(MemoryImage, SharesItsBytes) {
  MemoryImage image(3 * 4096);
  unsigned char* const before = image.data();
  const int file = image.share();
  EXPECT_EQ(image.data(), before);
  EXPECT_EQ(image.share(), file);
  struct stat status = {};
  ASSERT_EQ(fstat(file, &status), 0);
  EXPECT_EQ(status.st_size, 4 * 4096);  // a power of two
  auto* const other =
      static_cast<unsigned char*>(mmap(nullptr, image.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  ASSERT_NE(other, MAP_FAILED);
  image.data()[4097] = 7;
  EXPECT_EQ(other[4097], 7);
  other[12287] = 9;
  EXPECT_EQ(image.data()[12287], 9);
  image.reset();
  EXPECT_EQ(other[4097], 0);
  EXPECT_EQ(image.data()[12287], 0);
  other[1] = 3;
  EXPECT_EQ(image.data()[1], 3);
  munmap(other, image.bytes());
}

}  // namespace
}  // namespace weft::memory
