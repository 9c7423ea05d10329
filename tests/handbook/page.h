// A page of the handbook, as its test sees it. Its blocks are
//
//   ```console          commands, each after "$ "; after a backslash it goes on in the next line. What it
//                       prints has the lines below it, in this order, whatever the spaces; for readers
//                       "..." says that some are left out.
//   ```console firmware   the same; what it prints depends on the compiler of the firmware. The page has what
//   GCC
//                         12 makes of it. With another one, numbers are up to 2 % off.
//   ```json mine.json   a file, by the second word. Where the repository has it, these lines stand in it;
//                       otherwise the reader writes it.
//
// and others, which are not looked at. In the text a number in code style, such as `42.1`, was printed by a
// command, and a table with the headings "track | slice | begin | end" tells what stands in the timelines
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
  bool firmware = false;           // they depend on its compiler
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
// The same of words with numbers that are at most this share off.
bool has_words_about(const std::string& text, const std::string& words, double share);

}  // namespace weft::handbook_test

#endif
