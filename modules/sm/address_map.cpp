#include "weft/sm/address_map.h"

#include "common/config_origins.h"
#include "common/hex.h"
#include "weft/common/error.h"

namespace weft::sm {
namespace {

// Shared memory of a block, and local memory of a thread, may be as large (sm_config.h, ptx/limits.h).
constexpr std::uint64_t kLeastWindow = 0x0100'0000, kMostWindow = std::uint64_t{1} << 32;
// Addresses of system memory end at 2^58; and address 0 is nobody's.
constexpr std::uint64_t kAlignment = 4096, kMostBase = std::uint64_t{1} << 57;

constexpr const char* kKeys[] = {"device_base", "shared_base", "local_base"};

}  // namespace

std::string AddressRange::extent() const {
  return hex(base) + " to " + hex(base + (bytes - 1));
}

std::array<AddressRange, 3> AddressMap::ranges(std::uint64_t device_bytes) const {
  return {{{"device memory", device_base, device_bytes},
           {"the window of shared memory", shared_base, window_bytes},
           {"the window of local memory", local_base, window_bytes}}};
}

std::string AddressMap::overlapped(std::uint64_t base, std::uint64_t bytes,
                                   std::uint64_t device_bytes) const {
  const auto all = ranges(device_bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].overlaps(base, bytes))
      return std::string(all[i].name) + ", " + all[i].extent() + " (addresses." + kKeys[i] + ")";
  }
  return "";
}

void AddressMap::describe(config::Visitor& v) {
  v.integer("device_base", device_base, {kAlignment, kMostBase}, "bytes",
            "address of device memory's first byte for kernels and packets; a multiple of 4096");
  v.integer("shared_base", shared_base, {kAlignment, kMostBase}, "bytes",
            "where a block's shared memory appears among generic addresses; a multiple of 4096");
  v.integer("local_base", local_base, {kAlignment, kMostBase}, "bytes",
            "where a thread's local memory appears among generic addresses; a multiple of 4096");
  v.integer("window_bytes", window_bytes, {kLeastWindow, kMostWindow}, "bytes",
            "of each of these two windows; a multiple of 4096");
}

void AddressMap::check(const std::string& where, std::uint64_t device_bytes) const {
  const auto aligned = [&](const char* key, std::uint64_t value) {
    if (value % kAlignment == 0) return;
    throw InputError(where + "/" + key, "found " + std::to_string(value) + ", allowed is a multiple of " +
                                            std::to_string(kAlignment));
  };
  aligned("device_base", device_base);
  aligned("shared_base", shared_base);
  aligned("local_base", local_base);
  aligned("window_bytes", window_bytes);
  const auto all = ranges(device_bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      if (!all[i].overlaps(all[j].base, all[j].bytes)) continue;
      throw config::RuleError(where + "/" + kKeys[j], {where + "/" + kKeys[i]},
                              "found " + all[j].extent() + " for " + all[j].name + ", which overlaps " +
                                  all[i].name + ", " + all[i].extent() + " (addresses." + kKeys[i] +
                                  "); allowed are ranges apart from each other");
    }
  }
}

}  // namespace weft::sm
