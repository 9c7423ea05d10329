// One small reader per group of instructions; the tables and orders of modifiers are those of PTX ISA 9.0,
// chapter 9.
#include "ptx/operation.h"

#include <algorithm>

#include "ptx/modifiers.h"

namespace weft::ptx {

// Memory, in operation_memory.cpp.
void read_load(Modifiers& m, Operation& o);
void read_store(Modifiers& m, Operation& o);
void read_atomic(Modifiers& m, Operation& o);
void read_convert_address(Modifiers& m, Operation& o);
void read_fence(Modifiers& m, Operation& o);

namespace {

void signature(Operation& o, Type destination, std::initializer_list<Type> sources) {
  o.destination = destination;
  o.source_count = static_cast<std::uint8_t>(sources.size());
  std::copy(sources.begin(), sources.end(), o.sources.begin());
}

bool take_rounding(Modifiers& m, Instruction& i) {
  return m.take({{"rn", Rounding::kRn}, {"rz", Rounding::kRz}, {"rm", Rounding::kRm}, {"rp", Rounding::kRp}},
                i.rounding);
}

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
  i.type = m.type(types);
  if (!is_float(i.type)) {
    if (rounded || i.ftz) m.illegal("rounding and .ftz need a floating-point type");
    if (i.sat && i.type != Type::kS32) m.illegal(".sat needs .s32 or .f32");
  } else if (i.type == Type::kF64 && (i.ftz || i.sat)) {
    m.illegal(".f64 takes neither .ftz nor .sat");
  }
}

void read_add(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  arithmetic_type(m, i, kIntegers | kFloats);
  signature(o, i.type, {i.type, i.type});
}

bool take_width(Modifiers& m, Instruction& i) {
  return m.take({{"lo", Width::kLo}, {"hi", Width::kHi}, {"wide", Width::kWide}}, i.width);
}

void check_width(Modifiers& m, const Instruction& i, bool given) {
  if (given == is_float(i.type)) m.illegal(".lo, .hi or .wide goes with integers, and only with them");
  if (i.width == Width::kWide && bytes_of(i.type) == 8) m.illegal(".wide needs a 16- or 32-bit type");
}

void read_mul(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool given = take_width(m, i);
  arithmetic_type(m, i, kIntegers | kFloats);
  check_width(m, i, given);
  if (i.sat && !is_float(i.type)) m.illegal("an integer mul takes no .sat");
  signature(o, i.width == Width::kWide ? doubled(i.type) : i.type, {i.type, i.type});
}

void read_mad(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool given = take_width(m, i);
  arithmetic_type(m, i, kIntegers | kFloats);
  check_width(m, i, given);
  if (i.sat && !is_float(i.type) && i.width != Width::kHi) m.illegal(".sat of an integer mad needs .hi.s32");
  if (is_float(i.type)) {
    // 9.7.3: with a rounding modifier mad is fma; without one it is legal only for targets before sm_20.
    if (i.rounding == Rounding::kDefault) m.illegal("a rounding modifier is missing");
    i.op = Opcode::kFma;
  }
  const Type sum = i.width == Width::kWide ? doubled(i.type) : i.type;
  signature(o, sum, {i.type, i.type, sum});
}

void read_fma(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  arithmetic_type(m, i, kFloats);
  if (i.rounding == Rounding::kDefault) m.illegal("a rounding modifier is missing");
  signature(o, i.type, {i.type, i.type, i.type});
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
  i.type = m.type(i.ftz ? set_of(Type::kF32) : kSigned | kFloats);
  signature(o, i.type, {i.type});
}

void read_extremum(Modifiers& m, Operation& o) {  // min, max
  Instruction& i = o.instruction;
  i.ftz = m.take("ftz");
  i.type = m.type(i.ftz ? set_of(Type::kF32) : kIntegers | kFloats);
  signature(o, i.type, {i.type, i.type});
}

void read_setp(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
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
  i.ftz = m.take("ftz");
  i.type = m.type(i.ftz ? set_of(Type::kF32) : kBits | kIntegers | kFloats);
  const bool equality = i.compare == Compare::kEq || i.compare == Compare::kNe;
  const bool unsigned_only = i.compare >= Compare::kLo && i.compare <= Compare::kHs;
  const bool float_only = i.compare >= Compare::kEqu;
  if ((kBits & set_of(i.type)) && !equality) m.illegal("bits compare by .eq and .ne only");
  if (unsigned_only && !(kUnsigned & set_of(i.type))) m.illegal("this comparison needs an unsigned type");
  if (float_only && !is_float(i.type)) m.illegal("this comparison needs a floating-point type");
  o.shape = Shape::kCompare;
  signature(o, Type::kPred, {i.type, i.type, Type::kPred});
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
  o.instruction.type = m.type(kBits | kIntegers | kFloats | kPredicateType);
  o.shape = Shape::kMove;
  signature(o, o.instruction.type, {o.instruction.type});
}

// 9.7.9.21 cvt: which rounding goes with which pair of types.
void read_cvt(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  const bool float_rounding = take_rounding(m, i);
  const bool integer_rounding = !float_rounding && m.take({{"rni", Rounding::kRni},
                                                           {"rzi", Rounding::kRzi},
                                                           {"rmi", Rounding::kRmi},
                                                           {"rpi", Rounding::kRpi}},
                                                          i.rounding);
  i.ftz = m.take("ftz");
  i.sat = m.take("sat");
  constexpr TypeSet kTypes = set_of(Type::kU8, Type::kS8) | kIntegers | kFloats;
  i.type = m.type(kTypes);
  i.from = m.type(kTypes);
  const bool to_float = is_float(i.type), from_float = is_float(i.from);
  const bool narrows = i.type == Type::kF32 && i.from == Type::kF64;
  if (to_float && (!from_float || narrows)) {
    if (!float_rounding) m.illegal("expected .rn, .rz, .rm or .rp for this conversion");
  } else if (from_float && !to_float) {
    if (!integer_rounding) m.illegal("expected .rni, .rzi, .rmi or .rpi for this conversion");
  } else if (float_rounding || (integer_rounding && (!to_float || i.type != i.from))) {
    m.illegal("this conversion takes no such rounding");
  }
  if (i.ftz && i.type != Type::kF32 && i.from != Type::kF32) m.illegal(".ftz needs .f32");
  o.shape = Shape::kConvert;
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
    if (!legal) m.illegal("this modifier does not go with .f64");
  }
  signature(o, i.type, {i.type});
}

void read_approximate(Modifiers& m, Operation& o) {  // sin, cos, lg2, ex2
  Instruction& i = o.instruction;
  i.approx = m.take("approx");
  if (!i.approx) m.unexpected(".approx");
  i.ftz = m.take("ftz");
  i.type = m.type(set_of(Type::kF32));
  signature(o, i.type, {i.type});
}

void read_branch(Modifiers& m, Operation& o) {
  o.instruction.uniform = m.take("uni");
  o.shape = Shape::kBranch;
}

void read_exit(Modifiers& m, Operation& o) {
  if (o.instruction.op == Opcode::kRet) o.instruction.uniform = m.take("uni");
  o.shape = Shape::kExit;
}

void read_barrier(Modifiers& m, Operation& o) {  // bar, barrier; .cta is the default
  Instruction& i = o.instruction;
  m.take("cta");
  enum class What { kSync, kArrive, kRed } what = What::kSync;
  m.need({{"sync", What::kSync}, {"arrive", What::kArrive}, {"red", What::kRed}}, what);
  i.type = Type::kNone;
  if (what == What::kArrive) i.barrier = BarrierKind::kArrive;
  if (what == What::kRed) {
    m.need({{"and", BarrierKind::kRedAnd}, {"or", BarrierKind::kRedOr}, {"popc", BarrierKind::kRedPopc}},
           i.barrier);
  }
  m.take("aligned");
  if (what == What::kRed)
    i.type = m.type(i.barrier == BarrierKind::kRedPopc ? set_of(Type::kU32) : kPredicateType);
  o.shape = Shape::kBarrier;
}

struct Reader {
  std::string_view mnemonic;
  Opcode op;
  void (*read)(Modifiers&, Operation&);
};

constexpr Reader kReaders[] = {{"abs", Opcode::kAbs, read_negate},
                               {"add", Opcode::kAdd, read_add},
                               {"and", Opcode::kAnd, read_logic},
                               {"atom", Opcode::kAtom, read_atomic},
                               {"bar", Opcode::kBar, read_barrier},
                               {"barrier", Opcode::kBar, read_barrier},
                               {"bfe", Opcode::kBfe, read_bitfield},
                               {"bfi", Opcode::kBfi, read_bitfield},
                               {"bra", Opcode::kBra, read_branch},
                               {"brev", Opcode::kBrev, read_brev},
                               {"clz", Opcode::kClz, read_count},
                               {"cnot", Opcode::kCnot, read_not},
                               {"copysign", Opcode::kCopysign, read_copysign},
                               {"cos", Opcode::kCos, read_approximate},
                               {"cvt", Opcode::kCvt, read_cvt},
                               {"cvta", Opcode::kCvta, read_convert_address},
                               {"div", Opcode::kDiv, read_div},
                               {"ex2", Opcode::kEx2, read_approximate},
                               {"exit", Opcode::kExit, read_exit},
                               {"fence", Opcode::kMembar, read_fence},
                               {"fma", Opcode::kFma, read_fma},
                               {"ld", Opcode::kLd, read_load},
                               {"lg2", Opcode::kLg2, read_approximate},
                               {"mad", Opcode::kMad, read_mad},
                               {"max", Opcode::kMax, read_extremum},
                               {"membar", Opcode::kMembar, read_fence},
                               {"min", Opcode::kMin, read_extremum},
                               {"mov", Opcode::kMov, read_mov},
                               {"mul", Opcode::kMul, read_mul},
                               {"neg", Opcode::kNeg, read_negate},
                               {"not", Opcode::kNot, read_not},
                               {"or", Opcode::kOr, read_logic},
                               {"popc", Opcode::kPopc, read_count},
                               {"rcp", Opcode::kRcp, read_root},
                               {"red", Opcode::kRed, read_atomic},
                               {"rem", Opcode::kRem, read_rem},
                               {"ret", Opcode::kRet, read_exit},
                               {"rsqrt", Opcode::kRsqrt, read_root},
                               {"selp", Opcode::kSelp, read_selp},
                               {"setp", Opcode::kSetp, read_setp},
                               {"shl", Opcode::kShl, read_shift},
                               {"shr", Opcode::kShr, read_shift},
                               {"sin", Opcode::kSin, read_approximate},
                               {"sqrt", Opcode::kSqrt, read_root},
                               {"st", Opcode::kSt, read_store},
                               {"sub", Opcode::kSub, read_add},
                               {"xor", Opcode::kXor, read_logic}};

constexpr bool sorted() {
  for (std::size_t i = 1; i < std::size(kReaders); ++i) {
    if (!(kReaders[i - 1].mnemonic < kReaders[i].mnemonic)) return false;
  }
  return true;
}
static_assert(sorted(), "kReaders is searched by bisection");

// Legal PTX that Weft does not execute (PTX ISA 9.0).
constexpr std::string_view kLaterMnemonics[] = {"activemask",
                                                "addc",
                                                "alloca",
                                                "applypriority",
                                                "bfind",
                                                "bmsk",
                                                "brkpt",
                                                "brx",
                                                "call",
                                                "clusterlaunchcontrol",
                                                "cp",
                                                "createpolicy",
                                                "discard",
                                                "dp2a",
                                                "dp4a",
                                                "elect",
                                                "fns",
                                                "getctarank",
                                                "griddepcontrol",
                                                "isspacep",
                                                "istypep",
                                                "ldmatrix",
                                                "ldu",
                                                "lop3",
                                                "mad24",
                                                "madc",
                                                "mapa",
                                                "match",
                                                "mbarrier",
                                                "mma",
                                                "movmatrix",
                                                "mul24",
                                                "multimem",
                                                "nanosleep",
                                                "pmevent",
                                                "prefetch",
                                                "prefetchu",
                                                "prmt",
                                                "redux",
                                                "sad",
                                                "set",
                                                "setmaxnreg",
                                                "shf",
                                                "shfl",
                                                "slct",
                                                "st_async",
                                                "stackrestore",
                                                "stacksave",
                                                "stmatrix",
                                                "subc",
                                                "suld",
                                                "suq",
                                                "sured",
                                                "sust",
                                                "szext",
                                                "tanh",
                                                "tcgen05",
                                                "tensormap",
                                                "testp",
                                                "tex",
                                                "tld4",
                                                "trap",
                                                "txq",
                                                "vabsdiff",
                                                "vabsdiff2",
                                                "vabsdiff4",
                                                "vadd",
                                                "vadd2",
                                                "vadd4",
                                                "vavrg2",
                                                "vavrg4",
                                                "vmad",
                                                "vmax",
                                                "vmax2",
                                                "vmax4",
                                                "vmin",
                                                "vmin2",
                                                "vmin4",
                                                "vote",
                                                "vset",
                                                "vset2",
                                                "vset4",
                                                "vshl",
                                                "vshr",
                                                "vsub",
                                                "vsub2",
                                                "vsub4",
                                                "wgmma",
                                                "wmma"};

void choose_unit(Instruction& i) {
  const bool wide_float = i.type == Type::kF64 || (i.op == Opcode::kCvt && i.from == Type::kF64);
  const bool floating = is_float(i.type) || (i.op == Opcode::kCvt && is_float(i.from));
  switch (i.op) {
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
      i.unit = Unit::kMemory;
      break;
    case Opcode::kBra:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kBar:
    case Opcode::kMembar:
      i.unit = Unit::kControl;
      break;
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSin:
    case Opcode::kCos:
      i.unit = Unit::kSfu;
      i.latency = wide_float ? Latency::kDoubleDiv : Latency::kSfu;
      break;
    case Opcode::kDiv:
    case Opcode::kRem:
      i.unit = floating ? Unit::kSfu : Unit::kSp;
      i.latency = wide_float ? Latency::kDoubleDiv : floating ? Latency::kFloatDiv : Latency::kIntDiv;
      break;
    case Opcode::kMul:
      i.latency = wide_float ? Latency::kDoubleMul : floating ? Latency::kFloatMul : Latency::kIntMul;
      break;
    case Opcode::kMad:
    case Opcode::kFma:
      i.latency = wide_float ? Latency::kDoubleMul : floating ? Latency::kFloatFma : Latency::kIntMul;
      break;
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kSelp:
      i.latency = Latency::kMove;
      break;
    default:
      i.latency = wide_float ? Latency::kDoubleAdd : floating ? Latency::kFloatAdd : Latency::kIntAdd;
  }
}

}  // namespace

Operation read_operation(const ModuleText& text, const Statement& statement) {
  Modifiers m(text, statement);
  const auto* reader =
      std::lower_bound(std::begin(kReaders), std::end(kReaders), m.mnemonic(),
                       [](const Reader& r, std::string_view name) { return r.mnemonic < name; });
  if (reader == std::end(kReaders) || reader->mnemonic != m.mnemonic()) {
    const bool later = std::find(std::begin(kLaterMnemonics), std::end(kLaterMnemonics), m.mnemonic()) !=
                       std::end(kLaterMnemonics);
    if (later) m.not_executable();
    m.illegal("unknown instruction '" + std::string(m.mnemonic()) + "'");
  }
  Operation operation;
  operation.instruction.op = reader->op;
  reader->read(m, operation);
  m.finish();
  Instruction& i = operation.instruction;
  if (i.op != Opcode::kCvt) i.from = i.type;
  choose_unit(i);
  return operation;
}

}  // namespace weft::ptx
