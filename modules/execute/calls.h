// Calls and returns, and branches through a register: where each thread goes, and its way back.
#ifndef WEFT_EXECUTE_CALLS_H
#define WEFT_EXECUTE_CALLS_H

#include <cstdint>

#include "execute/access.h"
#include "execute/faults.h"
#include "execute/operands.h"

namespace weft::execute {

class Calls {
 public:
  Calls(const Operands& operands, Faults& faults) : operands_(operands), faults_(faults) {}

  // A call leaves its way back in the link register.
  void link(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask) const;
  // Where a thread goes by a return, an indexed branch or a call through a register. kNoPc: nowhere, a fault.
  ptx::Pc target(const Kernel& kernel, const Access& access, unsigned lane) const;

 private:
  const Operands& operands_;
  Faults& faults_;
};

}  // namespace weft::execute

#endif
