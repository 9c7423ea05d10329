// What functions of the CUDA device runtime (printf, malloc, free) need from outside the SMs.
#ifndef WEFT_EXECUTE_DEVICE_SERVICES_H
#define WEFT_EXECUTE_DEVICE_SERVICES_H

#include <cstdint>
#include <string>

namespace weft::execute {

class DeviceServices {
 public:
  virtual ~DeviceServices() = default;
  // One call of printf, formatted.
  virtual void print(const std::string& text) = 0;
  // A device address with `bytes` bytes behind it, aligned to 16; 0: there is no room.
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  // False: no allocation of the heap begins at `address`.
  virtual bool release(std::uint64_t address) = 0;
};

}  // namespace weft::execute

#endif
