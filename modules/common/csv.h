// Text in tables of results (sc_main/csv_reader.h reads them).
#ifndef WEFT_COMMON_CSV_H
#define WEFT_COMMON_CSV_H

#include <string>
#include <string_view>

namespace weft {

// A cell of any text in one line: between quotation marks, which are doubled within; line ends are spaces.
inline std::string as_cell(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += c;
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

}  // namespace weft

#endif
