#include "host/address_space.h"

#include <algorithm>

#include "common/hex.h"
#include "weft/weft_registers.h"

namespace weft::host {
namespace {

bool inside(std::uint64_t address, std::uint64_t bytes, std::uint64_t base, std::uint64_t size) {
  return bytes != 0 && address >= base && bytes <= size && address - base <= size - bytes;
}

}  // namespace

Place AddressSpace::place_of(std::uint64_t address, std::uint64_t bytes) const {
  if (inside(address, bytes, map_.device_base, device_bytes_)) return Place::kDevice;
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

std::string AddressSpace::enable(unsigned window) {
  Window& wanted = windows_[window];
  const std::string name = "window " + std::to_string(window);
  const bool aligned = wanted.base % WEFT_WINDOW_ALIGNMENT == 0 && wanted.bytes % WEFT_WINDOW_ALIGNMENT == 0;
  if (!aligned || wanted.bytes == 0 || wanted.base > WEFT_WINDOW_MOST_END ||
      wanted.bytes > WEFT_WINDOW_MOST_END - wanted.base) {
    return name + " has " + std::to_string(wanted.bytes) + " bytes at " + hex(wanted.base) +
           "; allowed: multiples of " + std::to_string(WEFT_WINDOW_ALIGNMENT) + ", at least one, up to " +
           hex(WEFT_WINDOW_MOST_END);
  }
  const machine::AddressRange range{nullptr, wanted.base, wanted.bytes};
  const std::string overlaps = name + ", " + range.extent() + ", overlaps ";
  const std::string other = map_.overlapped(wanted.base, wanted.bytes, device_bytes_);
  if (!other.empty()) return overlaps + other;
  for (unsigned i = 0; i < windows_.size(); ++i) {
    const machine::AddressRange open{nullptr, windows_[i].base, windows_[i].bytes};
    if (i != window && windows_[i].enabled && open.overlaps(wanted.base, wanted.bytes))
      return overlaps + "window " + std::to_string(i) + ", " + open.extent();
  }
  wanted.enabled = true;
  return "";
}

}  // namespace weft::host
