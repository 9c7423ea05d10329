#include "ptx/calls.h"

#include <algorithm>

#include "ptx/types.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kPredicateBytes = 4;

void place(const std::vector<Declaration>& declarations, std::vector<Slot>& slots, Signature& signature) {
  for (const Declaration& declaration : declarations) {
    Slot slot;
    slot.declaration = declaration;
    // A predicate, which is no memory's type, is passed as a word of 0 or 1.
    const bool is_predicate = declaration.type == Type::kPred;
    slot.size = is_predicate ? kPredicateBytes : declaration.count * element_bytes(declaration);
    const std::uint64_t align = is_predicate ? kPredicateBytes : natural_alignment(declaration);
    slot.offset = align_up(signature.bytes, align);
    signature.bytes = slot.offset + slot.size;
    signature.align = std::max(signature.align, align);
    slots.push_back(std::move(slot));
  }
}

std::vector<Node> children(const ModuleText& text, const Node& list) {
  return {text.nodes.begin() + list.first, text.nodes.begin() + list.first + list.count};
}

}  // namespace

Signature signature_of(const std::vector<Declaration>& returns, const std::vector<Declaration>& parameters) {
  Signature signature;
  place(returns, signature.returns, signature);
  place(parameters, signature.parameters, signature);
  return signature;
}

const Node* read_call(const ModuleText& text, const Statement& statement, CallSite& site) {
  std::uint32_t next = 0;
  const auto operand = [&]() -> const Node* {
    return next < statement.count ? &text.nodes[statement.first + next] : nullptr;
  };
  if (operand() != nullptr && operand()->kind == Node::Kind::kList) {
    site.results = children(text, *operand());
    ++next;
  }
  if (operand() == nullptr || operand()->kind != Node::Kind::kName || operand()->negated ||
      operand()->has_addend) {
    text.fail(statement.at,
              "'" + text.statement_text(statement.at) + "': expected the function to call, or a register");
  }
  site.target = *operand();
  ++next;
  if (operand() != nullptr && operand()->kind == Node::Kind::kList) {
    site.arguments = children(text, *operand());
    ++next;
  }
  const Node* last = operand();
  if (last != nullptr &&
      (next + 1 != statement.count || last->kind != Node::Kind::kName || last->has_addend)) {
    text.fail(statement.at, "'" + text.statement_text(statement.at) +
                                "': expected at most (results), function, (arguments), prototype");
  }
  return last;
}

SystemCall system_call_of(std::string_view name) {
  if (name == "vprintf") return SystemCall::kPrint;
  if (name == "malloc") return SystemCall::kAllocate;
  if (name == "free") return SystemCall::kFree;
  if (name == "__assertfail") return SystemCall::kAssertFail;
  return SystemCall::kNone;
}

std::uint64_t bytes_of_system_call(SystemCall call) {
  switch (call) {
    case SystemCall::kPrint:
      return 24;  // s32; format, arguments
    case SystemCall::kAllocate:
      return 16;  // address; bytes
    case SystemCall::kFree:
      return 8;  // address
    case SystemCall::kAssertFail:
      return 40;  // message, file, line (u32), function, size of a character
    default:
      return 0;
  }
}

}  // namespace weft::ptx
