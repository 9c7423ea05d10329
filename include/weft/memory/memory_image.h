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

 private:
  unsigned char* data_ = nullptr;
  std::uint64_t bytes_;
};

}  // namespace weft::memory

#endif
