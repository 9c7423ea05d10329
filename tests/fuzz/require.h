// What a fuzzed input must not break. A failure ends the process with a message, which libFuzzer takes for a
// crash and stores the input.
#ifndef WEFT_TESTS_FUZZ_REQUIRE_H
#define WEFT_TESTS_FUZZ_REQUIRE_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "weft/common/error.h"

namespace weft::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// A message begins with the file, and says something after it.
inline void require_place(const InputError& error, const char* file) {
  const std::size_t length = std::strlen(file);
  const std::string message = error.what();
  if (message.compare(0, length, file) == 0 && message.size() > length + 2) return;
  std::fprintf(stderr, "message: %s\n", message.c_str());
  require(false, "an error without its place");
}

}  // namespace weft::fuzz

#endif
