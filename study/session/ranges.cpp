#include "study/session/ranges.h"

#include <algorithm>

#include "common/number.h"
#include "weft/common/error.h"

namespace weft::study {

std::vector<std::pair<std::uint64_t, std::uint64_t>> read_ranges(const std::string& option,
                                                                 const std::string& text,
                                                                 std::uint64_t most) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const auto number = [&](const std::string& digits) { return read_unsigned(option, digits, {0, most}); };
    const std::uint64_t first = number(part.substr(0, dash));
    const std::uint64_t last = dash == std::string::npos ? first : number(part.substr(dash + 1));
    if (last < first)
      throw InputError(option, "found '" + part + "'; allowed: FIRST-LAST with LAST at least FIRST");
    ranges.emplace_back(first, last);
    begin = end + 1;
  }
  return ranges;
}

}  // namespace weft::study
