// Instructions after which others than the next one may follow.
#include <string>
#include <utility>
#include <vector>

#include "ptx/lower_rules.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {

void lower_branch(Lowering& f, const Operation& operation) {
  f.operands.need(1);
  const Node& node = f.operands[0];
  const bool is_name = node.kind == Node::Kind::kName && !node.has_addend;
  const Meaning meaning = is_name ? f.operands.meaning(node) : Meaning();
  if (meaning.kind != Meaning::Kind::kLabel)
    f.code.fail(node, "'" + std::string(f.text.name(node)) + "' is not a label of this kernel");
  f.branches.emit(f.code.draft(operation.instruction), meaning.index);
}

// brx.idx index, list of .branchtargets
void lower_indexed_branch(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  const Node& node = f.operands[1];
  const std::string name(f.text.name(node));
  const bool is_name = node.kind == Node::Kind::kName && !node.has_addend;
  const TargetList* list = is_name ? f.symbols.find_targets(name) : nullptr;
  if (list == nullptr) f.code.fail(node, "'" + name + "' is not a list of .branchtargets");
  // A list is written once, and each brx.idx that names it has edges to all of it.
  if (f.branches.indexed_targets() + list->targets.size() > kMaxBranchTargets) {
    f.code.fail(node, "the brx.idx of this function have more than " + std::to_string(kMaxBranchTargets) +
                          " targets together");
  }
  std::vector<std::uint32_t> labels;
  labels.reserve(list->targets.size());
  for (const Extent target : list->targets) {
    const Meaning meaning = f.symbols.find(f.text.view(target), target.at);
    if (meaning.kind != Meaning::Kind::kLabel) {
      f.text.fail(target.at, "'" + std::string(f.text.view(target)) + "' is not a label of this function");
    }
    labels.push_back(meaning.index);
  }
  if (f.operands[0].has_addend) f.code.fail(f.operands[0], "an index has no addend");
  DraftInstruction d = f.code.draft(operation.instruction);
  f.operands.read(d, 0, f.operands[0], Type::kU32);
  f.branches.emit_indexed(d, std::move(labels));
}

void lower_call(Lowering& f, const Operation&) {
  const auto index = static_cast<std::uint32_t>(&f.operands.statement() - f.text.statements.data());
  f.calls.call(f.symbols.calls().at(index));
}

// ret, exit
void lower_exit(Lowering& f, const Operation& operation) {
  f.operands.need(0);
  if (operation.instruction.op == Opcode::kRet && !f.draft.frame.is_kernel) {
    f.branches.emit_leave();
  } else {
    f.code.emit(f.code.draft(operation.instruction));
  }
}

}  // namespace weft::ptx
