#include "gddr5/memory_image.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "common/error.h"

namespace weft::gddr5 {

MemoryImage::MemoryImage(std::uint64_t bytes) : bytes_(bytes) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;
  if (bytes == 0 || bytes > kMostBytes) {
    throw InputError("device memory",
                     std::to_string(bytes) + " bytes; allowed are 1 to " + std::to_string(kMostBytes));
  }
  void* mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw InputError("device memory",
                     "the host cannot map " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  }
  data_ = own_ = static_cast<unsigned char*>(mapped);
}

MemoryImage::~MemoryImage() {
  munmap(own_, bytes_);
}

void MemoryImage::reset() {
  if (data_ == own_) return clear_own();
  // Pages that are zero already stay untouched.
  constexpr std::uint64_t kPage = 4096;
  for (std::uint64_t at = 0; at < bytes_; at += kPage) {
    const std::uint64_t page = std::min(kPage, bytes_ - at);
    const bool zero = data_[at] == 0 && std::memcmp(data_ + at, data_ + at + 1, page - 1) == 0;
    if (!zero) std::memset(data_ + at, 0, page);
  }
}

void MemoryImage::lie_at(unsigned char* elsewhere) {
  clear_own();
  data_ = elsewhere != nullptr ? elsewhere : own_;
}

// Untouched pages of a private anonymous mapping read as zero (madvise(2), MADV_DONTNEED). Should the host
// refuse, locked pages for instance, the bytes are cleared by hand.
void MemoryImage::clear_own() {
  if (madvise(own_, bytes_, MADV_DONTNEED) != 0) std::memset(own_, 0, bytes_);
}

}  // namespace weft::gddr5
