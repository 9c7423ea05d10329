// Instructions that become one or a few others.
#include "ptx/lower_rules.h"

namespace weft::ptx {

// min, max of three is that of two, twice.
void lower_extremum(Lowering& f, const Operation& operation) {
  const Instruction& fixed = operation.instruction;
  const bool magnitude = fixed.mode == Mode::kMagnitude || fixed.mode == Mode::kMagnitudeNan;
  const bool xorsign = fixed.mode == Mode::kXorsign || fixed.mode == Mode::kXorsignNan;
  const bool three = fixed.type == Type::kF32 && !xorsign && (magnitude || f.operands.count() == 4);
  f.operands.need(three ? 4 : 3);
  DraftInstruction d = f.code.draft(fixed);
  for (std::uint32_t i = 0; i < 2; ++i) f.operands.read(d, i, f.operands[i + 1], fixed.type);
  const VirtualId to = f.operands.destination(f.operands[0], fixed.type);
  if (!three) {
    set_destination(d, 0, to, fixed.type);
    return f.code.emit(d);
  }
  const Source third = f.operands.source(f.operands[3], fixed.type);
  const VirtualId id = f.code.temporary(fixed.type);
  set_destination(d, 0, id, fixed.type);
  f.code.emit(d);
  DraftInstruction second = f.code.draft(fixed);
  set_source(second, 0, source_of(id, fixed.type));
  set_source(second, 1, third);
  set_destination(second, 0, to, fixed.type);
  f.code.emit(second);
}

// Two 16-bit integers: the SIMD video instruction without its third operand. .relu, of min and max of one
// integer too: the larger of the result and 0.
void lower_pairs(Lowering& f, const Operation& operation) {
  f.operands.need(3);
  Instruction fixed = operation.instruction;
  fixed.relu = false;
  const bool relu = operation.instruction.relu;
  DraftInstruction d = f.code.draft(fixed);
  const bool two = fixed.vector == 2;
  for (std::uint32_t i = 0; i < 2; ++i) f.operands.read(d, i, f.operands[i + 1], fixed.type);
  if (two) set_source(d, 2, f.code.constant(0, fixed.type));
  const VirtualId to = f.operands.destination(f.operands[0], fixed.type);
  const VirtualId id = relu ? f.code.temporary(fixed.type) : to;
  set_destination(d, 0, id, fixed.type);
  f.code.emit(d);
  if (!relu) return;
  fixed.op = two ? Opcode::kVmax : Opcode::kMax;
  DraftInstruction positive = f.code.draft(fixed);
  set_source(positive, 0, source_of(id, fixed.type));
  set_source(positive, 1, f.code.constant(0, fixed.type));
  if (two) set_source(positive, 2, f.code.constant(0, fixed.type));
  set_destination(positive, 0, to, fixed.type);
  f.code.emit(positive);
}

// lop3.BoolOp d|p, a, b, c, table, q: then p = (d != 0) BoolOp q.
void lower_lookup_predicate(Lowering& f, const Operation& operation) {
  f.operands.need(6);
  Instruction fixed = operation.instruction;
  fixed.combine = Combine::kNone;
  DraftInstruction d = f.code.draft(fixed);
  for (std::uint32_t i = 0; i < 4; ++i) f.operands.read(d, i, f.operands[i + 1], operation.sources[i]);
  check_lookup_table(f, f.operands[4]);
  const Source q = f.operands.source(f.operands[5], Type::kPred);
  const Node& to = f.operands[0];
  if (to.kind != Node::Kind::kPair) f.code.fail(to, "expected d|p");
  const Node& value = f.text.child(to, 0);
  const VirtualId id = f.operands.destination_or_sink(value, fixed.type);
  set_destination(d, 0, id, fixed.type);
  f.code.emit(d);
  DraftInstruction p = f.code.draft(Opcode::kSetp, Type::kB32);
  p.fixed.compare = Compare::kNe;
  p.fixed.combine = operation.instruction.combine;
  p.fixed.latency = Latency::kIntAdd;
  set_source(p, 0, source_of(id, fixed.type));
  set_source(p, 1, f.code.constant(0, Type::kB32));
  set_source(p, 2, q);
  f.operands.write(p, 0, f.text.child(to, 1), Type::kPred);
  f.code.emit(p);
}

// slct d, a, b, c: a if c >= 0 (which holds for -0 and for no NaN), else b.
void lower_select_by_sign(Lowering& f, const Operation& operation) {
  f.operands.need(4);
  const Instruction& fixed = operation.instruction;
  const VirtualId chosen = f.code.temporary(Type::kPred);
  DraftInstruction p = f.code.draft(Opcode::kSetp, fixed.from);
  p.fixed.compare = Compare::kGe;
  p.fixed.ftz = fixed.ftz;
  p.fixed.latency = fixed.from == Type::kF32 ? Latency::kFloatAdd : Latency::kIntAdd;
  f.operands.read(p, 0, f.operands[3], fixed.from);
  set_source(p, 1, f.code.constant(0, fixed.from));
  set_destination(p, 0, chosen, Type::kPred);
  f.code.emit(p);
  DraftInstruction d = f.code.draft(Opcode::kSelp, fixed.type);
  f.operands.read(d, 0, f.operands[1], fixed.type);
  f.operands.read(d, 1, f.operands[2], fixed.type);
  set_source(d, 2, source_of(chosen, Type::kPred));
  f.operands.write(d, 0, f.operands[0], fixed.type);
  f.code.emit(d);
}

// szext d, a, b: bits [0, b) of a, extended; b counts up to 32 (.clamp) or modulo 32 (.wrap).
void lower_extend(Lowering& f, const Operation& operation) {
  f.operands.need(3);
  const Instruction& fixed = operation.instruction;
  const bool clamps = fixed.mode == Mode::kClamp;
  const VirtualId length = f.code.temporary(Type::kU32);
  DraftInstruction limit =
      f.code.draft(clamps ? Opcode::kMin : Opcode::kAnd, clamps ? Type::kU32 : Type::kB32);
  limit.fixed.latency = Latency::kIntAdd;
  f.operands.read(limit, 0, f.operands[2], Type::kU32);
  set_source(limit, 1, f.code.constant(clamps ? 32 : 31, Type::kU32));
  set_destination(limit, 0, length, Type::kU32);
  f.code.emit(limit);
  DraftInstruction d = f.code.draft(Opcode::kBfe, fixed.type);
  d.fixed.latency = Latency::kIntAdd;
  f.operands.read(d, 0, f.operands[1], fixed.type);
  set_source(d, 1, f.code.constant(0, Type::kU32));
  set_source(d, 2, source_of(length, Type::kU32));
  f.operands.write(d, 0, f.operands[0], fixed.type);
  f.code.emit(d);
}

}  // namespace weft::ptx
