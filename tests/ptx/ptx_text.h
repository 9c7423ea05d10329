// Short PTX texts for tests, and what they are expected to throw.
#ifndef WEFT_TESTS_PTX_PTX_TEXT_H
#define WEFT_TESTS_PTX_PTX_TEXT_H

#include <gtest/gtest.h>

#include <string>

#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::ptx::testing {

// A module around `symbols`, whose first line is line 4.
inline std::string module_of(const std::string& symbols) {
  return ".version 7.0\n.target sm_70\n.address_size 64\n" + symbols;
}

// A kernel k(a, b, n) around `body`, whose first line is line 6. Declares %p, %rs, %r, %rd, %f, %fd <100>.
inline std::string kernel_of(const std::string& body) {
  return module_of(
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
      " .reg .pred %p<100>; .reg .b16 %rs<100>; .reg .b32 %r<100>; .reg .b64 %rd<100>; .reg .f32 %f<100>; "
      ".reg .f64 %fd<100>;\n" +
      body + "\n}\n");
}

inline Program decode_body(const std::string& body, const Symbols& symbols = {}) {
  return decode(parse(kernel_of(body), "k.ptx"), "k", symbols);
}

// The message that `run` throws as InputError; a failure if it throws nothing.
template <class Run>
std::string message_of(Run run) {
  try {
    run();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

}  // namespace weft::ptx::testing

#endif
