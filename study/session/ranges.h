// Ranges of numbers, as options have them.
#ifndef WEFT_STUDY_SESSION_RANGES_H
#define WEFT_STUDY_SESSION_RANGES_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::study {

// "3", "0-3" or several with commas between, up to `most`; both ends are included. Throws InputError, which
// names the option.
std::vector<std::pair<std::uint64_t, std::uint64_t>> read_ranges(const std::string& option,
                                                                 const std::string& text, std::uint64_t most);

}  // namespace weft::study

#endif
