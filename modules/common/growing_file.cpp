#include "common/growing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "common/open_file.h"
#include "weft/common/error.h"

namespace weft {

GrowingFile::GrowingFile(std::string path, std::string boundary)
    : GrowingFile(std::move(path), [boundary = std::move(boundary)](std::string_view text) {
        const std::size_t piece = text.rfind(boundary);
        return piece == std::string_view::npos ? 0 : piece + 1;
      }) {}

GrowingFile::GrowingFile(std::string path, Whole whole)
    : path_(std::move(path)), whole_(std::move(whole)), file_(open_to_write(path_, O_CREAT | O_TRUNC, 0666)) {
  if (file_ < 0) throw InputError(path_, "cannot be written: " + reason_of(errno));
  buffer_.reserve(kBufferBytes + kBufferBytes / 4);
}

GrowingFile::~GrowingFile() {
  close();
}

void GrowingFile::flush() {
  if (!open()) {
    buffer_.clear();
    return;
  }
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t written = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno != EINTR) {
      const int reason = errno;
      // Half a piece would make the file unreadable, so the one that did not fit goes.
      const std::uint64_t keep = file_bytes_ + whole_(std::string_view(buffer_.data(), done));
      if (::ftruncate(file_, static_cast<off_t>(keep)) != 0) {
        // Not a regular file: nothing to cut.
      }
      fail(reason);
      return;
    }
  }
  file_bytes_ += done;
  buffer_.clear();
}

void GrowingFile::close() {
  flush();
  if (!open()) return;
  // Some file systems notice a full disk or a quota only here.
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) error_ = path_ + ": cannot be written: " + std::strerror(errno);
}

void GrowingFile::fail(int reason) {
  error_ = path_ + ": cannot be written: " + std::strerror(reason) + "; what was written before is kept";
  ::close(file_);
  file_ = -1;
  buffer_.clear();
}

}  // namespace weft
