#include "study/page/page.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "study/terminal/table.h"

namespace weft::study {
namespace {

// A bar would end the cell, a line break the row.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string markdown(const Table& table) {
  std::ostringstream out;
  const auto line = [&](const std::vector<std::string>& cells) {
    out << "|";
    for (const std::string& text : cells) out << " " << cell(text) << " |";
    out << "\n";
  };
  line(table.headings);
  out << "|";
  for (std::size_t c = 0; c < table.headings.size(); ++c) out << "---|";
  out << "\n";
  for (const auto& row : table.rows) line(row);
  return out.str();
}

// Nothing but digits and what stands around them.
bool is_number(const std::string& text) {
  const bool digit =
      std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return text == "-" || text.empty() ||
         (digit && text.find_first_not_of("0123456789.,+-") == std::string::npos);
}

std::string plain(const Table& table, const Paint& paint) {
  std::vector<TextColumn> columns;
  for (std::size_t c = 0; c < table.headings.size(); ++c) {
    const bool numbers =
        std::all_of(table.rows.begin(), table.rows.end(), [c](const auto& row) { return is_number(row[c]); });
    columns.push_back({table.headings[c], numbers ? Align::kRight : Align::kLeft});
  }
  TextTable text(std::move(columns));
  for (const auto& row : table.rows) text.row(row);
  return text.text(0, paint);
}

template <class TableText>
std::string text_of(const Page& page, TableText&& table, const std::string& title, const std::string& section,
                    const Paint& paint) {
  std::ostringstream out;
  out << paint.heading(title + page.title) << "\n";
  for (const std::string& paragraph : page.paragraphs) out << "\n" << paragraph << "\n";
  for (const Section& part : page.sections) {
    out << "\n" << paint.heading(section + part.title) << "\n";
    for (const std::string& paragraph : part.paragraphs) out << "\n" << paragraph << "\n";
    if (!part.table.headings.empty()) out << "\n" << table(part.table);
  }
  return out.str();
}

}  // namespace

std::string markdown(const Page& page) {
  return text_of(page, [](const Table& table) { return markdown(table); }, "# ", "## ", {});
}

std::string plain(const Page& page, const Paint& paint) {
  return text_of(page, [&](const Table& table) { return plain(table, paint); }, "", "-- ", paint);
}

}  // namespace weft::study
