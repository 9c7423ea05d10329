// Which bytes the DMA engine moves for boxes, piece by piece, against a copy byte by byte.
#include "runtime/area_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "texture/image.h"

namespace weft::runtime::area_plan_test {
namespace {

using Bytes = std::vector<unsigned char>;
constexpr std::uint64_t kBytes = 1 << 19;  // of the memory that addresses are of
constexpr std::uint64_t kHalf = kBytes / 2;

struct Work {
  unsigned pieces = 0;
  std::uint64_t bytes = 0;
  std::vector<std::size_t> reads, writes;  // runs of each piece
};

// What the DMA engine does with a plan, without time. Every byte is written once.
Work carry_out(AreaPlan& plan, std::uint64_t most, Bytes& memory) {
  Work work;
  host::DmaPiece piece;
  std::vector<unsigned> written(memory.size());
  for (; piece.clear(), plan.next(piece, most); ++work.pieces) {
    Bytes in, out(most);
    for (const auto& run : piece.reads) {
      in.insert(in.end(), memory.begin() + static_cast<std::ptrdiff_t>(run.address),
                memory.begin() + static_cast<std::ptrdiff_t>(run.address + run.bytes));
    }
    for (std::size_t i = 0; piece.reads.empty() && i < most; i += 4) std::memcpy(&out[i], &piece.pattern, 4);
    for (const auto& move : piece.moves) std::memcpy(&out.at(move.to), &in.at(move.from), move.bytes);
    if (piece.moves.empty() && !piece.reads.empty()) out = in;
    std::uint64_t offset = 0;
    for (const auto& run : piece.writes) {
      for (std::uint64_t i = 0; i < run.bytes; ++i) {
        memory[run.address + i] = out[offset + i];
        EXPECT_EQ(++written[run.address + i], 1u) << "written twice: " << run.address + i;
      }
      offset += run.bytes;
    }
    EXPECT_LE(offset, most);
    EXPECT_TRUE(piece.reads.empty() || in.size() == offset) << in.size() << " read, " << offset << " written";
    work.bytes += offset;
    work.reads.push_back(piece.reads.size());
    work.writes.push_back(piece.writes.size());
  }
  return work;
}

texture::Image image_at(std::uint64_t address, const texture::ArrayShape& shape) {
  texture::Image image = texture::array_image(shape);
  image.address = address;
  return image;
}

Bytes random_bytes(std::mt19937_64& random) {
  Bytes bytes(kBytes);
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    const std::uint64_t word = random();
    std::memcpy(&bytes[i], &word, 8);
  }
  return bytes;
}

class Boxes : public ::testing::Test {
 protected:
  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }

  // One side of random copies: rows, or an array with room for the box, in its half of memory.
  Area side(std::uint64_t half, const Box& box, texture::Image& image) {
    Area area;
    if (up_to(1) == 0) {
      area.address = half + up_to(100);
      area.pitch = box.width + up_to(40);
      area.slice = area.pitch * box.height + up_to(100);
      return area;
    }
    texture::ArrayShape shape;
    shape.geometry = up_to(3) == 0 ? texture::Geometry::k1d : texture::Geometry::k2d;
    shape.format = {texture::ChannelKind::kUnsigned, 8, 1};
    shape.layered = true;
    const bool one_axis = shape.geometry == texture::Geometry::k1d;
    area.x = up_to(90);
    area.y = one_axis ? 0 : static_cast<std::uint32_t>(up_to(20));
    area.z = static_cast<std::uint32_t>(up_to(1));
    shape.width = static_cast<std::uint32_t>(area.x + box.width + up_to(70));
    shape.height = one_axis ? 1 : static_cast<std::uint32_t>(area.y + box.height + up_to(9));
    shape.layers = static_cast<std::uint32_t>(area.z + box.depth);
    image = image_at(half + 256 * up_to(3), shape);
    area.image = &image;
    return area;
  }

  std::mt19937_64 random_{11};
};

TEST_F(Boxes, RandomCopiesEqualACopyByteByByte) {
  for (unsigned i = 0; i < 600; ++i) {
    texture::Image to_image, from_image;
    Box box{1 + up_to(i % 7 == 0 ? 900 : 130), 1 + up_to(20), 1 + up_to(1)};
    const std::uint64_t most = 8u << up_to(9);
    const Area from = side(0, box, from_image), to = side(kHalf, box, to_image);
    if ((from.image != nullptr && from.image->geometry == texture::Geometry::k1d) ||
        (to.image != nullptr && to.image->geometry == texture::Geometry::k1d)) {
      box.height = 1;
    }
    Bytes memory = random_bytes(random_), expected = memory;
    for (std::uint64_t z = 0; z < box.depth; ++z) {
      for (std::uint64_t y = 0; y < box.height; ++y) {
        for (std::uint64_t x = 0; x < box.width; ++x)
          expected.at(to.address_of(x, y, z)) = memory.at(from.address_of(x, y, z));
      }
    }
    AreaPlan plan(to, from, box);
    const Work work = carry_out(plan, most, memory);
    ASSERT_EQ(work.bytes, box.bytes());
    ASSERT_TRUE(memory == expected) << "copy " << i << ", bursts of " << most;
  }
}

TEST_F(Boxes, RandomFillsRepeatThePatternInEachRow) {
  for (unsigned i = 0; i < 300; ++i) {
    const unsigned bytes_of_value = 1u << up_to(2);
    Box box{bytes_of_value * (1 + up_to(200)), 1 + up_to(20), 1 + up_to(1)};
    Area to;
    to.address = bytes_of_value * up_to(50);
    to.pitch = box.width + bytes_of_value * up_to(9);
    to.slice = to.pitch * box.height;
    const auto value = static_cast<std::uint32_t>(random_());
    const std::uint32_t pattern = bytes_of_value == 1   ? (value & 0xff) * 0x01010101u
                                  : bytes_of_value == 2 ? (value & 0xffff) * 0x00010001u
                                                        : value;
    Bytes memory = random_bytes(random_), expected = memory;
    for (std::uint64_t z = 0; z < box.depth; ++z) {
      for (std::uint64_t y = 0; y < box.height; ++y) {
        for (std::uint64_t x = 0; x < box.width; ++x)
          expected.at(to.address_of(x, y, z)) = static_cast<unsigned char>(value >> 8 * (x % bytes_of_value));
      }
    }
    AreaPlan plan(to, box, pattern);
    EXPECT_EQ(carry_out(plan, 8u << up_to(9), memory).bytes, box.bytes());
    ASSERT_TRUE(memory == expected) << "fill " << i;
  }
}

// 1024 bytes by 16 rows, on group boundaries, in bursts of 4,096 bytes: 8 groups of 64 bytes by 8 rows, which
// follow each other, are one run of the array and 8 of rows: 4 pieces.
TEST(AreaPlan, GroupsOfAnArrayAreWrittenAsAWhole) {
  texture::ArrayShape shape;
  shape.format = {texture::ChannelKind::kFloat, 32, 1};
  shape.width = 256, shape.height = 16;
  const texture::Image image = image_at(0, shape);
  Area array, rows;
  array.image = &image;
  rows.address = kHalf, rows.pitch = 2048;
  Bytes memory(kBytes);
  AreaPlan in(array, rows, {1024, 16, 1});
  const Work writes = carry_out(in, 4096, memory);
  EXPECT_EQ(writes.pieces, 4u);
  EXPECT_THAT(writes.reads, ::testing::Each(8));
  EXPECT_THAT(writes.writes, ::testing::Each(1));
  AreaPlan out(rows, array, {1024, 16, 1});
  const Work reads = carry_out(out, 4096, memory);
  EXPECT_THAT(reads.reads, ::testing::Each(1));
  EXPECT_THAT(reads.writes, ::testing::Each(8));
  // A burst of 128 bytes is an aligned line of the array: 32 bytes of 4 rows.
  AreaPlan lines(array, rows, {1024, 16, 1});
  const Work line = carry_out(lines, 128, memory);
  EXPECT_EQ(line.pieces, 128u);
  EXPECT_THAT(line.reads, ::testing::Each(4));
  EXPECT_THAT(line.writes, ::testing::Each(1));
}

// Rows of 1,000 bytes: four to a piece of 4,096. Rows of 10,000 from address 0 on: 4,096, 4,096, 1,808.
TEST(AreaPlan, RowsShareAPieceOrAreCut) {
  Bytes memory(kBytes);
  Area from, to;
  from.address = 0, from.pitch = 1024;
  to.address = kHalf, to.pitch = 1500;
  AreaPlan short_rows(to, from, {1000, 10, 1});
  EXPECT_THAT(carry_out(short_rows, 4096, memory).reads, ::testing::ElementsAre(4, 4, 2));
  from.pitch = 4096 * 3, to.pitch = 4096 * 4;
  AreaPlan long_rows(to, from, {10000, 2, 1});
  EXPECT_THAT(carry_out(long_rows, 4096, memory).reads, ::testing::ElementsAre(1, 1, 1, 1, 1, 1));
}

}  // namespace
}  // namespace weft::runtime::area_plan_test
