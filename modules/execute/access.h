// One access to memory: the instruction, the threads of one chunk that execute it, and where each of them
// goes. It is handed on whole, from the operands to the record, to an observer, and to the words of a fault.
#ifndef WEFT_EXECUTE_ACCESS_H
#define WEFT_EXECUTE_ACCESS_H

#include <cstdint>

#include "execute/kernel.h"
#include "isa/address_span.h"
#include "weft/ptx/program.h"

namespace weft::execute {

// A block that is resident in a slot.
struct ResidentBlock {
  bool live = false;
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;
  std::uint16_t domain = 0;
  std::uint32_t threads = 0;
  std::uint32_t live_threads = 0;
  dispatch::Dim3 index{};  // %ctaid
};

struct Access {
  const Operation& op;
  const ResidentBlock& block;
  ptx::Pc pc = 0;
  unsigned chunk = 0;      // of the SM's positions
  unsigned group = 0;      // its number among the groups of the issue
  std::uint32_t mask = 0;  // the threads that access
  ptx::Space space = ptx::Space::kGlobal;
  // 32 lanes; kShared, kLocal, kParam: offsets in the block's, the thread's, the kernel's own; else device
  // addresses, or generic ones.
  const std::uint64_t* address = nullptr;
  const isa::AddressSpan* span = nullptr;  // of these threads' addresses; nullptr: nobody has looked

  // The same of these threads only.
  Access of(std::uint32_t threads) const {
    Access access = *this;
    access.mask = threads;
    if (threads != mask) access.span = nullptr;
    return access;
  }
  // The same of these threads, who go to another space.
  Access in(ptx::Space where, const std::uint64_t* at, std::uint32_t threads) const {
    Access access = of(threads);
    access.space = where;
    access.address = at;
    if (at != address) access.span = nullptr;
    return access;
  }
};

}  // namespace weft::execute

#endif
