// cp.async: the bytes move when the instruction issues, the transactions follow. What the source does not
// give is zero.
#ifndef WEFT_EXECUTE_COPY_INSTRUCTIONS_H
#define WEFT_EXECUTE_COPY_INSTRUCTIONS_H

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "execute/watch.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

class CopyInstructions {
 public:
  CopyInstructions(const Operands& operands, AddressSpaces& spaces, AccessRecord& record, Watch& watch,
                   Faults& faults)
      : operands_(operands), spaces_(spaces), record_(record), watch_(watch), faults_(faults) {}

  // False: a fault.
  bool run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups, const ResidentBlock& block);

 private:
  bool copy(const Access& from, const Access& to);

  const Operands& operands_;
  AddressSpaces& spaces_;
  AccessRecord& record_;
  Watch& watch_;
  Faults& faults_;
};

}  // namespace weft::execute

#endif
