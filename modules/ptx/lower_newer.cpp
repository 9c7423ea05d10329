// What newer machines have and this one does without: policies of caches, clusters of blocks, launches that
// overlap. A launch has no clusters, so each block is a cluster of its own.
#include <optional>
#include <string>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kClusterBarrier =
    15;  // of the 16 barriers of a block, the one that programs use least
constexpr std::uint64_t kEvents = 16;

void set_constant(Lowering& f, const Node& to, std::uint64_t value, Type type) {
  DraftInstruction d = f.code.draft(Opcode::kMov, type);
  set_source(d, 0, f.code.constant(value, type));
  f.operands.write(d, 0, to, type);
  f.code.emit(d);
}

}  // namespace

// A policy says nothing about values. It must be one, and is not read.
void check_policy(Lowering& f, const Node& node) {
  if (node.kind == Node::Kind::kLiteral) return;
  f.operands.check_type(node, f.operands.need_register(node).type, Type::kU64);
}

// createpolicy: what a policy looks like is not said; here it is 0. Its operands are looked at and forgotten.
void lower_policy(Lowering& f, const Operation& operation) {
  const Type type = operation.instruction.type;
  const std::uint32_t most = operation.source_count;  // [address], size, size; or a fraction or a property
  f.operands.need(most == 1 && operation.sources[0] == Type::kF32 ? 1 : most + 1, most + 1);
  for (std::uint32_t k = 1; k < f.operands.count(); ++k) {
    const Node& node = f.operands[k];
    if (node.kind == Node::Kind::kAddress) {
      f.operands.check_type(f.text.child(node, 0), f.operands.need_register(f.text.child(node, 0)).type,
                            Type::kU64);
    } else if (node.kind != Node::Kind::kLiteral) {
      f.operands.check_type(node, f.operands.need_register(node).type, operation.sources[k - 1]);
    }
  }
  set_constant(f, f.operands[0], 0, type);
}

// mapa d, a, rank: the address in the cluster's block of that rank, of which there is one.
void lower_map_address(Lowering& f, const Operation& operation) {
  const Type type = operation.instruction.type;
  f.operands.need(3);
  const Node& rank = f.operands[2];
  if (rank.kind != Node::Kind::kLiteral) {
    f.operands.check_type(rank, f.operands.need_register(rank).type, Type::kU32);
  } else if (rank.number.bits != 0) {
    f.code.fail(rank, "found rank " + std::to_string(rank.number.bits) +
                          ", but a launch without clusters has rank 0 only");
  }
  DraftInstruction d = f.code.draft(Opcode::kMov, type);
  f.operands.read(d, 0, f.operands[1], type);
  f.operands.write(d, 0, f.operands[0], type);
  f.code.emit(d);
}

void lower_cluster_rank(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  f.operands.source(f.operands[1], operation.sources[0]);
  set_constant(f, f.operands[0], 0, Type::kU32);
}

// barrier.cluster.wait: for all threads of the cluster, which are those of the block.
void lower_cluster_wait(Lowering& f, const Operation& operation) {
  f.operands.need(0);
  DraftInstruction d = f.code.draft(operation.instruction);
  set_source(d, 0, f.code.constant(kClusterBarrier, Type::kU32));
  f.code.emit(d);
}

// griddepcontrol (a launch begins when the one before it has ended), pmevent, setmaxnreg.
void lower_nothing(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count);
  if (operation.source_count == 0) return;
  const Node& number = f.operands[0];
  if (number.kind != Node::Kind::kLiteral) f.code.fail(number, "expected a constant");
  if (operation.shape == Shape::kEvent && operation.sources[0] == Type::kU8 && number.number.bits >= kEvents)
    f.code.fail(number, "found event " + std::to_string(number.number.bits) + "; allowed: 0 to 15");
}

// fence.proxy.tensormap::generic.acquire has an address and a size.
void lower_fence(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count);
  if (operation.source_count == 2) {
    const Node& address = f.operands[0];
    if (address.kind != Node::Kind::kAddress || f.operands[1].kind != Node::Kind::kLiteral)
      f.code.fail(address, "expected [address], 128");
  }
  f.code.emit(f.code.draft(operation.instruction));
}

}  // namespace weft::ptx
