#include "execute/system_memory.h"

#include <algorithm>
#include <string>

#include "weft/common/error.h"

namespace weft::execute {
namespace {

// What a refusal is remembered for: memory and devices may lie close to each other.
constexpr std::uint64_t kPage = 4096;

}  // namespace

void SystemMemory::add_window(std::uint64_t base, std::uint64_t bytes) {
  if (bytes == 0) throw InputError("system memory window", "has 0 bytes; allowed: at least 1");
  const machine::AddressRange wanted{nullptr, base, bytes};
  if (base >= kSystemSpace || kSystemSpace - base < bytes) {
    throw InputError("system memory window", "found " + wanted.extent() + "; allowed: up to " +
                                                 machine::AddressRange{nullptr, 0, kSystemSpace}.extent());
  }
  const auto require_free_of = [&](const std::string& other) {
    if (other.empty()) return;
    throw InputError("system memory window", "found " + wanted.extent() + ", which overlaps " + other);
  };
  require_free_of(map_.overlapped(base, bytes, device_bytes_));
  for (const Window& window : windows_) {
    const machine::AddressRange other{nullptr, window.base, window.bytes};
    if (other.overlaps(base, bytes)) require_free_of("another window, " + other.extent());
  }
  windows_.push_back({base, bytes});
}

void SystemMemory::remove_window(std::uint64_t base) {
  const auto window =
      std::find_if(windows_.begin(), windows_.end(), [&](const Window& w) { return w.base == base; });
  if (window == windows_.end()) return;
  forget(window->base, window->base + (window->bytes - 1));
  windows_.erase(window);
}

void SystemMemory::reset() {
  windows_.clear();
  for (Answers& answers : answers_) answers = {};
}

const SystemMemory::Window* SystemMemory::window_of(std::uint64_t address, std::uint64_t bytes) const {
  for (const Window& window : windows_) {
    const std::uint64_t offset = address - window.base;
    if (address >= window.base && offset < window.bytes && window.bytes - offset >= bytes) return &window;
  }
  return nullptr;
}

const SystemMemory::Region* SystemMemory::direct(std::uint64_t address, std::uint64_t bytes, bool write) {
  Answers& answers = answers_[write];
  for (const Region& region : answers.granted) {
    if (region.holds(address, bytes)) return &region;
  }
  for (const Region& region : answers.refused) {
    if (region.holds(address, 1)) return nullptr;
  }
  const Window* const window = window_of(address, bytes);
  if (window == nullptr || !path_.ask) return nullptr;
  Region region = path_.ask(address, write);
  if (region.data == nullptr || (write && !region.writable) || !region.holds(address, bytes)) {
    answers.refused.push_back({address / kPage * kPage, address / kPage * kPage + (kPage - 1)});
    return nullptr;
  }
  const std::uint64_t first = std::max(region.first, window->base);
  region.data += first - region.first;
  region.first = first;
  region.last = std::min(region.last, window->base + (window->bytes - 1));
  if (region.writable) answers_[!write].granted.push_back(region);
  return &answers.granted.emplace_back(region);
}

void SystemMemory::forget(std::uint64_t first, std::uint64_t last) {
  const auto touched = [&](const Region& region) { return region.first <= last && region.last >= first; };
  for (Answers& answers : answers_) {
    for (std::vector<Region>* regions : {&answers.granted, &answers.refused})
      regions->erase(std::remove_if(regions->begin(), regions->end(), touched), regions->end());
  }
}

}  // namespace weft::execute
