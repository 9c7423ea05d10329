// Accesses to system memory (unified memory). Without time they are done at once. Else an instruction only
// leaves behind where its lanes go; the transactions that follow move the bytes of each block together.
//
//   accesses.run(access);                     // in windows, aligned
//   accesses.capture(op, lanes);              // an atomic is issued: its operands stay with its transaction
//   accesses.transfer(op, lanes, mask, bytes);   // between the threads' registers and a block's bytes
#ifndef WEFT_EXECUTE_SYSTEM_ACCESSES_H
#define WEFT_EXECUTE_SYSTEM_ACCESSES_H

#include <array>
#include <cstdint>

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/address_spaces.h"
#include "execute/faults.h"
#include "execute/operands.h"
#include "execute/system_memory.h"

namespace weft::execute {

// Threads of one chunk whose elements lie in one block of system memory.
struct SystemLanes {
  std::uint16_t chunk = 0;
  std::uint32_t mask = 0;
  alignas(64) std::array<std::uint64_t, isa::kLanes> offset{};  // in the block
  // The operands of an atomic as of its issue: 32 lanes of 32 or 64 bits.
  alignas(64) std::array<std::array<std::uint64_t, isa::kLanes>, 2> operand;
};

class SystemAccesses {
 public:
  SystemAccesses(const Operands& operands, const AddressSpaces& spaces, AccessRecord& record, Faults& faults)
      : operands_(operands), spaces_(spaces), record_(record), faults_(faults) {}

  // All elements lie in windows, and are aligned. False: a fault.
  bool run(const Access& access);
  // Keeps the operands of an atomic.
  void capture(const Operation& op, SystemLanes& lanes) const;
  // For threads of the mask. A load takes its registers from the block's bytes, a store writes its own there;
  // an atomic changes them, by the operands that were captured.
  void transfer(const Operation& op, const SystemLanes& lanes, std::uint32_t mask, std::uint8_t* bytes) const;

 private:
  LaneAccess& record(const Access& access);
  void record_by_windows(const Access& access);
  bool run_untimed(const Access& access);
  void in_region(const Access& access, const SystemMemory::Region& region);
  bool move(const Access& access);

  const Operands& operands_;
  const AddressSpaces& spaces_;
  AccessRecord& record_;
  Faults& faults_;
};

}  // namespace weft::execute

#endif
