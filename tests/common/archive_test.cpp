// State as bytes and back.
#include "weft/common/archive.h"

#include <gtest/gtest.h>

#include "common/ring.h"

namespace weft::archive_test {
namespace {

enum class Colour : std::uint8_t { kRed, kGreen };

struct Inner {
  std::uint16_t number = 0;
  Colour colour = Colour::kRed;
  void archive(Archive& archive) {
    auto& [number_, colour_] = *this;
    archive(number_, colour_);
  }
  friend bool operator==(const Inner& a, const Inner& b) {
    return a.number == b.number && a.colour == b.colour;
  }
};

struct Outer {
  bool flag = false;
  double real = 0;
  std::string text;
  std::vector<Inner> list;
  std::vector<bool> bits;
  std::deque<std::string> texts;
  std::array<std::int64_t, 3> three{};
  std::map<std::string, std::vector<std::uint8_t>> map;
  Ring<int> queue{4};
  int* pointer = nullptr;
  unsigned busy = 0, scratch = 0;
  void archive(Archive& archive) {
    auto& [flag_, real_, text_, list_, bits_, texts_, three_, map_, queue_, pointer_, busy_, scratch_] =
        *this;
    archive(flag_, real_, text_, list_, bits_, texts_, three_, map_, at_rest(queue_), at_rest(pointer_),
            at_rest(busy_), set_anew(scratch_));
  }
};

Outer example() {
  Outer outer;
  outer.flag = true;
  outer.real = -0.125;
  outer.text = std::string("a\0b", 3);
  outer.list = {{1, Colour::kGreen}, {65535, Colour::kRed}};
  outer.bits = {true, false, true};
  outer.texts = {"", "one"};
  outer.three = {-1, 0, INT64_MAX};
  outer.map = {{"x", {1, 2}}, {"", {}}};
  outer.scratch = 9;
  return outer;
}

std::string bytes_of(Outer outer) {
  Archive out;
  out(outer);
  return out.bytes();
}

TEST(Archive, GivesBackWhatWasWritten) {
  const Outer before = example();
  Outer after;
  after.list.resize(5);
  after.map["gone"] = {3};
  after.scratch = 4;
  Archive in(bytes_of(before));
  in(after);
  in.end();
  EXPECT_EQ(after.flag, before.flag);
  EXPECT_EQ(after.real, before.real);
  EXPECT_EQ(after.text, before.text);
  EXPECT_EQ(after.list, before.list);
  EXPECT_EQ(after.bits, before.bits);
  EXPECT_EQ(after.texts, before.texts);
  EXPECT_EQ(after.three, before.three);
  EXPECT_EQ(after.map, before.map);
  EXPECT_EQ(after.scratch, 4u) << "is nobody's business";
}

TEST(Archive, WritesNothingThatIsUnderWay) {
  int place = 0;
  Outer outer = example();
  outer.queue.push(1);
  EXPECT_THROW(bytes_of(outer), NotAtRest);
  outer = Outer();
  outer.pointer = &place;
  EXPECT_THROW(bytes_of(outer), NotAtRest);
  outer.pointer = nullptr;
  outer.busy = 1;
  EXPECT_THROW(bytes_of(outer), NotAtRest);
}

// Whatever the bytes are: an exception, and neither a crash nor memory without end.
TEST(Archive, RefusesBytesOfSomethingElse) {
  const std::string good = bytes_of(example());
  for (std::size_t size = 0; size < good.size(); ++size) {
    Outer outer;
    Archive in(good.substr(0, size));
    EXPECT_THROW(in(outer), BadArchive) << size;
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string other = good;
    other[at] = '\xff';
    Outer outer;
    Archive in(other);
    // A value may be any other; what is refused has a reason.
    try {
      in(outer);
      in.end();
    } catch (const BadArchive& refused) {
      EXPECT_STRNE(refused.what(), "") << at;
    }
  }
  std::string bool_of_255 = good;
  bool_of_255[0] = '\xff';
  Outer flag;
  Archive of_flag(bool_of_255);
  EXPECT_THROW(of_flag(flag), BadArchive);
  Outer outer;
  Archive longer(good + "x");
  longer(outer);
  EXPECT_THROW(longer.end(), BadArchive);
}

TEST(Archive, FindsPartsByTheirNames) {
  Archive out;
  out.mark("left");
  out.mark("right");
  Archive in(out.bytes());
  in.mark("left");
  EXPECT_THROW(in.mark("wrong"), BadArchive);
  in.rewind();
  in.mark("left");
  in.mark("right");
  in.end();
}

TEST(Archive, KeepsTheLengthsThatAConfigurationGives) {
  std::vector<Inner> three(3), two(2);
  Archive out;
  archive_each(out, three);
  Archive in(out.bytes());
  EXPECT_THROW(archive_each(in, two), BadArchive);
}

}  // namespace
}  // namespace weft::archive_test
