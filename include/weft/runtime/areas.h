// Areas of memory of up to three dimensions, for copies and fills: rows of bytes, or a part of an array.
#ifndef WEFT_RUNTIME_AREAS_H
#define WEFT_RUNTIME_AREAS_H

#include <cstdint>

namespace weft::texture {
struct Image;
}

namespace weft::runtime {

struct Box {
  std::uint64_t width = 0;  // bytes
  std::uint64_t height = 1, depth = 1;
  bool empty() const { return width == 0 || height == 0 || depth == 0; }
  std::uint64_t bytes() const { return width * height * depth; }
};

// Where a box begins, and how its rows lie.
struct Area {
  std::uint64_t address = 0;  // of the first byte: a device address, or the host's pointer
  std::uint64_t pitch = 0;    // bytes from row to row
  std::uint64_t slice = 0;    // bytes from slice to slice
  // Instead of these: level 0 of an array, which stays until the copy is done, from this place on.
  const texture::Image* image = nullptr;
  std::uint64_t x = 0;         // bytes
  std::uint32_t y = 0, z = 0;  // rows; slices, layers or faces

  static Area at_address(std::uint64_t address) {
    Area area;
    area.address = address;
    return area;
  }
  // Whether rows are bytes that follow each other.
  bool has_whole_rows() const;
  // How many bytes follow each other from byte `dx` of a row on.
  std::uint64_t together(std::uint64_t dx) const {
    return has_whole_rows() ? UINT64_MAX : kTogether - (x + dx) % kTogether;
  }
  std::uint64_t address_of(std::uint64_t dx, std::uint64_t dy, std::uint64_t dz) const;
  // The part that begins there.
  Area from(std::uint64_t dx, std::uint64_t dy, std::uint64_t dz) const;

 private:
  static constexpr std::uint64_t kTogether = 16;  // in block-linear images (texture/image.h)
};

// Whether the box is bytes that follow each other there.
bool is_consecutive(const Area& area, const Box& box);

// Calls visit(address in a, address in b, bytes) for what follows each other in both, row by row.
template <class Visit>
void for_each_run(const Area& a, const Area& b, const Box& box, Visit&& visit) {
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y) {
      for (std::uint64_t x = 0, bytes = 0; x < box.width; x += bytes) {
        bytes = box.width - x;
        if (a.together(x) < bytes) bytes = a.together(x);
        if (b.together(x) < bytes) bytes = b.together(x);
        visit(a.address_of(x, y, z), b.address_of(x, y, z), bytes);
      }
    }
  }
}

}  // namespace weft::runtime

#endif
