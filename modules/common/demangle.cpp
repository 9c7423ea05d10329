#include "common/demangle.h"

#include <cxxabi.h>

#include <cstddef>
#include <cstdlib>

namespace weft {
namespace {

// How many characters the list of parameters at the end has, with its brackets.
std::size_t parameters_of(const std::string& text) {
  std::size_t depth = 0;
  for (std::size_t i = text.size(); i-- != 0;) {
    if (text[i] == ')') ++depth;
    if (text[i] == '(' && --depth == 0) return text.size() - i;
    if (depth == 0) return 0;
  }
  return 0;
}

}  // namespace

std::string demangled_name(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): __cxa_demangle's
  return result;
}

// A kernel returns nothing, and templates name what they return.
std::string function_name(const std::string& name) {
  static const std::string kReturned = "void ";
  std::string text = demangled_name(name);
  if (text == name) return text;
  text.resize(text.size() - parameters_of(text));
  if (text.compare(0, kReturned.size(), kReturned) == 0) text.erase(0, kReturned.size());
  return text;
}

}  // namespace weft
