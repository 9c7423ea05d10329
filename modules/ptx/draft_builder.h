// A function's draft while it grows. What is drafted has the place in the text, and the guard, of the
// statement that is being lowered; errors name that statement.
//
//   code.begin(statement);
//   DraftInstruction d = code.draft(Opcode::kAdd, Type::kU32);
//   set_source(d, 0, source_of(id, Type::kU32));
//   set_source(d, 1, code.constant(4, Type::kU32));
//   set_destination(d, 0, code.temporary(Type::kU32), Type::kU32);
//   code.emit(d);
#ifndef WEFT_PTX_DRAFT_BUILDER_H
#define WEFT_PTX_DRAFT_BUILDER_H

#include <map>
#include <string>
#include <utility>

#include "ptx/draft.h"
#include "ptx/syntax.h"

namespace weft::ptx {

// A source operand that is ready to be put into an instruction.
struct Source {
  Operand::Kind kind = Operand::Kind::kNone;
  bool negated = false;
  std::uint16_t index = 0;     // kConstant, kDynamic
  VirtualId id = kNoRegister;  // kRow, kPredicate
};
Source source_of(VirtualId id, Type type);
Source source_of(Special special);  // of one that changes with time: only a mov may read it

void set_source(DraftInstruction& d, std::size_t i, const Source& source);
void set_destination(DraftInstruction& d, std::size_t i, VirtualId id, Type type);

class DraftBuilder {
 public:
  // Until a statement begins, the place is that of the function's name. `draft` outlives this.
  DraftBuilder(const Module& module, const Function& function, Draft& draft);

  // What is drafted from here on belongs to `statement`; its guard, if any, is set afterwards.
  void begin(const Statement& statement);
  void set_guard(VirtualId guard, bool negated) { guard_ = guard, guard_negated_ = negated; }
  void drop_guard() { guard_ = kNoRegister; }
  bool is_guarded() const { return guard_ != kNoRegister; }
  void set_source_place(const Location& location);  // .loc
  void stand_at_last();  // unguarded, in the place of the last instruction (none: of the function's name)

  DraftInstruction draft(const Instruction& fixed) const;
  DraftInstruction draft(Opcode op, Type type) const;
  void emit(const DraftInstruction& d) { draft_.code.push_back(d); }
  Pc here() const { return static_cast<Pc>(draft_.code.size()); }

  VirtualId temporary(Type type);
  VirtualId named_register(const RegisterName& name);
  VirtualId condition_code();  // CC.CF: a predicate that the text does not name
  Source constant(std::uint64_t bits, Type type);
  Source special(Special special, Type type);  // of one that is constant for a thread

  // Instructions that many others need.
  void emit_convert(VirtualId to, Type to_type, const Source& from, Type from_type);
  void emit_extension(VirtualId to, VirtualId from, bool is_signed);  // 32 to 64 bits
  Source emit_sum(const Source& a, std::uint64_t b, Type type);
  // `width` bits of `above`, put into `below` at bit `at`.
  void emit_insert(VirtualId to, Type type, const Source& above, const Source& below, unsigned at,
                   unsigned width);

  [[noreturn]] void fail(const Node& node, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const ModuleText& text_;
  const Function& function_;
  Draft& draft_;
  std::uint32_t at_ = 0;  // of the statement, or of the function's name
  SourcePlace place_, source_place_;
  VirtualId guard_ = kNoRegister;
  bool guard_negated_ = false;
  VirtualId condition_code_ = kNoRegister;
  std::map<std::pair<std::uint64_t, bool>, std::uint16_t> constants_;  // (bits, 64 bits wide)
  std::map<std::uint32_t, std::uint32_t> files_;  // number of .file -> index in Draft::files
};

}  // namespace weft::ptx

#endif
