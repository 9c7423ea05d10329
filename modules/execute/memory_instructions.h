// Loads, stores and atomics: they take effect when they issue, and leave in the record where their lanes
// went.
#ifndef WEFT_EXECUTE_MEMORY_INSTRUCTIONS_H
#define WEFT_EXECUTE_MEMORY_INSTRUCTIONS_H

#include <cstdint>

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "execute/system_accesses.h"
#include "execute/watch.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class MemoryInstructions {
 public:
  MemoryInstructions(const Operands& operands, AddressSpaces& spaces, AccessRecord& record, Watch& watch,
                     Faults& faults, SystemAccesses& system)
      : operands_(operands),
        spaces_(spaces),
        record_(record),
        watch_(watch),
        faults_(faults),
        system_(system) {}

  void start_kernel() { system_uses_ = 0; }
  // False: a fault.
  bool run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups, const ResidentBlock& block);
  // Accesses that left device memory for system memory, in this kernel.
  std::uint64_t system_uses() const { return system_uses_; }

 private:
  // Of threads that the watch may refuse, then of those that it permits.
  bool reach(const Access& access);
  bool direct(const Access& access);
  bool unified(const Access& access);
  bool local(const Access& asked);
  bool generic(const Access& access);

  const Operands& operands_;
  AddressSpaces& spaces_;
  AccessRecord& record_;
  Watch& watch_;
  Faults& faults_;
  SystemAccesses& system_;
  std::uint64_t system_uses_ = 0;
};

}  // namespace weft::execute

#endif
