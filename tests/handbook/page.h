// A page of the handbook, as its test sees it. Blocks between ``` are
//
//   ```console           commands, each after "$ "; the lines below are printed by it, in this order,
//   whatever
//                        the spaces. "..." stands for lines that are left out.
//   ```json mine.json    a file, by the second word. Where the repository has it, it contains these lines;
//                        otherwise the reader writes it
//
// and all others are text. A number in code style in the text, such as `42.1`, was printed by a command. A
// table whose headings are "track | slice | begin | end" tells what stands in the timelines
// (NAME.perfetto-trace) that commands wrote.
#ifndef WEFT_TESTS_HANDBOOK_PAGE_H
#define WEFT_TESTS_HANDBOOK_PAGE_H

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace weft::handbook_test {

struct Command {
  std::string text;                // for a shell
  std::vector<std::string> lines;  // that it prints
};

struct File {
  std::string path;  // from the folder where the commands run
  std::string text;
};

struct Slice {  // of a timeline
  std::string track, name;
  std::uint64_t begin = 0, end = 0;  // core cycles
};

struct Page {
  std::vector<std::variant<Command, File>> steps;  // in the order of the page
  std::vector<std::string> numbers;
  std::vector<Slice> slices;
};

// Throws std::runtime_error if there is no such file, or if a block has lines before its first command.
Page read_page(const std::string& file);

// A line with one space where there are some.
std::string plain(const std::string& line);

// Whether the words or the number stand in the text, and not as a part of other ones.
bool has_words(const std::string& text, const std::string& words);

}  // namespace weft::handbook_test

#endif
