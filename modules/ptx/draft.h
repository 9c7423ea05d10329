// A kernel between syntax and Program: instructions over virtual registers, in final order, so that an index
// here is a PC. Made by `lower`, analysed by flow.h and liveness.h, turned into a Program by `decode`.
#ifndef WEFT_PTX_DRAFT_H
#define WEFT_PTX_DRAFT_H

#include <vector>

#include "ptx/module.h"
#include "ptx/program.h"

namespace weft::ptx {

using VirtualId = std::uint32_t;
inline constexpr VirtualId kNoRegister = UINT32_MAX;
// Ids from here name special registers: kFirstSpecial + index into Draft::specials.
inline constexpr VirtualId kFirstSpecial = 0x8000'0000u;

constexpr std::array<VirtualId, kMaxSources> no_registers() {
  std::array<VirtualId, kMaxSources> ids{};
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = kNoRegister;
  return ids;
}

struct DraftInstruction {
  Instruction fixed;  // everything but register numbers; guard >= 0 says that there is one
  // Virtual registers of fixed.dst and fixed.src where those are rows or predicates.
  std::array<VirtualId, 4> dst{kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::array<VirtualId, kMaxSources> src = no_registers();
  VirtualId guard = kNoRegister;
  std::uint32_t at = 0;  // offset in the text
};

enum class RegisterClass : std::uint8_t { kPredicate, kSingle, kDouble };
inline unsigned rows_of(RegisterClass c) {
  return c == RegisterClass::kDouble ? 2 : c == RegisterClass::kSingle ? 1 : 0;
}

struct Draft {
  std::vector<DraftInstruction> code;
  std::vector<RegisterClass> registers;  // by VirtualId
  std::uint32_t named_registers = 0;     // of those, how many the text names (the rest are temporaries)
  std::vector<Special> specials;
  std::vector<Constant> constants;
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  bool uses_dynamic_shared = false;
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::vector<std::string> files;
};

// Reads the body of `kernel`. Throws InputError.
struct Function;
Draft lower(const Module& module, const Function& kernel, const Symbols& symbols);

}  // namespace weft::ptx

#endif
