#include "common/open_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

namespace weft {
namespace {

bool is_pipe(const struct stat& status) {
  return S_ISFIFO(status.st_mode);
}

bool clear_nonblocking(int file) {
  const int flags = fcntl(file, F_GETFL);
  return flags >= 0 && fcntl(file, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

// A pipe without a writer reads as if it had ended, but is only seen as hung up once it has had one.
bool wait_for_writer(int pipe, std::string& text) {
  pollfd look{pipe, POLLIN, 0};
  while (poll(&look, 1, kPipeSeconds * 1000) < 0) {
    if (errno != EINTR) return false;
  }
  if (look.revents != 0) return true;
  // There may be a writer who has written nothing yet.
  char byte = 0;
  const ssize_t got = ::read(pipe, &byte, 1);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) errno = ENXIO;
  text.append(&byte, static_cast<std::size_t>(got));
  return got > 0;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

int open_to_read(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

bool let_wait(int file, std::string& text) {
  struct stat status = {};
  if (fstat(file, &status) != 0) return false;
  if (is_pipe(status) && !wait_for_writer(file, text)) return false;
  return clear_nonblocking(file);
}

int open_to_write(const std::string& path, int flags, mode_t mode) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kLook{10};
  const auto end = Clock::now() + std::chrono::seconds(kPipeSeconds);
  while (true) {
    const int file = open(path.c_str(), flags | O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
    if (file >= 0) {
      if (clear_nonblocking(file)) return file;
      const int reason = errno;
      close(file);
      errno = reason;
      return -1;
    }
    struct stat status = {};
    const int reason = errno;
    const bool may_get_reader =
        reason == ENXIO && stat(path.c_str(), &status) == 0 && is_pipe(status) && Clock::now() < end;
    errno = reason;
    if (!may_get_reader) return -1;
    std::this_thread::sleep_for(kLook);
  }
}

std::string reason_of(int error) {
  return error == ENXIO ? "no process has opened the other end of this pipe" : std::strerror(error);
}

}  // namespace weft
