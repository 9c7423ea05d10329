#include "common/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "weft/common/error.h"

namespace weft {
namespace {

struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0) close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int number;
};

[[noreturn]] void fail(const std::string& path) {
  throw InputError(path, std::string("cannot be read: ") + std::strerror(errno));
}

}  // namespace

std::string read_input(const std::string& path, std::size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.number < 0) fail(path);
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  // A size is what a regular file has now; a pipe, a device and files of /proc say 0.
  struct stat status = {};
  if (fstat(file.number, &status) != 0) fail(path);
  std::string text;
  if (S_ISREG(status.st_mode))
    text.reserve(std::min(static_cast<std::size_t>(status.st_size), most) + kBlock);
  // One byte more than allowed is enough to refuse what is longer.
  while (text.size() <= most) {
    const std::size_t had = text.size();
    text.resize(had + std::min(kBlock, most + 1 - had));
    const ssize_t got = read(file.number, text.data() + had, text.size() - had);
    if (got < 0 && errno != EINTR) fail(path);
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0) return text;
  }
  throw InputError(
      path, "has more than " + std::to_string(most) + " bytes; allowed: up to " + std::to_string(most));
}

}  // namespace weft
