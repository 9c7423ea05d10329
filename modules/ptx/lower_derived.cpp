// Instructions that become one or a few others.
#include "ptx/lower.h"

namespace weft::ptx {

// min, max of three is that of two, twice.
void Lowering::extremum(const Operation& operation) {
  const Instruction& fixed = operation.instruction;
  const bool magnitude = fixed.mode == Mode::kMagnitude || fixed.mode == Mode::kMagnitudeNan;
  const bool xorsign = fixed.mode == Mode::kXorsign || fixed.mode == Mode::kXorsignNan;
  const bool three = fixed.type == Type::kF32 && !xorsign && (magnitude || statement_->count == 4);
  need_operands(three ? 4 : 3, three ? 4 : 3);
  DraftInstruction d = draft(fixed);
  for (std::uint32_t i = 0; i < 2; ++i) set_source(d, i, source(operand(i + 1), fixed.type));
  const VirtualId to = destination(operand(0), fixed.type);
  if (!three) {
    set_destination(d, 0, to, fixed.type);
    return emit(d);
  }
  const Source third = source(operand(3), fixed.type);
  const VirtualId id = temporary(fixed.type);
  set_destination(d, 0, id, fixed.type);
  emit(d);
  DraftInstruction second = draft(fixed);
  set_source(second, 0, of(id, fixed.type));
  set_source(second, 1, third);
  set_destination(second, 0, to, fixed.type);
  emit(second);
}

// Two 16-bit integers: the SIMD video instruction without its third operand; .relu is the larger of it and 0.
void Lowering::pairs(const Operation& operation) {
  need_operands(3, 3);
  Instruction fixed = operation.instruction;
  fixed.relu = false;
  const bool relu = operation.instruction.relu;
  DraftInstruction d = draft(fixed);
  for (std::uint32_t i = 0; i < 2; ++i) set_source(d, i, source(operand(i + 1), fixed.type));
  set_source(d, 2, constant(0, fixed.type));
  const VirtualId to = destination(operand(0), fixed.type);
  const VirtualId id = relu ? temporary(fixed.type) : to;
  set_destination(d, 0, id, fixed.type);
  emit(d);
  if (!relu) return;
  fixed.op = Opcode::kVmax;
  DraftInstruction positive = draft(fixed);
  set_source(positive, 0, of(id, fixed.type));
  set_source(positive, 1, constant(0, fixed.type));
  set_source(positive, 2, constant(0, fixed.type));
  set_destination(positive, 0, to, fixed.type);
  emit(positive);
}

// lop3.BoolOp d|p, a, b, c, table, q: then p = (d != 0) BoolOp q.
void Lowering::look_up_predicate(const Operation& operation) {
  need_operands(6, 6);
  Instruction fixed = operation.instruction;
  fixed.combine = Combine::kNone;
  DraftInstruction d = draft(fixed);
  for (std::uint32_t i = 0; i < 4; ++i) set_source(d, i, source(operand(i + 1), operation.sources[i]));
  check_table(operand(4));
  const Source q = source(operand(5), Type::kPred);
  const Node& to = operand(0);
  if (to.kind != Node::Kind::kPair) fail(to, "expected d|p");
  const Node& value = text_.nodes[to.first];
  const VirtualId id = text_.view(value.text) == "_" ? temporary(fixed.type) : destination(value, fixed.type);
  set_destination(d, 0, id, fixed.type);
  emit(d);
  DraftInstruction p = draft(Opcode::kSetp, Type::kB32);
  p.fixed.compare = Compare::kNe;
  p.fixed.combine = operation.instruction.combine;
  p.fixed.latency = Latency::kIntAdd;
  set_source(p, 0, of(id, fixed.type));
  set_source(p, 1, constant(0, Type::kB32));
  set_source(p, 2, q);
  set_destination(p, 0, destination(text_.nodes[to.first + 1], Type::kPred), Type::kPred);
  emit(p);
}

// slct d, a, b, c: a if c >= 0 (which holds for -0 and for no NaN), else b.
void Lowering::select_by_sign(const Operation& operation) {
  need_operands(4, 4);
  const Instruction& fixed = operation.instruction;
  const VirtualId chosen = temporary(Type::kPred);
  DraftInstruction p = draft(Opcode::kSetp, fixed.from);
  p.fixed.compare = Compare::kGe;
  p.fixed.ftz = fixed.ftz;
  p.fixed.latency = fixed.from == Type::kF32 ? Latency::kFloatAdd : Latency::kIntAdd;
  set_source(p, 0, source(operand(3), fixed.from));
  set_source(p, 1, constant(0, fixed.from));
  set_destination(p, 0, chosen, Type::kPred);
  emit(p);
  DraftInstruction d = draft(Opcode::kSelp, fixed.type);
  set_source(d, 0, source(operand(1), fixed.type));
  set_source(d, 1, source(operand(2), fixed.type));
  set_source(d, 2, of(chosen, Type::kPred));
  set_destination(d, 0, destination(operand(0), fixed.type), fixed.type);
  emit(d);
}

// szext d, a, b: bits [0, b) of a, extended; b counts up to 32 (.clamp) or modulo 32 (.wrap).
void Lowering::extend_bits(const Operation& operation) {
  need_operands(3, 3);
  const Instruction& fixed = operation.instruction;
  const bool clamps = fixed.mode == Mode::kClamp;
  const VirtualId length = temporary(Type::kU32);
  DraftInstruction limit = draft(clamps ? Opcode::kMin : Opcode::kAnd, clamps ? Type::kU32 : Type::kB32);
  limit.fixed.latency = Latency::kIntAdd;
  set_source(limit, 0, source(operand(2), Type::kU32));
  set_source(limit, 1, constant(clamps ? 32 : 31, Type::kU32));
  set_destination(limit, 0, length, Type::kU32);
  emit(limit);
  DraftInstruction d = draft(Opcode::kBfe, fixed.type);
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, source(operand(1), fixed.type));
  set_source(d, 1, constant(0, Type::kU32));
  set_source(d, 2, of(length, Type::kU32));
  set_destination(d, 0, destination(operand(0), fixed.type), fixed.type);
  emit(d);
}

// cvt.pack d, a, b {, c}: b lowest, a above it, above them the low half of c.
void Lowering::convert_pack(const Operation& operation) {
  const std::uint32_t count = operation.source_count;
  need_operands(count + 1, count + 1);
  const Instruction& fixed = operation.instruction;
  const unsigned bits = 8 * bytes_of(fixed.type);
  const auto converted = [&](const Node& node) {
    const VirtualId id = temporary(Type::kU32);
    DraftInstruction d = draft(Opcode::kCvt, fixed.type);
    d.fixed.from = fixed.from;
    d.fixed.sat = true;
    d.fixed.latency = Latency::kIntAdd;
    set_source(d, 0, source(node, fixed.from));
    set_destination(d, 0, id, Type::kU32);
    emit(d);
    return of(id, Type::kU32);
  };
  const auto insert = [&](const Source& above, const Source& below, unsigned at, unsigned width,
                          VirtualId to) {
    DraftInstruction d = draft(Opcode::kBfi, Type::kB32);
    d.fixed.latency = Latency::kIntAdd;
    set_source(d, 0, above);
    set_source(d, 1, below);
    set_source(d, 2, constant(at, Type::kU32));
    set_source(d, 3, constant(width, Type::kU32));
    set_destination(d, 0, to, Type::kB32);
    emit(d);
  };
  const VirtualId to = destination(operand(0), Type::kB32);
  const Source a = converted(operand(1)), b = converted(operand(2));
  if (count == 2) return insert(a, b, bits, bits, to);
  const Source c = source(operand(3), Type::kB32);
  const VirtualId two = temporary(Type::kU32);
  insert(a, b, bits, bits, two);
  insert(c, of(two, Type::kU32), 2 * bits, 32 - 2 * bits, to);
}

// .relu of cvt: the larger of the result and +0, or the canonical NaN. `id` holds the result.
void Lowering::rectify(VirtualId to, VirtualId id, Type type) {
  DraftInstruction d = draft(Opcode::kMax, type);
  d.fixed.mode = Mode::kNan;
  d.fixed.latency = Latency::kFloatAdd;
  set_source(d, 0, of(id, type));
  set_source(d, 1, constant(0, type));
  set_destination(d, 0, to, type);
  emit(d);
}

// prefetch, applypriority: the address is read and forgotten.
void Lowering::prefetch(const Operation& operation) {
  need_operands(operation.source_count, operation.source_count);
  DraftInstruction d = draft(operation.instruction);
  d.fixed.op = Opcode::kLd;  // an address is checked as that of a load
  address(d, operand(0));
  if (operation.source_count == 2 && operand(1).kind != Node::Kind::kLiteral)
    fail(operand(1), "expected the size 128");
  if (d.fixed.src[0].kind == Operand::Kind::kNone) return;
  DraftInstruction use = draft(Opcode::kMov, d.fixed.wide_address ? Type::kU64 : Type::kU32);
  use.fixed.src[0] = d.fixed.src[0];
  use.src[0] = d.src[0];
  set_destination(use, 0, temporary(use.fixed.type), use.fixed.type);
  emit(use);
}

}  // namespace weft::ptx
