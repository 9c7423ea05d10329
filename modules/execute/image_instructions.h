// Textures and surfaces (modules/texture): lane by lane, because each lane may have an object and a footprint
// of its own. The n-th texels of the lanes in memory are recorded as one access.
#ifndef WEFT_EXECUTE_IMAGE_INSTRUCTIONS_H
#define WEFT_EXECUTE_IMAGE_INSTRUCTIONS_H

#include <cstdint>
#include <string>

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "execute/watch.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class ImageInstructions {
 public:
  ImageInstructions(const Operands& operands, const AddressSpaces& spaces, AccessRecord& record, Watch& watch,
                    Faults& faults)
      : operands_(operands), spaces_(spaces), record_(record), watch_(watch), faults_(faults) {}

  void start_kernel() { surface_uses_ = 0; }
  // False: a fault.
  bool run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups, const ResidentBlock& block);
  // Threads that have read or written a surface, in this kernel.
  std::uint64_t surface_uses() const { return surface_uses_; }

 private:
  struct Lanes;
  bool run(const Access& access);
  bool find_object(Lanes& lanes, unsigned lane);
  std::uint64_t reference(std::uint64_t value) const;
  bool fetch(Lanes& lanes, unsigned lane);
  bool query(Lanes& lanes, unsigned lane);
  bool surface(Lanes& lanes, unsigned lane);
  bool touch(Lanes& lanes, unsigned lane, unsigned number, std::uint64_t address, unsigned bytes);
  bool permitted(const Lanes& lanes, unsigned lane, std::uint64_t address, unsigned bytes);
  bool refuse(const Lanes& lanes, unsigned lane, FaultKind kind, const std::string& what);

  const Operands& operands_;
  const AddressSpaces& spaces_;
  AccessRecord& record_;
  Watch& watch_;
  Faults& faults_;
  std::uint64_t surface_uses_ = 0;
};

}  // namespace weft::execute

#endif
