// Integer and floating-point arithmetic.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

Type doubled(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    default:
      return Type::kS64;
  }
}

// [.rnd][.ftz][.sat].type of add, sub, mul, mad, fma, after which `integers` types take no rounding or .ftz.
void arithmetic_type(Modifiers& m, Instruction& i, TypeSet types) {
  const bool rounded = take_rounding(m, i);
  i.ftz = m.take("ftz");
  i.sat = m.take("sat");
  i.relu = i.op == Opcode::kFma && m.take("relu");
  i.type = m.type(types);
  if (!is_float(i.type)) {
    if (rounded || i.ftz) m.illegal("rounding and .ftz need a floating-point type");
    if (i.sat && i.type != Type::kS32) m.illegal(".sat needs .s32 or .f32");
  } else if (i.type == Type::kF32x2 && i.sat) {
    m.illegal(".f32x2 takes no .sat");
  } else if (!is_in(i.type, set_of(Type::kF32, Type::kF32x2) | kF16s) && (i.ftz || i.sat)) {
    m.illegal("." + std::string(name_of(i.type)) + " takes neither .ftz nor .sat");
  } else if (is_in(i.type, kHalves) && rounded && i.rounding != Rounding::kRn) {
    m.illegal("16-bit floats round by .rn only");
  }
}

// Two f32 lie in registers of 64 bits without a type.
Type operand_type(const Instruction& i) {
  return i.type == Type::kF32x2 ? Type::kB64 : i.type;
}

constexpr std::uint32_t kLastOfUnroundedMad = 301;

bool take_width(Modifiers& m, Instruction& i) {
  return m.take({{"lo", Width::kLo}, {"hi", Width::kHi}, {"wide", Width::kWide}}, i.width);
}

void check_width(Modifiers& m, const Instruction& i, bool given) {
  if (given == is_float(i.type))
    m.illegal(".lo, .hi or .wide is required for integers and not allowed for floats");
  if (i.width == Width::kWide && bytes_of(i.type) == 8) m.illegal(".wide needs a 16- or 32-bit type");
}

// 9.7.2, extended precision: .cc writes the condition code, addc, subc and madc read it.
constexpr TypeSet kCarryTypes = set_of(Type::kU32, Type::kS32, Type::kU64, Type::kS64);

bool takes_carry(Modifiers& m, Operation& o, bool reads) {
  o.instruction.carry_out = m.take("cc");
  if (!o.instruction.carry_out && !reads) return false;
  o.shape = Shape::kCarry;
  return true;
}

}  // namespace

void read_add(Modifiers& m, Operation& o) {  // add, sub, addc, subc
  Instruction& i = o.instruction;
  if (i.op == Opcode::kAdd && take_pair(m, o, Opcode::kVadd)) return;
  if (takes_carry(m, o, i.op == Opcode::kAddc || i.op == Opcode::kSubc)) {
    i.type = m.type(kCarryTypes);
    return signature(o, i.type, {i.type, i.type});
  }
  arithmetic_type(m, i, kIntegers | kFloats | kHalves | set_of(Type::kF32x2));
  signature(o, operand_type(i), {operand_type(i), operand_type(i)});
}

void read_mul(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool given = take_width(m, i);
  arithmetic_type(m, i, kIntegers | kFloats | kHalves | set_of(Type::kF32x2));
  check_width(m, i, given);
  if (i.sat && !is_float(i.type)) m.illegal("an integer mul takes no .sat");
  signature(o, i.width == Width::kWide ? doubled(i.type) : operand_type(i),
            {operand_type(i), operand_type(i)});
}

void read_mad(Modifiers& m, Operation& o) {  // mad, madc
  Instruction& i = o.instruction;
  const bool given = take_width(m, i);
  if (takes_carry(m, o, i.op == Opcode::kMadc)) {
    if (!given || i.width == Width::kWide) m.illegal("expected .lo or .hi with a carry");
    i.type = m.type(kCarryTypes);
    return signature(o, i.type, {i.type, i.type, i.type});
  }
  arithmetic_type(m, i, kIntegers | kFloats);
  check_width(m, i, given);
  if (i.sat && !is_float(i.type) && i.width != Width::kHi) m.illegal(".sat of an integer mad needs .hi.s32");
  if (is_float(i.type)) {
    // 9.7.3: mad is fma, without a rounding modifier too, which .f32 may do without up to PTX 3.1 (so ptxas
    // 13).
    const bool old = i.type == Type::kF32 && m.text().version <= kLastOfUnroundedMad;
    if (i.rounding == Rounding::kDefault && !old) m.illegal("a rounding modifier is missing");
    i.op = Opcode::kFma;
  }
  const Type sum = i.width == Width::kWide ? doubled(i.type) : i.type;
  signature(o, sum, {i.type, i.type, sum});
}

void read_fma(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  arithmetic_type(m, i, kFloats | kHalves | set_of(Type::kF32x2));
  if (i.relu && (i.sat || !is_in(i.type, kHalves))) m.illegal(".relu needs a 16-bit float, without .sat");
  if (i.rounding == Rounding::kDefault) m.illegal("a rounding modifier is missing");
  signature(o, operand_type(i), {operand_type(i), operand_type(i), operand_type(i)});
}

void read_div(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.approx = m.take("approx");
  i.full = !i.approx && m.take("full");
  const bool rounded = !i.approx && !i.full && take_rounding(m, i);
  i.ftz = m.take("ftz");
  i.type = m.type(kIntegers | kFloats);
  const bool modified = i.approx || i.full || i.ftz;
  if (!is_float(i.type) && (modified || rounded)) m.illegal("an integer div takes no modifiers");
  if (i.type == Type::kF64 && modified) m.illegal("div.f64 takes a rounding modifier only");
  if (is_float(i.type) && !(i.approx || i.full || rounded))
    m.illegal("expected .approx, .full or a rounding modifier");
  signature(o, i.type, {i.type, i.type});
}

void read_rem(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(kIntegers);
  signature(o, o.instruction.type, {o.instruction.type, o.instruction.type});
}

void read_negate(Modifiers& m, Operation& o) {  // neg, abs
  Instruction& i = o.instruction;
  i.ftz = m.take("ftz");
  i.type = m.type(kSigned | kFloats | kHalves);
  check_flush(m, i, i.type);
  signature(o, i.type, {i.type});
}

void read_extremum(Modifiers& m, Operation& o) {  // min, max
  Instruction& i = o.instruction;
  if (take_pair(m, o, i.op == Opcode::kMin ? Opcode::kVmin : Opcode::kVmax)) return;
  i.ftz = m.take("ftz");
  const bool nan = m.take("NaN"), xorsign = m.take("xorsign"), magnitude = m.take("abs");
  if (xorsign && !magnitude) m.unexpected(".abs");
  i.mode = xorsign     ? nan ? Mode::kXorsignNan : Mode::kXorsign
           : magnitude ? nan ? Mode::kMagnitudeNan : Mode::kMagnitude
           : nan       ? Mode::kNan
                       : Mode::kNone;
  i.type = m.type(i.mode == Mode::kNone   ? kIntegers | kFloats | kHalves
                  : xorsign || !magnitude ? set_of(Type::kF32) | kHalves
                                          : set_of(Type::kF32));
  check_flush(m, i, i.type);
  o.shape = Shape::kExtremum;
  signature(o, i.type, {i.type, i.type, i.type});
}

void read_copysign(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(kFloats);
  signature(o, o.instruction.type, {o.instruction.type, o.instruction.type});
}

void read_root(Modifiers& m, Operation& o) {  // rcp, sqrt, rsqrt
  Instruction& i = o.instruction;
  i.approx = m.take("approx");
  if (!i.approx) {
    if (i.op == Opcode::kRsqrt) m.unexpected(".approx");
    if (!take_rounding(m, i)) m.unexpected(".approx or a rounding modifier");
  }
  i.ftz = m.take("ftz");
  i.type = m.type(kFloats);
  if (i.type == Type::kF64) {
    const bool legal = i.op == Opcode::kRsqrt ? i.approx
                       : i.op == Opcode::kRcp ? i.approx == i.ftz
                                              : !i.approx && !i.ftz;
    if (!legal) m.illegal("this modifier is not allowed with .f64");
  }
  signature(o, i.type, {i.type});
}

void read_approximate(Modifiers& m, Operation& o) {  // sin, cos, lg2, ex2, tanh
  Instruction& i = o.instruction;
  i.approx = m.take("approx");
  if (!i.approx) m.unexpected(".approx");
  const bool tanh = i.op == Opcode::kTanh;
  i.ftz = !tanh && m.take("ftz");
  i.type = m.type(tanh || i.op == Opcode::kEx2 ? set_of(Type::kF32) | kHalves : set_of(Type::kF32));
  // 9.7.4: ex2 of bf16 always flushes, and says so.
  if (!tanh && is_in(i.type, kBf16s) && !i.ftz) m.illegal("ex2 of bf16 needs .ftz");
  signature(o, i.type, {i.type});
}

}  // namespace weft::ptx
