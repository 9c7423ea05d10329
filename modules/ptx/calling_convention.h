// What a function does when it begins and when it returns, and what surrounds a call: the stack pointer, the
// link register, arguments and results. The README's "Device functions" says how a frame looks.
#ifndef WEFT_PTX_CALLING_CONVENTION_H
#define WEFT_PTX_CALLING_CONVENTION_H

#include "ptx/branches.h"
#include "ptx/calls.h"
#include "ptx/draft_builder.h"
#include "ptx/operands.h"
#include "ptx/reach.h"
#include "ptx/stack_frame.h"
#include "ptx/symbols.h"

namespace weft::ptx {

class CallingConvention {
 public:
  // All of them outlive this.
  CallingConvention(const FunctionSymbols& symbols, const FunctionNumbers& numbers, DraftBuilder& code,
                    const StackFrame& frame, Operands& operands, Branches& branches);

  void begin_function();
  void end_function();
  void call(const CallSite& site);

 private:
  void call_function(const CallSite& site);
  void call_system(const CallSite& site);
  void pass_arguments(const CallSite& site);
  void take_results(const CallSite& site);
  bool is_passed_in_memory(const Node& node);
  void check_elements(const Node& node, const Slot& slot) const;
  Operands::Register own_register(const Slot& slot, std::uint8_t element);
  void load(VirtualId to, Type type, std::int64_t offset);
  void store(const Source& from, Type type, std::int64_t offset);
  void emit_stack_pointer(Opcode op);

  const FunctionSymbols& symbols_;
  const ModuleText& text_;
  const FunctionNumbers& numbers_;
  DraftBuilder& code_;
  const StackFrame& frame_;
  Operands& operands_;
  Branches& branches_;
};

}  // namespace weft::ptx

#endif
