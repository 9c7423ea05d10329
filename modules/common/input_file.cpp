#include "common/input_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/open_file.h"
#include "weft/common/error.h"

namespace weft {
namespace {

constexpr std::size_t kReadBlock = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& path) {
  throw InputError(path, "cannot be read: " + reason_of(errno));
}

// Appends the rest of the file. One byte more than allowed is enough to refuse what is longer.
std::string read_rest(int file, const std::string& path, std::string text, std::size_t most) {
  while (text.size() <= most) {
    const std::size_t had = text.size();
    text.resize(had + std::min(kReadBlock - 1, most - had) + 1);
    const ssize_t got = ::read(file, text.data() + had, text.size() - had);
    if (got < 0 && errno != EINTR) fail(path);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  throw InputError(
      path, "has more than " + std::to_string(most) + " bytes; allowed: up to " + std::to_string(most));
}

std::string read_whole(const std::string& path, std::size_t most, bool regular) {
  const Descriptor file(open_to_read(path));
  if (file.number() < 0) fail(path);
  // A size is what a regular file has now; a pipe, a device and files of /proc say 0.
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) fail(path);
  std::string text;
  if (S_ISREG(status.st_mode)) {
    text.reserve(std::min(static_cast<std::size_t>(status.st_size), most) + kReadBlock);
  } else if (regular) {
    throw InputError(path, "is not a regular file");
  } else if (!let_wait(file.number(), text)) {
    fail(path);
  }
  return read_rest(file.number(), path, std::move(text), most);
}

}  // namespace

std::string read_input(const std::string& path, std::size_t most) {
  return read_whole(path, most, false);
}

std::string read_regular_file(const std::string& path, std::size_t most) {
  return read_whole(path, most, true);
}

}  // namespace weft
