// What a mistake is answered with.
#ifndef WEFT_TESTS_SWEEP_REFUSALS_H
#define WEFT_TESTS_SWEEP_REFUSALS_H

#include <functional>
#include <string>

#include "folder.h"
#include "study/plan/plan_file.h"
#include "weft/common/error.h"

namespace weft::study::sweep_test {

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// The text of a sweep's file.
inline std::string refusal(const std::string& text) {
  const test::Folder folder;
  return message_of([&] { plan_of_file(folder.write("s.json", text)); });
}

}  // namespace weft::study::sweep_test

#endif
