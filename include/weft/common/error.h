// Errors that a user can cause. Every message says where, what was found, and what is allowed.
#ifndef WEFT_COMMON_ERROR_H
#define WEFT_COMMON_ERROR_H

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace weft {

// Exit codes of the program `weft`; part of its interface.
enum class ExitCode : int { kDone = 0, kWrongResult = 1, kBadInput = 2, kFault = 3 };

// Bad usage, configuration or input file. `where` is a file with line and column, a JSON path or an option.
class InputError : public std::runtime_error {
 public:
  InputError(const std::string& where, const std::string& what)
      : std::runtime_error(where.empty() ? what : where + ": " + what) {}
};

// The simulated program faulted or hung. The text names thread, PC and source line where they are known.
class SimulatedFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace config {

// A rule that joins several values, broken. The struct's `check` throws it; `load` says where they come from.
class RuleError : public InputError {
 public:
  // `pointer` and `others`: JSON pointers of the values that do not go together.
  RuleError(const std::string& pointer, std::vector<std::string> others, const std::string& text)
      : InputError(pointer, text), others_(std::move(others)) {}
  const std::vector<std::string>& others() const { return others_; }

 private:
  std::vector<std::string> others_;
};

}  // namespace config

}  // namespace weft

#endif
