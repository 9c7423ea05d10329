// What somebody may have meant by a word that nobody knows.
#ifndef WEFT_COMMON_SUGGESTION_H
#define WEFT_COMMON_SUGGESTION_H

#include <string>
#include <vector>

namespace weft {

// `; did you mean "x"?` for the nearest of `known`, if one is near enough to be a slip of the pen; else
// empty.
std::string suggestion(const std::string& wrong, const std::vector<std::string>& known);

}  // namespace weft

#endif
