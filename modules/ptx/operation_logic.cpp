// Comparisons, bits, moves, conversions and control.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

// CmpOp{.BoolOp}
void take_comparison(Modifiers& m, Instruction& i) {
  m.need({{"eq", Compare::kEq},
          {"ne", Compare::kNe},
          {"lt", Compare::kLt},
          {"le", Compare::kLe},
          {"gt", Compare::kGt},
          {"ge", Compare::kGe},
          {"lo", Compare::kLo},
          {"ls", Compare::kLs},
          {"hi", Compare::kHi},
          {"hs", Compare::kHs},
          {"equ", Compare::kEqu},
          {"neu", Compare::kNeu},
          {"ltu", Compare::kLtu},
          {"leu", Compare::kLeu},
          {"gtu", Compare::kGtu},
          {"geu", Compare::kGeu},
          {"num", Compare::kNum},
          {"nan", Compare::kNan}},
         i.compare);
  m.take({{"and", Combine::kAnd}, {"or", Combine::kOr}, {"xor", Combine::kXor}}, i.combine);
}

// 9.3.1: which comparison goes with which type of operands.
void check_comparison(Modifiers& m, const Instruction& i, Type type) {
  const bool equality = i.compare == Compare::kEq || i.compare == Compare::kNe;
  const bool unsigned_only = i.compare >= Compare::kLo && i.compare <= Compare::kHs;
  const bool float_only = i.compare >= Compare::kEqu;
  if ((kBits & set_of(type)) && !equality) m.illegal("bits compare by .eq and .ne only");
  if (unsigned_only && !(kUnsigned & set_of(type))) m.illegal("this comparison needs an unsigned type");
  if (float_only && !is_float(type)) m.illegal("this comparison needs a floating-point type");
}

}  // namespace

void read_setp(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  take_comparison(m, i);
  i.ftz = m.take("ftz");
  i.type = m.type(kBits | kIntegers | kFloats | kHalves);
  check_flush(m, i, i.type);
  check_comparison(m, i, i.type);
  o.shape = Shape::kCompare;
  signature(o, Type::kPred, {i.type, i.type, Type::kPred});
}

namespace {

// 9.7.6.1 and 9.7.7.1: pairs compare into pairs or words, and .f32 is no result of 16-bit operands.
void check_set_types(Modifiers& m, const Instruction& i) {
  constexpr TypeSet kPairs = set_of(Type::kF16x2, Type::kBf16x2);
  constexpr TypeSet kWords = set_of(Type::kU32, Type::kS32), kShorts = set_of(Type::kU16, Type::kS16);
  const bool one_half = is_in(i.from, kHalves & ~kPairs);
  bool legal = is_in(i.type, kWords);
  if (is_in(i.from, kPairs))
    legal = legal || i.type == i.from;
  else
    legal = legal || is_in(i.type, kHalves & ~kPairs) ||
            (one_half ? is_in(i.type, kShorts) : i.type == Type::kF32);
  if (!legal) {
    m.illegal("." + std::string(name_of(i.type)) + " cannot be the result of comparing ." + name_of(i.from));
  }
}

}  // namespace

void read_set(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  take_comparison(m, i);
  i.ftz = m.take("ftz");
  i.type = m.type(set_of(Type::kU16, Type::kS16, Type::kU32, Type::kS32, Type::kF32) | kHalves);
  i.from = m.type(kBits | kIntegers | kFloats | kHalves);
  check_flush(m, i, i.from);
  check_comparison(m, i, i.from);
  check_set_types(m, i);
  signature(o, i.type, {i.from, i.from, Type::kPred});
  if (i.combine == Combine::kNone) o.source_count = 2;
}

void read_testp(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.need({{"finite", Mode::kFinite},
          {"infinite", Mode::kInfinite},
          {"number", Mode::kNumber},
          {"notanumber", Mode::kNotANumber},
          {"normal", Mode::kNormal},
          {"subnormal", Mode::kSubnormal}},
         i.mode);
  i.type = m.type(kFloats);
  signature(o, Type::kPred, {i.type});
}

void read_selp(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(kBits | kIntegers | kFloats);
  signature(o, o.instruction.type, {o.instruction.type, o.instruction.type, Type::kPred});
}

void read_shift(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.type = m.type(i.op == Opcode::kShl ? kBits : kBits | kIntegers);
  signature(o, i.type, {i.type, Type::kU32});
}

void read_logic(Modifiers& m, Operation& o) {  // and, or, xor
  o.instruction.type = m.type(kBits | kPredicateType);
  signature(o, o.instruction.type, {o.instruction.type, o.instruction.type});
}

void read_not(Modifiers& m, Operation& o) {  // not, cnot
  o.instruction.type = m.type(o.instruction.op == Opcode::kNot ? kBits | kPredicateType : kBits);
  signature(o, o.instruction.type, {o.instruction.type});
}

void read_mov(Modifiers& m, Operation& o) {
  m.take({{"v2", std::uint8_t{2}}, {"v4", std::uint8_t{4}}}, o.instruction.vector);
  const TypeSet scalars = o.instruction.vector == 1 ? kPredicateType : 0;
  o.instruction.type = m.type(kBits | kIntegers | kFloats | scalars);
  o.shape = Shape::kMove;
  signature(o, o.instruction.type, {o.instruction.type});
}

namespace {

constexpr TypeSet kSmallPairs =
    set_of(Type::kE4m3x2, Type::kE5m2x2, Type::kE2m3x2, Type::kE3m2x2, Type::kE2m1x2);

// cvt to tf32, and to and from pairs of 8 bits and fewer: each pair of types has its own modifiers.
void read_small_conversion(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const auto need = [&](bool legal, const char* what) {
    if (!legal) m.illegal(what);
  };
  const bool nearest = i.rounding == Rounding::kRn;
  o.shape = Shape::kConvertSmall;
  need(!i.ftz && !i.sat, "this conversion takes neither .ftz nor .sat");
  if (i.type == Type::kTf32) {
    need(i.from == Type::kF32, "tf32 is made from .f32");
    need(nearest || i.rounding == Rounding::kRz || i.rounding == Rounding::kRna, "expected .rna, .rn or .rz");
    need(!i.relu || i.rounding != Rounding::kRna, ".rna takes no .relu");
    return signature(o, Type::kB32, {Type::kF32});
  }
  if (is_in(i.type, kSmallPairs)) {
    need(i.from == Type::kF32 || i.from == Type::kF16x2, "this pair is made from .f32 or .f16x2");
    need(nearest && i.saturates_finite, "expected .rn.satfinite");
    const Type to = i.type == Type::kE2m1x2 ? Type::kB8 : Type::kB16;
    if (i.from == Type::kF16x2) return signature(o, to, {Type::kB32});
    return signature(o, to, {Type::kF32, Type::kF32});
  }
  if (i.type == Type::kUe8m0x2) {
    need(i.from == Type::kF32 || i.from == Type::kBf16x2, "exponents are made from .f32 or .bf16x2");
    need((i.rounding == Rounding::kRz || i.rounding == Rounding::kRp) && !i.relu,
         "expected .rz or .rp, without .relu");
    if (i.from == Type::kBf16x2) return signature(o, Type::kB16, {Type::kB32});
    return signature(o, Type::kB16, {Type::kF32, Type::kF32});
  }
  const bool exponents = i.from == Type::kUe8m0x2;
  need(i.type == (exponents ? Type::kBf16x2 : Type::kF16x2),
       exponents ? "exponents become .bf16x2" : "this pair becomes .f16x2");
  need(nearest && !i.saturates_finite && !(exponents && i.relu), "expected .rn, without .satfinite");
  signature(o, Type::kB32, {i.from == Type::kE2m1x2 ? Type::kB8 : Type::kB16});
}

}  // namespace

// 9.7.9.21 cvt: which rounding goes with which pair of types.
void read_cvt(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (m.take("pack")) return read_cvt_pack(m, o);
  if (m.has("rs")) m.unexpected("rs", "another rounding");
  const bool float_rounding = take_rounding(m, i) || m.take({{"rna", Rounding::kRna}}, i.rounding);
  const bool integer_rounding = !float_rounding && m.take({{"rni", Rounding::kRni},
                                                           {"rzi", Rounding::kRzi},
                                                           {"rmi", Rounding::kRmi},
                                                           {"rpi", Rounding::kRpi}},
                                                          i.rounding);
  i.relu = m.take("relu");
  i.saturates_finite = m.take("satfinite");
  i.relu = i.relu || m.take("relu");
  i.ftz = m.take("ftz");
  i.sat = m.take("sat");
  constexpr TypeSet kSmall = kSmallPairs | set_of(Type::kTf32, Type::kUe8m0x2);
  constexpr TypeSet kTypes = set_of(Type::kU8, Type::kS8, Type::kF16, Type::kBf16) | kIntegers | kFloats;
  i.type = m.type(kTypes | kSmall | set_of(Type::kF16x2, Type::kBf16x2));
  const bool packs = i.type == Type::kF16x2 || i.type == Type::kBf16x2;  // cvt.rn.f16x2.f32 d, a, b
  i.from = m.type(kTypes | kSmall | set_of(Type::kF16x2, Type::kBf16x2));
  if (is_in(i.type, kSmall) || is_in(i.from, kSmall)) return read_small_conversion(m, o);
  if (i.rounding == Rounding::kRna) m.illegal(".rna needs .tf32");
  if (packs ? i.from != Type::kF32 : i.from == Type::kF16x2 || i.from == Type::kBf16x2) {
    m.illegal("a pair is converted from .f32 only, and cannot be a source");
  }
  const bool to_float = is_float(i.type), from_float = is_float(i.from);
  const bool narrows = to_float && from_float && i.type != i.from &&
                       (is_in(i.type, kHalves) || (i.type == Type::kF32 && i.from == Type::kF64));
  if (to_float && (!from_float || narrows)) {
    if (!float_rounding) m.illegal("expected .rn, .rz, .rm or .rp for this conversion");
  } else if (from_float && !to_float) {
    if (!integer_rounding) m.illegal("expected .rni, .rzi, .rmi or .rpi for this conversion");
  } else if (float_rounding || (integer_rounding && (!to_float || i.type != i.from))) {
    m.illegal("this conversion takes no such rounding");
  }
  if (i.ftz && i.type != Type::kF32 && i.from != Type::kF32) m.illegal(".ftz needs .f32");
  const bool nearest = i.rounding == Rounding::kRn || i.rounding == Rounding::kRz;
  if (i.relu && (i.from != Type::kF32 || !is_in(i.type, kHalves) || i.sat || i.ftz || !nearest)) {
    m.illegal(".relu needs a conversion from .f32 to 16-bit floats by .rn or .rz");
  }
  if (i.saturates_finite && (i.from != Type::kF32 || !is_in(i.type, kHalves) || i.sat || i.ftz || !nearest)) {
    m.illegal(".satfinite needs a conversion from .f32 to 16-bit floats by .rn or .rz");
  }
  if (packs && (i.sat || i.rounding == Rounding::kRm || i.rounding == Rounding::kRp)) {
    m.illegal("a conversion to two numbers takes .rn or .rz, and no .sat");
  }
  o.shape = packs ? Shape::kConvertTwo : Shape::kConvert;
  signature(o, i.type, {i.from});
}

void read_bitfield(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  if (i.op == Opcode::kBfi) {
    i.type = m.type(set_of(Type::kB32, Type::kB64));
    signature(o, i.type, {i.type, i.type, Type::kU32, Type::kU32});
  } else {
    i.type = m.type(set_of(Type::kU32, Type::kU64, Type::kS32, Type::kS64));
    signature(o, i.type, {i.type, Type::kU32, Type::kU32});
  }
}

void read_count(Modifiers& m, Operation& o) {  // popc, clz: a 32-bit count
  o.instruction.type = m.type(set_of(Type::kB32, Type::kB64));
  signature(o, Type::kU32, {o.instruction.type});
}

void read_brev(Modifiers& m, Operation& o) {
  o.instruction.type = m.type(set_of(Type::kB32, Type::kB64));
  signature(o, o.instruction.type, {o.instruction.type});
}

void read_branch(Modifiers& m, Operation& o) {
  o.instruction.uniform = m.take("uni");
  o.shape = Shape::kBranch;
}

void read_indexed_branch(Modifiers& m, Operation& o) {
  enum class What { kIndex } what = What::kIndex;
  m.need({{"idx", What::kIndex}}, what);
  o.instruction.uniform = m.take("uni");
  o.shape = Shape::kIndexedBranch;
}

void read_call(Modifiers& m, Operation& o) {
  o.instruction.uniform = m.take("uni");
  o.shape = Shape::kCall;
}

void read_trap(Modifiers& m, Operation& o) {
  o.instruction.system = m.mnemonic() == "trap" ? SystemCall::kTrap : SystemCall::kBreakpoint;
  o.shape = Shape::kTrap;
}

void read_exit(Modifiers& m, Operation& o) {
  if (o.instruction.op == Opcode::kRet) o.instruction.uniform = m.take("uni");
  o.shape = Shape::kExit;
}

}  // namespace weft::ptx
