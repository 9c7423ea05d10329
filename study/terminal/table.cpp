#include "study/terminal/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace weft::study {
namespace {

constexpr std::size_t kGap = 2;

// A byte within a character of UTF-8, not its first one.
bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::string without_blanks_at_the_end(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  if (text.empty()) return 0;
  // Padded to as many columns as it has bytes, which is never too few: what was added is the difference.
  return 2 * text.size() - fmt::formatted_size("{:{}}", text, text.size());
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  while (!text.empty() && display_width(text) + 1 > width) {
    while (text.size() > 1 && continues_character(text.back())) text.remove_suffix(1);
    text.remove_suffix(1);
  }
  return width == 0 ? "" : std::string(text) + "…";
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string all, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + display_width(line) + 1 + display_width(word) > width) {
      all.append(indent, ' ').append(line).append("\n");
      line.clear();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  return line.empty() ? all : all.append(indent, ' ').append(line).append("\n");
}

std::string label(std::string_view name, std::size_t width, std::size_t indent) {
  return fmt::format("{:{}}{:<{}}", "", indent, name, width - std::min(width, indent));
}

TextTable::TextTable(std::vector<TextColumn> columns, std::size_t keys, std::size_t indent)
    : columns_(std::move(columns)), keys_(keys), indent_(indent) {}

TextTable& TextTable::row(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) throw std::invalid_argument("a table's row has too many cells");
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), ""});
  return *this;
}

TextTable& TextTable::remark(std::vector<std::string> keys, std::string text) {
  if (keys.size() > keys_) throw std::invalid_argument("a table's remark has too many keys");
  keys.resize(columns_.size());
  rows_.push_back({std::move(keys), std::move(text)});
  return *this;
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = std::max(columns_[c].least, display_width(columns_[c].heading));
    for (const Row& row : rows_) width = std::max(width, display_width(row.cells[c]));
    widths.push_back(width);
  }
  return widths;
}

std::vector<std::vector<std::size_t>> TextTable::parts(std::size_t most) const {
  const auto all = widths();
  std::size_t keys = indent_;
  for (std::size_t c = 0; c < keys_; ++c) keys += all[c] + kGap;
  std::vector<std::vector<std::size_t>> parts(1);
  std::size_t taken = keys;
  for (std::size_t c = keys_; c < columns_.size(); ++c) {
    if (most != 0 && !parts.back().empty() && taken + all[c] > most) {
      parts.emplace_back();
      taken = keys;
    }
    parts.back().push_back(c);
    taken += all[c] + kGap;
  }
  return parts;
}

std::string TextTable::part(const std::vector<std::size_t>& columns, const std::vector<std::size_t>& widths,
                            bool with_remarks, const Paint& paint) const {
  std::vector<std::size_t> shown(keys_);
  std::iota(shown.begin(), shown.end(), 0);
  shown.insert(shown.end(), columns.begin(), columns.end());
  const auto line = [&](auto&& cell, std::size_t count) {
    std::string text(indent_, ' ');
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t c = shown[i];
      if (i != 0) text.append(kGap, ' ');
      const std::string_view content = cell(c);
      text += columns_[c].align == Align::kLeft ? fmt::format("{:<{}}", content, widths[c])
                                                : fmt::format("{:>{}}", content, widths[c]);
    }
    return text;
  };
  std::string text;
  const std::string headings = without_blanks_at_the_end(
      line([&](std::size_t c) { return std::string_view(columns_[c].heading); }, shown.size()));
  if (!headings.empty()) text += paint.heading(headings) + "\n";
  for (const Row& row : rows_) {
    if (!row.remark.empty() && !with_remarks) continue;
    const std::size_t count = row.remark.empty() ? shown.size() : keys_;
    std::string cells = line([&](std::size_t c) { return std::string_view(row.cells[c]); }, count);
    if (!row.remark.empty()) cells.append(kGap, ' ').append(row.remark);
    text += without_blanks_at_the_end(std::move(cells)) + "\n";
  }
  return text;
}

std::string TextTable::text(std::size_t most, const Paint& paint) const {
  // Of as many parts as it takes, those that are alike.
  const std::size_t count = parts(most).size();
  while (count > 1 && parts(most - 1).size() == count) --most;
  const auto all = widths();
  std::string text;
  bool first = true;
  for (const auto& columns : parts(most)) {
    if (!first) text += "\n";
    text += part(columns, all, first, paint);
    first = false;
  }
  return text;
}

}  // namespace weft::study
