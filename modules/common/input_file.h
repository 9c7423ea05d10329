// Files that are read whole and within a limit: those that a user names (PTX, JSON, firmware, contents of
// buffers), and those that Weft has written.
#ifndef WEFT_COMMON_INPUT_FILE_H
#define WEFT_COMMON_INPUT_FILE_H

#include <cstddef>
#include <string>

namespace weft {

inline constexpr std::size_t kMaxInputBytes = std::size_t{256} << 20;

// The content of a file, a pipe or a device; of what never ends, no more is read than allowed. Throws
// InputError if it cannot be read, is a directory, is a pipe that nobody writes to, or has more than `most`
// bytes.
std::string read_input(const std::string& path, std::size_t most = kMaxInputBytes);

// The content of a regular file, such as a result or a checkpoint. Throws InputError for anything else, and
// never waits.
std::string read_regular_file(const std::string& path, std::size_t most = kMaxInputBytes);

}  // namespace weft

#endif
