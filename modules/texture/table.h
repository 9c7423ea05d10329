// Texture and surface objects by handle. A GPU has one table; the handles are what kernels pass to tex and
// sust.
//
// Handles lie below 2^32, which tells them from device addresses. They say what kind of object they name and
// carry a generation, so that the handle of a destroyed object is not mistaken for that of a new one.
#ifndef WEFT_TEXTURE_TABLE_H
#define WEFT_TEXTURE_TABLE_H

#include <cstdint>
#include <vector>

#include "texture/sampler.h"

namespace weft::texture {

enum class ObjectKind : std::uint8_t { kTexture = 1, kSurface = 2, kSampler = 3 };

class Table {
 public:
  // Throws InputError if `texture` is one that check() refuses, or if there are 2^20 objects.
  std::uint64_t add_texture(const Texture& texture);
  // A surface is level 0 of an array. InputError for other images, and for cubes.
  std::uint64_t add_surface(const Image& image);
  // Throws InputError if there is no such object.
  void remove(std::uint64_t handle);
  void clear() { slots_.clear(), free_.clear(); }

  // nullptr: no such object of this kind.
  const Texture* texture(std::uint64_t handle) const { return find(handle, ObjectKind::kTexture); }
  const Image* surface(std::uint64_t handle) const {
    const Texture* found = find(handle, ObjectKind::kSurface);
    return found == nullptr ? nullptr : &found->image;
  }

 private:
  static constexpr unsigned kIndexBits = 20, kGenerationShift = 23;
  struct Slot {
    Texture object;
    std::uint64_t handle = 0;  // 0: free
    std::uint32_t generation = 0;
  };
  const Texture* find(std::uint64_t handle, ObjectKind kind) const {
    const std::uint64_t index = handle & ((1u << kIndexBits) - 1);
    const bool known = index < slots_.size() && slots_[index].handle == handle && handle != 0 &&
                       (handle >> kIndexBits & 7) == static_cast<unsigned>(kind);
    return known ? &slots_[index].object : nullptr;
  }
  std::uint64_t add(const Texture& object, ObjectKind kind);

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::texture

#endif
