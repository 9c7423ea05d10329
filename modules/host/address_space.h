// What the addresses in packets and kernels mean: device memory at its base; windows of system memory, an
// address there being the same number on the bus; anything else is nowhere.
#ifndef WEFT_HOST_ADDRESS_SPACE_H
#define WEFT_HOST_ADDRESS_SPACE_H

#include <cstdint>
#include <string>
#include <vector>

#include "weft/machine/address_windows.h"

namespace weft::host {

enum class Place : std::uint8_t { kNowhere, kDevice, kSystem };

class AddressSpace {
 public:
  struct Window {
    std::uint64_t base = 0, bytes = 0;
    bool enabled = false;
  };

  AddressSpace(const machine::AddressWindows& map, std::uint64_t device_bytes, unsigned windows)
      : map_(map), device_bytes_(device_bytes), windows_(windows) {}

  std::uint64_t device_base() const { return map_.device_base; }
  std::uint64_t device_bytes() const { return device_bytes_; }

  // Where the whole of [address, address + bytes) lies; an empty range lies nowhere.
  Place place_of(std::uint64_t address, std::uint64_t bytes) const;

  const std::vector<Window>& windows() const { return windows_; }
  // Not of a window that is enabled.
  void set_base(unsigned window, std::uint64_t base) { windows_[window].base = base; }
  void set_bytes(unsigned window, std::uint64_t bytes) { windows_[window].bytes = bytes; }
  // Why it cannot be; nothing happens then: the window is empty, not aligned to pages, wraps around, or
  // overlaps another window, device memory, or where kernels see shared and local memory. Empty: it is
  // enabled.
  std::string enable(unsigned window);
  void disable(unsigned window) { windows_[window].enabled = false; }
  // Windows that no register stands for. Who adds one has checked it.
  void add(std::uint64_t base, std::uint64_t bytes) { others_.push_back({base, bytes, true}); }
  void remove(std::uint64_t base);
  void reset() {
    windows_.assign(windows_.size(), Window{});
    others_.clear();
  }

 private:
  const machine::AddressWindows map_;
  const std::uint64_t device_bytes_;
  std::vector<Window> windows_, others_;
};

}  // namespace weft::host

#endif
