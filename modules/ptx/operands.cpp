#include "ptx/operands.h"

#include <charconv>
#include <cstring>
#include <string>
#include <utility>

#include "ptx/types.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kWarpSize = 32;  // WARP_SZ of PTX, whatever the modelled machine's warps are

bool is_64_bit(Special special) {
  return special >= Special::kClock64;
}

template <class To, class From>
To bit_cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

// The vectors %tid, %ntid, %ctaid and %nctaid have a fourth element, which is zero (PTX ISA 9.0, chapter 10).
bool is_fourth_component(std::string_view name) {
  return name == "%tid.w" || name == "%ntid.w" || name == "%ctaid.w" || name == "%nctaid.w";
}

// Masks and selectors of SIMD video, which Weft does not execute: vadd2 %r1.h10, %r2, %r3, %r4.
void refuse_selector(const DraftBuilder& code, const Node& node, const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 2 >= name.size() || (name[dot + 1] != 'h' && name[dot + 1] != 'b'))
    return;
  if (name.find_first_not_of("01234567", dot + 2) != std::string::npos) return;
  code.fail(node, "masks and selectors of registers, here " + name.substr(dot) + ", are not executable yet");
}

}  // namespace

std::optional<Special> special_of(std::string_view name) {
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

Operands::Operands(const FunctionSymbols& symbols, DraftBuilder& code, const StackFrame& frame)
    : symbols_(symbols),
      text_(*symbols.module().text),
      code_(code),
      frame_(frame),
      ids_(symbols.declared_registers(), kNoRegister) {}

void Operands::need(std::uint32_t low, std::uint32_t high) const {
  const std::uint32_t found = count();
  if (found >= low && found <= high) return;
  std::string allowed = std::to_string(low);
  if (high != low) allowed += " to " + std::to_string(high);
  code_.fail("found " + std::to_string(found) + " operands, expected " + allowed);
}

std::string Operands::full_name(const Node& node) const {
  std::string name(text_.name(node));
  if (node.component != 0) name += {'.', "xyzw"[node.component - 1]};
  return name;
}

std::optional<Operands::Register> Operands::find_register(const Node& node) {
  if (node.kind != Node::Kind::kName) return std::nullopt;
  if (node.subtracted) code_.fail(node, "only vmad subtracts an operand");
  const Meaning meaning = this->meaning(node);
  if (meaning.kind != Meaning::Kind::kRegister) return std::nullopt;
  if (meaning.type == Type::kNone) code_.fail(node, "128-bit registers are not executable yet");
  if (meaning.vector != 1) {
    code_.fail(node, "'" + std::string(text_.name(node)) +
                         "' is a vector register, expected an element of it such as " +
                         std::string(text_.name(node)) + ".x");
  }
  VirtualId& id = ids_[meaning.index];
  if (id == kNoRegister) id = code_.named_register({text_.name(node), node.component, meaning.type});
  return Register{id, meaning.type};
}

Operands::Register Operands::need_register(const Node& node) {
  if (const std::optional<Register> reg = find_register(node)) return *reg;
  const std::string name(text_.name(node));
  refuse_selector(code_, node, name);
  code_.fail(node, name.empty() ? "expected a register" : "'" + name + "' is not a declared register");
}

void Operands::check_type(const Node& node, Type declared, Type wanted, bool may_be_wider) const {
  const bool predicates = (declared == Type::kPred) == (wanted == Type::kPred);
  const unsigned have = bytes_of(declared), need = bytes_of(wanted);
  const bool untyped =
      (declared >= Type::kB8 && declared <= Type::kB64) || (wanted >= Type::kB8 && wanted <= Type::kB64);
  const bool kinds = untyped || is_float(declared) == is_float(wanted);
  const bool bits = declared >= Type::kB8 && declared <= Type::kB64;
  const bool sizes = have == need || (may_be_wider && have > need && (bits || !is_float(wanted)));
  if (predicates && kinds && sizes) return;
  code_.fail(node, "found '" + std::string(text_.name(node)) + "' of type ." + name_of(declared) +
                       ", expected ." + name_of(wanted));
}

VirtualId Operands::destination(const Node& node, Type type) {
  return writable(node, type, false).id;
}

Operands::Register Operands::destination_or_wider(const Node& node, Type type) {
  return writable(node, type, true);
}

Operands::Register Operands::writable(const Node& node, Type type, bool may_be_wider) {
  const Register reg = need_register(node);
  if (node.negated || node.has_addend) code_.fail(node, "expected a register to write");
  check_type(node, reg.type, type, may_be_wider);
  return reg;
}

VirtualId Operands::destination_or_sink(const Node& node, Type type) {
  return text_.is_sink(node) ? code_.temporary(type) : destination(node, type);
}

Source Operands::source(const Node& node, Type type) {
  if (node.kind == Node::Kind::kLiteral) return literal(node, type);
  if (node.kind != Node::Kind::kName) code_.fail(node, "expected a register or a constant");
  if (node.negated && type != Type::kPred) code_.fail(node, "only a predicate can be negated");
  if (const std::optional<Register> reg = find_register(node)) {
    check_type(node, reg->type, type);
    Source source = with_addend(node, *reg);
    source.negated = node.negated;
    return source;
  }
  const std::string name = full_name(node);
  if (const std::optional<Special> known = special_of(name)) return special_source(node, *known, type);
  if (is_fourth_component(name)) return code_.constant(0, type);
  if (const std::optional<Source> cluster = cluster_source(node, name, type)) return *cluster;
  if (name == "WARP_SZ" && !is_float(type) && type != Type::kPred)
    return code_.constant(kWarpSize + node.number.bits, type);
  const Meaning meaning = this->meaning(node);
  if (meaning.kind == Meaning::Kind::kAddress) return address_source(node, meaning, type);
  if (meaning.kind == Meaning::Kind::kFunction) return function_source(node, meaning, type);
  if (name.compare(0, 3, "%pm") == 0) code_.fail(node, "special register " + name + " is not executable yet");
  refuse_selector(code_, node, name);
  code_.fail(node, "'" + name + "' is not declared");
}

// A launch has no clusters: each block is one of its own, as on hardware (PTX ISA 9.0, 10.12 to 10.19).
std::optional<Source> Operands::cluster_source(const Node& node, const std::string& name, Type type) {
  static constexpr std::pair<std::string_view, std::uint64_t> kNumbers[] = {
      {"%cluster_ctaid.x", 0},  {"%cluster_ctaid.y", 0},  {"%cluster_ctaid.z", 0},  {"%cluster_ctarank", 0},
      {"%cluster_nctaid.x", 1}, {"%cluster_nctaid.y", 1}, {"%cluster_nctaid.z", 1}, {"%cluster_nctarank", 1}};
  if (name == "%is_explicit_cluster" && type == Type::kPred) return predicate_constant(false);
  if (name == "%current_graph_exec" && bytes_of(type) == 8) return code_.constant(0, type);
  if (name == "%aggr_smem_size") return special_source(node, Special::kTotalSharedSize, type);
  const bool own = name.compare(0, 11, "%clusterid.") == 0;
  if (own || name.compare(0, 12, "%nclusterid.") == 0) {
    const std::string block = (own ? "%ctaid" : "%nctaid") + name.substr(name.find('.'));
    const std::optional<Special> same = special_of(block);
    return same ? std::optional<Source>(special_source(node, *same, type)) : std::nullopt;
  }
  for (const auto& [known, value] : kNumbers) {
    if (name != known) continue;
    if (is_float(type) || bytes_of(type) != 4) code_.fail(node, name + " has 32 bits");
    return code_.constant(value, type);
  }
  return std::nullopt;
}

Source Operands::source_or_wider(const Node& node, Type type) {
  const std::optional<Register> reg = find_register(node);
  if (!reg) return source(node, type);
  if (node.negated) code_.fail(node, "only a predicate can be negated");
  check_type(node, reg->type, type, true);
  const Source source = with_addend(node, *reg);
  if (rows_of(reg->type) <= rows_of(type)) return source;
  const VirtualId lower = code_.temporary(Type::kU32);
  code_.emit_convert(lower, Type::kU32, source, Type::kU64);
  return source_of(lower, type);
}

// "%r1+1" is the sum of integers as wide as the register, whatever the instruction makes of it. PTX ISA 9.0
// does not name this operand; ptxas of CUDA 13.0 adds such an immediate, and breaks down where the register
// is a predicate or a floating-point number.
Source Operands::with_addend(const Node& node, const Register& reg) {
  if (!node.has_addend) return source_of(reg.id, reg.type);
  if (reg.type == Type::kPred || is_float(reg.type)) {
    code_.fail(node, "'" + std::string(text_.name(node)) + "' of type ." + name_of(reg.type) +
                         " takes no addend; allowed: .b, .u and .s registers");
  }
  // Only loads, stores and cvt know 8 bits; the low ones of a longer sum are the same.
  const Type sum = bytes_of(reg.type) == 1 ? Type::kU16 : unsigned_of(reg.type);
  return code_.emit_sum(source_of(reg.id, reg.type), node.number.bits, sum);
}

Source Operands::special_source(const Node& node, Special special, Type type) {
  // Of PTX 1.x, where indices and sizes had 16 bits.
  const bool was_short = special <= Special::kNctaidZ && bytes_of(type) == 2;
  const bool any_width = special == Special::kGridid || was_short;
  if (!any_width && bytes_of(type) != (is_64_bit(special) ? 8u : 4u)) {
    code_.fail(node, std::string(name_of(special)) + " has " + (is_64_bit(special) ? "64" : "32") + " bits");
  }
  if (is_float(type)) code_.fail(node, std::string(name_of(special)) + " is an integer");
  const std::uint64_t addend = node.number.bits;
  if (special < Special::kClock) {
    const Source constant = code_.special(special, type);
    return node.has_addend ? code_.emit_sum(constant, addend, unsigned_of(type)) : constant;
  }
  const VirtualId id = code_.temporary(type);  // changes with time: read by a mov of its own
  DraftInstruction d = code_.draft(Opcode::kMov, type);
  set_source(d, 0, source_of(special));
  set_destination(d, 0, id, type);
  code_.emit(d);
  return node.has_addend ? code_.emit_sum(source_of(id, type), addend, unsigned_of(type))
                         : source_of(id, type);
}

Source Operands::address_source(const Node& node, const Meaning& meaning, Type type) {
  if (is_float(type) || bytes_of(type) < 4) code_.fail(node, "an address needs an integer of 32 or 64 bits");
  const bool far = meaning.space == Space::kGlobal || meaning.space == Space::kConst;
  if (far && bytes_of(type) != 8)
    code_.fail(node, "the address of '" + std::string(text_.name(node)) + "' has 64 bits");
  if (meaning.region != Meaning::Region::kFixed) return frame_.value(meaning, node.number.bits, type);
  return code_.constant(meaning.address + node.number.bits, type);
}

Source Operands::function_source(const Node& node, const Meaning& meaning, Type type) {
  const std::string name(text_.name(node));
  if (is_float(type) || bytes_of(type) != 8) code_.fail(node, "the address of '" + name + "' has 64 bits");
  if (meaning.address == 0) {
    code_.fail(node, "'" + name + "' has no address: only device functions that are defined have one");
  }
  return code_.constant(meaning.address + node.number.bits, type);
}

Source Operands::literal(const Node& node, Type type) {
  const Number n = node.number;
  const bool floating = n.kind == Number::Kind::kF32 || n.kind == Number::Kind::kF64;
  if (type == Type::kPred) {
    if (floating) code_.fail(node, "expected a predicate");
    return predicate_constant(n.bits != 0);
  }
  if (is_float(type)) {
    if (bytes_of(type) == 2 || type == Type::kF16x2 || type == Type::kBf16x2) {
      code_.fail(node, "PTX has no literals of 16-bit floats; mov.b16 and mov.b32 take their bits");
    }
    if (!floating) code_.fail(node, "expected a floating-point number");
    const double value = n.kind == Number::Kind::kF64 ? bit_cast<double>(n.bits)
                                                      : bit_cast<float>(static_cast<std::uint32_t>(n.bits));
    if (type == Type::kF64)
      return code_.constant(n.kind == Number::Kind::kF64 ? n.bits : bit_cast<std::uint64_t>(value), type);
    return code_.constant(
        n.kind == Number::Kind::kF32 ? n.bits : bit_cast<std::uint32_t>(static_cast<float>(value)), type);
  }
  if (floating) {  // mov.b32 %r1, 0f3F800000
    const Type same = n.kind == Number::Kind::kF32 ? Type::kB32 : Type::kB64;
    if (type != same) code_.fail(node, "expected an integer");
  }
  return code_.constant(n.bits, type);
}

// Operands have no constant predicates: the value is made by comparing zero with itself.
Source Operands::predicate_constant(bool value) {
  const VirtualId id = code_.temporary(Type::kPred);
  DraftInstruction d = code_.draft(Opcode::kSetp, Type::kU32);
  d.fixed.compare = value ? Compare::kEq : Compare::kNe;
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, code_.constant(0, Type::kU32));
  set_source(d, 1, code_.constant(0, Type::kU32));
  set_destination(d, 0, id, Type::kPred);
  code_.emit(d);
  return source_of(id, Type::kPred);
}

}  // namespace weft::ptx
