// Text inside elements and attributes of XML and HTML.
#ifndef WEFT_COMMON_MARKUP_H
#define WEFT_COMMON_MARKUP_H

#include <string>
#include <string_view>

namespace weft {

// As character data, or as an attribute between double quotation marks.
inline std::string as_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace weft

#endif
