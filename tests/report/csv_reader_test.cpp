#include "study/session/csv_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "weft/common/error.h"

namespace weft::study::csv_reader_test {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CsvReader, ReadsCellsQuotedAndNot) {
  CsvReader table("a,b,c\n\"x,\"\"y\"\"\n z\",2,\n1.5e3,,\"\"\r\n", "t.csv");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.cell(0), "x,\"y\"\n z");
  EXPECT_EQ(table.whole(table.column("b")), 2u);
  EXPECT_EQ(table.cell(2), "");
  ASSERT_TRUE(table.next());
  EXPECT_EQ(table.number(0), 1500);
  EXPECT_EQ(table.whole(1), 0u);
  EXPECT_EQ(table.cell(2), "");
  EXPECT_FALSE(table.next());
  EXPECT_FALSE(table.find("d").has_value());
}

TEST(CsvReader, SaysWhereSomethingIsWrong) {
  EXPECT_THAT(refusal([] { CsvReader("", "t.csv"); }), HasSubstr("t.csv: found an empty file"));
  CsvReader table("a,b\n1,2\nx,-1\n3\n\"", "t.csv");
  EXPECT_THAT(refusal([&] { table.column("c"); }), HasSubstr("t.csv: found no column 'c'"));
  ASSERT_TRUE(table.next());
  ASSERT_TRUE(table.next());
  EXPECT_THAT(refusal([&] { table.number(0); }),
              HasSubstr("t.csv:3: column 'a': found 'x'; allowed: a number"));
  EXPECT_THAT(refusal([&] { table.whole(1); }), HasSubstr("column 'b': found '-1'; allowed: a whole number"));
  EXPECT_THAT(refusal([&] { table.next(); }), HasSubstr("t.csv:4: found 1 cells; allowed: 2"));
  EXPECT_THAT(refusal([&] { table.next(); }), HasSubstr("t.csv:5: a quotation mark is not closed"));
}

}  // namespace
}  // namespace weft::study::csv_reader_test
