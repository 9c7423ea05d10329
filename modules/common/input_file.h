// Files that a user names, read whole and within a limit: PTX, JSON, firmware, contents of buffers.
#ifndef WEFT_COMMON_INPUT_FILE_H
#define WEFT_COMMON_INPUT_FILE_H

#include <cstddef>
#include <string>

namespace weft {

inline constexpr std::size_t kMaxInputBytes = std::size_t{256} << 20;

// The content of a file, a pipe or a device; of what never ends, no more is read than allowed. Throws
// InputError if it cannot be read, is a directory, or has more than `most` bytes.
std::string read_input(const std::string& path, std::size_t most = kMaxInputBytes);

}  // namespace weft

#endif
