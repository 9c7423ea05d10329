#include "page.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace weft::handbook_test {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// A point beside a digit, of which one of the two characters is cut off.
bool is_point(const std::string& text, std::size_t at) {
  return text[at] == '.' && std::any_of(text.begin(), text.end(), is_digit);
}

void add_numbers(const std::string& line, std::vector<std::string>& numbers) {
  for (std::size_t begin = line.find('`'); begin != std::string::npos;) {
    const std::size_t end = line.find('`', begin + 1);
    if (end == std::string::npos) return;
    const std::string code = line.substr(begin + 1, end - begin - 1);
    const bool number =
        std::all_of(code.begin(), code.end(), [](char c) { return is_digit(c) || c == '.' || c == ','; });
    if (!code.empty() && is_digit(code[0]) && number) numbers.push_back(code);
    begin = line.find('`', end + 1);
  }
}

// The cells of a line of a table, without code style; none: it is no such line.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  std::string cell;
  for (const char c : line.substr(1)) {
    if (c == '|') {
      cells.push_back(plain(cell));
      cell.clear();
    } else if (c != '`') {
      cell += c;
    }
  }
  return cells;
}

// A line of a block of commands.
void add_console_line(const std::string& line, bool firmware, Page& page) {
  Command* last = page.steps.empty() ? nullptr : std::get_if<Command>(&page.steps.back());
  const bool goes_on = last != nullptr && last->lines.empty() && last->text.back() == '\\';
  if (line.rfind("$ ", 0) == 0) {
    page.steps.emplace_back(Command{line.substr(2), {}, firmware});
  } else if (goes_on) {
    last->text.pop_back();
    last->text += line;
  } else if (last == nullptr) {
    throw std::runtime_error("found '" + line + "' before any command");
  } else if (plain(line) != "...") {
    last->lines.push_back(plain(line));
  }
}

}  // namespace

std::string plain(const std::string& line) {
  std::istringstream words(line);
  std::string text, word;
  while (words >> word) text += (text.empty() ? "" : " ") + word;
  return text;
}

bool has_words(const std::string& text, const std::string& words) {
  if (words.empty()) return true;
  const bool at_word = is_word(words.front()), to_word = is_word(words.back());
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    const std::string before = text.substr(at < 2 ? 0 : at - 2, at < 2 ? at : 2);
    const std::string after = text.substr(at + words.size(), 2);
    const bool begins =
        before.empty() || !at_word || (!is_word(before.back()) && !is_point(before, before.size() - 1));
    const bool ends = after.empty() || !to_word || (!is_word(after.front()) && !is_point(after, 0));
    if (begins && ends) return true;
  }
  return false;
}

bool has_words_about(const std::string& text, const std::string& words, double share) {
  static const std::regex kNumber(R"([0-9]+(?:\.[0-9]+)?)"), kSpecial(R"([.^$|()\[\]{}*+?\\])");
  std::vector<double> wanted;
  std::string pattern;
  std::string rest = words;
  for (std::smatch number; std::regex_search(rest, number, kNumber); rest = number.suffix()) {
    pattern += std::regex_replace(number.prefix().str(), kSpecial, R"(\$&)") + R"(([0-9]+(?:\.[0-9]+)?))";
    wanted.push_back(std::stod(number.str()));
  }
  pattern += std::regex_replace(rest, kSpecial, R"(\$&)");
  const std::regex like(pattern);
  for (std::sregex_iterator found(text.begin(), text.end(), like), end; found != end; ++found) {
    std::size_t close = 0;
    while (close < wanted.size() &&
           std::abs(std::stod((*found)[close + 1]) - wanted[close]) <= share * wanted[close])
      ++close;
    if (close == wanted.size()) return true;
  }
  return false;
}

Page read_page(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + " cannot be read");
  Page page;
  bool slices = false;    // in a table of them
  bool firmware = false;  // in a block that depends on it
  enum class In { kText, kConsole, kFile, kOther } where = In::kText;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("```", 0) == 0 && where != In::kText) {
      where = In::kText;
    } else if (line.rfind("```", 0) == 0) {
      std::istringstream words(line.substr(3));
      std::string language, name;
      words >> language >> name;
      firmware = name == "firmware";
      where = language == "console" ? In::kConsole : name.empty() ? In::kOther : In::kFile;
      if (where == In::kFile) page.steps.emplace_back(File{name, ""});
    } else if (where == In::kText) {
      const std::vector<std::string> cells = cells_of(line);
      const bool heading = cells == std::vector<std::string>{"track", "slice", "begin", "end"};
      if (slices && cells.size() == 4 && is_digit(cells[2][0])) {
        page.slices.push_back({cells[0], cells[1], std::stoull(cells[2]), std::stoull(cells[3])});
      } else {
        add_numbers(line, page.numbers);
      }
      slices = heading || (slices && !cells.empty());
    } else if (where == In::kConsole) {
      add_console_line(line, firmware, page);
    } else if (where == In::kFile) {
      std::get<File>(page.steps.back()).text += line + "\n";
    }
  }
  return page;
}

}  // namespace weft::handbook_test
