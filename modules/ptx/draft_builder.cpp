#include "ptx/draft_builder.h"

#include <cstring>

#include "weft/ptx/limits.h"

namespace weft::ptx {
namespace {

std::uint64_t extend(std::uint64_t bits, Type type) {
  const unsigned width = 8 * bytes_of(type);
  if (width == 64) return bits;
  bits &= (1ull << width) - 1;
  if (is_signed(type) && bits >> (width - 1)) bits |= ~0ull << width;
  return bits;
}

}  // namespace

Source source_of(VirtualId id, Type type) {
  Source source;
  source.kind = type == Type::kPred ? Operand::Kind::kPredicate : Operand::Kind::kRow;
  source.id = id;
  return source;
}

Source source_of(Special special) {
  Source source;
  source.kind = Operand::Kind::kDynamic;
  source.index = static_cast<std::uint16_t>(special);
  return source;
}

void set_source(DraftInstruction& d, std::size_t i, const Source& source) {
  d.fixed.src[i].kind = source.kind;
  d.fixed.src[i].negated = source.negated;
  d.fixed.src[i].index = source.index;
  d.src[i] = source.id;
}

void set_destination(DraftInstruction& d, std::size_t i, VirtualId id, Type type) {
  d.fixed.dst[i].kind = type == Type::kPred ? Operand::Kind::kPredicate : Operand::Kind::kRow;
  d.dst[i] = id;
}

DraftBuilder::DraftBuilder(const Module& module, const Function& function, Draft& draft)
    : text_(*module.text),
      function_(function),
      draft_(draft),
      at_(function.name.at),
      place_(text_.place(function.name.at)) {
  draft_.files.push_back(module.file);
}

void DraftBuilder::begin(const Statement& statement) {
  at_ = statement.at;
  place_ = text_.place(at_);
  guard_ = kNoRegister;
}

void DraftBuilder::set_source_place(const Location& location) {
  const auto [known, added] = files_.emplace(location.file, 0);
  if (added) {
    const auto path = text_.files.find(location.file);
    if (path != text_.files.end()) {
      known->second = static_cast<std::uint32_t>(draft_.files.size());
      draft_.files.push_back(path->second);
    }
  }
  source_place_ = {known->second, known->second ? location.line : 0, location.column};
}

void DraftBuilder::stand_at_last() {
  guard_ = kNoRegister;
  place_ = draft_.code.empty() ? text_.place(function_.name.at) : draft_.code.back().fixed.ptx;
}

DraftInstruction DraftBuilder::draft(const Instruction& fixed) const {
  DraftInstruction d;
  d.fixed = fixed;
  d.fixed.ptx = place_;
  d.fixed.source = source_place_;
  if (guard_ != kNoRegister) {
    d.guard = guard_;
    d.fixed.guard = 0;
    d.fixed.guard_negated = guard_negated_;
  }
  d.at = at_;
  return d;
}

DraftInstruction DraftBuilder::draft(Opcode op, Type type) const {
  Instruction fixed;
  fixed.op = op;
  fixed.type = fixed.from = type;
  return draft(fixed);
}

VirtualId DraftBuilder::temporary(Type type) {
  draft_.registers.push_back(type == Type::kPred   ? RegisterClass::kPredicate
                             : bytes_of(type) == 8 ? RegisterClass::kDouble
                                                   : RegisterClass::kSingle);
  return static_cast<VirtualId>(draft_.registers.size() - 1);
}

VirtualId DraftBuilder::named_register(const RegisterName& name) {
  ++draft_.named_registers;
  const VirtualId id = temporary(name.type);
  draft_.names.resize(draft_.registers.size());
  draft_.names[id] = name;
  return id;
}

// The carry flag is a predicate like others, so that liveness, registers and the scoreboard know of it.
VirtualId DraftBuilder::condition_code() {
  if (condition_code_ == kNoRegister) condition_code_ = temporary(Type::kPred);
  return condition_code_;
}

Source DraftBuilder::constant(std::uint64_t bits, Type type) {
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

Source DraftBuilder::special(Special special, Type type) {
  std::uint32_t slot = 0;
  while (slot < draft_.specials.size() && draft_.specials[slot] != special) ++slot;
  if (slot == draft_.specials.size()) draft_.specials.push_back(special);
  return source_of(kFirstSpecial + slot, type);
}

void DraftBuilder::emit_convert(VirtualId to, Type to_type, const Source& from, Type from_type) {
  DraftInstruction d = draft(Opcode::kCvt, to_type);
  d.fixed.from = from_type;
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, from);
  set_destination(d, 0, to, to_type);
  emit(d);
}

void DraftBuilder::emit_extension(VirtualId to, VirtualId from, bool is_signed) {
  const Type narrow = is_signed ? Type::kS32 : Type::kU32;
  emit_convert(to, is_signed ? Type::kS64 : Type::kU64, source_of(from, narrow), narrow);
}

Source DraftBuilder::emit_sum(const Source& a, std::uint64_t b, Type type) {
  const VirtualId sum = temporary(type);
  DraftInstruction d = draft(Opcode::kAdd, type);
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, a);
  set_source(d, 1, constant(b, type));
  set_destination(d, 0, sum, type);
  emit(d);
  return source_of(sum, type);
}

void DraftBuilder::emit_insert(VirtualId to, Type type, const Source& above, const Source& below, unsigned at,
                               unsigned width) {
  DraftInstruction d = draft(Opcode::kBfi, type);
  d.fixed.latency = Latency::kIntAdd;
  set_source(d, 0, above);
  set_source(d, 1, below);
  set_source(d, 2, constant(at, Type::kU32));
  set_source(d, 3, constant(width, Type::kU32));
  set_destination(d, 0, to, type);
  emit(d);
}

void DraftBuilder::fail(const Node& node, const std::string& what) const {
  text_.fail(node.text.at ? node.text.at : at_, "'" + text_.statement_text(at_) + "': " + what);
}

void DraftBuilder::fail(const std::string& what) const {
  text_.fail(at_, "'" + text_.statement_text(at_) + "': " + what);
}

}  // namespace weft::ptx
