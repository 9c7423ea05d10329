#include "texture/table.h"

#include "weft/common/error.h"

namespace weft::texture {
namespace {

constexpr unsigned kSamplerShift = 20;  // as Table's kind

}  // namespace

std::uint64_t encode(const Sampler& s) {
  std::uint64_t value = std::uint64_t{static_cast<std::uint8_t>(ObjectKind::kSampler)} << kSamplerShift;
  for (unsigned i = 0; i < 3; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(s.address[i])} << 2 * i;
  if (s.filter == Filter::kLinear) value |= 1u << 6;
  if (s.normalized_coordinates) value |= 1u << 7;
  return value;
}

bool is_encoded_sampler(std::uint64_t value) {
  return (value & ~std::uint64_t{0xff}) == std::uint64_t{static_cast<std::uint8_t>(ObjectKind::kSampler)}
                                               << kSamplerShift;
}

void decode(std::uint64_t value, Sampler& s) {
  for (unsigned i = 0; i < 3; ++i) s.address[i] = static_cast<AddressMode>(value >> 2 * i & 3);
  s.filter = (value >> 6 & 1) != 0 ? Filter::kLinear : Filter::kPoint;
  s.normalized_coordinates = (value >> 7 & 1) != 0;
}

void check(const Texture& texture) {
  const Image& image = texture.image;
  const Sampler& s = texture.sampler;
  const bool integers = image.format.kind != ChannelKind::kFloat;
  const auto refuse = [](const char* what) { throw InputError("texture", what); };
  if (integers && !s.normalized_values && s.filter == Filter::kLinear) {
    refuse(
        "found a linear filter on integers; allowed for floats and for 8- or 16-bit integers read as floats");
  }
  if (s.normalized_values && (!integers || image.format.bits == 32)) {
    refuse("found normalised values of this format; allowed for integers of 8 and 16 bits");
  }
  if (image.layout == Layout::kLinear && (s.filter == Filter::kLinear || s.normalized_coordinates)) {
    refuse("found a filter or normalised coordinates on linear memory; allowed: whole coordinates");
  }
  if (image.level_count > 1 && !s.normalized_coordinates) {
    refuse("found mip levels without normalised coordinates; allowed with them");
  }
}

std::uint64_t Table::add(const Texture& object, ObjectKind kind) {
  if (free_.empty()) {
    if (slots_.size() >> kIndexBits != 0) {
      throw InputError("texture and surface objects", "found more than 1048576; allowed: up to 1048576");
    }
    slots_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Slot& slot = slots_[index];
  slot.object = object;
  slot.handle = (std::uint64_t{slot.generation} << kGenerationShift |
                 std::uint64_t{static_cast<std::uint8_t>(kind)} << kIndexBits | index) &
                UINT32_MAX;
  ++slot.generation;
  return slot.handle;
}

std::uint64_t Table::add_texture(const Texture& texture) {
  check(texture);
  return add(texture, ObjectKind::kTexture);
}

std::uint64_t Table::add_surface(const Image& image) {
  if (image.layout != Layout::kBlockLinear || image.geometry == Geometry::kCube) {
    throw InputError("surface", "found an image of another kind; allowed: an array of 1d, 2d or 3d");
  }
  return add({image, {}}, ObjectKind::kSurface);
}

void Table::remove(std::uint64_t handle) {
  if (find(handle, ObjectKind::kTexture) == nullptr && find(handle, ObjectKind::kSurface) == nullptr) {
    throw InputError("texture or surface object", "unknown handle " + std::to_string(handle));
  }
  const auto index = static_cast<std::uint32_t>(handle & ((1u << kIndexBits) - 1));
  slots_[index].handle = 0;
  free_.push_back(index);
}

}  // namespace weft::texture
