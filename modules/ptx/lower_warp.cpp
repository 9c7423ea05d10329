// Warp-level primitives and barriers.
#include "ptx/lower.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kBarriers = 16;     // of a block
constexpr std::uint64_t kWarpThreads = 32;  // in multiples of which a barrier counts

bool gives_predicate(const Instruction& i) {
  return i.op == Opcode::kShfl || i.op == Opcode::kElect || (i.op == Opcode::kMatch && i.mode == Mode::kAll);
}

}  // namespace

// shfl.sync.down.b32 d|p, a, b, c, mask and its relatives. The mask is always src[3].
void Lowering::warp(Operation& operation) {
  const std::uint32_t results = operation.destination == Type::kNone ? 0 : 1;
  const std::uint32_t sources = operation.source_count;
  need_operands(results + sources, results + sources);
  DraftInstruction d = draft(operation.instruction);
  const bool masked = sources != 0 && operation.sources[sources - 1] == Type::kB32 &&
                      !(d.fixed.op == Opcode::kShfl && sources == 3);
  for (std::uint32_t i = 0; i < sources; ++i) {
    const bool is_mask = masked && i + 1 == sources;
    set_source(d, is_mask ? 3 : i, source(operand(results + i), operation.sources[i]));
  }
  if (results == 0) return emit(d);
  const Node& to = operand(0);
  const bool pair = to.kind == Node::Kind::kPair;
  if (pair && !gives_predicate(d.fixed)) fail(to, "this instruction has no predicate result");
  const Node& first = pair ? text_.nodes[to.first] : to;
  const bool sink = text_.view(first.text) == "_";
  set_destination(d, 0, sink ? temporary(operation.destination) : destination(first, operation.destination),
                  operation.destination);
  if (pair) {
    const Node& second = text_.nodes[to.first + 1];
    if (text_.view(second.text) != "_") set_destination(d, 1, destination(second, Type::kPred), Type::kPred);
  }
  emit(d);
}

void Lowering::barrier(Operation& operation) {
  const BarrierKind kind = operation.instruction.barrier;
  const bool reduces = kind != BarrierKind::kSync && kind != BarrierKind::kArrive;
  const std::uint32_t skip = reduces ? 1 : 0;  // the result
  need_operands(reduces ? 3 : kind == BarrierKind::kArrive ? 2 : 1, reduces ? 4 : 2);
  DraftInstruction d = draft(operation.instruction);
  const Node& number = operand(skip);
  if (number.kind == Node::Kind::kLiteral && number.number.bits >= kBarriers) {
    fail(number, "found barrier " + std::to_string(number.number.bits) + ", allowed are 0 to 15");
  }
  set_source(d, 0, source(number, Type::kU32));
  if (statement_->count == (reduces ? 4u : 2u)) {
    const Node& count = operand(skip + 1);
    const std::uint64_t threads = count.number.bits;
    if (count.kind == Node::Kind::kLiteral && (threads == 0 || threads % kWarpThreads != 0)) {
      fail(count, "found a barrier of " + std::to_string(threads) +
                      " threads, allowed are multiples of 32, the warp size of PTX");
    }
    set_source(d, 1, source(count, Type::kU32));
  }
  if (!reduces) return emit(d);
  set_source(d, 2, source(operand(statement_->count - 1), Type::kPred));
  const Type result = kind == BarrierKind::kRedPopc ? Type::kU32 : Type::kPred;
  set_destination(d, 0, destination(operand(0), result), result);
  emit(d);
}

}  // namespace weft::ptx
