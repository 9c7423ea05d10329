// The two buses of the GPU as one address space: a transfer goes to device memory or to system memory.
#ifndef WEFT_HOST_BUS_H
#define WEFT_HOST_BUS_H

#include <cstddef>
#include <cstdint>

#include "host/address_space.h"
#include "host/bus_master.h"

namespace weft::host {

class Bus {
 public:
  Bus(const AddressSpace& space, BusMaster& device, BusMaster& system)
      : space_(space), device_(device), system_(system) {}

  const AddressSpace& space() const { return space_; }
  // What lies nowhere is refused by the master of system memory, with an address error.
  void start(Transfer& transfer) {
    const bool device = space_.place_of(transfer.address, transfer.bytes) == Place::kDevice;
    (device ? device_ : system_).start(transfer);
  }

  // Reads by debug transport, in no time. False: what lies there does not answer.
  bool peek(std::uint64_t address, unsigned char* to, std::size_t bytes) {
    const Place place = space_.place_of(address, bytes);
    if (place == Place::kNowhere) return false;
    return (place == Place::kDevice ? device_ : system_).peek(address, to, bytes);
  }

 private:
  const AddressSpace& space_;
  BusMaster& device_;
  BusMaster& system_;
};

}  // namespace weft::host

#endif
