#include "texture/surface.h"

#include <algorithm>

namespace weft::texture {

Place locate(const Image& image, const std::array<std::int32_t, 3>& at, std::uint32_t layer, bool in_bytes,
             unsigned bytes, Outside outside) {
  const Level& level = image.levels[0];
  const std::int64_t row = std::int64_t{level.size[0]} * image.format.bytes();
  const std::int64_t unit = in_bytes ? 1 : image.format.bytes();
  std::array<std::int64_t, 4> x{at[0] * unit, 0, 0, layer};
  // The last place of each axis; a row shorter than the access has none.
  std::array<std::int64_t, 4> last{row / bytes * bytes - bytes, 0, 0, image.layers - 1};
  for (unsigned i = 1; i < image.axes(); ++i) {
    x[i] = at[i];
    last[i] = level.size[i] - 1;
  }
  if (x[0] % bytes != 0) return {Place::Kind::kMisaligned, 0};
  for (unsigned i = 0; i < 4; ++i) {
    if (last[i] < 0) return {Place::Kind::kOutside, 0};
    if (outside == Outside::kClamp) {
      x[i] = std::clamp<std::int64_t>(x[i], 0, last[i]);
    } else if (x[i] < 0 || x[i] > last[i]) {
      return {Place::Kind::kOutside, 0};
    }
  }
  const auto slice = static_cast<std::uint32_t>(image.geometry == Geometry::k3d ? x[2] : x[3]);
  const auto y = static_cast<std::uint32_t>(x[1]);
  return {Place::Kind::kInside,
          image.address + image.offset_of(level, static_cast<std::uint64_t>(x[0]), y, slice)};
}

}  // namespace weft::texture
