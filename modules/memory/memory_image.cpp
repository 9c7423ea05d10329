#include "weft/memory/memory_image.h"

#include <sys/mman.h>

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
}

// Untouched pages of a private anonymous mapping read as zero (madvise(2), MADV_DONTNEED). Should the host
// refuse, locked pages for instance, the bytes are cleared by hand.
void MemoryImage::reset() {
  if (madvise(data_, bytes_, MADV_DONTNEED) != 0) std::memset(data_, 0, bytes_);
}

}  // namespace weft::memory
