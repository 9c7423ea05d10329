// The bytes of device memory: the only image there is. Zero at first; pages are taken from the host when
// touched. They may lie elsewhere: where device memory is part of system memory that grants direct access.
#ifndef WEFT_GDDR5_MEMORY_IMAGE_H
#define WEFT_GDDR5_MEMORY_IMAGE_H

#include <cstdint>

namespace weft::gddr5 {

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
  // All bytes zero again; gives the pages back to the host, unless they lie elsewhere.
  void reset();
  // From now on the bytes are those at `elsewhere`, which somebody else owns; or, with nullptr, own ones
  // again, all zero.
  void lie_at(unsigned char* elsewhere);

 private:
  void clear_own();

  unsigned char* own_ = nullptr;
  unsigned char* data_ = nullptr;  // own_, or elsewhere
  std::uint64_t bytes_;
};

}  // namespace weft::gddr5

#endif
