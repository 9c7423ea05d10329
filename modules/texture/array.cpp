// The shapes of images: sizes of levels, and checks.
#include <algorithm>

#include "texture/image.h"
#include "weft/common/error.h"

namespace weft::texture {
namespace {

constexpr std::uint64_t kLevelAlignment = 512;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

void need(const char* what, std::uint64_t found, std::uint64_t low, std::uint64_t high) {
  if (found >= low && found <= high) return;
  throw InputError("image", std::string(what) + " is " + std::to_string(found) + "; allowed: " +
                                std::to_string(low) + (low == high ? "" : " to " + std::to_string(high)));
}

void check(const ArrayShape& s) {
  check(s.format, "image");
  const bool volume = s.geometry == Geometry::k3d, cube = s.geometry == Geometry::kCube;
  const std::uint32_t most = volume ? kMaxVolumeExtent : kMaxExtent;
  need("width", s.width, 1, most);
  need("height", s.height, cube ? s.width : 1, cube ? s.width : s.geometry == Geometry::k1d ? 1 : most);
  need("depth", s.depth, 1, volume ? most : 1);
  need("layers", s.layers, 1, s.layered ? kMaxLayers : 1);
  if (s.layered && volume) throw InputError("image", "found layers of 3d; allowed: 1d, 2d and cube");
  unsigned levels = 1;
  for (std::uint32_t size = std::max({s.width, s.height, s.depth}); size > 1; size /= 2) ++levels;
  need("levels", s.levels, 1, std::min(levels, kMaxLevels));
}

}  // namespace

Image array_image(const ArrayShape& shape) {
  check(shape);
  Image image;
  image.geometry = shape.geometry;
  image.layered = shape.layered;
  image.format = shape.format;
  image.layout = Layout::kBlockLinear;
  image.layers = shape.layers;
  image.level_count = shape.levels;
  const std::uint64_t faces = shape.geometry == Geometry::kCube ? kCubeFaces : 1;
  for (unsigned k = 0; k < shape.levels; ++k) {
    Level& level = image.levels[k];
    level.size = {std::max(shape.width >> k, 1u), std::max(shape.height >> k, 1u),
                  std::max(shape.depth >> k, 1u)};
    level.offset = image.bytes;
    const std::uint64_t row = round_up(std::uint64_t{level.size[0]} * shape.format.bytes(), kGroupWidth);
    const bool flat = shape.geometry == Geometry::k1d;
    level.pitch = flat ? row : row * kGroupRows;
    level.slice = flat ? row : round_up(level.size[1], kGroupRows) / kGroupRows * level.pitch;
    const std::uint64_t slices = level.size[2] * shape.layers * faces;
    image.bytes = round_up(image.bytes + slices * level.slice, kLevelAlignment);
  }
  return image;
}

Image linear_image(const Format& format, std::uint32_t width) {
  check(format, "image");
  need("width", width, 1, kMaxLinearExtent);
  Image image;
  image.format = format;
  image.levels[0].size[0] = width;
  image.bytes = std::uint64_t{width} * format.bytes();
  image.levels[0].pitch = image.levels[0].slice = image.bytes;
  return image;
}

Image pitched_image(const Format& format, std::uint32_t width, std::uint32_t height, std::uint64_t pitch) {
  check(format, "image");
  need("width", width, 1, kMaxExtent);
  need("height", height, 1, kMaxExtent);
  const std::uint64_t row = std::uint64_t{width} * format.bytes();
  constexpr std::uint64_t kMostPitch = std::uint64_t{1} << 36;  // as much as device memory may have
  if (pitch < row || pitch > kMostPitch || pitch % 32 != 0) {
    throw InputError("image", "the pitch is " + std::to_string(pitch) +
                                  " bytes; allowed: a multiple of 32 of at least " + std::to_string(row) +
                                  ", up to " + std::to_string(kMostPitch));
  }
  Image image;
  image.geometry = Geometry::k2d;
  image.format = format;
  image.layout = Layout::kPitched;
  image.levels[0].size = {width, height, 1};
  image.levels[0].pitch = pitch;
  image.levels[0].slice = image.bytes = pitch * (height - 1) + row;
  return image;
}

}  // namespace weft::texture
