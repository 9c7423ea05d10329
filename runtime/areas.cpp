#include "weft/runtime/areas.h"

#include "texture/image.h"

namespace weft::runtime {

bool Area::has_whole_rows() const {
  return image == nullptr || image->layout != texture::Layout::kBlockLinear || image->axes() == 1;
}

std::uint64_t Area::address_of(std::uint64_t dx, std::uint64_t dy, std::uint64_t dz) const {
  if (image == nullptr) return address + dx + dy * pitch + dz * slice;
  return image->address + image->offset_of(image->levels[0], x + dx, static_cast<std::uint32_t>(y + dy),
                                           static_cast<std::uint32_t>(z + dz));
}

Area Area::from(std::uint64_t dx, std::uint64_t dy, std::uint64_t dz) const {
  Area part = *this;
  if (image == nullptr) {
    part.address = address_of(dx, dy, dz);
    return part;
  }
  part.x += dx;
  part.y += static_cast<std::uint32_t>(dy);
  part.z += static_cast<std::uint32_t>(dz);
  return part;
}

bool is_consecutive(const Area& area, const Box& box) {
  return area.image == nullptr && (box.height == 1 || area.pitch == box.width) &&
         (box.depth == 1 || area.slice == box.width * box.height);
}

}  // namespace weft::runtime
