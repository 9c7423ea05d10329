#include "weft/machine/address_windows.h"

#include "common/config_origins.h"
#include "common/hex.h"
#include "weft/common/error.h"

namespace weft::machine {
namespace {

// Shared memory of a block, and local memory of a thread, may be as large (sm_config.h, ptx/limits.h).
constexpr std::uint64_t kLeastWindow = 0x0100'0000, kMostWindow = std::uint64_t{1} << 32;
// Addresses of system memory end at 2^58; and address 0 is nobody's.
constexpr std::uint64_t kAlignment = 4096, kMostBase = std::uint64_t{1} << 57;

}  // namespace

std::string AddressRange::extent() const {
  return hex(base) + " to " + hex(base + (bytes - 1));
}

std::array<AddressRange, 3> AddressWindows::ranges(std::uint64_t device_bytes) const {
  return {{{"device memory", device_base, device_bytes, "device_base"},
           {"the window of shared memory", shared_base, window_bytes, "shared_base"},
           {"the window of local memory", local_base, window_bytes, "local_base"}}};
}

std::string AddressWindows::overlapped(std::uint64_t base, std::uint64_t bytes,
                                       std::uint64_t device_bytes) const {
  for (const AddressRange& range : ranges(device_bytes)) {
    if (range.overlaps(base, bytes))
      return std::string(range.name) + ", " + range.extent() + " (addresses." + range.key + ")";
  }
  return "";
}

void AddressWindows::describe(config::Visitor& v) {
  v.integer("device_base", device_base, {kAlignment, kMostBase}, "bytes",
            "address of device memory's first byte for kernels and packets; a multiple of 4096");
  v.integer("shared_base", shared_base, {kAlignment, kMostBase}, "bytes",
            "where a block's shared memory appears among generic addresses; a multiple of 4096");
  v.integer("local_base", local_base, {kAlignment, kMostBase}, "bytes",
            "where a thread's local memory appears among generic addresses; a multiple of 4096");
  v.integer("window_bytes", window_bytes, {kLeastWindow, kMostWindow}, "bytes",
            "size of each of the two windows; a multiple of 4096");
}

void AddressWindows::check(const std::string& where, std::uint64_t device_bytes) const {
  const auto aligned = [&](const char* key, std::uint64_t value) {
    if (value % kAlignment == 0) return;
    throw InputError(where + "/" + key, "found " + std::to_string(value) + "; allowed: a multiple of " +
                                            std::to_string(kAlignment));
  };
  aligned("device_base", device_base);
  aligned("shared_base", shared_base);
  aligned("local_base", local_base);
  aligned("window_bytes", window_bytes);
  const auto apart = [&](const AddressRange& one, const AddressRange& other) {
    if (!one.overlaps(other.base, other.bytes)) return;
    throw config::RuleError(where + "/" + one.key, {where + "/" + other.key},
                            "found " + one.extent() + " for " + one.name + ", which overlaps " + other.name +
                                ", " + other.extent() + " (addresses." + other.key +
                                "); allowed: ranges that do not overlap");
  };
  const auto [device, shared, local] = ranges(device_bytes);
  apart(shared, device);
  apart(local, device);
  apart(local, shared);
}

}  // namespace weft::machine
