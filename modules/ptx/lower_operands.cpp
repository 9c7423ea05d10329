// Operands: registers, special registers, literals and addresses.
#include <charconv>
#include <cstring>

#include "ptx/limits.h"
#include "ptx/lower.h"
#include "ptx/types.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kWarpSize = 32;  // WARP_SZ of PTX, whatever the modelled machine's warps are

bool is_64_bit(Special special) {
  return special >= Special::kClock64;
}

std::uint64_t extend(std::uint64_t bits, Type type) {
  const unsigned width = 8 * bytes_of(type);
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (is_signed(type) && bits >> (width - 1)) bits |= ~0ull << width;
  return bits;
}

template <class To, class From>
To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

}  // namespace

void Lowering::fail(const Node& node, const std::string& what) const {
  text_.fail(node.text.at ? node.text.at : statement_->at,
             "'" + text_.statement_text(statement_->at) + "': " + what);
}

void Lowering::fail(const std::string& what) const {
  text_.fail(statement_->at, "'" + text_.statement_text(statement_->at) + "': " + what);
}

void Lowering::need_operands(std::uint32_t low, std::uint32_t high) const {
  const std::uint32_t found = statement_->count;
  if (found >= low && found <= high) return;
  std::string allowed = std::to_string(low);
  if (high != low) allowed += " to " + std::to_string(high);
  fail("found " + std::to_string(found) + " operands, expected " + allowed);
}

std::optional<Lowering::Register> Lowering::find_register(const Node& node) {
  if (node.kind != Node::Kind::kName) return std::nullopt;
  const Meaning meaning = symbols_.find(text_.view(node.text), node.text.at);
  if (meaning.kind != Meaning::Kind::kRegister) return std::nullopt;
  if (meaning.type == Type::kNone) fail(node, "vector and 128-bit registers are not executable yet");
  if (bytes_of(meaning.type) == 1) fail(node, "8-bit registers are not executable yet");
  VirtualId& id = dense_[meaning.index];
  if (id == kNoRegister) {
    id = temporary(meaning.type);
    ++draft_.named_registers;
  }
  return Register{id, meaning.type};
}

Lowering::Register Lowering::need_register(const Node& node) {
  if (const std::optional<Register> reg = find_register(node)) return *reg;
  const std::string name(text_.view(node.text));
  fail(node, name.empty() ? "expected a register" : "'" + name + "' is not a declared register");
}

// 9.4: the declared type must have the operation's size (or more, where `may_be_wider`), and integers do not
// stand for floating-point numbers; .b types fit both.
void Lowering::check_type(const Node& node, Type declared, Type wanted, bool may_be_wider) const {
  const bool predicates = (declared == Type::kPred) == (wanted == Type::kPred);
  const unsigned have = bytes_of(declared), need = bytes_of(wanted);
  const bool untyped =
      (declared >= Type::kB8 && declared <= Type::kB64) || (wanted >= Type::kB8 && wanted <= Type::kB64);
  const bool kinds = untyped || is_float(declared) == is_float(wanted);
  const bool sizes = have == need || (may_be_wider && have > need && !is_float(wanted));
  if (predicates && kinds && sizes) return;
  fail(node, "found '" + std::string(text_.view(node.text)) + "' of type ." + name_of(declared) +
                 ", expected ." + name_of(wanted));
}

VirtualId Lowering::temporary(Type type) {
  draft_.registers.push_back(type == Type::kPred   ? RegisterClass::kPredicate
                             : bytes_of(type) == 8 ? RegisterClass::kDouble
                                                   : RegisterClass::kSingle);
  return static_cast<VirtualId>(draft_.registers.size() - 1);
}

VirtualId Lowering::destination(const Node& node, Type type) {
  const Register reg = need_register(node);
  if (node.negated || node.number.bits != 0) fail(node, "expected a register to write");
  check_type(node, reg.type, type);
  return reg.id;
}

Lowering::Source Lowering::of(VirtualId id, Type type) const {
  Source source;
  source.kind = type == Type::kPred ? Operand::Kind::kPredicate : Operand::Kind::kRow;
  source.id = id;
  return source;
}

std::optional<Special> Lowering::special(std::string_view name) const {
  if (name.empty() || name[0] != '%') return std::nullopt;
  for (unsigned i = 0; i <= static_cast<unsigned>(Special::kGlobaltimer); ++i) {
    if (name == name_of(static_cast<Special>(i))) return static_cast<Special>(i);
  }
  // %envreg0 to %envreg31, which no driver sets here, are alike.
  if (name.compare(0, 7, "%envreg") == 0 && name.size() > 7 && name.size() < 10) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(name.data() + 7, name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number < 32) return Special::kEnvreg0;
  }
  return std::nullopt;
}

Lowering::Source Lowering::special_source(const Node& node, Special special, Type type) {
  const bool any_width = special == Special::kGridid;
  if (!any_width && bytes_of(type) != (is_64_bit(special) ? 8u : 4u)) {
    fail(node, std::string(name_of(special)) + " has " + (is_64_bit(special) ? "64" : "32") + " bits");
  }
  if (is_float(type)) fail(node, std::string(name_of(special)) + " is an integer");
  if (special >= Special::kClock) {  // changes with time: read by a mov of its own
    const VirtualId id = temporary(type);
    DraftInstruction d = draft(Opcode::kMov, type);
    d.fixed.src[0].kind = Operand::Kind::kDynamic;
    d.fixed.src[0].index = static_cast<std::uint16_t>(special);
    set_destination(d, 0, id, type);
    emit(d);
    return of(id, type);
  }
  std::uint32_t slot = 0;
  while (slot < draft_.specials.size() && draft_.specials[slot] != special) ++slot;
  if (slot == draft_.specials.size()) draft_.specials.push_back(special);
  return of(kFirstSpecial + slot, type);
}

Lowering::Source Lowering::source(const Node& node, Type type) {
  if (node.kind == Node::Kind::kLiteral) return literal(node, type);
  if (node.kind != Node::Kind::kName) fail(node, "expected a register or a constant");
  if (node.negated && type != Type::kPred) fail(node, "only a predicate can be negated");
  if (const std::optional<Register> reg = find_register(node)) {
    if (node.number.bits != 0) fail(node, "an offset belongs inside [ ]");
    check_type(node, reg->type, type);
    Source source = of(reg->id, type);
    source.negated = node.negated;
    return source;
  }
  const std::string name(text_.view(node.text));
  if (const std::optional<Special> known = special(name)) return special_source(node, *known, type);
  if (name == "WARP_SZ" && !is_float(type) && type != Type::kPred)
    return constant(kWarpSize + node.number.bits, type);
  const Meaning meaning = symbols_.find(name, node.text.at);
  if (meaning.kind == Meaning::Kind::kAddress) {
    if (is_float(type) || bytes_of(type) < 4) fail(node, "an address needs an integer of 32 or 64 bits");
    const bool far = meaning.space == Space::kGlobal || meaning.space == Space::kConst;
    if (far && bytes_of(type) != 8) fail(node, "the address of '" + name + "' has 64 bits");
    if (meaning.region != Meaning::Region::kFixed) return frame_value(meaning, node.number.bits, type);
    return constant(meaning.address + node.number.bits, type);
  }
  if (meaning.kind == Meaning::Kind::kFunction) {
    if (is_float(type) || bytes_of(type) != 8) fail(node, "the address of '" + name + "' has 64 bits");
    if (meaning.address == 0) {
      fail(node, "'" + name + "' has no address: only device functions that are defined have one");
    }
    return constant(meaning.address + node.number.bits, type);
  }
  if (name[0] == '%' && (name.compare(0, 3, "%pm") == 0 || name.compare(0, 8, "%cluster") == 0)) {
    fail(node, "special register " + name + " is not executable yet");
  }
  fail(node, "'" + name + "' is not declared");
}

Lowering::Source Lowering::literal(const Node& node, Type type) {
  const Number n = node.number;
  const bool floating = n.kind == Number::Kind::kF32 || n.kind == Number::Kind::kF64;
  if (type == Type::kPred) {
    if (floating) fail(node, "expected a predicate");
    return predicate_constant(n.bits != 0);
  }
  if (is_float(type)) {
    if (bytes_of(type) == 2 || type == Type::kF16x2 || type == Type::kBf16x2) {
      fail(node, "PTX has no literals of 16-bit floats; mov.b16 and mov.b32 take their bits");
    }
    if (!floating) fail(node, "expected a floating-point number");
    const double value = n.kind == Number::Kind::kF64 ? bit_cast<double>(n.bits)
                                                      : bit_cast<float>(static_cast<std::uint32_t>(n.bits));
    if (type == Type::kF64)
      return constant(n.kind == Number::Kind::kF64 ? n.bits : bit_cast<std::uint64_t>(value), type);
    return constant(
        n.kind == Number::Kind::kF32 ? n.bits : bit_cast<std::uint32_t>(static_cast<float>(value)), type);
  }
  if (floating) {  // mov.b32 %r1, 0f3F800000
    const Type same = n.kind == Number::Kind::kF32 ? Type::kB32 : Type::kB64;
    if (type != same) fail(node, "expected an integer");
  }
  return constant(n.bits, type);
}

Lowering::Source Lowering::constant(std::uint64_t bits, Type type) {
  const bool wide = bytes_of(type) == 8;
  bits = extend(bits, type);
  if (!wide) bits &= 0xffff'ffffu;
  const auto [known, added] = constants_.emplace(std::make_pair(bits, wide), 0);
  if (added) {
    if (draft_.constants.size() >= kMaxConstants) {
      fail("more than " + std::to_string(kMaxConstants) + " distinct constants in one kernel");
    }
    known->second = static_cast<std::uint16_t>(draft_.constants.size());
    Constant value;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (wide) {
        std::memcpy(&value.lanes[2 * lane], &bits, sizeof bits);
      } else {
        value.lanes[lane] = static_cast<std::uint32_t>(bits);
      }
    }
    draft_.constants.push_back(value);
  }
  Source source;
  source.kind = Operand::Kind::kConstant;
  source.index = known->second;
  return source;
}

// Operands have no constant predicates: the value is made by comparing zero with itself.
Lowering::Source Lowering::predicate_constant(bool value) {
  const VirtualId id = temporary(Type::kPred);
  DraftInstruction d = draft(Opcode::kSetp, Type::kU32);
  d.fixed.compare = value ? Compare::kEq : Compare::kNe;
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, constant(0, Type::kU32));
  set_source(d, 1, constant(0, Type::kU32));
  set_destination(d, 0, id, Type::kPred);
  emit(d);
  return of(id, Type::kPred);
}

void Lowering::set_source(DraftInstruction& d, std::size_t i, const Source& source) {
  d.fixed.src[i].kind = source.kind;
  d.fixed.src[i].negated = source.negated;
  d.fixed.src[i].index = source.index;
  d.src[i] = source.id;
}

void Lowering::set_destination(DraftInstruction& d, std::size_t i, VirtualId id, Type type) {
  d.fixed.dst[i].kind = type == Type::kPred ? Operand::Kind::kPredicate : Operand::Kind::kRow;
  d.dst[i] = id;
}

DraftInstruction Lowering::draft(const Instruction& fixed) const {
  DraftInstruction d;
  d.fixed = fixed;
  d.fixed.ptx = place_;
  d.fixed.source = source_place_;
  if (guard_ != kNoRegister) {
    d.guard = guard_;
    d.fixed.guard = 0;
    d.fixed.guard_negated = statement_->guard_negated;
  }
  d.at = statement_ ? statement_->at : kernel_.name.at;
  return d;
}

DraftInstruction Lowering::draft(Opcode op, Type type) const {
  Instruction fixed;
  fixed.op = op;
  fixed.type = fixed.from = type;
  return draft(fixed);
}

void Lowering::emit(const DraftInstruction& d) {
  draft_.code.push_back(d);
}

void Lowering::emit_convert(VirtualId to, Type to_type, VirtualId from, Type from_type) {
  DraftInstruction d = draft(Opcode::kCvt, to_type);
  d.fixed.from = from_type;
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, of(from, from_type));
  set_destination(d, 0, to, to_type);
  emit(d);
}

}  // namespace weft::ptx
