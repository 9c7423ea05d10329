#include "weft/memory/memory_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "weft/common/error.h"

namespace weft::memory {

MemoryImage::MemoryImage(std::uint64_t bytes) : bytes_(bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  if (bytes == 0 || bytes > kMostBytes) {
    throw InputError("device memory",
                     std::to_string(bytes) + " bytes; allowed: 1 to " + std::to_string(kMostBytes));
  }
  void* mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw InputError("device memory",
                     "the host cannot map " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  }
  data_ = static_cast<unsigned char*>(mapped);
}

MemoryImage::~MemoryImage() {
  munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
}

int MemoryImage::share() {
  if (file_ >= 0) return file_;
  std::uint64_t whole = 4096;
  while (whole < bytes_) whole *= 2;
  const int file = memfd_create("device memory", MFD_CLOEXEC);
  const bool mapped =
      file >= 0 && ftruncate(file, static_cast<off_t>(whole)) == 0 &&
      mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) == data_;
  if (!mapped) {
    const std::string why = std::strerror(errno);
    if (file >= 0) close(file);
    throw InputError("device memory", "the host cannot share " + std::to_string(bytes_) + " bytes: " + why);
  }
  file_ = file;
  return file_;
}

// Untouched pages of a private anonymous mapping, and holes of a file, read as zero (madvise(2),
// MADV_DONTNEED; fallocate(2)). Should the host refuse, locked pages for instance, the bytes are cleared by
// hand.
void MemoryImage::reset() {
  const bool cleared = file_ >= 0 ? fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                              static_cast<off_t>(bytes_)) == 0
                                  : madvise(data_, bytes_, MADV_DONTNEED) == 0;
  if (!cleared) std::memset(data_, 0, bytes_);
}

}  // namespace weft::memory
