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

// PTX ISA 9.0, section 9.7.9.6. Not that of the kernels in warp.cpp, which are compiled twice.
ShuffleSource shuffle_source(ptx::Mode mode, unsigned lane, std::uint32_t b, std::uint32_t c) {
  const unsigned offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const unsigned lowest = lane & segment, limit = lowest | (clamp & ~segment);
  switch (mode) {
    case ptx::Mode::kUp:
      return {lane - offset, lane >= limit + offset};
    case ptx::Mode::kDown:
      return {lane + offset, lane + offset <= limit};
    case ptx::Mode::kBfly:
      return {lane ^ offset, (lane ^ offset) <= limit};
    default: {
      const unsigned from = lowest | (offset & ~segment);
      return {from, from <= limit};
    }
  }
}

AddressKind address_kind(const ptx::Instruction& instruction) {
  if (!instruction.wide_address) return AddressKind::kNarrow;
  const bool short_addresses = instruction.space == ptx::Space::kShared ||
                               instruction.space == ptx::Space::kLocal ||
                               instruction.space == ptx::Space::kParam;
  return short_addresses ? AddressKind::kLow : AddressKind::kWide;
}

AddressFunction find_addresses(AddressKind kind, InstructionSet set) {
#ifdef WEFT_ISA_X86_64_V3
  if (set == InstructionSet::kX86_64_v3) return x86_64_v3::find_addresses(kind);
#endif
  (void)set;
  return base::find_addresses(kind);
}

void addresses(const void* base, AddressKind kind, std::int64_t offset, std::uint64_t* address) {
  if (kind == AddressKind::kNarrow) {
    const auto* lanes = static_cast<const std::uint32_t*>(base);
    const auto added = static_cast<std::uint32_t>(offset);
    for (unsigned i = 0; i < kLanes; ++i) address[i] = lanes[i] + added;
    return;
  }
  const auto* lanes = static_cast<const std::uint64_t*>(base);
  const auto added = static_cast<std::uint64_t>(offset);
  const std::uint64_t kept = kind == AddressKind::kLow ? UINT32_MAX : UINT64_MAX;
  for (unsigned i = 0; i < kLanes; ++i) address[i] = (lanes[i] + added) & kept;
}

}  // namespace weft::isa
