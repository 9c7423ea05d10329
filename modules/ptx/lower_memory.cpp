// Loads, stores and atomics.
#include <algorithm>

#include "ptx/lower.h"
#include "ptx/types.h"

namespace weft::ptx {
namespace {

// The type that a value of `type` has once it stands in a register of 64 bits.
Type widened(Type type) {
  return is_signed(type) ? Type::kS64 : Type::kU64;
}
Type word(Type type) {
  return is_signed(type) ? Type::kS32 : Type::kU32;
}

}  // namespace

// [register + offset], [variable + offset] or [number].
void Lowering::address(DraftInstruction& d, const Node& node) {
  if (node.kind != Node::Kind::kAddress || node.count != 1)
    fail(node, "expected an address such as [%rd1+8]");
  const Node& base = text_.nodes[node.first];
  Instruction& i = d.fixed;
  i.offset = static_cast<std::int64_t>(base.number.bits);
  if (base.kind == Node::Kind::kLiteral) return;
  if (base.kind != Node::Kind::kName || base.negated)
    fail(base, "expected a register, a variable or a number");
  if (const std::optional<Register> reg = find_register(base)) {
    if (is_float(reg->type) || bytes_of(reg->type) < 4) fail(base, "an address is a 32- or 64-bit integer");
    i.wide_address = bytes_of(reg->type) == 8;
    const bool may_be_narrow = i.space == Space::kShared || i.space == Space::kLocal ||
                               i.space == Space::kConst || i.space == Space::kParam;
    if (!i.wide_address && !may_be_narrow) fail(base, "a global or generic address needs a 64-bit register");
    set_source(d, 0, of(reg->id, reg->type));
    if (i.space == Space::kParam && !kernel_.is_entry) {  // a device function has its arguments in its frame
      i.space = Space::kLocal;
      i.constant_cache = false;
    }
    return;
  }
  const std::string_view name = text_.view(base.text);
  const Meaning meaning = symbols_.find(name, base.text.at);
  if (meaning.kind != Meaning::Kind::kAddress)
    fail(base, "'" + std::string(name) + "' is neither a register nor a variable");
  if (meaning.region != Meaning::Region::kFixed) {
    const Space named = meaning.region == Meaning::Region::kVariables ? Space::kLocal : Space::kParam;
    if (i.space != Space::kGeneric && i.space != named) {
      fail(base, "'" + std::string(name) + "' lies in another state space");
    }
    if (meaning.region == Meaning::Region::kCallArguments && meaning.area == 0) {
      fail(base, "'" + std::string(name) + "' is not passed to any function");
    }
    i.space = Space::kLocal;
    i.constant_cache = false;
    set_frame_address(d, i.offset + frame_offset(meaning));
    return;
  }
  if (i.space == Space::kGeneric) {
    // A name has a space even where the instruction gives none; global addresses are generic ones.
    i.space = meaning.space;
    i.constant_cache = i.space == Space::kParam || i.space == Space::kConst;
  } else if (meaning.space != i.space) {
    fail(base, "'" + std::string(name) + "' lies in another state space");
  }
  i.offset += static_cast<std::int64_t>(meaning.address);
}

void Lowering::load(Operation& operation) {
  need_operands(2, 2);
  const Instruction& fixed = operation.instruction;
  DraftInstruction d = draft(fixed);
  address(d, operand(1));
  struct Widening {
    VirtualId to = kNoRegister, from = kNoRegister;
  };
  std::array<Widening, 4> widenings;
  const Node& to = operand(0);
  const bool is_vector = to.kind == Node::Kind::kVector;
  if ((fixed.vector == 1) == is_vector || (is_vector && to.count != fixed.vector)) {
    fail(to, "expected " + std::to_string(fixed.vector) + " destinations");
  }
  for (std::uint32_t k = 0; k < fixed.vector; ++k) {
    const Node& node = is_vector ? text_.nodes[to.first + k] : to;
    if (text_.view(node.text) == "_") {
      set_destination(d, k, temporary(fixed.type), fixed.type);
      continue;
    }
    const Register reg = need_register(node);
    check_type(node, reg.type, fixed.type, true);
    VirtualId id = reg.id;
    if (rows_of(reg.type) > rows_of(fixed.type)) {  // 9.4.1: extended to the register's width
      id = temporary(fixed.type);
      widenings[k] = {reg.id, id};
    }
    set_destination(d, k, id, fixed.type);
  }
  emit(d);
  for (const Widening& w : widenings) {
    if (w.to != kNoRegister) emit_convert(w.to, widened(fixed.type), w.from, word(fixed.type));
  }
}

void Lowering::store(Operation& operation) {
  need_operands(2, 2);
  const Instruction& fixed = operation.instruction;
  DraftInstruction d = draft(fixed);
  address(d, operand(0));
  const Node& from = operand(1);
  const bool is_vector = from.kind == Node::Kind::kVector;
  if ((fixed.vector == 1) == is_vector || (is_vector && from.count != fixed.vector)) {
    fail(from, "expected " + std::to_string(fixed.vector) + " values");
  }
  if (d.fixed.space == Space::kParam || d.fixed.space == Space::kConst)
    fail("constant and parameter memory cannot be written");
  for (std::uint32_t k = 0; k < fixed.vector; ++k) {
    const Node& node = is_vector ? text_.nodes[from.first + k] : from;
    const std::optional<Register> reg = find_register(node);
    if (!reg) {
      set_source(d, k + 1, source(node, fixed.type));
      continue;
    }
    check_type(node, reg->type, fixed.type, true);
    VirtualId id = reg->id;
    if (rows_of(reg->type) > rows_of(fixed.type)) {
      id = temporary(Type::kU32);
      emit_convert(id, Type::kU32, reg->id, Type::kU64);
    }
    set_source(d, k + 1, of(id, fixed.type));
  }
  emit(d);
}

void Lowering::atomic(Operation& operation, bool reduces) {
  const Instruction& fixed = operation.instruction;
  const std::uint32_t skip = reduces ? 0 : 1;
  const std::uint32_t count = skip + 2 + (fixed.atomic == Atomic::kCas ? 1 : 0);
  need_operands(count, count);
  DraftInstruction d = draft(fixed);
  address(d, operand(skip));
  for (std::uint32_t i = skip + 1; i < count; ++i) set_source(d, i - skip, source(operand(i), fixed.type));
  if (!reduces && text_.view(operand(0).text) != "_") {
    set_destination(d, 0, destination(operand(0), fixed.type), fixed.type);
  }
  if (d.fixed.space != Space::kGeneric && d.fixed.space != Space::kGlobal &&
      d.fixed.space != Space::kShared) {
    fail("an atomic needs global, shared or generic memory");
  }
  emit(d);
}

// cp.async [shared], [global], bytes [, bytes to read | predicate that ignores the source].
void Lowering::copy_async(Operation& operation) {
  need_operands(3, 4);
  const Node& size = operand(2);
  const std::uint64_t bytes = size.number.bits;
  const bool past_l1 = operation.instruction.mode == Mode::kPastL1;
  if (size.kind != Node::Kind::kLiteral || (bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8)))) {
    fail(size, past_l1 ? "cp.async.cg copies 16 bytes" : "cp.async.ca copies 4, 8 or 16 bytes");
  }
  // The shared address gets a register of its own: base and offset added, 32 bits.
  DraftInstruction to = draft(operation.instruction);
  to.fixed.space = Space::kShared;
  address(to, operand(0));
  Source place = constant(static_cast<std::uint64_t>(to.fixed.offset), Type::kU32);
  if (to.fixed.src[0].kind == Operand::Kind::kRow) {
    place = of(to.src[0], Type::kU32);
    if (to.fixed.wide_address) {
      const VirtualId narrow = temporary(Type::kU32);
      emit_convert(narrow, Type::kU32, to.src[0], Type::kU64);
      place = of(narrow, Type::kU32);
    }
    if (to.fixed.offset != 0) {
      const VirtualId sum = temporary(Type::kU32);
      DraftInstruction add = draft(Opcode::kAdd, Type::kU32);
      add.fixed.latency = Latency::kIntAdd;
      set_source(add, 0, place);
      set_source(add, 1, constant(static_cast<std::uint64_t>(to.fixed.offset), Type::kU32));
      set_destination(add, 0, sum, Type::kU32);
      emit(add);
      place = of(sum, Type::kU32);
    }
  }
  DraftInstruction d = draft(operation.instruction);
  d.fixed.vector = static_cast<std::uint8_t>(bytes / 4);
  address(d, operand(1));
  set_source(d, 1, place);
  if (statement_->count == 4) {
    const Node& last = operand(3);
    const std::optional<Register> reg = find_register(last);
    if (reg && reg->type == Type::kPred) {
      set_source(d, 3, source(last, Type::kPred));
    } else {
      if (!reg && last.number.bits > bytes) {
        fail(last, "found " + std::to_string(last.number.bits) + " bytes to read, allowed are 0 to " +
                       std::to_string(bytes));
      }
      set_source(d, 2, source(last, Type::kU32));
    }
  }
  emit(d);
}

void Lowering::copy_wait(Operation& operation) {
  const bool counts =
      operation.instruction.op == Opcode::kCopyWait && operation.instruction.mode != Mode::kAll;
  need_operands(counts ? 1 : 0, counts ? 1 : 0);
  DraftInstruction d = draft(operation.instruction);
  if (counts) {
    if (operand(0).kind != Node::Kind::kLiteral) fail(operand(0), "expected a constant number of groups");
    d.fixed.offset = static_cast<std::int64_t>(std::min<std::uint64_t>(operand(0).number.bits, INT32_MAX));
  }
  emit(d);
}

}  // namespace weft::ptx
