// Surfaces: reading and writing an array at a place given in bytes (.b) or texels (.p) along x.
#ifndef WEFT_TEXTURE_SURFACE_H
#define WEFT_TEXTURE_SURFACE_H

#include <array>
#include <cstdint>

#include "texture/image.h"

namespace weft::texture {

using Outside = ptx::ImageAccess::Outside;

struct Place {
  enum class Kind : std::uint8_t { kInside, kOutside, kMisaligned } kind = Kind::kInside;
  std::uint64_t address = 0;  // device address, of kInside
};

// Where an access of `bytes` bytes at (x, y, z) of a layer goes. With Outside::kClamp coordinates are moved
// to the nearest place inside at which an access of that size fits; otherwise such an access is kOutside. A
// place in bytes must be a multiple of `bytes`.
Place locate(const Image& image, const std::array<std::int32_t, 3>& at, std::uint32_t layer, bool in_bytes,
             unsigned bytes, Outside outside);

}  // namespace weft::texture

#endif
