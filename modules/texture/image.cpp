#include "texture/image.h"

namespace weft::texture {
namespace {

constexpr std::uint64_t kGroupBytes = kGroupWidth * kGroupRows;

std::uint64_t offset_in_group(std::uint64_t x, std::uint32_t y) {
  return (x / 32 % 2) * 256 + (y / 2 % 4) * 64 + (x / 16 % 2) * 32 + (y % 2) * 16 + x % 16;
}

}  // namespace

std::uint64_t Image::offset_of(const Level& level, std::uint64_t x, std::uint32_t y, std::uint32_t z) const {
  const std::uint64_t slice = level.offset + z * level.slice;
  if (layout != Layout::kBlockLinear || axes() == 1) return slice + y * level.pitch + x;
  return slice + y / kGroupRows * level.pitch + x / kGroupWidth * kGroupBytes + offset_in_group(x, y);
}

std::string name_of(Geometry geometry, bool layered) {
  const char* name = geometry == Geometry::k1d   ? "1d"
                     : geometry == Geometry::k2d ? "2d"
                     : geometry == Geometry::k3d ? "3d"
                                                 : "cube";
  return (layered ? "a" : "") + std::string(name);
}

}  // namespace weft::texture
