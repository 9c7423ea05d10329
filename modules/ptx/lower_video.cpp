// Scalar video: operands with a part (%r1.b0, %r2.h1) and, of vmad, with a sign.
#include <array>
#include <string>
#include <utility>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

using Part = VideoAccess::Part;

// Takes the part off the name of an operand.
Part take_part(const Lowering& f, Node& node) {
  static constexpr std::pair<std::string_view, Part> kParts[] = {{"b0", Part::kByte0}, {"b1", Part::kByte1},
                                                                 {"b2", Part::kByte2}, {"b3", Part::kByte3},
                                                                 {"h0", Part::kHalf0}, {"h1", Part::kHalf1}};
  if (node.kind != Node::Kind::kName) return Part::kWord;
  const std::string_view name = f.text.name(node);
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return Part::kWord;
  for (const auto& [suffix, part] : kParts) {
    if (name.substr(dot + 1) != suffix) continue;
    node.text.length = static_cast<std::uint32_t>(dot);
    return part;
  }
  return Part::kWord;  // a special register such as %tid.x, or nothing known
}

bool take_sign(const Lowering& f, Node& node, bool allowed) {
  if (node.kind != Node::Kind::kName || !node.subtracted) return false;
  if (!allowed) f.code.fail(node, "only vmad subtracts an operand, and not with .po");
  node.subtracted = false;
  return true;
}

}  // namespace

void lower_video(Lowering& f, const Operation& operation) {
  f.operands.need(3, 4);
  DraftInstruction d = f.code.draft(operation.instruction);
  VideoAccess& v = d.fixed.video;
  const bool multiplies = d.fixed.op == Opcode::kVmad;
  Node to = f.operands[0];
  v.d = take_part(f, to);
  const bool merges = v.d != Part::kWord;
  if (merges && (multiplies || v.second != VideoAccess::Second::kNone))
    f.code.fail(to, "a second operation is not allowed with a part of the result");
  const bool needs_c = multiplies || merges || v.second != VideoAccess::Second::kNone;
  if (needs_c) f.operands.need(4);
  bool negative = false;
  for (std::uint32_t k = 0; k < 2; ++k) {
    Node from = f.operands[k + 1];
    negative ^= take_sign(f, from, multiplies && !v.plus_one);
    (k == 0 ? v.a : v.b) = take_part(f, from);
    f.operands.read(d, k, from, operation.sources[k]);
  }
  v.negate_product = negative;
  if (needs_c) {
    Node c = f.operands[3];
    v.negate_sum = take_sign(f, c, multiplies && !v.plus_one);
    if (v.negate_product && v.negate_sum) f.code.fail(c, "vmad negates either the product or the operand c");
    f.operands.read(d, 2, c, operation.sources[2]);
  }
  f.operands.write(d, 0, to, operation.destination);
  f.code.emit(d);
}

}  // namespace weft::ptx
