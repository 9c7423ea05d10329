// What declared arrays take.
#include "area/array_cost.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>

#include "weft/common/error.h"

namespace weft::area {
namespace array_cost_test {

using storage::Array;
using storage::Kind;

constexpr Kind kKinds[] = {Kind::kRam, Kind::kTags, Kind::kCam, Kind::kCrossbar};  // NOLINT(*-avoid-c-arrays)

Array array(Kind kind, std::uint64_t entries = 64, std::uint64_t bits = 32) {
  Array made;
  made.part = "table";
  made.kind = kind;
  made.entries = entries;
  made.bits = bits;
  return made;
}
double area(const Array& of, double node = 40) {
  return cost_of(of, node).area_mm2;
}

TEST(ArrayCost, MoreOfAnythingIsNeverSmaller) {
  for (const Kind kind : kKinds) {
    for (const std::uint64_t ways : {1, 2, 4}) {
      for (const std::uint64_t entries : {16, 64, 256}) {
        for (const std::uint64_t bits : {7, 32, 130}) {
          Array base = array(kind, entries, bits);
          base.ways = ways;
          const double area_of_base = area(base);
          const double time_of_base = cost_of(base, 40).access_ns;
          const auto grows = [&](const char* what, auto change) {
            Array more = base;
            change(more);
            EXPECT_GE(area(more), area_of_base)
                << what << " of " << name_of(kind) << " " << entries << " x " << bits;
            EXPECT_GE(cost_of(more, 40).access_ns, time_of_base * 0.999999) << what;
          };
          grows("entries", [](Array& a) { a.entries *= 2; });
          grows("bits", [](Array& a) { a.bits += 1; });
          grows("read ports", [](Array& a) { a.ports.read += 1; });
          grows("write ports", [](Array& a) { a.ports.write += 1; });
          grows("ports for both", [](Array& a) { a.ports.read_write += 1; });
          grows("copies", [](Array& a) { a.copies += 1; });
          if (ways == 1 && kind != Kind::kCam) grows("banks", [](Array& a) { a.entries *= 2, a.banks = 2; });
        }
      }
    }
  }
}

TEST(ArrayCost, NodesInOrder) {
  for (const Kind kind : kKinds) {
    double last = 0;
    for (const double node : {22, 28, 32, 40, 45, 65, 90}) {
      const ArrayCost cost = cost_of(array(kind), node);
      EXPECT_GT(cost.area_mm2, last) << node;
      last = cost.area_mm2;
    }
  }
  // Below CACTI's last node the square of the feature size takes over.
  EXPECT_NEAR(area(array(Kind::kRam), 28) / area(array(Kind::kRam), 32), 28.0 * 28 / (32 * 32), 1e-9);
  EXPECT_NEAR(cost_of(array(Kind::kRam), 28).access_ns / cost_of(array(Kind::kRam), 32).access_ns, 28.0 / 32,
              1e-9);
}

TEST(ArrayCost, SaysWhatLiesOutsideOfTheFit) {
  EXPECT_FALSE(cost_of(array(Kind::kRam, 512, 128), 40).outside);
  EXPECT_TRUE(cost_of(array(Kind::kRam, 8, 128), 40).outside);
  EXPECT_TRUE(cost_of(array(Kind::kRam, 8192, 128), 40).outside);
  EXPECT_FALSE(cost_of(array(Kind::kCam, 8, 128), 40).outside);
  EXPECT_TRUE(cost_of(array(Kind::kCrossbar, 64, 32), 40).outside);
}

std::string message(const Array& array, double node = 40) {
  try {
    cost_of(array, node, "weft area");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ArrayCost, Mistakes) {
  EXPECT_EQ(message(array(Kind::kRam)), "");
  EXPECT_EQ(message(array(Kind::kRam), 7), "weft area: found a node of 7 nm; allowed: 22 to 90");
  EXPECT_EQ(message(array(Kind::kRam), 130), "weft area: found a node of 130 nm; allowed: 22 to 90");
  EXPECT_EQ(message(array(Kind::kRam, 0)), "weft area, array table: found 0 entries; allowed: 1 and more");
  EXPECT_EQ(message(array(Kind::kRam, 64, 0)), "weft area, array table: found 0 bits; allowed: 1 and more");
  Array wrong = array(Kind::kRam);
  wrong.ports = {0, 0, 0};
  EXPECT_EQ(message(wrong), "weft area, array table: found 0 ports; allowed: 1 and more");
  wrong = array(Kind::kTags, 60);
  wrong.ways = 16;
  EXPECT_EQ(message(wrong),
            "weft area, array table: found 60 entries; allowed: multiples of 16, its ways and banks");
  wrong.ways = 0;
  EXPECT_EQ(message(wrong), "weft area, array table: found 0 ways; allowed: 1 and more");
}

}  // namespace array_cost_test
}  // namespace weft::area
