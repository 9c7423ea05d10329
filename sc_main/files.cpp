#include "sc_main/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "common/error.h"

namespace weft::cli {
namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
  throw InputError(
      path, std::string("cannot be written: ") + std::strerror(reason) + "; results already there are kept");
}

}  // namespace

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw InputError(path, "cannot be made: " + error.message());
}

void write_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".part-" + std::to_string(getpid());
  // O_EXCL: a name that somebody put there, perhaps as a link, is not ours to write.
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail(path, errno);
  int reason = 0;
  while (!text.empty() && reason == 0) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      reason = errno;
    }
  }
  // Some file systems notice a full disk or a quota only here.
  if (close(file) != 0 && reason == 0) reason = errno;
  if (reason == 0 && rename(temporary.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) {
    unlink(temporary.c_str());
    fail(path, reason);
  }
}

}  // namespace weft::cli
