// mov and cvta: besides registers and literals the source may be the address of a variable, a special
// register that changes with time, or (mov.b16, .b32, .b64) a vector to pack; the destination may be a vector
// to unpack into.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "ptx/lower_rules.h"
#include "ptx/types.h"

namespace weft::ptx {
namespace {

// The type of one of `count` equal parts of a `bytes`-wide word.
Type part_type(unsigned bytes, std::uint32_t count) {
  if (count == 2 && bytes == 8) return Type::kB32;
  if ((count == 2 && bytes == 4) || (count == 4 && bytes == 8)) return Type::kB16;
  if ((count == 2 && bytes == 2) || (count == 4 && bytes == 4)) return Type::kB8;
  return Type::kNone;
}

Type need_part_type(const Lowering& f, const Node& vector, Type whole, const char* verb) {
  const Type part = part_type(bytes_of(whole), vector.count);
  if ((whole != Type::kB16 && whole != Type::kB32 && whole != Type::kB64) || part == Type::kNone) {
    f.code.fail(vector, "this vector does not make up a word of the instruction's type; " +
                            std::string(verb) + " needs .b16, .b32 or .b64");
  }
  return part;
}

// mov.b64 d, {a, b}: the parts are inserted one after the other (bfi), from the low end.
void pack(Lowering& f, Type whole, const Node& vector) {
  const Type part = need_part_type(f, vector, whole, "packing");
  const VirtualId to = f.operands.destination(f.operands[0], whole);
  const unsigned part_bits = 8 * bytes_of(part);
  // A halfword is made in a word, since bfi has no 16 bits.
  const bool half = whole == Type::kB16;
  const Type word = half ? Type::kB32 : whole, wide = unsigned_of(word);
  // The first part, extended to the whole width (its upper bits are overwritten by the next ones).
  const auto extended = [&](const Node& node) {
    const Source from = f.operands.source(node, part);
    if (bytes_of(word) == 4 && from.kind == Operand::Kind::kRow) return from;
    const VirtualId id = f.code.temporary(wide);
    f.code.emit_convert(id, wide, from, unsigned_of(part));
    return source_of(id, wide);
  };
  Source below = extended(f.text.child(vector, 0));
  for (std::uint32_t k = 1; k < vector.count; ++k) {
    const Source above = extended(f.text.child(vector, k));
    const VirtualId result = k + 1 == vector.count && !half ? to : f.code.temporary(wide);
    f.code.emit_insert(result, word, above, below, k * part_bits, part_bits);
    below = source_of(result, word);
  }
  if (half) f.code.emit_convert(to, Type::kU16, below, wide);
}

// mov.b64 {a, b}, s: each part is the low end of s shifted right.
void unpack(Lowering& f, Type whole, const Node& vector) {
  const Type part = need_part_type(f, vector, whole, "unpacking");
  const Type wide = unsigned_of(whole);
  const Source from = f.operands.source(f.operands[1], whole);
  for (std::uint32_t k = 0; k < vector.count; ++k) {
    const Node& node = f.text.child(vector, k);
    if (f.text.is_sink(node)) continue;
    Source shifted = from;
    if (k > 0) {
      const VirtualId id = f.code.temporary(wide);
      DraftInstruction d = f.code.draft(Opcode::kShr, wide);
      d.fixed.latency = Latency::kIntAdd;
      set_source(d, 0, from);
      set_source(d, 1, f.code.constant(k * 8 * bytes_of(part), Type::kU32));
      set_destination(d, 0, id, wide);
      f.code.emit(d);
      shifted = source_of(id, wide);
    }
    f.code.emit_convert(f.operands.destination(node, part), unsigned_of(part), shifted, wide);
  }
}

// mov.v2, mov.v4: all elements are read before one is written.
void move_elements(Lowering& f, const Operation& operation) {
  const Node& to = f.operands[0];
  const Node& from = f.operands[1];
  const Type type = operation.destination;
  const std::uint32_t count = operation.instruction.vector;
  for (const Node* node : {&to, &from}) {
    if (node->kind == Node::Kind::kVector && node->count == count) continue;
    f.code.fail(*node, "expected " + std::to_string(count) + " elements");
  }
  const auto move = [&](VirtualId id, const Source& value) {
    DraftInstruction d = f.code.draft(operation.instruction);
    d.fixed.vector = 1;
    set_source(d, 0, value);
    set_destination(d, 0, id, type);
    f.code.emit(d);
  };
  constexpr std::size_t kMost = 4;
  std::array<Source, kMost> values;
  std::array<VirtualId, kMost> ids{};
  for (std::uint32_t k = 0; k < count; ++k) {
    const Node& element = f.text.child(to, k);
    ids[k] = f.text.is_sink(element) ? kNoRegister : f.operands.destination(element, type);
    values[k] = f.operands.source(f.text.child(from, k), type);
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    const bool overwritten = std::find(ids.begin(), ids.begin() + k, values[k].id) != ids.begin() + k;
    if (!overwritten || values[k].kind != Operand::Kind::kRow) continue;
    const VirtualId copy = f.code.temporary(type);
    move(copy, values[k]);
    values[k] = source_of(copy, type);
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    if (ids[k] != kNoRegister) move(ids[k], values[k]);
  }
}

// %clock and its like, which a mov reads at once.
std::optional<Special> changing_special(Lowering& f, const Node& node) {
  if (node.kind != Node::Kind::kName || node.has_addend || f.operands.find_register(node))
    return std::nullopt;
  const std::optional<Special> special = special_of(f.text.name(node));
  return special && *special >= Special::kClock ? special : std::nullopt;
}

}  // namespace

void lower_move(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  const bool bits = operation.destination == Type::kB16 || operation.destination == Type::kB32 ||
                    operation.destination == Type::kB64;
  // One element in braces is what it is without, in types without a sign.
  const auto bare = [&](const Node& node) -> const Node& {
    return bits && node.kind == Node::Kind::kVector && node.count == 1 ? f.text.child(node, 0) : node;
  };
  const Node& to = bare(f.operands[0]);
  const Node& from = bare(f.operands[1]);
  const Type type = operation.destination;
  if (operation.instruction.vector > 1) return move_elements(f, operation);
  if (to.kind == Node::Kind::kVector) return unpack(f, type, to);
  if (from.kind == Node::Kind::kVector) return pack(f, type, from);
  if (type == Type::kPred && from.kind == Node::Kind::kLiteral) {
    const VirtualId id = f.operands.destination(to, Type::kPred);
    f.operands.source(from, Type::kPred);  // made by a comparison, which may as well write here
    f.draft.code.back().dst[0] = id;
    return;
  }
  DraftInstruction d = f.code.draft(operation.instruction);
  if (const std::optional<Special> special = changing_special(f, from)) {
    const unsigned bytes = *special >= Special::kClock64 ? 8 : 4;
    if (bytes_of(type) != bytes)
      f.code.fail(from, "this register has " + std::to_string(8 * bytes) + " bits");
    set_source(d, 0, source_of(*special));
  } else {
    // A device function has its arguments in its frame.
    if (d.fixed.op == Opcode::kCvta && d.fixed.space == Space::kParam && !f.draft.frame.is_kernel)
      d.fixed.space = Space::kLocal;
    f.operands.read(d, 0, from, operation.sources[0]);
  }
  f.operands.write(d, 0, to, type);
  f.code.emit(d);
}

}  // namespace weft::ptx
