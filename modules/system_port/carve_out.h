// Device memory that lies in system memory: the carve-out of a GPU without memory controllers of its own.
//
//   CarveOut memory(image, 0x9000'0000);
//   memory.attach(path);                    // when the simulation starts
//   memory.exchange(mapped);                // before and after each launch
//
// The image stays the GPU's, as the contents of its caches, and its bytes change hands by `exchange`: what
// the GPU has changed since the last time goes out, and of the rest what others have changed comes in. (A
// second image holds what both knew last, so that either's changes can be told.) That takes no time: where
// system memory grants direct access (DMI) it goes that way, else by debug transport.
#ifndef WEFT_SYSTEM_PORT_CARVE_OUT_H
#define WEFT_SYSTEM_PORT_CARVE_OUT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/memory/memory_image.h"

namespace weft::system_port {

class CarveOut {
 public:
  // How system memory is reached without time.
  struct Path {
    // Byte `address`, if reading and writing these bytes directly is granted; else nullptr.
    std::function<unsigned char*(std::uint64_t address, std::uint64_t bytes)> direct;
    // False: it could not.
    std::function<bool(bool write, std::uint64_t address, unsigned char* data, unsigned bytes)> move;
  };

  // `image` is device memory; its byte 0 lies at `base`.
  CarveOut(memory::MemoryImage& image, std::uint64_t base) : image_(image), base_(base) {}

  std::uint64_t base() const { return base_; }
  std::uint64_t bytes() const { return image_.bytes(); }
  const memory::MemoryImage& image() const { return image_; }

  // From now on system memory is there. What the image holds already goes out, page by page where it is not
  // all zero. Throws InputError, naming `where`, if the carve-out cannot be read at its first and last byte.
  void attach(Path path, const std::string& where);
  // Direct access to these bytes of system memory, both included, ends.
  void withdraw(std::uint64_t first, std::uint64_t last);

  // Both sides know each other's changes now. Of all pages of `page_bytes` whose entry in `mapped` is not 0;
  // or of a range of device memory.
  void exchange(const std::vector<std::uint8_t>& mapped, std::uint64_t page_bytes);
  void exchange(std::uint64_t offset, std::uint64_t bytes);
  // A write of these bytes, which took time, has reached system memory: what changed meanwhile does not get
  // lost by it.
  void landed(std::uint64_t offset, const unsigned char* data, unsigned bytes);

  // Reads or writes device memory at once; the range lies within it.
  void move(bool write, std::uint64_t offset, unsigned char* data, unsigned bytes);
  // All bytes zero.
  void reset();

 private:
  static constexpr unsigned kBlock = 4096;  // bytes moved at a time

  bool reach(bool write, std::uint64_t offset, unsigned char* data, unsigned bytes) const;
  void exchange_block(std::uint64_t offset, unsigned bytes);
  void clear_outside();

  memory::MemoryImage& image_;
  const std::uint64_t base_;
  Path path_;
  unsigned char* direct_ = nullptr;           // byte 0, while it may be accessed directly
  std::optional<memory::MemoryImage> known_;  // what both sides knew last
};

}  // namespace weft::system_port

#endif
