// The message of the InputError that `action` throws; a failure if it throws none.
#ifndef WEFT_COMMON_INPUT_ERROR_H
#define WEFT_COMMON_INPUT_ERROR_H

#include <gtest/gtest.h>

#include <string>

#include "weft/common/error.h"

namespace weft::test {

template <class Action>
std::string input_error(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

}  // namespace weft::test

#endif
