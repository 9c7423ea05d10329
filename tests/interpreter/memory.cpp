#include "interpreter/memory.h"

#include <sstream>
#include <stdexcept>

#include "default_addresses.h"

namespace weft::test {

using ptx::Space;

namespace {

[[noreturn]] void fault(const char* what, const char* space, std::uint64_t address, unsigned bytes) {
  std::ostringstream text;
  text << what << ": " << bytes << " bytes at " << space << " address 0x" << std::hex << address;
  throw std::runtime_error(text.str());
}

std::uint8_t* inside(const std::vector<std::uint8_t>& memory, std::uint64_t base, std::uint64_t address,
                     unsigned bytes, const char* space) {
  const std::uint64_t offset = address - base;
  if (address < base || offset > memory.size() || memory.size() - offset < bytes) {
    fault("access outside of memory", space, address, bytes);
  }
  return const_cast<std::uint8_t*>(memory.data()) + offset;
}

bool in_window(std::uint64_t window, std::uint64_t address) {
  return address >= window && address - window < kDefaultMap.window_bytes;
}

}  // namespace

Space space_of(std::uint64_t generic) {
  if (in_window(kDefaultMap.shared_base, generic)) return Space::kShared;
  return in_window(kDefaultMap.local_base, generic) ? Space::kLocal : Space::kGlobal;
}

std::uint8_t* locate(const View& view, Space space, std::uint64_t address, unsigned bytes, bool write) {
  if (address % bytes != 0) fault("misaligned access", "an", address, bytes);
  if (space == Space::kGeneric) {
    const Space to = space_of(address);
    if (to == Space::kShared) address -= kDefaultMap.shared_base;
    if (to == Space::kLocal) address -= kDefaultMap.local_base;
    return locate(view, to, address, bytes, write);
  }
  switch (space) {
    case Space::kShared:
      return inside(*view.shared, 0, address, bytes, "shared");
    case Space::kLocal:
      return inside(*view.local, 0, address, bytes, "local");
    case Space::kParam:
      if (write) fault("write to a read-only space", "parameter", address, bytes);
      return inside(*view.parameters, 0, address, bytes, "parameter");
    case Space::kConst:
      if (write) fault("write to a read-only space", "constant", address, bytes);
      return inside(*view.global, view.global_base, address, bytes, "constant");
    default:
      return inside(*view.global, view.global_base, address, bytes, "global");
  }
}

}  // namespace weft::test
