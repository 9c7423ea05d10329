#include "ptx/stack_frame.h"

#include "ptx/types.h"

namespace weft::ptx {

Frame lay_out_frame(const FunctionSymbols& symbols, std::uint64_t alignment, std::uint64_t saved_bytes,
                    std::uint64_t spilled_bytes) {
  Frame frame;
  frame.is_kernel = symbols.function().is_entry;
  frame.calls = symbols.calls_functions();
  frame.parameters = align_up(symbols.signature().bytes, alignment);
  frame.saves = align_up(symbols.local_bytes(), 8);
  frame.spills = align_up(frame.saves + saved_bytes, 8);
  frame.bytes = symbols.local_bytes();
  const std::uint64_t end = spilled_bytes == 0 ? frame.saves + saved_bytes : frame.spills + spilled_bytes;
  if (!symbols.calls().empty() || !frame.is_kernel) {
    frame.bytes = align_up(end, alignment) + align_up(symbols.largest_area(), alignment);
  } else if (spilled_bytes != 0) {
    frame.bytes = align_up(end, alignment);
  }
  return frame;
}

// Of the frame. The stack pointer of a function that calls others is at its end.
std::int64_t StackFrame::begin() const {
  const bool behind = frame_.calls && !frame_.is_kernel;
  return behind ? -static_cast<std::int64_t>(frame_.bytes) : 0;
}

std::int64_t StackFrame::offset(const Meaning& meaning) const {
  const auto address = static_cast<std::int64_t>(meaning.address);
  if (meaning.region == Meaning::Region::kCallArguments) return area_offset(meaning.area) + address;
  if (meaning.region == Meaning::Region::kOwnArguments)
    return begin() - static_cast<std::int64_t>(frame_.parameters) + address;
  return begin() + address;
}

std::int64_t StackFrame::own_offset(const Slot& slot) const {
  Meaning meaning;
  meaning.region = Meaning::Region::kOwnArguments;
  meaning.address = slot.offset;
  return offset(meaning);
}

// They lie at the end of the frame, where the callee's stack pointer will point.
std::int64_t StackFrame::area_offset(std::uint64_t area) const {
  const auto end = begin() + static_cast<std::int64_t>(frame_.bytes);
  return end - static_cast<std::int64_t>(align_up(area, alignment_));
}

std::int64_t StackFrame::link_offset() const {
  return begin() + static_cast<std::int64_t>(frame_.saves);
}

void StackFrame::set_address(DraftInstruction& d, std::int64_t offset) const {
  d.fixed.offset = offset;
  if (frame_.is_kernel) return;
  d.fixed.wide_address = false;
  set_source(d, 0, source_of(kStackPointer, Type::kU32));
}

DraftInstruction StackFrame::access(Opcode op, Type type, std::int64_t offset) const {
  DraftInstruction d = code_.draft(op, type);
  d.fixed.unit = Unit::kMemory;
  d.fixed.space = Space::kLocal;
  set_address(d, offset);
  return d;
}

void StackFrame::load(VirtualId to, Type type, std::int64_t offset) const {
  DraftInstruction d = access(Opcode::kLd, type, offset);
  set_destination(d, 0, to, type);
  code_.emit(d);
}

void StackFrame::store(const Source& from, Type type, std::int64_t offset) const {
  DraftInstruction d = access(Opcode::kSt, type, offset);
  set_source(d, 1, from);
  code_.emit(d);
}

Source StackFrame::value(const Meaning& meaning, std::uint64_t addend, Type type) const {
  const std::uint64_t place = static_cast<std::uint64_t>(offset(meaning)) + addend;
  if (frame_.is_kernel) return code_.constant(place, type);
  const Source pointer = source_of(kStackPointer, Type::kU32);
  if (bytes_of(type) != 8) return code_.emit_sum(pointer, place, Type::kU32);
  const VirtualId wide = code_.temporary(Type::kU64);
  code_.emit_convert(wide, Type::kU64, pointer, Type::kU32);
  return code_.emit_sum(source_of(wide, Type::kU64), place, Type::kU64);
}

}  // namespace weft::ptx
