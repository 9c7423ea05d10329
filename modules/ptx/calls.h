// What the calls of a function look like: signatures, and how their arguments lie in memory.
#ifndef WEFT_PTX_CALLS_H
#define WEFT_PTX_CALLS_H

#include <cstdint>
#include <string_view>
#include <vector>

#include "ptx/syntax.h"

namespace weft::ptx {

// One argument or result of a call: `offset` bytes into the area that caller and callee share.
struct Slot {
  Declaration declaration;
  std::uint64_t offset = 0, size = 0;  // bytes
};

// Results come first, then arguments, each aligned as its declaration says.
struct Signature {
  std::vector<Slot> returns, parameters;
  std::uint64_t bytes = 0, align = 1;
};
Signature signature_of(const std::vector<Declaration>& returns, const std::vector<Declaration>& parameters);

// A function and the module that it is of.
struct FunctionReference {
  std::uint32_t module = 0;
  const Function* function = nullptr;
};

// A call instruction: `call (results), target, (arguments), prototype or targets`.
struct CallSite {
  Signature signature;
  std::vector<Node> results, arguments;
  Node target;
  SystemCall system = SystemCall::kNone;
  FunctionReference callee;                // of a direct call that is none of the system
  bool indirect = false;                   // the target is a register
  std::vector<FunctionReference> targets;  // indirect: what .calltargets lists; empty: any function
};

// The operands of a call statement, told apart; throws InputError where there are none of the right kind.
// Fills results, arguments and target; returns the operand after the arguments, or nullptr.
const Node* read_call(const ModuleText& text, const Statement& statement, CallSite& site);

// Functions that the simulator provides where no module defines them; kNone: no such name.
SystemCall system_call_of(std::string_view name);

}  // namespace weft::ptx

#endif
