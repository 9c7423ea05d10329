// System memory as kernels see it: addresses inside windows, at the numbers that the rest of the SoC uses.
//
// In a launch that takes time, transactions move the bytes, whatever the memory behind a window grants.
// Without time, instructions read and write it at once: directly where it grants that (DMI), else as the path
// to it does.
#ifndef WEFT_EXECUTE_SYSTEM_MEMORY_H
#define WEFT_EXECUTE_SYSTEM_MEMORY_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "weft/machine/address_windows.h"

namespace weft::execute {

// Inside the SMs, system address a is a + kSystemSpace, so that it is no offset into device memory.
inline constexpr std::uint64_t kSystemSpace = std::uint64_t{1} << 58;

class SystemMemory {
 public:
  // Bytes first to last (both included) that may be read at `data`, and written if `writable`. Without `data`
  // they may not be.
  struct Region {
    std::uint64_t first = 0, last = 0;
    std::uint8_t* data = nullptr;
    bool writable = false;
    bool holds(std::uint64_t address, std::uint64_t bytes) const {
      return address >= first && address <= last && last - address >= bytes - 1;
    }
    std::uint8_t* at(std::uint64_t address) const { return data + (address - first); }
  };
  // How the memory is reached.
  struct Path {
    // The region around an address that is to be read, or read and written; perhaps without `data`.
    std::function<Region(std::uint64_t address, bool write)> ask;
    // Moves bytes of a kernel that runs without timing. Returns what the memory did instead, such as "does
    // not answer"; empty: they are moved.
    std::function<std::string(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes)> move;
    // Reads bytes for a message. False: it could not.
    std::function<bool(std::uint64_t address, std::uint8_t* data, unsigned bytes)> look;
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

  // The region that grants reading these bytes, or reading and writing them; nullptr: none does. Cut to the
  // window. Stays as it is until `forget`, or until another is asked for.
  const Region* direct(std::uint64_t address, std::uint64_t bytes, bool write);
  // Direct access to these bytes, both included, has ended.
  void forget(std::uint64_t first, std::uint64_t last);
  // What was refused may be granted now: asked again.
  void ask_again() {
    for (Answers& answers : answers_) answers.refused.clear();
  }
  std::string move(bool write, std::uint64_t address, std::uint8_t* data, unsigned bytes) const {
    return path_.move ? path_.move(write, address, data, bytes) : "is not there for";
  }
  bool look(std::uint64_t address, std::uint8_t* data, unsigned bytes) const {
    return path_.look && path_.look(address, data, bytes);
  }

 private:
  const machine::AddressWindows map_;
  const std::uint64_t device_bytes_;
  Path path_;
  std::vector<Window> windows_;
  struct Answers {
    std::vector<Region> granted, refused;
  };
  Answers answers_[2];  // to requests to read, to read and write
};

}  // namespace weft::execute

#endif
