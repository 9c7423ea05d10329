// Instructions that become others: their modifiers. How they become others: lower_derived.cpp,
// lower_convert.cpp.
#include "ptx/operation_readers.h"

namespace weft::ptx {

// slct{.ftz}.dtype.{s32,f32}: `type` of the values, `from` of c.
void read_slct(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.ftz = m.take("ftz");
  i.type = m.type(kBits | kIntegers | kFloats);
  i.from = m.type(set_of(Type::kS32, Type::kF32));
  if (i.ftz && i.from != Type::kF32) m.illegal(".ftz needs .f32");
  o.shape = Shape::kSelectBySign;
  signature(o, i.type, {i.type, i.type, i.from});
}

void read_szext(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.need({{"clamp", Mode::kClamp}, {"wrap", Mode::kWrap}}, i.mode);
  i.type = m.type(set_of(Type::kU32, Type::kS32));
  o.shape = Shape::kExtend;
  signature(o, i.type, {i.type, Type::kU32});
}

// cvt.pack.sat.type.s32{.b32}: two of 16 bits, or two of 8 bits above which the low half of c goes.
void read_cvt_pack(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.sat = m.take("sat");
  if (!i.sat) m.unexpected(".sat");
  const auto small = [&](std::string_view word, Type type, std::uint8_t bits) {
    if (o.pack_bits != 0 || !m.take(word)) return;
    i.type = type;
    o.pack_bits = bits;
  };
  small("u2", Type::kU8, 2);
  small("s2", Type::kS8, 2);
  small("u4", Type::kU8, 4);
  small("s4", Type::kS8, 4);
  if (o.pack_bits == 0) {
    i.type = m.type(set_of(Type::kU8, Type::kS8, Type::kU16, Type::kS16));
    o.pack_bits = static_cast<std::uint8_t>(8 * bytes_of(i.type));
  }
  i.from = m.type(set_of(Type::kS32));
  o.shape = Shape::kConvertPack;
  signature(o, Type::kB32, {i.from, i.from, Type::kB32});
  if (bytes_of(i.type) == 2) {
    o.source_count = 2;
  } else {
    m.type(set_of(Type::kB32));
  }
}

// prefetch{.space}.level, prefetchu.L1: caches fill by loads only, which PTX allows.
void read_prefetch(Modifiers& m, Operation& o) {
  enum class Word { kIgnored } ignored = Word::kIgnored;
  Instruction& i = o.instruction;
  i.type = Type::kU64;
  o.shape = Shape::kPrefetch;
  o.source_count = 1;
  if (m.mnemonic() == "prefetch") {
    // Of a descriptor: prefetch{.const|.param}.tensormap
    const bool descriptor = m.take("tensormap");
    const bool named = m.take({{"const", Space::kConst}, {"param", Space::kParam}}, i.space);
    if (descriptor) return;
    if (i.space == Space::kParam) m.unexpected(".tensormap");
    if (!named) m.take({{"global", Space::kGlobal}, {"local", Space::kLocal}}, i.space);
    m.need({{"L1", Word::kIgnored},
            {"L2", Word::kIgnored},
            {"L2::evict_last", Word::kIgnored},
            {"L2::evict_normal", Word::kIgnored}},
           ignored);
  } else {
    m.need({{"L1", Word::kIgnored}}, ignored);
  }
}

void read_applypriority(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.take({{"global", Space::kGlobal}}, i.space);
  if (!m.take("L2::evict_normal")) m.unexpected(".L2::evict_normal");
  i.type = Type::kU64;
  o.shape = Shape::kPrefetch;
  o.source_count = 2;
}

void read_isspacep(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.need({{"global", Space::kGlobal},
          {"shared", Space::kShared},
          {"shared::cta", Space::kShared},
          {"shared::cluster", Space::kShared},
          {"local", Space::kLocal}},
         i.space);
  i.type = Type::kU64;
  signature(o, Type::kPred, {Type::kU64});
}

bool take_pair(Modifiers& m, Operation& o, Opcode op) {
  Instruction& i = o.instruction;
  const bool relu = op != Opcode::kVadd && m.take("relu");
  const bool is_signed = m.take("s16x2");
  i.relu = relu;
  if (relu && !is_signed) {  // min, max
    i.type = m.type(set_of(Type::kS32));
    o.shape = Shape::kPairs;
    signature(o, i.type, {i.type, i.type});
    return true;
  }
  if (!is_signed && !m.take("u16x2")) return false;
  i.op = op;
  i.vector = 2;
  i.type = i.from = i.second = is_signed ? Type::kS32 : Type::kU32;
  o.shape = Shape::kPairs;
  signature(o, i.type, {i.type, i.type});
  return true;
}

}  // namespace weft::ptx
