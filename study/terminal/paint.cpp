#include "study/terminal/paint.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace weft::study {

Paint Paint::of(int descriptor) {
  const auto value = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  Paint paint;
  paint.on_ = isatty(descriptor) != 0 && value("NO_COLOR").empty() && value("TERM") != "dumb";
  return paint;
}

std::string Paint::painted(const char* code, const std::string& text) const {
  if (!on_ || text.empty()) return text;
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

}  // namespace weft::study
