#include "conformance/table.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace weft::test::conformance {
namespace {

std::vector<std::string> lines_of(const std::string& name) {
  const std::string path = std::string(WEFT_CONFORMANCE_DIR) + "/" + name;
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::vector<Entry> read_table() {
  std::vector<Entry> entries;
  for (const std::string& line : lines_of("opcodes.txt")) {
    std::istringstream words(line);
    Entry entry;
    words >> entry.opcode >> entry.test;
    std::getline(words >> std::ws, entry.oracle);
    entries.push_back(entry);
  }
  return entries;
}

std::vector<std::string> expand(const std::string& pattern) {
  const std::size_t open = pattern.find('{'), close = pattern.find('}', open);
  if (open == std::string::npos) return {pattern};
  std::vector<std::string> all;
  std::istringstream choices(pattern.substr(open + 1, close - open - 1) + ",");
  for (std::string choice; std::getline(choices, choice, ',');) {
    for (const std::string& rest : expand(pattern.substr(close + 1))) {
      all.push_back(pattern.substr(0, open) + choice + rest);
    }
  }
  return all;
}

std::vector<std::string> read_further() {
  std::vector<std::string> all;
  for (const std::string& line : lines_of("further.txt")) {
    for (const std::string& opcode : expand(line)) all.push_back(opcode);
  }
  return all;
}

std::vector<std::string> all_opcodes() {
  std::vector<std::string> all = read_further();
  for (const Entry& entry : read_table()) all.push_back(entry.opcode);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace weft::test::conformance
