// The heap of malloc and free in kernels: which parts of a range of device memory are in use. It takes no
// device memory for itself. The first hole that is large enough serves, by address.
#ifndef WEFT_EXECUTE_DEVICE_HEAP_H
#define WEFT_EXECUTE_DEVICE_HEAP_H

#include <cstdint>
#include <map>

#include "weft/common/archive.h"

namespace weft::execute {

class DeviceHeap {
 public:
  static constexpr std::uint64_t kAlignment = 16;

  DeviceHeap() = default;  // an empty one
  DeviceHeap(std::uint64_t address, std::uint64_t bytes);

  // An address, a multiple of kAlignment, with `bytes` bytes behind it, and `gap` more that nobody uses; 0:
  // there is no room.
  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t gap = 0);
  // False: no allocation begins at `address`.
  bool release(std::uint64_t address);
  std::uint64_t in_use() const { return in_use_; }
  void archive(Archive& archive) { archive(in_use_, holes_, live_); }

 private:
  std::uint64_t in_use_ = 0;
  std::map<std::uint64_t, std::uint64_t> holes_, live_;  // address -> bytes, multiples of kAlignment
};

}  // namespace weft::execute

#endif
