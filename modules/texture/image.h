// An image: texels in device memory, and where each of them lies.
//
// Three layouts. A *linear* image is a row of texels. A *pitched* one is rows, `pitch` bytes apart. An
// *array* is block-linear, so that neighbours in two dimensions share cache lines: groups of 64 bytes by 8
// rows take 512 consecutive bytes, groups follow each other row by row, and slices (of a volume, or layers,
// or faces) one by one. Inside a group the offset is
//     (x / 32) * 256 + (y / 2) * 64 + (x / 16 mod 2) * 32 + (y mod 2) * 16 + x mod 16        (x in bytes)
// which is the group of bytes ("GOB") of NVIDIA's GPUs since Fermi as open drivers document it, with blocks
// of one group. An aligned line of 128 bytes thus holds 32 bytes of four rows. One-dimensional levels are
// linear.
#ifndef WEFT_TEXTURE_IMAGE_H
#define WEFT_TEXTURE_IMAGE_H

#include <array>
#include <cstdint>
#include <string>

#include "texture/format.h"
#include "weft/ptx/program.h"

namespace weft::texture {

using Geometry = ptx::ImageAccess::Geometry;

enum class Layout : std::uint8_t { kLinear, kPitched, kBlockLinear };
inline constexpr unsigned kMaxLevels = 16;
inline constexpr unsigned kCubeFaces = 6;
// Block-linear levels are made of groups: 64 bytes of 8 rows.
inline constexpr std::uint64_t kGroupWidth = 64, kGroupRows = 8;
// Limits of texture hardware of compute capability 2.0 and later (CUDA C++ programming guide, "Compute
// capabilities"); linear: elements.
inline constexpr std::uint32_t kMaxExtent = 65536, kMaxVolumeExtent = 4096, kMaxLayers = 2048;
inline constexpr std::uint32_t kMaxLinearExtent = 1u << 27;

struct Level {
  std::array<std::uint32_t, 3> size{1, 1, 1};  // texels
  std::uint64_t offset = 0;                    // bytes from the image's address
  std::uint64_t pitch = 0;                     // bytes: of a row, or of a row of groups
  std::uint64_t slice = 0;                     // bytes of a slice
};

struct Image {
  Geometry geometry = Geometry::k1d;
  bool layered = false;
  Format format;
  Layout layout = Layout::kLinear;
  std::uint64_t address = 0;  // in device memory, as kernels see it
  std::uint32_t layers = 1;   // without the faces of cubes
  std::uint32_t level_count = 1;
  std::uint64_t bytes = 0;  // of all levels
  std::array<Level, kMaxLevels> levels{};

  unsigned axes() const {  // axes along which texels are filtered
    return geometry == Geometry::k1d ? 1 : geometry == Geometry::k3d ? 3 : 2;
  }
  // Bytes from the image's address to the byte `x` of row `y` of slice `z`.
  std::uint64_t offset_of(const Level& level, std::uint64_t x, std::uint32_t y, std::uint32_t z) const;
};

// What an array is made of.
struct ArrayShape {
  Geometry geometry = Geometry::k2d;
  bool layered = false;
  Format format;
  std::uint32_t width = 1, height = 1, depth = 1;  // texels; axes that the geometry lacks are 1
  std::uint32_t layers = 1;
  std::uint32_t levels = 1;  // each half the size of the one before, at least 1
};

// Images without an address yet. Throw InputError for sizes out of range.
Image array_image(const ArrayShape& shape);
Image linear_image(const Format& format, std::uint32_t width);
Image pitched_image(const Format& format, std::uint32_t width, std::uint32_t height, std::uint64_t pitch);

std::string name_of(Geometry geometry, bool layered);  // "2d", "a2d", "cube", "acube"

}  // namespace weft::texture

#endif
