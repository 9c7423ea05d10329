// Tables of results, row by row: a line of headings, then as many cells in each line; cells may be quoted,
// with quotation marks doubled.
//
//   CsvReader table(text, "results/launches.csv");
//   const std::size_t kernel = table.column("kernel");
//   while (table.next()) use(table.cell(kernel), table.number(cycles));
#ifndef WEFT_STUDY_SESSION_CSV_READER_H
#define WEFT_STUDY_SESSION_CSV_READER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::study {

class CsvReader {
 public:
  // `text` must outlive it; `where` is for messages. Throws InputError if there are no headings.
  CsvReader(std::string_view text, std::string where);

  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::size_t> find(std::string_view name) const;
  // Throws InputError if there is no such column.
  std::size_t column(std::string_view name) const;

  // The next row; false at the end. Throws InputError, with the line, unless it has a cell per heading.
  bool next();
  const std::vector<std::string>& cells() const { return cells_; }
  const std::string& cell(std::size_t column) const { return cells_[column]; }
  // Throw InputError, with line and column, for anything but a number. An empty cell is 0.
  double number(std::size_t column) const;
  std::uint64_t whole(std::size_t column) const;

 private:
  void read_line(std::vector<std::string>& cells);
  [[noreturn]] void refuse(std::size_t column, const char* allowed) const;

  std::string_view rest_;
  const std::string where_;
  std::size_t line_ = 0;
  std::vector<std::string> names_, cells_;
};

}  // namespace weft::study

#endif
