// Where a kernel finds memory among its generic addresses: all of device memory, and a window each for its
// block's shared memory and its thread's local memory. What lies outside is system memory where a window of
// it is open, and else nothing.
#ifndef WEFT_MACHINE_ADDRESS_WINDOWS_H
#define WEFT_MACHINE_ADDRESS_WINDOWS_H

#include <array>
#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::machine {

// Bytes base to base + bytes - 1, what they are called, and the key that moves them.
struct AddressRange {
  const char* name = nullptr;
  std::uint64_t base = 0, bytes = 0;
  const char* key = nullptr;
  // None of these ranges wraps around.
  bool overlaps(std::uint64_t other, std::uint64_t other_bytes) const {
    return other < base + bytes && base < other + other_bytes;
  }
  // "0x1000 to 0x1fff".
  std::string extent() const;
};

struct AddressWindows {
  std::uint64_t device_base = 0x1'0000'0000;
  std::uint64_t shared_base = 0x0100'0000, local_base = 0x0200'0000;
  std::uint64_t window_bytes = 0x0100'0000;  // of each of these two

  // Device memory of `device_bytes`, the window of shared memory, that of local memory.
  std::array<AddressRange, 3> ranges(std::uint64_t device_bytes) const;
  // What of it lies among these bytes, with its extent and the key that moves it: "device memory, 0x1000 to
  // 0x1fff (addresses.device_base)". Empty: nothing, so they may be system memory.
  std::string overlapped(std::uint64_t base, std::uint64_t bytes, std::uint64_t device_bytes) const;

  void describe(config::Visitor& v);
  // Throws InputError for a base that is no multiple of 4096 and for ranges that overlap, with both.
  void check(const std::string& where, std::uint64_t device_bytes) const;
};

}  // namespace weft::machine

#endif
