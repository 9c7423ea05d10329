// Warp-level primitives and barriers.
#include <string>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kBarriers = 16;     // of a block
constexpr std::uint64_t kWarpThreads = 32;  // in multiples of which a barrier counts

bool gives_predicate(const Instruction& i) {
  return i.op == Opcode::kShfl || i.op == Opcode::kElect || (i.op == Opcode::kMatch && i.mode == Mode::kAll);
}

}  // namespace

// shfl.sync.down.b32 d|p, a, b, c, mask and its relatives. The mask is always src[3].
void lower_warp(Lowering& f, const Operation& operation) {
  const std::uint32_t results = operation.destination == Type::kNone ? 0 : 1;
  const std::uint32_t sources = operation.source_count;
  f.operands.need(results + sources);
  DraftInstruction d = f.code.draft(operation.instruction);
  const bool masked = sources != 0 && operation.sources[sources - 1] == Type::kB32 &&
                      !(d.fixed.op == Opcode::kShfl && sources == 3);
  for (std::uint32_t i = 0; i < sources; ++i) {
    const bool is_mask = masked && i + 1 == sources;
    f.operands.read(d, is_mask ? 3 : i, f.operands[results + i], operation.sources[i]);
  }
  if (results == 0) return f.code.emit(d);
  const Node& to = f.operands[0];
  const bool pair = to.kind == Node::Kind::kPair;
  if (pair && !gives_predicate(d.fixed)) f.code.fail(to, "this instruction has no predicate result");
  const Node& first = pair ? f.text.child(to, 0) : to;
  set_destination(d, 0, f.operands.destination_or_sink(first, operation.destination), operation.destination);
  if (pair) {
    const Node& second = f.text.child(to, 1);
    if (!f.text.is_sink(second)) f.operands.write(d, 1, second, Type::kPred);
  }
  f.code.emit(d);
}

void lower_barrier(Lowering& f, const Operation& operation) {
  const BarrierKind kind = operation.instruction.barrier;
  const bool reduces = kind != BarrierKind::kSync && kind != BarrierKind::kArrive;
  const std::uint32_t skip = reduces ? 1 : 0;  // the result
  f.operands.need(reduces ? 3 : kind == BarrierKind::kArrive ? 2 : 1, reduces ? 4 : 2);
  DraftInstruction d = f.code.draft(operation.instruction);
  const Node& number = f.operands[skip];
  if (number.kind == Node::Kind::kLiteral && number.number.bits >= kBarriers) {
    f.code.fail(number, "found barrier " + std::to_string(number.number.bits) + "; allowed: 0 to 15");
  }
  f.operands.read(d, 0, number, Type::kU32);
  if (f.operands.count() == (reduces ? 4u : 2u)) {
    const Node& count = f.operands[skip + 1];
    const std::uint64_t threads = count.number.bits;
    if (count.kind == Node::Kind::kLiteral && (threads == 0 || threads % kWarpThreads != 0)) {
      f.code.fail(count, "found a barrier of " + std::to_string(threads) +
                             " threads; allowed: multiples of 32, the warp size of PTX");
    }
    f.operands.read(d, 1, count, Type::kU32);
  }
  if (!reduces) return f.code.emit(d);
  f.operands.read(d, 2, f.operands[f.operands.count() - 1], Type::kPred);
  const Type result = kind == BarrierKind::kRedPopc ? Type::kU32 : Type::kPred;
  f.operands.write(d, 0, f.operands[0], result);
  f.code.emit(d);
}

}  // namespace weft::ptx
