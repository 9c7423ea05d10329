#include "ptx/syntax.h"

#include <algorithm>

namespace weft::ptx {

SourcePlace ModuleText::place(std::uint32_t at) const {
  if (line_starts.empty()) {  // an error while parsing: once, so there is no table yet
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    return {0, line, static_cast<std::uint32_t>(at - start) + 1};
  }
  const auto next = std::upper_bound(line_starts.begin(), line_starts.end(), at);
  const auto line = static_cast<std::uint32_t>(next - line_starts.begin());
  return {0, line, at - *(next - 1) + 1};
}

void ModuleText::index_lines() {
  line_starts.assign(1, 0);
  for (std::size_t p = text.find('\n'); p != std::string::npos; p = text.find('\n', p + 1)) {
    line_starts.push_back(static_cast<std::uint32_t>(p + 1));
  }
}

std::string ModuleText::where(std::uint32_t at) const {
  const SourcePlace p = place(at);
  return file + ':' + std::to_string(p.line) + ':' + std::to_string(p.column);
}

std::string ModuleText::statement_text(std::uint32_t at) const {
  constexpr std::size_t kLongest = 120;
  std::string result;
  for (std::size_t p = at; p < text.size() && text[p] != ';' && result.size() < kLongest; ++p) {
    const bool space = text[p] == ' ' || (text[p] >= '\t' && text[p] <= '\r');
    if (!space) {
      result += text[p];
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

}  // namespace weft::ptx
