// The papers' claims, as the experiments of the project have them.
#ifndef WEFT_TESTS_REPRODUCE_PAPERS_H
#define WEFT_TESTS_REPRODUCE_PAPERS_H

#include <functional>
#include <string>

#include "study/judge/library.h"
#include "weft/common/error.h"

namespace weft::study::reproduce_test {

inline const std::string kFolder = WEFT_EXPERIMENTS;

inline const Library& library() {
  static const Library library = read_library(kFolder);
  return library;
}

inline const Claims& papers() {
  return library().claims;
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace weft::study::reproduce_test

#endif
