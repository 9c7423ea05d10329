// Bit permutations, searches and masks, and integer operations with a meaning of their own.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

constexpr TypeSet kWords = set_of(Type::kU32, Type::kS32);

}  // namespace

void read_prmt(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.type = m.type(set_of(Type::kB32));
  m.take({{"f4e", Mode::kF4e},
          {"b4e", Mode::kB4e},
          {"rc8", Mode::kRc8},
          {"ecl", Mode::kEcl},
          {"ecr", Mode::kEcr},
          {"rc16", Mode::kRc16}},
         i.mode);
  signature(o, i.type, {i.type, i.type, i.type});
}

void read_lop3(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool combines =
      m.take({{"and", Combine::kAnd}, {"or", Combine::kOr}, {"xor", Combine::kXor}}, i.combine);
  i.type = m.type(set_of(Type::kB32));
  o.shape = combines ? Shape::kLookupPredicate : Shape::kLookup;
  signature(o, i.type, {i.type, i.type, i.type, Type::kU32});
}

void read_shf(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  bool left = false;
  m.need({{"l", true}, {"r", false}}, left);
  m.need({{"clamp", left ? Mode::kLeftClamp : Mode::kRightClamp},
          {"wrap", left ? Mode::kLeftWrap : Mode::kRightWrap}},
         i.mode);
  i.type = m.type(set_of(Type::kB32));
  signature(o, i.type, {i.type, i.type, Type::kU32});
}

void read_bfind(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.take({{"shiftamt", Mode::kShiftAmount}}, i.mode);
  i.type = m.type(kWords | set_of(Type::kU64, Type::kS64));
  signature(o, Type::kU32, {i.type});
}

void read_bmsk(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.need({{"clamp", Mode::kClamp}, {"wrap", Mode::kWrap}}, i.mode);
  i.type = m.type(set_of(Type::kB32));
  signature(o, i.type, {Type::kU32, Type::kU32});
}

void read_fns(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(set_of(Type::kB32));
  signature(o, Type::kB32, {Type::kB32, Type::kB32, Type::kS32});
}

// 9.7.15, SIMD video: vop4.dtype.atype.btype{.sat} or .add. Masks and byte selectors, which are suffixes of
// the operands, are refused with the operands.
void read_video(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.vector = m.mnemonic().back() == '2' ? 2 : 4;
  i.type = m.type(kWords);
  i.from = m.type(kWords);
  i.second = m.type(kWords);
  i.sat = m.take("sat");
  i.accumulate = !i.sat && m.take("add");
  signature(o, i.type, {i.from, i.second, i.type});
}

void read_nanosleep(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(set_of(Type::kU32));
  o.shape = Shape::kHint;
}

void read_sad(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.type = m.type(kIntegers);
  signature(o, i.type, {i.type, i.type, i.type});
}

void read_mul24(Modifiers& m, Operation& o) {  // mul24, mad24
  Instruction& i = o.instruction;
  m.need({{"hi", Width::kHi}, {"lo", Width::kLo}}, i.width);
  i.sat = i.op == Opcode::kMad24 && m.take("sat");
  i.type = m.type(kWords);
  if (i.sat && (i.width != Width::kHi || i.type != Type::kS32)) m.illegal(".sat needs .hi.s32");
  signature(o, i.type, {i.type, i.type, i.type});
  if (i.op == Opcode::kMul24) o.source_count = 2;
}

// dp4a.atype.btype, dp2a.{lo,hi}.atype.btype: the sum is unsigned only if both factors are.
void read_dot_product(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (i.op == Opcode::kDp2a) m.need({{"lo", Width::kLo}, {"hi", Width::kHi}}, i.width);
  i.type = m.type(kWords);
  i.from = m.type(kWords);
  const Type sum = i.type == Type::kU32 ? i.from : i.type;
  signature(o, sum, {i.type, i.from, sum});
}

}  // namespace weft::ptx
