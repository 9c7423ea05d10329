#include "study/session/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "weft/common/error.h"

namespace weft::study {

CsvReader::CsvReader(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {
  if (rest_.empty())
    throw InputError(where_, "found an empty file; allowed: a table with a line of headings");
  read_line(names_);
}

std::optional<std::size_t> CsvReader::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = find(name);
  if (!found.has_value()) {
    throw InputError(where_,
                     "found no column '" + std::string(name) + "'; allowed: a table that weft has written");
  }
  return *found;
}

// One line into cells, which keep their memory.
void CsvReader::read_line(std::vector<std::string>& cells) {
  ++line_;
  std::size_t count = 0, at = 0;
  bool more = true;
  while (more) {
    if (count == cells.size()) cells.emplace_back();
    std::string& cell = cells[count++];
    cell.clear();
    bool quoted = at < rest_.size() && rest_[at] == '"';
    if (quoted) ++at;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (quoted && c == '"') {
        quoted = at + 1 < rest_.size() && rest_[at + 1] == '"';  // doubled: one of the cell
        if (!quoted) continue;
        ++at;
      } else if (!quoted && (c == ',' || c == '\n')) {
        break;
      }
      if (quoted || c != '\r') cell += c;
    }
    if (quoted) {
      throw InputError(where_ + ":" + std::to_string(line_),
                       "a quotation mark is not closed; allowed: a table that weft has written");
    }
    more = at < rest_.size() && rest_[at] == ',';
    at += at < rest_.size() ? 1 : 0;
  }
  cells.resize(count);
  rest_.remove_prefix(at);
}

bool CsvReader::next() {
  if (rest_.empty()) return false;
  read_line(cells_);
  if (cells_.size() == names_.size()) return true;
  throw InputError(where_ + ":" + std::to_string(line_),
                   "found " + std::to_string(cells_.size()) +
                       " cells; allowed: " + std::to_string(names_.size()) + ", one per heading");
}

void CsvReader::refuse(std::size_t column, const char* allowed) const {
  throw InputError(where_ + ":" + std::to_string(line_),
                   "column '" + names_[column] + "': found '" + cells_[column] + "'; allowed: " + allowed);
}

double CsvReader::number(std::size_t column) const {
  const std::string& text = cells_[column];
  if (text.empty()) return 0;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    refuse(column, "a number");
  return value;
}

std::uint64_t CsvReader::whole(std::size_t column) const {
  const std::string& text = cells_[column];
  if (text.empty()) return 0;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(column, "a whole number");
  return value;
}

}  // namespace weft::study
