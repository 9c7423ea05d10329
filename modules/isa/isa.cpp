#include "isa/isa.h"

#include <cstdlib>
#include <cstring>

#include "isa/address_span.h"
#include "isa/versions.h"

namespace weft::isa {

InstructionSet best_instruction_set() {
  const char* forced = std::getenv("WEFT_ISA");
  if (forced != nullptr && std::strcmp(forced, "base") == 0) return InstructionSet::kBase;
#ifdef WEFT_ISA_X86_64_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("f16c")) {
    return InstructionSet::kX86_64_v3;
  }
#endif
  return InstructionSet::kBase;
}

LaneFunction find(const ptx::Instruction& instruction, InstructionSet set) {
#ifdef WEFT_ISA_X86_64_V3
  if (set == InstructionSet::kX86_64_v3) return x86_64_v3::find(instruction);
#endif
  (void)set;
  return base::find(instruction);
}

MemoryFunction find_memory(const ptx::Instruction& instruction, InstructionSet set) {
#ifdef WEFT_ISA_X86_64_V3
  if (set == InstructionSet::kX86_64_v3) return x86_64_v3::find_memory(instruction);
#endif
  (void)set;
  return base::find_memory(instruction);
}

AddressFunction find_addresses(bool wide, InstructionSet set) {
#ifdef WEFT_ISA_X86_64_V3
  if (set == InstructionSet::kX86_64_v3) return x86_64_v3::find_addresses(wide);
#endif
  (void)set;
  return base::find_addresses(wide);
}

void addresses(const void* base, bool wide, std::int64_t offset, std::uint64_t* address) {
  const auto added = static_cast<std::uint64_t>(offset);
  if (wide) {
    const auto* lanes = static_cast<const std::uint64_t*>(base);
    for (unsigned i = 0; i < kLanes; ++i) address[i] = lanes[i] + added;
  } else {
    const auto* lanes = static_cast<const std::uint32_t*>(base);
    for (unsigned i = 0; i < kLanes; ++i) address[i] = lanes[i] + added;
  }
}

}  // namespace weft::isa
