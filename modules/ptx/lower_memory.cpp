// Loads, stores, atomics, asynchronous copies and prefetches.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

void set_register_address(Lowering& f, DraftInstruction& d, const Node& base, const Operands::Register& reg) {
  Instruction& i = d.fixed;
  if (is_float(reg.type) || bytes_of(reg.type) < 4)
    f.code.fail(base, "an address is a 32- or 64-bit integer");
  i.wide_address = bytes_of(reg.type) == 8;
  const bool may_be_narrow = i.space == Space::kShared || i.space == Space::kLocal ||
                             i.space == Space::kConst || i.space == Space::kParam;
  if (!i.wide_address && !may_be_narrow)
    f.code.fail(base, "a global or generic address needs a 64-bit register");
  set_source(d, 0, source_of(reg.id, reg.type));
  // A device function has its arguments in its frame.
  if (i.space == Space::kParam && !f.draft.frame.is_kernel) {
    i.space = Space::kLocal;
    i.constant_cache = false;
  }
}

void set_frame_address(Lowering& f, DraftInstruction& d, const Node& base, const Meaning& meaning) {
  Instruction& i = d.fixed;
  const std::string name(f.text.name(base));
  const Space named = meaning.region == Meaning::Region::kVariables ? Space::kLocal : Space::kParam;
  if (i.space != Space::kGeneric && i.space != named) {
    f.code.fail(base, "'" + name + "' lies in another state space");
  }
  if (meaning.region == Meaning::Region::kCallArguments && meaning.area == 0) {
    f.code.fail(base, "'" + name + "' is not passed to any function");
  }
  i.space = Space::kLocal;
  i.constant_cache = false;
  f.frame.set_address(d, i.offset + f.frame.offset(meaning));
}

// [register + offset], [variable + offset] or [number].
void set_address(Lowering& f, DraftInstruction& d, const Node& node) {
  if (node.kind != Node::Kind::kAddress || node.count != 1)
    f.code.fail(node, "expected an address such as [%rd1+8]");
  const Node& base = f.text.child(node, 0);
  Instruction& i = d.fixed;
  i.offset = static_cast<std::int64_t>(base.number.bits);
  if (base.kind == Node::Kind::kLiteral) return;
  if (base.kind != Node::Kind::kName || base.negated)
    f.code.fail(base, "expected a register, a variable or a number");
  if (const std::optional<Operands::Register> reg = f.operands.find_register(base))
    return set_register_address(f, d, base, *reg);
  const std::string name(f.text.name(base));
  const Meaning meaning = f.operands.meaning(base);
  if (meaning.kind != Meaning::Kind::kAddress)
    f.code.fail(base, "'" + name + "' is neither a register nor a variable");
  if (meaning.region != Meaning::Region::kFixed) return set_frame_address(f, d, base, meaning);
  if (i.space == Space::kGeneric) {
    // A name has a space even where the instruction gives none; global addresses are generic ones.
    i.space = meaning.space;
    i.constant_cache = i.space == Space::kParam || i.space == Space::kConst;
  } else if (meaning.space != i.space) {
    f.code.fail(base, "'" + name + "' lies in another state space");
  }
  i.offset += static_cast<std::int64_t>(meaning.address);
}

// As many registers or values as the instruction says: a vector's elements, or one, with or without braces.
void check_width(Lowering& f, const Node& node, std::uint32_t vector, const char* what) {
  const bool is_vector = node.kind == Node::Kind::kVector;
  if (is_vector ? node.count != vector : vector != 1)
    f.code.fail(node, "expected " + std::to_string(vector) + " " + what);
}

// The operands of an instruction, without the policy that .L2::cache_hint adds behind them.
void need_operands(Lowering& f, const Operation& operation, std::uint32_t low, std::uint32_t high) {
  const std::uint32_t more = operation.has_policy ? 1 : 0;
  f.operands.need(low + more, high + more);
  if (more != 0) check_policy(f, f.operands[f.operands.count() - 1]);
}

// An instruction accesses at most this much; what PTX accesses at once beyond it are several.
constexpr unsigned kMostBytes = 16;
std::uint32_t elements_at_once(const Instruction& fixed) {
  return std::min<std::uint32_t>(fixed.vector, kMostBytes / bytes_of(fixed.type));
}

// `elements` of an access, from the one with number `first` on.
DraftInstruction part_of_access(const DraftInstruction& whole, std::uint32_t first, std::uint32_t elements) {
  DraftInstruction d = whole;
  d.fixed.vector = static_cast<std::uint8_t>(elements);
  d.fixed.offset += static_cast<std::int64_t>(first * bytes_of(whole.fixed.type));
  return d;
}

void emit_move(Lowering& f, VirtualId to, VirtualId from, Type type) {
  DraftInstruction d = f.code.draft(Opcode::kMov, type);
  set_source(d, 0, source_of(from, type));
  set_destination(d, 0, to, type);
  f.code.emit(d);
}

// 9.7.13.5: the elements of a vector are atomics of their own. Operands may be results of others, so results
// wait.
void lower_atomic_vector(Lowering& f, const DraftInstruction& d, bool reduces) {
  const Type type = d.fixed.type;
  const std::uint32_t count = d.fixed.vector;
  const Node& from = f.operands[reduces ? 1 : 2];
  check_width(f, from, count, "values");
  if (!reduces) check_width(f, f.operands[0], count, "destinations");
  std::array<std::pair<VirtualId, VirtualId>, 8> results;  // to, from
  std::uint32_t found = 0;
  for (std::uint32_t k = 0; k < count; ++k) {
    DraftInstruction part = part_of_access(d, k, 1);
    f.operands.read(part, 1, f.text.element(from, k), type);
    const bool has_result = !reduces && !f.text.is_sink(f.text.element(f.operands[0], k));
    if (has_result) {
      const VirtualId id = f.code.temporary(type);
      results[found++] = {f.operands.destination(f.text.element(f.operands[0], k), type), id};
      set_destination(part, 0, id, type);
    }
    f.code.emit(part);
  }
  for (std::uint32_t k = 0; k < found; ++k) emit_move(f, results[k].first, results[k].second, type);
}

}  // namespace

void lower_load(Lowering& f, const Operation& operation) {
  need_operands(f, operation, 2, 2);
  const Instruction& fixed = operation.instruction;
  const Node& to = f.operands[0];
  check_width(f, to, fixed.vector, "destinations");
  DraftInstruction d = f.code.draft(fixed);
  set_address(f, d, f.operands[1]);
  const std::uint32_t at_once = elements_at_once(fixed);
  // Results reach their registers when all of them are there: a part must not change what the next one reads.
  struct Later {
    VirtualId to = kNoRegister, from = kNoRegister;
    bool widens = false;
  };
  std::array<Later, 8> later;
  for (std::uint32_t first = 0; first < fixed.vector; first += at_once) {
    DraftInstruction part = part_of_access(d, first, at_once);
    for (std::uint32_t k = 0; k < at_once; ++k) {
      const Node& node = f.text.element(to, first + k);
      if (f.text.is_sink(node)) {
        set_destination(part, k, f.code.temporary(fixed.type), fixed.type);
        continue;
      }
      const Operands::Register reg = f.operands.destination_or_wider(node, fixed.type);
      const bool widens = rows_of(reg.type) > rows_of(fixed.type);  // 9.4.1: extended to the register's width
      const bool is_base = at_once < fixed.vector && reg.id == d.src[0];
      VirtualId id = reg.id;
      if (widens || is_base) {
        id = f.code.temporary(fixed.type);
        later[first + k] = {reg.id, id, widens};
      }
      set_destination(part, k, id, fixed.type);
    }
    f.code.emit(part);
  }
  for (const Later& l : later) {
    if (l.to == kNoRegister) continue;
    if (l.widens) {
      f.code.emit_extension(l.to, l.from, is_signed(fixed.type));
    } else {
      emit_move(f, l.to, l.from, fixed.type);
    }
  }
}

void lower_store(Lowering& f, const Operation& operation) {
  need_operands(f, operation, 2, 2);
  const Instruction& fixed = operation.instruction;
  DraftInstruction d = f.code.draft(fixed);
  set_address(f, d, f.operands[0]);
  const Node& from = f.operands[1];
  check_width(f, from, fixed.vector, "values");
  if (d.fixed.space == Space::kParam || d.fixed.space == Space::kConst)
    f.code.fail("constant and parameter memory cannot be written");
  const std::uint32_t at_once = elements_at_once(fixed);
  for (std::uint32_t first = 0; first < fixed.vector; first += at_once) {
    DraftInstruction part = part_of_access(d, first, at_once);
    for (std::uint32_t k = 0; k < at_once; ++k) {
      set_source(part, k + 1, f.operands.source_or_wider(f.text.element(from, first + k), fixed.type));
    }
    f.code.emit(part);
  }
}

void lower_atomic(Lowering& f, const Operation& operation) {
  const Instruction& fixed = operation.instruction;
  const bool reduces = operation.shape == Shape::kReduce;  // without a result
  const std::uint32_t skip = reduces ? 0 : 1;
  const std::uint32_t count = skip + 2 + (fixed.atomic == Atomic::kCas ? 1 : 0);
  need_operands(f, operation, count, count);
  DraftInstruction d = f.code.draft(fixed);
  set_address(f, d, f.operands[skip]);
  if (d.fixed.space != Space::kGeneric && d.fixed.space != Space::kGlobal &&
      d.fixed.space != Space::kShared) {
    f.code.fail("an atomic needs global, shared or generic memory");
  }
  if (fixed.vector != 1) return lower_atomic_vector(f, d, reduces);
  for (std::uint32_t i = skip + 1; i < count; ++i) f.operands.read(d, i - skip, f.operands[i], fixed.type);
  if (!reduces && !f.text.is_sink(f.operands[0])) f.operands.write(d, 0, f.operands[0], fixed.type);
  f.code.emit(d);
}

// cp.async [shared], [global], bytes [, bytes to read | predicate that ignores the source].
void lower_copy_async(Lowering& f, const Operation& operation) {
  need_operands(f, operation, 3, 4);
  const Node& size = f.operands[2];
  const std::uint64_t bytes = size.number.bits;
  const bool past_l1 = operation.instruction.mode == Mode::kPastL1;
  if (size.kind != Node::Kind::kLiteral || (bytes != 16 && (past_l1 || (bytes != 4 && bytes != 8)))) {
    f.code.fail(size, past_l1 ? "cp.async.cg copies 16 bytes" : "cp.async.ca copies 4, 8 or 16 bytes");
  }
  // The shared address gets a register of its own: base and offset added, 32 bits.
  DraftInstruction to = f.code.draft(operation.instruction);
  to.fixed.space = Space::kShared;
  set_address(f, to, f.operands[0]);
  Source place = f.code.constant(static_cast<std::uint64_t>(to.fixed.offset), Type::kU32);
  if (to.fixed.src[0].kind == Operand::Kind::kRow) {
    place = source_of(to.src[0], Type::kU32);
    if (to.fixed.wide_address) {
      const VirtualId narrow = f.code.temporary(Type::kU32);
      f.code.emit_convert(narrow, Type::kU32, source_of(to.src[0], Type::kU64), Type::kU64);
      place = source_of(narrow, Type::kU32);
    }
    if (to.fixed.offset != 0) {
      place = f.code.emit_sum(place, static_cast<std::uint64_t>(to.fixed.offset), Type::kU32);
    }
  }
  DraftInstruction d = f.code.draft(operation.instruction);
  d.fixed.vector = static_cast<std::uint8_t>(bytes / 4);
  set_address(f, d, f.operands[1]);
  set_source(d, 1, place);
  if (f.operands.count() == (operation.has_policy ? 5u : 4u)) {
    const Node& last = f.operands[3];
    const std::optional<Operands::Register> reg = f.operands.find_register(last);
    if (reg && reg->type == Type::kPred) {
      f.operands.read(d, 3, last, Type::kPred);
    } else {
      if (!reg && last.number.bits > bytes) {
        f.code.fail(last, "found " + std::to_string(last.number.bits) + " bytes to read; allowed: 0 to " +
                              std::to_string(bytes));
      }
      f.operands.read(d, 2, last, Type::kU32);
    }
  }
  f.code.emit(d);
}

void lower_copy_wait(Lowering& f, const Operation& operation) {
  const bool counts =
      operation.instruction.op == Opcode::kCopyWait && operation.instruction.mode != Mode::kAll;
  f.operands.need(counts ? 1 : 0);
  DraftInstruction d = f.code.draft(operation.instruction);
  if (counts) {
    if (f.operands[0].kind != Node::Kind::kLiteral)
      f.code.fail(f.operands[0], "expected a constant number of groups");
    d.fixed.offset = static_cast<std::int64_t>(std::min<std::uint64_t>(f.operands[0].number.bits, INT32_MAX));
  }
  f.code.emit(d);
}

// prefetch, applypriority, discard: the address is read and forgotten.
void lower_prefetch(Lowering& f, const Operation& operation) {
  f.operands.need(operation.source_count);
  DraftInstruction d = f.code.draft(operation.instruction);
  d.fixed.op = Opcode::kLd;  // an address is checked as that of a load
  set_address(f, d, f.operands[0]);
  if (operation.source_count == 2 &&
      (f.operands[1].kind != Node::Kind::kLiteral || f.operands[1].number.bits != 128))
    f.code.fail(f.operands[1], "expected the size 128");
  if (d.fixed.src[0].kind == Operand::Kind::kNone) return;
  DraftInstruction use = f.code.draft(Opcode::kMov, d.fixed.wide_address ? Type::kU64 : Type::kU32);
  use.fixed.src[0] = d.fixed.src[0];
  use.src[0] = d.src[0];
  set_destination(use, 0, f.code.temporary(use.fixed.type), use.fixed.type);
  f.code.emit(use);
}

}  // namespace weft::ptx
