// cvt: registers may be wider than its types; two or three values into one register; .relu.
#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

// .relu: the larger of the result and +0, or the canonical NaN. `id` holds the result.
void rectify(Lowering& f, VirtualId to, VirtualId id, Type type) {
  DraftInstruction d = f.code.draft(Opcode::kMax, type);
  d.fixed.mode = Mode::kNan;
  d.fixed.latency = Latency::kFloatAdd;
  set_source(d, 0, source_of(id, type));
  set_source(d, 1, f.code.constant(0, type));
  set_destination(d, 0, to, type);
  f.code.emit(d);
}

// A special register of 32 bits may be wider than the type, as other registers may.
Source converted_source(Lowering& f, const Node& node, Type type) {
  const bool special = node.kind == Node::Kind::kName && !f.operands.find_register(node) &&
                       special_of(f.text.name(node)).has_value();
  const bool narrow = bytes_of(type) < 4 && !is_float(type);
  return special && narrow ? f.operands.source(node, Type::kU32) : f.operands.source_or_wider(node, type);
}

}  // namespace

// cvt takes registers wider than its types (9.4.1): clang writes cvt.s64.s32 %rd1, %rd2 for a sign extension
// in place.
void lower_convert(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  const Instruction& fixed = operation.instruction;
  DraftInstruction d = f.code.draft(fixed);
  set_source(d, 0, converted_source(f, f.operands[1], fixed.from));
  const Operands::Register to = f.operands.destination_or_wider(f.operands[0], fixed.type);
  if (fixed.relu) {
    const VirtualId id = f.code.temporary(fixed.type);
    d.fixed.relu = false;
    set_destination(d, 0, id, fixed.type);
    f.code.emit(d);
    return rectify(f, to.id, id, fixed.type);
  }
  if (rows_of(to.type) > rows_of(fixed.type)) {
    const VirtualId id = f.code.temporary(fixed.type);
    set_destination(d, 0, id, fixed.type);
    f.code.emit(d);
    f.code.emit_extension(to.id, id, is_signed(fixed.type));
    return;
  }
  set_destination(d, 0, to.id, to.type);
  f.code.emit(d);
}

// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half of d, b the lower one.
void lower_convert_two(Lowering& f, const Operation& operation) {
  f.operands.need(3);
  const Type two = operation.instruction.type;
  const Type half = two == Type::kF16x2 ? Type::kF16 : Type::kBf16;
  const VirtualId to = f.operands.destination(f.operands[0], two);
  const auto converted = [&](const Node& node) {
    const VirtualId id = f.code.temporary(half);
    DraftInstruction d = f.code.draft(operation.instruction);
    d.fixed.type = half;
    d.fixed.relu = false;
    f.operands.read(d, 0, node, operation.instruction.from);
    set_destination(d, 0, id, half);
    f.code.emit(d);
    return source_of(id, half);
  };
  const Source upper = converted(f.operands[1]), lower = converted(f.operands[2]);
  const bool relu = operation.instruction.relu;
  const VirtualId id = relu ? f.code.temporary(two) : to;
  f.code.emit_insert(id, Type::kB32, upper, lower, 16, 16);
  if (relu) rectify(f, to, id, two);
}

// Two numbers become the upper and the lower one of a pair, or a pair becomes another.
void lower_convert_small(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count + 1u);
  DraftInstruction d = f.code.draft(operation.instruction);
  for (std::uint32_t i = 0; i < operation.source_count; ++i) {
    f.operands.read(d, i, f.operands[i + 1], operation.sources[i]);
  }
  f.operands.write(d, 0, f.operands[0], operation.destination);
  f.code.emit(d);
}

namespace {

// The integer of 2 or 4 bits that is nearest to an operand.
Source clamped(Lowering& f, const Node& node, bool is_signed, unsigned bits) {
  const std::int64_t highest = (1 << (is_signed ? bits - 1 : bits)) - 1,
                     lowest = is_signed ? -highest - 1 : 0;
  const VirtualId below = f.code.temporary(Type::kS32), within = f.code.temporary(Type::kS32);
  DraftInstruction upper = f.code.draft(Opcode::kMin, Type::kS32);
  upper.fixed.latency = Latency::kIntAdd;
  f.operands.read(upper, 0, node, Type::kS32);
  set_source(upper, 1, f.code.constant(static_cast<std::uint64_t>(highest), Type::kS32));
  set_destination(upper, 0, below, Type::kS32);
  f.code.emit(upper);
  DraftInstruction lower = f.code.draft(Opcode::kMax, Type::kS32);
  lower.fixed.latency = Latency::kIntAdd;
  set_source(lower, 0, source_of(below, Type::kS32));
  set_source(lower, 1, f.code.constant(static_cast<std::uint64_t>(lowest), Type::kS32));
  set_destination(lower, 0, within, Type::kS32);
  f.code.emit(lower);
  return source_of(within, Type::kU32);
}

}  // namespace

// cvt.pack d, a, b {, c}: b lowest, a above it, above them the low bits of c.
void lower_convert_pack(Lowering& f, const Operation& operation) {
  const std::uint32_t count = operation.source_count;
  f.operands.need(count + 1);
  const Instruction& fixed = operation.instruction;
  const unsigned bits = operation.pack_bits;
  const auto converted = [&](const Node& node) {
    if (bits < 8) return clamped(f, node, fixed.type == Type::kS8, bits);
    const VirtualId id = f.code.temporary(Type::kU32);
    DraftInstruction d = f.code.draft(Opcode::kCvt, fixed.type);
    d.fixed.from = fixed.from;
    d.fixed.sat = true;
    d.fixed.latency = Latency::kIntAdd;
    f.operands.read(d, 0, node, fixed.from);
    set_destination(d, 0, id, Type::kU32);
    f.code.emit(d);
    return source_of(id, Type::kU32);
  };
  const VirtualId to = f.operands.destination(f.operands[0], Type::kB32);
  const Source a = converted(f.operands[1]), b = converted(f.operands[2]);
  if (count == 2) return f.code.emit_insert(to, Type::kB32, a, b, bits, bits);
  const Source c = f.operands.source(f.operands[3], Type::kB32);
  const VirtualId two = f.code.temporary(Type::kU32);
  f.code.emit_insert(two, Type::kB32, a, b, bits, bits);
  f.code.emit_insert(to, Type::kB32, c, source_of(two, Type::kU32), 2 * bits, 32 - 2 * bits);
}

}  // namespace weft::ptx
