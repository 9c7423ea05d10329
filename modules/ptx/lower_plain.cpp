// Instructions that stay as they are: a destination, then sources.
#include <array>

#include "ptx/lower_rules.h"

namespace weft::ptx {

void lower_plain(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count + 1u);
  DraftInstruction d = f.code.draft(operation.instruction);
  for (std::uint32_t i = 0; i < operation.source_count; ++i) {
    f.operands.read(d, i, f.operands[i + 1], operation.sources[i]);
  }
  f.operands.write(d, 0, f.operands[0], operation.destination);
  f.code.emit(d);
}

void lower_lookup(Lowering& f, const Operation& operation) {
  lower_plain(f, operation);
  check_lookup_table(f, f.operands[operation.source_count]);
}

void check_lookup_table(const Lowering& f, const Node& node) {
  if (node.kind == Node::Kind::kLiteral && node.number.kind != Number::Kind::kF32 &&
      node.number.kind != Number::Kind::kF64 && node.number.bits <= 0xff) {
    return;
  }
  f.code.fail(node, "the table of lop3 is a literal of 0 to 255");
}

void lower_carry(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count + 1u);
  DraftInstruction d = f.code.draft(operation.instruction);
  const Opcode op = d.fixed.op;
  // The carry's place is the same with and without an addend, which therefore comes last.
  constexpr std::array<std::size_t, 3> kPlace = {0, 1, 3};
  for (std::uint32_t i = 0; i < operation.source_count && i < kPlace.size(); ++i) {
    f.operands.read(d, kPlace[i], f.operands[i + 1], operation.sources[i]);
  }
  if (op == Opcode::kAddc || op == Opcode::kSubc || op == Opcode::kMadc) {
    set_source(d, 2, source_of(f.code.condition_code(), Type::kPred));
  }
  f.operands.write(d, 0, f.operands[0], operation.destination);
  if (d.fixed.carry_out) set_destination(d, 1, f.code.condition_code(), Type::kPred);
  f.code.emit(d);
}

void lower_compare(Lowering& f, const Operation& operation) {
  const std::uint32_t count = operation.instruction.combine == Combine::kNone ? 3 : 4;
  f.operands.need(count);
  DraftInstruction d = f.code.draft(operation.instruction);
  for (std::uint32_t i = 1; i < count; ++i) {
    f.operands.read(d, i - 1, f.operands[i], operation.sources[i - 1]);
  }
  const Node& to = f.operands[0];
  if (to.kind != Node::Kind::kPair) {
    f.operands.write(d, 0, to, Type::kPred);
  } else {
    const Node& q = f.text.child(to, 1);
    set_destination(d, 0, f.operands.destination_or_sink(f.text.child(to, 0), Type::kPred), Type::kPred);
    if (!f.text.is_sink(q)) f.operands.write(d, 1, q, Type::kPred);
  }
  f.code.emit(d);
}

// nanosleep: a time to wait that PTX lets be anything from zero on. The operand is read and forgotten.
void lower_hint(Lowering& f, const Operation& operation) {
  const Type type = operation.instruction.type;
  f.operands.need(1);
  DraftInstruction d = f.code.draft(operation.instruction);
  f.operands.read(d, 0, f.operands[0], type);
  set_destination(d, 0, f.code.temporary(type), type);
  f.code.emit(d);
}

void lower_bare(Lowering& f, const Operation& operation) {
  f.operands.need(0);
  f.code.emit(f.code.draft(operation.instruction));
}

}  // namespace weft::ptx
