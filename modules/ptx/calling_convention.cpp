#include "ptx/calling_convention.h"

#include <optional>
#include <string>

namespace weft::ptx {

CallingConvention::CallingConvention(const FunctionSymbols& symbols, const FunctionNumbers& numbers,
                                     DraftBuilder& code, const StackFrame& frame, Operands& operands,
                                     Branches& branches)
    : symbols_(symbols),
      text_(*symbols.module().text),
      numbers_(numbers),
      code_(code),
      frame_(frame),
      operands_(operands),
      branches_(branches) {}

// The stack pointer moves behind the frame, and a function that calls others keeps the way back in it.
// Arguments that are declared as registers are loaded.
void CallingConvention::begin_function() {
  const Frame& frame = frame_.layout();
  if (frame.calls) emit_stack_pointer(frame.is_kernel ? Opcode::kMov : Opcode::kAdd);
  if (frame.is_kernel) return;
  if (frame.calls) frame_.store(source_of(kLinkRegister, Type::kU32), Type::kU32, frame_.link_offset());
  for (const Slot& slot : symbols_.signature().parameters) {
    if (slot.declaration.space != DeclarationSpace::kReg) continue;
    for (std::uint8_t k = 0; k < slot.declaration.vector; ++k) {
      const Operands::Register reg = own_register(slot, k);
      load(reg.id, reg.type, frame_.own_offset(slot) + k * bytes_of(reg.type));
    }
  }
}

// Predicates are words of 0 or 1 in memory.
void CallingConvention::load(VirtualId to, Type type, std::int64_t offset) {
  if (type != Type::kPred) return frame_.load(to, type, offset);
  const VirtualId word = code_.temporary(Type::kU32);
  frame_.load(word, Type::kU32, offset);
  DraftInstruction d = code_.draft(Opcode::kSetp, Type::kU32);
  d.fixed.compare = Compare::kNe;
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, source_of(word, Type::kU32));
  set_source(d, 1, code_.constant(0, Type::kU32));
  set_destination(d, 0, to, Type::kPred);
  code_.emit(d);
}

void CallingConvention::store(const Source& from, Type type, std::int64_t offset) {
  if (type != Type::kPred) return frame_.store(from, type, offset);
  const VirtualId word = code_.temporary(Type::kU32);
  DraftInstruction d = code_.draft(Opcode::kSelp, Type::kU32);
  d.fixed.latency = Latency::kMove;
  set_source(d, 0, code_.constant(1, Type::kU32));
  set_source(d, 1, code_.constant(0, Type::kU32));
  set_source(d, 2, from);
  set_destination(d, 0, word, Type::kU32);
  code_.emit(d);
  frame_.store(source_of(word, Type::kU32), Type::kU32, offset);
}

// Results that are declared as registers are stored; the way back is loaded, and the stack pointer moves
// back.
void CallingConvention::end_function() {
  const Frame& frame = frame_.layout();
  if (frame.is_kernel) return;
  branches_.place_return();
  code_.drop_guard();
  for (const Slot& slot : symbols_.signature().returns) {
    if (slot.declaration.space != DeclarationSpace::kReg) continue;
    for (std::uint8_t k = 0; k < slot.declaration.vector; ++k) {
      const Operands::Register reg = own_register(slot, k);
      store(source_of(reg.id, reg.type), reg.type, frame_.own_offset(slot) + k * bytes_of(reg.type));
    }
  }
  if (frame.calls) {
    frame_.load(kLinkRegister, Type::kU32, frame_.link_offset());
    emit_stack_pointer(Opcode::kSub);
  }
  DraftInstruction d = code_.draft(Opcode::kReturn, Type::kU32);
  d.fixed.unit = Unit::kControl;
  set_source(d, 0, source_of(kLinkRegister, Type::kU32));
  code_.emit(d);
}

Operands::Register CallingConvention::own_register(const Slot& slot, std::uint8_t element) {
  Node node;
  node.text = slot.declaration.name;
  if (slot.declaration.vector > 1) node.component = static_cast<std::uint8_t>(element + 1);
  return operands_.need_register(node);
}

// mov sp, bytes; add sp, sp, bytes; sub sp, sp, bytes
void CallingConvention::emit_stack_pointer(Opcode op) {
  DraftInstruction d = code_.draft(op, Type::kU32);
  d.fixed.latency = op == Opcode::kMov ? Latency::kMove : Latency::kIntAdd;
  const Source bytes = code_.constant(frame_.layout().bytes, Type::kU32);
  if (op == Opcode::kMov) {
    set_source(d, 0, bytes);
  } else {
    set_source(d, 0, source_of(kStackPointer, Type::kU32));
    set_source(d, 1, bytes);
  }
  set_destination(d, 0, kStackPointer, Type::kU32);
  code_.emit(d);
}

// A guarded call is a branch around it: what is saved for it is saved by all threads that make it.
void CallingConvention::call(const CallSite& site) {
  std::uint32_t around = 0;
  const bool guarded = code_.is_guarded();
  if (guarded) {
    around = branches_.add_label();
    branches_.emit_around(around);
    code_.drop_guard();
  }
  pass_arguments(site);
  if (site.system != SystemCall::kNone) {
    call_system(site);
  } else {
    call_function(site);
  }
  take_results(site);
  if (guarded) branches_.place(around);
}

void CallingConvention::call_function(const CallSite& site) {
  DraftInstruction d = code_.draft(Opcode::kCall, Type::kU64);
  d.fixed.unit = Unit::kControl;
  set_destination(d, 0, kLinkRegister, Type::kU32);
  if (site.indirect) {
    const Operands::Register target = operands_.need_register(site.target);
    set_source(d, 0, source_of(target.id, target.type));
  } else {
    d.callee = numbers_.at(site.callee.function);
  }
  code_.emit(d);
}

void CallingConvention::call_system(const CallSite& site) {
  DraftInstruction d = code_.draft(Opcode::kSystem, Type::kNone);
  d.fixed.unit = Unit::kControl;
  d.fixed.system = site.system;
  d.fixed.space = Space::kLocal;
  frame_.set_address(d, frame_.area_offset(site.signature.bytes));
  code_.emit(d);
}

// A .param variable is in the call's area already.
bool CallingConvention::is_passed_in_memory(const Node& node) {
  return operands_.meaning(node).region == Meaning::Region::kCallArguments;
}

// Arguments and results that are no .param variables: registers and literals.
void CallingConvention::pass_arguments(const CallSite& site) {
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const Node& node = site.arguments[i];
    const Slot& slot = site.signature.parameters[i];
    if (node.kind == Node::Kind::kName && !operands_.find_register(node) && is_passed_in_memory(node))
      continue;
    const Type type = slot.declaration.type;
    const bool is_value = slot.declaration.count == 1 && (bytes_of(type) != 0 || type == Type::kPred);
    if (!is_value) code_.fail(node, "expected a .param variable");
    if (node.negated) code_.fail(node, "an argument is not negated");
    check_elements(node, slot);
    const std::int64_t offset =
        frame_.area_offset(site.signature.bytes) + static_cast<std::int64_t>(slot.offset);
    for (std::uint32_t k = 0; k < slot.declaration.vector; ++k) {
      store(operands_.source(text_.element(node, k), type), type, offset + k * bytes_of(type));
    }
  }
}

void CallingConvention::take_results(const CallSite& site) {
  for (std::size_t i = 0; i < site.results.size(); ++i) {
    const Node& node = site.results[i];
    const Slot& slot = site.signature.returns[i];
    if (text_.is_sink(node)) continue;
    const bool is_vector = node.kind == Node::Kind::kVector;
    if (!is_vector && !operands_.find_register(node)) {
      if (is_passed_in_memory(node)) continue;
      code_.fail(node, "expected a .param variable or a register");
    }
    check_elements(node, slot);
    const Type type = slot.declaration.type;
    const std::int64_t offset =
        frame_.area_offset(site.signature.bytes) + static_cast<std::int64_t>(slot.offset);
    for (std::uint32_t k = 0; k < slot.declaration.vector; ++k) {
      load(operands_.destination(text_.element(node, k), type), type, offset + k * bytes_of(type));
    }
  }
}

// Vector registers are passed as such, and nothing else for them.
void CallingConvention::check_elements(const Node& node, const Slot& slot) const {
  const std::uint32_t found = ModuleText::width(node), expected = slot.declaration.vector;
  if (found == expected) return;
  code_.fail(node,
             "found " + std::to_string(found) + " elements, the function has " + std::to_string(expected));
}

}  // namespace weft::ptx
