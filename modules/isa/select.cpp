// One version's answer to isa::find: the right source file for an opcode and its type.
#include "isa/kernels.h"
#include "isa/versions.h"

namespace weft::isa::WEFT_ISA_VERSION {

namespace {

bool is_floating(Type type) {
  return type == Type::kF32 || type == Type::kF64 || type == Type::kF32x2;
}

}  // namespace

LaneFunction find(const Instruction& in) {
  if (in.carry_out) return find_carry(in);
  switch (in.op) {
    case Opcode::kMov:
    case Opcode::kSelp:
    case Opcode::kCvta:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNot:
    case Opcode::kCnot:
    case Opcode::kShl:
    case Opcode::kShr:
    case Opcode::kBfe:
    case Opcode::kBfi:
    case Opcode::kPopc:
    case Opcode::kClz:
    case Opcode::kBrev:
      return find_bits(in);
    case Opcode::kPrmt:
    case Opcode::kLop3:
    case Opcode::kShf:
    case Opcode::kBfind:
    case Opcode::kBmsk:
    case Opcode::kFns:
      return find_permute(in);
    case Opcode::kSad:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kDp2a:
    case Opcode::kDp4a:
      return find_sum(in);
    case Opcode::kVadd:
    case Opcode::kVsub:
    case Opcode::kVavrg:
    case Opcode::kVabsdiff:
    case Opcode::kVmin:
    case Opcode::kVmax:
    case Opcode::kVshl:
    case Opcode::kVshr:
    case Opcode::kVmad:
    case Opcode::kVset:
      return find_video(in);
    case Opcode::kAddc:
    case Opcode::kSubc:
    case Opcode::kMadc:
      return find_carry(in);
    case Opcode::kSet:
    case Opcode::kTestp:
    case Opcode::kIsspacep:
    case Opcode::kSetp:
      return find_compare(in);
    case Opcode::kCvt:
      if (is_small(in.type) || is_small(in.from)) return find_convert_small(in);
      if (in.type == Type::kF32x2 || in.from == Type::kF32x2) return nullptr;
      if (is_half(in.type) || is_half(in.from)) return find_convert_half(in);
      return is_floating(in.type) || is_floating(in.from) ? find_convert_float(in) : find_convert_integer(in);
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kMad:
    case Opcode::kNeg:
    case Opcode::kAbs:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kRem:
      if (is_half(in.type)) return find_half(in);
      return is_floating(in.type) ? find_float(in) : find_integer(in);
    case Opcode::kDiv:
      if (!is_floating(in.type)) return find_integer(in);
      return in.approx || in.full ? find_approximate(in) : find_float(in);
    case Opcode::kFma:
      return is_half(in.type) ? find_half(in) : find_float(in);
    case Opcode::kCopysign:
      return find_float(in);
    case Opcode::kRcp:
    case Opcode::kSqrt:
      return in.approx ? find_approximate(in) : find_float(in);
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTanh:
      return is_half(in.type) ? find_approximate_half(in) : find_approximate(in);
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kActivemask:
    case Opcode::kElect:
    case Opcode::kWarpBarrier:
      return find_warp(in);
    default:
      return nullptr;
  }
}

MemoryFunction find_memory(const Instruction& in) {
  switch (in.op) {
    case Opcode::kLd:
    case Opcode::kSt:
      return find_access(in);
    case Opcode::kAtom:
    case Opcode::kRed:
      return find_atomic(in);
    default:
      return nullptr;
  }
}

}  // namespace weft::isa::WEFT_ISA_VERSION
