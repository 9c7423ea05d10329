// Device functions and calls: frames on the thread's stack, arguments, results, returns.
#include "ptx/lower.h"
#include "ptx/types.h"

namespace weft::ptx {

// What is done when a function begins: the stack pointer moves behind the frame, and a function that calls
// others keeps the way back in it. Arguments that are declared as registers are loaded.
void Lowering::begin_function() {
  place_ = text_.place(kernel_.name.at);
  const Frame& frame = draft_.frame;
  if (frame.calls) emit_stack_pointer(frame.is_kernel ? Opcode::kMov : Opcode::kAdd);
  if (frame.is_kernel) return;
  if (frame.calls) {
    const auto place = static_cast<std::int64_t>(frame.saves) - static_cast<std::int64_t>(frame.bytes);
    emit_frame_access(Opcode::kSt, Type::kU32, place, kLinkRegister);
  }
  for (const Slot& slot : symbols_.signature().parameters) {
    if (slot.declaration.space != DeclarationSpace::kReg) continue;
    Node node;
    node.text = slot.declaration.name;
    Meaning meaning;
    meaning.region = Meaning::Region::kOwnArguments;
    meaning.address = slot.offset;
    const Register reg = need_register(node);
    emit_frame_access(Opcode::kLd, reg.type, frame_offset(meaning), reg.id);
  }
}

// A function has one return, at its end, where threads that took different ways meet again.
void Lowering::leave_function() {
  emit_branch(end_label_, true);
}

void Lowering::end_function() {
  if (kernel_.is_entry) return;
  const auto size = static_cast<Pc>(draft_.code.size());
  // A `ret` as the last statement needs no branch, if no label follows it.
  bool label_follows = false;
  for (const Pc place : label_places_) label_follows = label_follows || place == size;
  const bool jumps_here = size != 0 && branch_labels_.size() == size && branch_labels_.back() == end_label_ &&
                          draft_.code.back().fixed.guard < 0;
  if (jumps_here && !label_follows) {
    draft_.code.pop_back();
    branch_labels_.pop_back();
  }
  guard_ = kNoRegister;
  label_places_[end_label_] = static_cast<Pc>(draft_.code.size());
  for (const Slot& slot : symbols_.signature().returns) {
    if (slot.declaration.space != DeclarationSpace::kReg) continue;
    Node node;
    node.text = slot.declaration.name;
    Meaning meaning;
    meaning.region = Meaning::Region::kOwnArguments;
    meaning.address = slot.offset;
    const Register reg = need_register(node);
    emit_frame_access(Opcode::kSt, reg.type, frame_offset(meaning), reg.id);
  }
  const Frame& frame = draft_.frame;
  if (frame.calls) {
    const auto place = static_cast<std::int64_t>(frame.saves) - static_cast<std::int64_t>(frame.bytes);
    emit_frame_access(Opcode::kLd, Type::kU32, place, kLinkRegister);
    emit_stack_pointer(Opcode::kSub);
  }
  DraftInstruction d = draft(Opcode::kReturn, Type::kU32);
  d.fixed.unit = Unit::kControl;
  set_source(d, 0, of(kLinkRegister, Type::kU32));
  emit(d);
}

// Offset from what addresses of the frame are relative to: 0 in the kernel, else the stack pointer.
std::int64_t Lowering::frame_offset(const Meaning& meaning) const {
  const Frame& frame = draft_.frame;
  const auto address = static_cast<std::int64_t>(meaning.address);
  if (meaning.region == Meaning::Region::kCallArguments) return area_offset(meaning.area) + address;
  const bool behind = frame.calls && !frame.is_kernel;
  std::int64_t begin = behind ? -static_cast<std::int64_t>(frame.bytes) : 0;
  if (meaning.region == Meaning::Region::kOwnArguments) begin -= static_cast<std::int64_t>(frame.parameters);
  return begin + address;
}

// A call's arguments and results lie at the end of the frame, where the callee's stack pointer will point.
std::int64_t Lowering::area_offset(std::uint64_t area) const {
  const Frame& frame = draft_.frame;
  const auto size = static_cast<std::int64_t>(align_up(area, frame_alignment_));
  const bool behind = frame.calls && !frame.is_kernel;
  return (behind ? 0 : static_cast<std::int64_t>(frame.bytes)) - size;
}

void Lowering::set_frame_address(DraftInstruction& d, std::int64_t offset) {
  d.fixed.offset = offset;
  if (draft_.frame.is_kernel) return;
  d.fixed.wide_address = false;
  set_source(d, 0, of(kStackPointer, Type::kU32));
}

void Lowering::emit_frame_access(Opcode op, Type type, std::int64_t offset, VirtualId data) {
  DraftInstruction d = draft(op, type);
  d.fixed.unit = Unit::kMemory;
  d.fixed.space = Space::kLocal;
  set_frame_address(d, offset);
  if (op == Opcode::kLd) {
    set_destination(d, 0, data, type);
  } else {
    set_source(d, 1, of(data, type));
  }
  emit(d);
}

// mov sp, bytes; add sp, sp, bytes; sub sp, sp, bytes
void Lowering::emit_stack_pointer(Opcode op) {
  DraftInstruction d = draft(op, Type::kU32);
  d.fixed.latency = op == Opcode::kMov ? Latency::kMove : Latency::kIntAdd;
  const Source bytes = constant(draft_.frame.bytes, Type::kU32);
  if (op == Opcode::kMov) {
    set_source(d, 0, bytes);
  } else {
    set_source(d, 0, of(kStackPointer, Type::kU32));
    set_source(d, 1, bytes);
  }
  set_destination(d, 0, kStackPointer, Type::kU32);
  emit(d);
}

// The address of a variable of the frame as a value, in the local space.
Lowering::Source Lowering::frame_value(const Meaning& meaning, std::uint64_t addend, Type type) {
  const std::uint64_t offset = static_cast<std::uint64_t>(frame_offset(meaning)) + addend;
  if (draft_.frame.is_kernel) return constant(offset, type);
  Source base = of(kStackPointer, Type::kU32);
  if (bytes_of(type) == 8) {
    const VirtualId wide = temporary(Type::kU64);
    emit_convert(wide, Type::kU64, kStackPointer, Type::kU32);
    base = of(wide, Type::kU64);
  }
  const Type sum_type = bytes_of(type) == 8 ? Type::kU64 : Type::kU32;
  const VirtualId sum = temporary(sum_type);
  DraftInstruction d = draft(Opcode::kAdd, sum_type);
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, base);
  set_source(d, 1, constant(offset, sum_type));
  set_destination(d, 0, sum, sum_type);
  emit(d);
  return of(sum, type);
}

// A guarded call is a branch around it: what is saved for it is saved by all threads that make it.
void Lowering::call(Operation&) {
  const auto index = static_cast<std::uint32_t>(statement_ - text_.statements.data());
  const CallSite& site = symbols_.calls().at(index);
  std::uint32_t around = 0;
  const bool guarded = guard_ != kNoRegister;
  if (guarded) {
    around = static_cast<std::uint32_t>(label_places_.size());
    label_places_.push_back(kNoPc);
    emit_branch(around, true, true);
    guard_ = kNoRegister;
  }
  pass_arguments(site);
  if (site.system != SystemCall::kNone) {
    call_system(site);
  } else {
    call_device_function(site);
  }
  take_results(site);
  if (guarded) label_places_[around] = static_cast<Pc>(draft_.code.size());
}

void Lowering::call_device_function(const CallSite& site) {
  DraftInstruction d = draft(Opcode::kCall, Type::kU64);
  d.fixed.unit = Unit::kControl;
  set_destination(d, 0, kLinkRegister, Type::kU32);
  if (site.indirect) {
    const Register target = need_register(site.target);
    set_source(d, 0, of(target.id, target.type));
  } else {
    d.callee = numbers_.at(site.callee.function);
  }
  emit(d);
}

void Lowering::call_system(const CallSite& site) {
  DraftInstruction d = draft(Opcode::kSystem, Type::kNone);
  d.fixed.unit = Unit::kControl;
  d.fixed.system = site.system;
  d.fixed.space = Space::kLocal;
  set_frame_address(d, area_offset(site.signature.bytes));
  emit(d);
}

// Arguments and results that are no .param variables: registers and literals.
void Lowering::pass_arguments(const CallSite& site) {
  for (std::size_t i = 0; i < site.arguments.size(); ++i) {
    const Node& node = site.arguments[i];
    const Slot& slot = site.signature.parameters[i];
    if (node.kind == Node::Kind::kName && !find_register(node)) {
      const Meaning meaning = symbols_.find(text_.view(node.text), node.text.at);
      if (meaning.region == Meaning::Region::kCallArguments) continue;
    }
    const Type type = slot.declaration.type;
    if (slot.declaration.count != 1 || bytes_of(type) == 0) fail(node, "expected a .param variable");
    DraftInstruction d = draft(Opcode::kSt, type);
    d.fixed.unit = Unit::kMemory;
    d.fixed.space = Space::kLocal;
    const std::int64_t place = area_offset(site.signature.bytes) + static_cast<std::int64_t>(slot.offset);
    const Source value = source(node, type);
    set_frame_address(d, place);
    set_source(d, 1, value);
    emit(d);
  }
}

void Lowering::take_results(const CallSite& site) {
  for (std::size_t i = 0; i < site.results.size(); ++i) {
    const Node& node = site.results[i];
    const Slot& slot = site.signature.returns[i];
    if (text_.view(node.text) == "_") continue;
    const std::optional<Register> reg = find_register(node);
    if (!reg) {
      const Meaning meaning = symbols_.find(text_.view(node.text), node.text.at);
      if (meaning.region == Meaning::Region::kCallArguments) continue;
      fail(node, "expected a .param variable or a register");
    }
    check_type(node, reg->type, slot.declaration.type);
    emit_frame_access(Opcode::kLd, slot.declaration.type,
                      area_offset(site.signature.bytes) + static_cast<std::int64_t>(slot.offset), reg->id);
  }
}

}  // namespace weft::ptx
