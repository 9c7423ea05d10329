// Runs the program `weft` and collects what it said.
#ifndef WEFT_TESTS_END_TO_END_PROCESS_H
#define WEFT_TESTS_END_TO_END_PROCESS_H

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "folder.h"

namespace weft::end_to_end {

struct Exit {
  int code = -1;  // exit code; 128 + signal number if it was killed
  std::string out, err;
};

struct Start {
  std::uint64_t file_size_limit = 0;  // bytes per file that it may write; 0: no limit
  int interrupt_after_ms = 0;         // a signal that long after the start; 0: none
  int signal = SIGINT;                // which
  int signals = 1;                    // how often, at once
  bool without_output = false;        // standard output is closed
  std::string output;                 // where standard output goes instead of Exit::out; empty: there
  int timeout_s = 120;                // killed after that
  unsigned short terminal_columns =
      0;  // both streams are a terminal so wide, Exit::out what was written to it
};

// A start that is killed after this many seconds.
inline Start patient(int timeout_s) {
  Start start;
  start.timeout_s = timeout_s;
  return start;
}

// Runs `weft` with these arguments, standard input empty.
Exit weft(const std::vector<std::string>& arguments, const Start& start = {});
// The same with another program, by its path.
Exit run(const std::string& program, const std::vector<std::string>& arguments, const Start& start = {});

// The arguments that a process was started with, each ended by a zero byte; empty: it has ended.
std::string command_line(pid_t process);
// Processes of this machine whose command line has this word.
std::vector<pid_t> processes_with(const std::string& word);
// Whether they all end within a few seconds. They are not there for a tenth of a second: one that is just
// becoming another program has no command line for a moment.
bool end_soon(const std::string& word);

using test::Folder;

}  // namespace weft::end_to_end

#endif
