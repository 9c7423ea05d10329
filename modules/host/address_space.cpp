#include "host/address_space.h"

#include <algorithm>

#include "isa/address_windows.h"
#include "weft/weft_registers.h"

namespace weft::host {
namespace {

bool inside(std::uint64_t address, std::uint64_t bytes, std::uint64_t base, std::uint64_t size) {
  return bytes != 0 && address >= base && bytes <= size && address - base <= size - bytes;
}

// Neither range wraps around.
bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

Place AddressSpace::place_of(std::uint64_t address, std::uint64_t bytes) const {
  if (inside(address, bytes, device_base_, device_bytes_)) return Place::kDevice;
  const auto holds = [&](const Window& window) {
    return window.enabled && inside(address, bytes, window.base, window.bytes);
  };
  const bool in_window = std::any_of(windows_.begin(), windows_.end(), holds) ||
                         std::any_of(others_.begin(), others_.end(), holds);
  return in_window ? Place::kSystem : Place::kNowhere;
}

void AddressSpace::remove(std::uint64_t base) {
  const auto first = std::remove_if(others_.begin(), others_.end(),
                                    [&](const Window& window) { return window.base == base; });
  others_.erase(first, others_.end());
}

bool AddressSpace::enable(unsigned window) {
  Window& wanted = windows_[window];
  const bool aligned = wanted.base % WEFT_WINDOW_ALIGNMENT == 0 && wanted.bytes % WEFT_WINDOW_ALIGNMENT == 0;
  if (!aligned || wanted.bytes == 0 || wanted.base > WEFT_WINDOW_MOST_END ||
      wanted.bytes > WEFT_WINDOW_MOST_END - wanted.base) {
    return false;
  }
  const auto hits = [&](std::uint64_t base, std::uint64_t bytes) {
    return overlap(wanted.base, wanted.bytes, base, bytes);
  };
  if (hits(device_base_, device_bytes_) || hits(isa::kSharedWindow, isa::kWindowBytes) ||
      hits(isa::kLocalWindow, isa::kWindowBytes)) {
    return false;
  }
  for (const Window& other : windows_) {
    if (&other != &wanted && other.enabled && hits(other.base, other.bytes)) return false;
  }
  wanted.enabled = true;
  return true;
}

}  // namespace weft::host
