// Addresses of 32 lanes and the range that the active ones cover, in one pass.
#ifndef WEFT_ISA_ADDRESS_SPAN_H
#define WEFT_ISA_ADDRESS_SPAN_H

#include <cstdint>

#include "isa/isa.h"

namespace weft::isa {

// address[i] = base[i] + offset, as the kind says; an inactive lane gets the address of an active one. At
// least one lane is active.
struct AddressSpan {
  std::uint64_t low = 0, high = 0;  // the smallest and the largest address
  std::uint64_t bits = 0;           // all addresses or-ed
};
using AddressFunction = AddressSpan (*)(const void* base, std::int64_t offset, std::uint32_t active,
                                        std::uint64_t* address);
AddressFunction find_addresses(AddressKind kind, InstructionSet set = best_instruction_set());

namespace base {
AddressFunction find_addresses(AddressKind kind);
}  // namespace base
namespace x86_64_v3 {
AddressFunction find_addresses(AddressKind kind);
}  // namespace x86_64_v3

}  // namespace weft::isa

#endif
