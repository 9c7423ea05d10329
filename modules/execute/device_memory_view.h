// Device memory as kernels reach it: the image, which pages are allocated, and what lies behind it.
#ifndef WEFT_EXECUTE_DEVICE_MEMORY_VIEW_H
#define WEFT_EXECUTE_DEVICE_MEMORY_VIEW_H

#include <cstdint>

namespace weft::texture {
class Table;
}

namespace weft::execute {

class DeviceServices;
class SystemMemory;

struct DeviceMemoryView {
  std::uint8_t* image = nullptr;  // byte 0 of device memory; the SM asks for it through DMI
  std::uint64_t base = 0;         // device address of byte 0
  std::uint64_t bytes = 0;
  const std::uint8_t* mapped = nullptr;  // one byte per page, 0: not allocated
  unsigned page_shift = 12;
  DeviceServices* services = nullptr;       // of the device runtime; without: no output, an empty heap
  const texture::Table* objects = nullptr;  // textures and surfaces
  SystemMemory* system = nullptr;           // without: there is none
  bool untimed = false;  // no transactions follow: memory without direct access is reached at once, too
};

}  // namespace weft::execute

#endif
