// Tables on a terminal, as every command prints them.
//
//   TextTable table({{"program", Align::kLeft}, {"cycles"}, {"bound by", Align::kLeft}});
//   table.row({"bfs", "102400", "latency"});
//   std::cout << table.text();
//
// Widths are columns of the display, not bytes: "÷" is one wide. No line ends in blanks. A table without
// headings has no line for them.
#ifndef WEFT_STUDY_TERMINAL_TABLE_H
#define WEFT_STUDY_TERMINAL_TABLE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "study/terminal/paint.h"

namespace weft::study {

// What fits a page, and a terminal beside something else.
inline constexpr std::size_t kPageWidth = 100;

enum class Align : std::uint8_t { kLeft, kRight };

struct TextColumn {
  std::string heading;
  Align align = Align::kRight;
  std::size_t least = 0;  // width, so that tables below each other look alike
};

class TextTable {
 public:
  // The first `keys` columns say what a row is of: they stand in every part of a table that is too wide for
  // one.
  explicit TextTable(std::vector<TextColumn> columns, std::size_t keys = 1, std::size_t indent = 0);

  // A cell per column; missing ones at the end are empty. Throws std::invalid_argument if there are more.
  TextTable& row(std::vector<std::string> cells);
  // The keys, and a text for the rest of the line, which makes no column wider.
  TextTable& remark(std::vector<std::string> keys, std::string text);

  bool empty() const { return rows_.empty(); }
  // `most` is the width of lines, 0 any: columns that do not fit stand in a part of their own below, with a
  // blank line in between and the same rows; remarks are in the first one. A part has at least one column
  // besides the keys.
  std::string text(std::size_t most = 0, const Paint& paint = {}) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string remark;  // empty: none
  };

  std::vector<std::size_t> widths() const;
  // The columns of each part, without the keys.
  std::vector<std::vector<std::size_t>> parts(std::size_t most) const;
  std::string part(const std::vector<std::size_t>& columns, const std::vector<std::size_t>& widths,
                   bool with_remarks, const Paint& paint) const;

  std::vector<TextColumn> columns_;
  std::size_t keys_, indent_;
  std::vector<Row> rows_;
};

// Columns of a terminal that a text takes, by libfmt's estimate.
std::size_t display_width(std::string_view text);
// At most so wide; what is cut off leaves "…".
std::string clipped(std::string_view text, std::size_t width);
// The words of a text in lines at most so wide, each indented, with an end of line. A longer word has a line
// of its own.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0);
// "core cycles           ": the name of what follows on its line. `width` counts the indent.
std::string label(std::string_view name, std::size_t width = 22, std::size_t indent = 0);

}  // namespace weft::study

#endif
