// The bytes of device memory: the only image there is. Zero at first; pages are taken from the host when
// touched.
#ifndef WEFT_MEMORY_MEMORY_IMAGE_H
#define WEFT_MEMORY_MEMORY_IMAGE_H

#include <cstdint>

namespace weft::memory {

class MemoryImage {
 public:
  // `bytes` from 1 to 1 TiB; throws InputError otherwise or if the host cannot map them.
  explicit MemoryImage(std::uint64_t bytes);
  ~MemoryImage();
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  unsigned char* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return bytes <= bytes_ && address <= bytes_ - bytes;
  }
  // All bytes zero again; gives the pages back to the host.
  void reset();
  // From now on the bytes lie in a file, which other processes may map, at the same addresses of this one:
  // its descriptor, which belongs to the image. The file is as long as the next power of two. Only before
  // anything was written, which would be lost. Throws InputError if the host cannot.
  int share();

 private:
  unsigned char* data_ = nullptr;
  std::uint64_t bytes_;
  int file_ = -1;
};

}  // namespace weft::memory

#endif
