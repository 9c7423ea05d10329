// Words of a command line.
#ifndef WEFT_STUDY_TERMINAL_WORDS_H
#define WEFT_STUDY_TERMINAL_WORDS_H

#include <string>
#include <vector>

namespace weft::study {

using Words = std::vector<std::string>;

}  // namespace weft::study

#endif
