// System memory as kernels see it: addresses inside windows, at the numbers that the rest of the SoC uses.
//
// In a launch that takes time, transactions move the bytes, whatever the memory behind a window grants.
// Without time, instructions read and write it at once: directly where it grants that (DMI), else by debug
// transport.
#ifndef WEFT_EXECUTE_SYSTEM_MEMORY_H
#define WEFT_EXECUTE_SYSTEM_MEMORY_H

#include <cstdint>
#include <functional>
#include <vector>

#include "weft/machine/address_windows.h"

namespace weft::execute {

// Inside the SMs, system address a is a + kSystemSpace, so that it is no offset into device memory.
inline constexpr std::uint64_t kSystemSpace = std::uint64_t{1} << 58;

class SystemMemory {
 public:
  // Bytes first to last (both included) that may be read and written at `data`. Without `data` they may not
  // be. (What may only be read counts as such: a thread's load must not overtake its store.)
  struct Region {
    std::uint64_t first = 0, last = 0;
    std::uint8_t* data = nullptr;
    bool holds(std::uint64_t address, std::uint64_t bytes) const {
      return address >= first && address <= last && last - address >= bytes - 1;
    }
    std::uint8_t* at(std::uint64_t address) const { return data + (address - first); }
  };
  // How the memory is reached.
  struct Path {
    std::function<Region(std::uint64_t address)> ask;  // the region around it, perhaps without `data`
    // Moves bytes without time; false: it could not.
    std::function<bool(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes)> move;
  };

  // Beside device memory of `device_bytes`, and the rest of the map.
  SystemMemory(const machine::AddressWindows& map, std::uint64_t device_bytes)
      : map_(map), device_bytes_(device_bytes) {}
  void reach_through(Path path) { path_ = std::move(path); }

  // Throws InputError for an empty window, one that ends beyond kSystemSpace, or one that overlaps device
  // memory, the windows of shared and local memory, or another window.
  void add_window(std::uint64_t base, std::uint64_t bytes);
  // The window that begins at `base`; nothing happens if there is none.
  void remove_window(std::uint64_t base);
  // No windows, and nothing known about regions.
  void reset();
  bool empty() const { return windows_.empty(); }
  // Whether all these bytes lie in one window.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return window_of(address, bytes) != nullptr;
  }
  struct Window {
    std::uint64_t base = 0, bytes = 0;
  };
  // The window that they all lie in, or nullptr. Until the next one is added or removed.
  const Window* window_of(std::uint64_t address, std::uint64_t bytes) const;

  // The region that grants access to these bytes; nullptr: none does. Cut to the window. Stays as it is until
  // `forget`.
  const Region* direct(std::uint64_t address, std::uint64_t bytes);
  // Direct access to these bytes, both included, has ended.
  void forget(std::uint64_t first, std::uint64_t last);
  // What was refused may be granted now: asked again.
  void ask_again() { refused_.clear(); }
  bool move(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) const {
    return path_.move && path_.move(write, address, data, bytes);
  }

 private:
  const machine::AddressWindows map_;
  const std::uint64_t device_bytes_;
  Path path_;
  std::vector<Window> windows_;
  std::vector<Region> granted_, refused_;
};

}  // namespace weft::execute

#endif
