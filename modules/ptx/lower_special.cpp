// Instructions whose operands follow rules of their own: literal tables, carries, conversions to pairs,
// hints.
#include <array>

#include "ptx/lower.h"

namespace weft::ptx {

// lop3: the table says which function it is, so PTX wants it known beforehand.
void Lowering::check_table(const Node& node) const {
  if (node.kind == Node::Kind::kLiteral && node.number.kind != Number::Kind::kF32 &&
      node.number.kind != Number::Kind::kF64 && node.number.bits <= 0xff) {
    return;
  }
  fail(node, "the table of lop3 is a literal of 0 to 255");
}

// The carry flag is a predicate like others, so that liveness, registers and the scoreboard know of it.
VirtualId Lowering::condition_code() {
  if (condition_code_ == kNoRegister) condition_code_ = temporary(Type::kPred);
  return condition_code_;
}

void Lowering::carry(Operation& operation) {
  need_operands(operation.source_count + 1u, operation.source_count + 1u);
  DraftInstruction d = draft(operation.instruction);
  const Opcode op = d.fixed.op;
  // The carry's place is the same with and without an addend, which therefore comes last.
  constexpr std::array<std::size_t, 3> kPlace = {0, 1, 3};
  for (std::uint32_t i = 0; i < operation.source_count && i < kPlace.size(); ++i) {
    set_source(d, kPlace[i], source(operand(i + 1), operation.sources[i]));
  }
  if (op == Opcode::kAddc || op == Opcode::kSubc || op == Opcode::kMadc) {
    set_source(d, 2, of(condition_code(), Type::kPred));
  }
  set_destination(d, 0, destination(operand(0), operation.destination), operation.destination);
  if (d.fixed.carry_out) set_destination(d, 1, condition_code(), Type::kPred);
  emit(d);
}

// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half of d, b the lower one.
void Lowering::convert_two(const Operation& operation) {
  need_operands(3, 3);
  const Type two = operation.instruction.type;
  const Type half = two == Type::kF16x2 ? Type::kF16 : Type::kBf16;
  const VirtualId to = destination(operand(0), two);
  const auto converted = [&](const Node& node) {
    const VirtualId id = temporary(half);
    DraftInstruction d = draft(operation.instruction);
    d.fixed.type = half;
    d.fixed.relu = false;
    set_source(d, 0, source(node, operation.instruction.from));
    set_destination(d, 0, id, half);
    emit(d);
    return of(id, half);
  };
  const Source upper = converted(operand(1)), lower = converted(operand(2));
  DraftInstruction d = draft(Opcode::kBfi, Type::kB32);
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, upper);
  set_source(d, 1, lower);
  set_source(d, 2, constant(16, Type::kU32));
  set_source(d, 3, constant(16, Type::kU32));
  const bool relu = operation.instruction.relu;
  const VirtualId id = relu ? temporary(two) : to;
  set_destination(d, 0, id, two);
  emit(d);
  if (relu) rectify(to, id, two);
}

// nanosleep: a time to wait that PTX lets be anything from zero on. The operand is read and forgotten.
void Lowering::hint(const Operation& operation) {
  need_operands(1, 1);
  DraftInstruction d = draft(operation.instruction);
  set_source(d, 0, source(operand(0), operation.instruction.type));
  set_destination(d, 0, temporary(operation.instruction.type), operation.instruction.type);
  emit(d);
}

}  // namespace weft::ptx
