// kSystem instructions: functions of the CUDA device runtime (printf, malloc, free, assert), trap and brkpt.
// They take the time of one control instruction; their memory accesses take none.
#ifndef WEFT_EXECUTE_DEVICE_CALLS_H
#define WEFT_EXECUTE_DEVICE_CALLS_H

#include <cstdint>

#include "execute/access.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "execute/watch.h"

namespace weft::execute {

class DeviceCalls {
 public:
  DeviceCalls(const Operands& operands, AddressSpaces& spaces, Watch& watch, Faults& faults)
      : operands_(operands), spaces_(spaces), watch_(watch), faults_(faults) {}

  void start_kernel() { count_ = 0; }
  // For the threads of the mask, in ascending order; it has no addresses. False: a fault, or the end of the
  // kernel that the program asked for.
  bool run(const Access& access);
  // Instructions that this kernel has executed.
  std::uint64_t count() const { return count_; }

 private:
  Fault call(ptx::SystemCall call, std::uint64_t area, const AddressSpaces::Thread& thread);

  const Operands& operands_;
  AddressSpaces& spaces_;
  Watch& watch_;
  Faults& faults_;
  std::uint64_t count_ = 0;
};

}  // namespace weft::execute

#endif
