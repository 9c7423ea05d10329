// What the load-store unit tells whoever moves the bytes of accesses to system memory.
#ifndef WEFT_SM_SYSTEM_ACCESSES_H
#define WEFT_SM_SYSTEM_ACCESSES_H

#include <cstdint>

#include "execute/access_record.h"

namespace weft::sm {

class SystemAccesses {
 public:
  virtual ~SystemAccesses() = default;
  // A request to the block of system memory at `block`: its handle. Then, which lanes take part in it.
  virtual std::uint32_t open(std::uint16_t issue, std::uint64_t block) = 0;
  virtual void join(std::uint32_t handle, const execute::LaneAccess& access, std::uint32_t lanes) = 0;
  // False: it may not be looked up before others are done, which a response tells.
  virtual bool can_start(std::uint32_t handle) const = 0;
  virtual void started(std::uint32_t handle) = 0;  // from now on others wait for it
  // A load gets the bytes of its block, from a cache.
  virtual void fill(std::uint32_t handle, const std::uint8_t* bytes) = 0;
  virtual void close(std::uint32_t handle) = 0;  // no transaction of it comes back any more
};

}  // namespace weft::sm

#endif
