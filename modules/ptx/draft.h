// A kernel between syntax and Program: instructions over virtual registers, in final order, so that an index
// here is a PC. Made by `lower`, analysed by flow.h and liveness.h, turned into a Program by `decode`.
#ifndef WEFT_PTX_DRAFT_H
#define WEFT_PTX_DRAFT_H

#include <string_view>
#include <vector>

#include "ptx/vector_reason.h"
#include "weft/ptx/module.h"
#include "weft/ptx/program.h"

namespace weft::ptx {

using VirtualId = std::uint32_t;
inline constexpr VirtualId kNoRegister = UINT32_MAX;
// Ids from here name special registers: kFirstSpecial + index into Draft::specials.
inline constexpr VirtualId kFirstSpecial = 0x8000'0000u;
// Registers that every function of a program shares; nothing is known of their lives.
inline constexpr VirtualId kFirstFixed = 0x4000'0000u;
inline constexpr VirtualId kStackPointer = kFirstFixed, kLinkRegister = kFirstFixed + 1;
inline constexpr std::uint32_t kFixedRegisters = 2;

constexpr std::array<VirtualId, kMaxSources> no_registers() {
  std::array<VirtualId, kMaxSources> ids{};
  for (VirtualId& id : ids) id = kNoRegister;
  return ids;
}

struct DraftInstruction {
  Instruction fixed;  // everything but register numbers; guard >= 0 says that there is one
  // Virtual registers of fixed.dst and fixed.src where those are rows or predicates.
  std::array<VirtualId, 4> dst{kNoRegister, kNoRegister, kNoRegister, kNoRegister};
  std::array<VirtualId, kMaxSources> src = no_registers();
  VirtualId guard = kNoRegister;
  std::uint32_t at = 0;               // offset in the text
  std::uint32_t callee = 0;           // of a direct call: number of the function in the program
  std::uint32_t origin = UINT32_MAX;  // its PC when it was looked whether it is scalar (scalars.h)
  // Guarded, but nobody reads what its results held before where the guard does not hold (spill.h).
  bool fresh = false;
};

enum class RegisterClass : std::uint8_t { kPredicate, kSingle, kDouble };
inline unsigned rows_of(RegisterClass c) {
  return c == RegisterClass::kDouble ? 2 : c == RegisterClass::kSingle ? 1 : 0;
}

// A function's part of the thread's stack, from its low end: .local variables, values saved across calls,
// spilled registers, arguments and results of calls. A function that calls others points the stack pointer at
// the end of its frame, others leave it at the beginning.
struct Frame {
  bool is_kernel = true;         // the kernel's frame lies at address 0
  bool calls = false;            // calls device functions
  std::uint64_t parameters = 0;  // bytes below the frame: the function's own arguments and results
  std::uint64_t saves = 0;       // where saved values begin (the link register first, in a function)
  std::uint64_t spills = 0;      // where spilled registers begin
  std::uint64_t bytes = 0;
};
// Frames and areas of arguments are multiples of this, or of the largest alignment of a variable in them.
inline constexpr std::uint64_t kFrameAlignment = 16;

// What the text calls a register: "%r1", and 1 to 4 for an element of a vector register. Empty: nothing.
struct RegisterName {
  std::string_view name;  // in the module's text
  std::uint8_t component = 0;
  Type type = Type::kNone;  // as declared
};

struct Draft {
  Frame frame;
  std::vector<std::vector<Pc>> tables;  // targets of brx, by Instruction::target
  std::vector<DraftInstruction> code;
  std::vector<RegisterClass> registers;  // by VirtualId
  std::vector<bool> scalar;              // by VirtualId: a warp has one (scalars.h); those beyond are vector
  std::uint32_t named_registers = 0;     // of those, how many the text names (the rest are temporaries)
  std::vector<RegisterName> names;       // by VirtualId; those beyond have none
  std::vector<Special> specials;
  std::vector<Constant> constants;
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::vector<std::string> files;
  std::vector<VectorReason> why_vector;  // by DraftInstruction::origin

  bool is_scalar(VirtualId id) const { return id < scalar.size() && scalar[id]; }
  // A register of the same kind and name.
  VirtualId add_copy(VirtualId of) {
    const RegisterClass kind = registers[of];
    registers.push_back(kind);
    if (of < names.size()) {
      const RegisterName name = names[of];
      names.resize(registers.size());
      names.back() = name;
    }
    return static_cast<VirtualId>(registers.size() - 1);
  }
};

// Reads the body of `kernel` of a module by itself. Throws InputError.
struct Function;
Draft lower(const Module& module, const Function& kernel, const Symbols& symbols);

}  // namespace weft::ptx

#endif
