// A CSV file with a line of headings, for tests: cells of a row by the name of their column.
#ifndef WEFT_TESTS_PLATFORM_CSV_TABLE_H
#define WEFT_TESTS_PLATFORM_CSV_TABLE_H

#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace weft::test {

class CsvTable {
 public:
  using Row = std::map<std::string, std::string>;

  explicit CsvTable(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      const auto cells = split(line);
      if (names_.empty()) {
        names_ = cells;
        continue;
      }
      Row& row = rows_.emplace_back();
      for (std::size_t i = 0; i < cells.size(); ++i)
        row[i < names_.size() ? names_[i] : "too many"] = cells[i];
      if (cells.size() != names_.size()) row["wrong length"] = line;
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Row>& rows() const { return rows_; }
  // Of a column that all rows have; throws std::out_of_range otherwise.
  double sum(const std::string& column, const std::string& of = "", const std::string& value = "") const {
    double sum = 0;
    for (const Row& row : rows_) {
      if (of.empty() || row.at(of) == value) sum += std::stod(row.at(column));
    }
    return sum;
  }

 private:
  // No cell that Weft writes has a comma or a quotation mark within.
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
      if (cell.size() > 1 && cell.front() == '"') cell = cell.substr(1, cell.size() - 2);
      cells.push_back(cell);
    }
    return cells;
  }

  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

}  // namespace weft::test

#endif
