// Runs the program `weft` and collects what it said; a folder of its own for each test.
#ifndef WEFT_TESTS_END_TO_END_PROCESS_H
#define WEFT_TESTS_END_TO_END_PROCESS_H

#include <csignal>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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
};

// A start that is killed after this many seconds.
inline Start patient(int timeout_s) {
  Start start;
  start.timeout_s = timeout_s;
  return start;
}

// Runs `weft` with these arguments, standard input empty.
Exit weft(const std::vector<std::string>& arguments, const Start& start = {});

// A folder that is removed with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name = "") const;
  // Writes a file; returns its path.
  std::string write(const std::string& name, const std::string& text) const;
  bool has(const std::string& name) const;
  std::string text(const std::string& name) const;
  nlohmann::ordered_json json(const std::string& name) const;
  static std::vector<std::string> names_of(const std::string& path);

 private:
  std::string path_;
};

}  // namespace weft::end_to_end

#endif
