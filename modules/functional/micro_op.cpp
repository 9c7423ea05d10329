#include "functional/micro_op.h"

#include <algorithm>
#include <limits>
#include <string>

#include "weft/common/error.h"

namespace weft::functional {
namespace {

using execute::Operation;
using execute::Source;

bool is_direct(ptx::Space space) {
  return space != ptx::Space::kGeneric && space != ptx::Space::kLocal;
}

MicroOp::Kind arithmetic_kind(const Operation& op) {
  auto kind = MicroOp::Kind::kArithmetic;
  for (const Source& source : op.src) {
    if (source.kind == Source::Kind::kDynamic) return MicroOp::Kind::kExecutor;
    if (source.kind == Source::Kind::kPredicate) kind = MicroOp::Kind::kPredicates;
  }
  for (const std::int16_t predicate : op.dst_predicate) {
    if (predicate > std::numeric_limits<std::int8_t>::max()) return MicroOp::Kind::kExecutor;
    if (predicate >= 0) kind = MicroOp::Kind::kPredicates;
  }
  return kind;
}

MicroOp::Kind kind_of(const Operation& op) {
  const ptx::Instruction& in = *op.instruction;
  if (in.is_memory()) return MicroOp::Kind::kMemory;
  if (in.is_branch()) return MicroOp::Kind::kBranch;
  if (in.is_exit()) return MicroOp::Kind::kExit;
  if (in.op == ptx::Opcode::kCall && in.target != ptx::kNoPc) return MicroOp::Kind::kCall;
  if (in.op == ptx::Opcode::kCall || in.op == ptx::Opcode::kReturn || in.op == ptx::Opcode::kBrx) {
    return MicroOp::Kind::kTargets;
  }
  if (in.op == ptx::Opcode::kSystem) return MicroOp::Kind::kSystem;
  if (in.is_barrier()) return MicroOp::Kind::kBarrier;
  if (in.is_warp_primitive()) return MicroOp::Kind::kWarp;
  return in.is_control() ? MicroOp::Kind::kControl : arithmetic_kind(op);
}

// Control instructions that the engine knows by name; another one could only be executed wrongly.
bool is_known(const ptx::Instruction& in) {
  switch (in.op) {
    case ptx::Opcode::kBar:
    case ptx::Opcode::kBra:
    case ptx::Opcode::kRet:
    case ptx::Opcode::kExit:
    case ptx::Opcode::kBrx:
    case ptx::Opcode::kCall:
    case ptx::Opcode::kReturn:
    case ptx::Opcode::kSystem:
    case ptx::Opcode::kMembar:
    case ptx::Opcode::kCopyCommit:
    case ptx::Opcode::kCopyWait:
    case ptx::Opcode::kNop:
      return true;
    default:
      return !in.is_control();
  }
}

MicroOp micro_op(const Operation& op) {
  MicroOp micro;
  micro.kind = kind_of(op);
  micro.function = op.function;
  micro.guard = op.instruction->guard;
  micro.guard_negated = op.instruction->guard_negated;
  if (micro.kind == MicroOp::Kind::kMemory) {
    const ptx::Instruction& in = *op.instruction;
    // Null: cp.async, images. A constant's address in 32 bits is the executor's business.
    micro.direct =
        op.memory != nullptr && is_direct(in.space) && (in.wide_address || in.space != ptx::Space::kConst);
    micro.absolute = op.src[0].kind == Source::Kind::kNone;
    micro.address = isa::address_kind(in);
    micro.data = std::max<std::uint8_t>(op.instruction->vector, 2);  // an atomic has up to two
  }
  for (unsigned i = 0; i < micro.src.size(); ++i) {
    const Source& source = op.src[i];
    if (source.kind == Source::Kind::kNone) continue;
    micro.sources = static_cast<std::uint8_t>(i + 1);
    if (source.kind == Source::Kind::kRow) {
      micro.src[i] = source.offset * sizeof(std::uint32_t);
      micro.rows = static_cast<std::uint8_t>(micro.rows | 1u << i);
    } else if (source.kind == Source::Kind::kConstant) {
      micro.src[i] = reinterpret_cast<std::uintptr_t>(source.constant);
    }
  }
  if (op.dst[0] >= 0) micro.dst = op.dst[0] * static_cast<std::int32_t>(sizeof(std::uint32_t));
  for (unsigned i = 0; i < micro.result.size(); ++i) {
    if (micro.kind == MicroOp::Kind::kPredicates)
      micro.result[i] = static_cast<std::int8_t>(op.dst_predicate[i]);
  }
  return micro;
}

}  // namespace

void check(const ptx::Program& program) {
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    if (is_known(program.code[pc])) continue;
    throw InputError(program.place(pc), std::string("instruction ") + ptx::name_of(program.code[pc].op) +
                                            " is not executable without timing yet");
  }
}

std::vector<MicroOp> micro_ops(const execute::Kernel& kernel) {
  std::vector<MicroOp> ops;
  ops.reserve(kernel.operations.size());
  for (const Operation& op : kernel.operations) ops.push_back(micro_op(op));
  return ops;
}

}  // namespace weft::functional
