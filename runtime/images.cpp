#include "runtime/images.h"

#include <cstring>
#include <vector>

#include "runtime/allocator.h"
#include "texture/table.h"
#include "weft/platform/gpu.h"

namespace weft::runtime {
namespace {

std::uint32_t slices_of(const texture::Image& image, const texture::Level& level) {
  const std::uint32_t faces = image.geometry == texture::Geometry::kCube ? texture::kCubeFaces : 1;
  return level.size[2] * image.layers * faces;
}

const texture::Level& level_of(const texture::Image& image, unsigned level) {
  if (level < image.level_count) return image.levels[level];
  throw InputError("image", "found level " + std::to_string(level) + "; allowed: 0 to " +
                                std::to_string(image.level_count - 1));
}

// Calls visit(packed offset, offset from the level's start) for every texel.
template <class Visit>
void for_each_texel(const texture::Image& image, const texture::Level& level, Visit&& visit) {
  const unsigned bytes = image.format.bytes();
  std::uint64_t packed = 0;
  for (std::uint32_t z = 0; z < slices_of(image, level); ++z) {
    for (std::uint32_t y = 0; y < level.size[1]; ++y) {
      for (std::uint32_t x = 0; x < level.size[0]; ++x, packed += bytes) {
        visit(packed, image.offset_of(level, std::uint64_t{x} * bytes, y, z) - level.offset);
      }
    }
  }
}

// Both ends must lie in allocated memory; holes between are found when a kernel touches them.
void check_memory(const Device& device, const texture::Image& image) {
  if (image.address % Allocator::kAlignment != 0) {
    throw InputError("image", "its address is " + std::to_string(image.address) +
                                  "; allowed: a multiple of " + std::to_string(Allocator::kAlignment));
  }
  std::uint8_t byte = 0;
  device.copy_from(&byte, image.address, 1);
  device.copy_from(&byte, image.address + image.bytes - 1, 1);
}

}  // namespace

texture::Image create_array(Device& device, const texture::ArrayShape& shape) {
  texture::Image image = texture::array_image(shape);
  image.address = device.allocate(image.bytes);
  device.fill(image.address, 0, image.bytes);
  return image;
}

std::uint64_t level_bytes(const texture::Image& image, unsigned level) {
  const texture::Level& l = level_of(image, level);
  return std::uint64_t{l.size[0]} * l.size[1] * slices_of(image, l) * image.format.bytes();
}

void copy_to_array(Device& device, const texture::Image& image, const void* from, unsigned level) {
  const texture::Level& l = level_of(image, level);
  std::vector<std::uint8_t> stored(slices_of(image, l) * l.slice);
  const unsigned bytes = image.format.bytes();
  for_each_texel(image, l, [&](std::uint64_t packed, std::uint64_t offset) {
    std::memcpy(stored.data() + offset, static_cast<const std::uint8_t*>(from) + packed, bytes);
  });
  device.copy_to(image.address + l.offset, stored.data(), stored.size());
}

void copy_from_array(const Device& device, void* to, const texture::Image& image, unsigned level) {
  const texture::Level& l = level_of(image, level);
  std::vector<std::uint8_t> stored(slices_of(image, l) * l.slice);
  device.copy_from(stored.data(), image.address + l.offset, stored.size());
  const unsigned bytes = image.format.bytes();
  for_each_texel(image, l, [&](std::uint64_t packed, std::uint64_t offset) {
    std::memcpy(static_cast<std::uint8_t*>(to) + packed, stored.data() + offset, bytes);
  });
}

Object create_texture(Device& device, const texture::Texture& texture) {
  check_memory(device, texture.image);
  return device.gpu().objects().add_texture(texture);
}

Object create_surface(Device& device, const texture::Image& image) {
  check_memory(device, image);
  return device.gpu().objects().add_surface(image);
}

void destroy_object(Device& device, Object object) {
  device.gpu().objects().remove(object);
}

void bind(Device& device, const LoadedModule& module, const std::string& reference, Object object) {
  const texture::Table& objects = device.gpu().objects();
  const auto refuse = [&](const char* allowed) {
    throw InputError(module.file(),
                     "cannot bind " + std::to_string(object) + " to " + reference + "; allowed: " + allowed);
  };
  switch (module.opaque_of(reference)) {
    case ptx::Opaque::kTexture:
      if (objects.texture(object) == nullptr) refuse("a texture object");
      break;
    case ptx::Opaque::kSurface:
      if (objects.surface(object) == nullptr) refuse("a surface object");
      break;
    case ptx::Opaque::kSampler:
      if (!texture::is_encoded_sampler(object)) refuse("a sampler");
      break;
    case ptx::Opaque::kNone:
      refuse("a .texref, .surfref or .samplerref as the variable");
  }
  device.copy_to(device.symbol(module, reference), &object, sizeof object);
}

}  // namespace weft::runtime
