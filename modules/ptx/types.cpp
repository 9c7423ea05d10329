#include "ptx/types.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::ptx {
namespace {

constexpr std::array<const char*, 28> kTypeNames = {
    "",      "pred", "b8",     "b16",    "b32",    "b64",    "u8",     "u16",    "u32", "u64",
    "s8",    "s16",  "s32",    "s64",    "f16",    "f16x2",  "bf16",   "bf16x2", "f32", "f64",
    "f32x2", "tf32", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", "ue8m0x2"};
static_assert(kTypeNames.size() == static_cast<std::size_t>(kLastType) + 1);

constexpr std::array<const char*, 94> kOpcodeNames = {"ret",
                                                      "exit",
                                                      "brx.idx",
                                                      "call",
                                                      "ret",
                                                      "call",
                                                      "ld",
                                                      "st",
                                                      "mov",
                                                      "add",
                                                      "sub",
                                                      "mul",
                                                      "mad",
                                                      "fma",
                                                      "cvta",
                                                      "bra",
                                                      "setp",
                                                      "shl",
                                                      "shr",
                                                      "and",
                                                      "or",
                                                      "xor",
                                                      "not",
                                                      "cnot",
                                                      "cvt",
                                                      "selp",
                                                      "div",
                                                      "rem",
                                                      "bar",
                                                      "neg",
                                                      "max",
                                                      "min",
                                                      "abs",
                                                      "atom",
                                                      "red",
                                                      "bfi",
                                                      "bfe",
                                                      "rcp",
                                                      "sqrt",
                                                      "rsqrt",
                                                      "ex2",
                                                      "lg2",
                                                      "sin",
                                                      "cos",
                                                      "membar",
                                                      "copysign",
                                                      "popc",
                                                      "clz",
                                                      "brev",
                                                      "prmt",
                                                      "lop3",
                                                      "shf",
                                                      "bfind",
                                                      "bmsk",
                                                      "fns",
                                                      "sad",
                                                      "mul24",
                                                      "mad24",
                                                      "dp2a",
                                                      "dp4a",
                                                      "testp",
                                                      "set",
                                                      "addc",
                                                      "subc",
                                                      "madc",
                                                      "vadd",
                                                      "vsub",
                                                      "vavrg",
                                                      "vabsdiff",
                                                      "vmin",
                                                      "vmax",
                                                      "vshl",
                                                      "vshr",
                                                      "vmad",
                                                      "vset",
                                                      "shfl",
                                                      "vote",
                                                      "match",
                                                      "activemask",
                                                      "redux",
                                                      "elect",
                                                      "bar.warp.sync",
                                                      "cp.async",
                                                      "cp.async.commit_group",
                                                      "cp.async.wait_group",
                                                      "tex",
                                                      "tld4",
                                                      "txq",
                                                      "suq",
                                                      "suld",
                                                      "sust",
                                                      "tanh",
                                                      "isspacep",
                                                      "nop"};
static_assert(kOpcodeNames.size() == static_cast<std::size_t>(Opcode::kNop) + 1);

constexpr std::array<const char*, 37> kSpecialNames = {"%tid.x",
                                                       "%tid.y",
                                                       "%tid.z",
                                                       "%ntid.x",
                                                       "%ntid.y",
                                                       "%ntid.z",
                                                       "%ctaid.x",
                                                       "%ctaid.y",
                                                       "%ctaid.z",
                                                       "%nctaid.x",
                                                       "%nctaid.y",
                                                       "%nctaid.z",
                                                       "%laneid",
                                                       "%warpid",
                                                       "%nwarpid",
                                                       "%smid",
                                                       "%nsmid",
                                                       "%gridid",
                                                       "%lanemask_eq",
                                                       "%lanemask_le",
                                                       "%lanemask_lt",
                                                       "%lanemask_ge",
                                                       "%lanemask_gt",
                                                       "%dynamic_smem_size",
                                                       "%total_smem_size",
                                                       "%reserved_smem_offset_begin",
                                                       "%reserved_smem_offset_end",
                                                       "%reserved_smem_offset_cap",
                                                       "%reserved_smem_offset_0",
                                                       "%reserved_smem_offset_1",
                                                       "%envreg0",
                                                       "%clock",
                                                       "%clock_hi",
                                                       "%globaltimer_lo",
                                                       "%globaltimer_hi",
                                                       "%clock64",
                                                       "%globaltimer"};
static_assert(kSpecialNames.size() == static_cast<std::size_t>(Special::kGlobaltimer) + 1);

}  // namespace

unsigned bytes_of(Type type) {
  switch (type) {
    case Type::kNone:
    case Type::kPred:
      return 0;
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kE2m1x2:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
    case Type::kE4m3x2:
    case Type::kE5m2x2:
    case Type::kE2m3x2:
    case Type::kE3m2x2:
    case Type::kUe8m0x2:
      return 2;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
    case Type::kF32x2:
      return 8;
    default:
      return 4;
  }
}

bool is_float(Type type) {
  return type >= Type::kF16;
}
bool is_signed(Type type) {
  return type >= Type::kS8 && type <= Type::kS64;
}
const char* name_of(Type type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}
const char* name_of(Opcode opcode) {
  return kOpcodeNames[static_cast<std::size_t>(opcode)];
}
const char* name_of(Special special) {
  return kSpecialNames[static_cast<std::size_t>(special)];
}

Type type_of(std::string_view word) {
  for (std::size_t i = 1; i < kTypeNames.size(); ++i) {
    if (word == kTypeNames[i]) return static_cast<Type>(i);
  }
  return Type::kNone;
}

Type unsigned_of(Type type) {
  switch (bytes_of(type)) {
    case 1:
      return Type::kU8;
    case 2:
      return Type::kU16;
    case 8:
      return Type::kU64;
    default:
      return Type::kU32;
  }
}

std::uint64_t element_bytes(const Declaration& declaration) {
  if (declaration.wide_type) return 16u * declaration.vector;
  // An opaque reference (.texref) is a 64-bit handle.
  if (declaration.type == Type::kNone) return 8;
  return static_cast<std::uint64_t>(bytes_of(declaration.type)) * declaration.vector;
}

std::uint64_t natural_alignment(const Declaration& declaration) {
  return declaration.align ? declaration.align : std::max<std::uint64_t>(element_bytes(declaration), 1);
}

std::size_t identifier_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && (('a' <= text[n] && text[n] <= 'z') || ('A' <= text[n] && text[n] <= 'Z') ||
                             ('0' <= text[n] && text[n] <= '9') || text[n] == '_' || text[n] == '$' ||
                             (n == 0 && text[n] == '%'))) {
    ++n;
  }
  return n;
}

std::string Program::place(Pc pc) const {
  if (pc >= code.size()) return name;
  const Instruction& instruction = code[pc];
  std::string text = instruction.ptx.file < files.size() ? files[instruction.ptx.file] : std::string();
  text += ':' + std::to_string(instruction.ptx.line) + ':' + std::to_string(instruction.ptx.column);
  if (instruction.source.line == 0 || instruction.source.file >= files.size()) return text;
  return files[instruction.source.file] + ':' + std::to_string(instruction.source.line) + " (" + text + ')';
}

}  // namespace weft::ptx
