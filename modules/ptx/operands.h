// The operands of the statement that is being lowered: how many there are, and what each means as a source or
// as a destination of an instruction. The first use of a register gives it its number.
//
//   operands.need(2);
//   operands.read(d, 0, operands[1], Type::kU32);
//   operands.write(d, 0, operands[0], Type::kU32);
#ifndef WEFT_PTX_OPERANDS_H
#define WEFT_PTX_OPERANDS_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/draft_builder.h"
#include "ptx/stack_frame.h"
#include "ptx/symbols.h"

namespace weft::ptx {

class Operands {
 public:
  struct Register {
    VirtualId id = kNoRegister;
    Type type = Type::kNone;  // as declared
  };

  Operands(const FunctionSymbols& symbols, DraftBuilder& code, const StackFrame& frame);

  void begin(const Statement& statement) { statement_ = &statement; }
  const Node& operator[](std::uint32_t i) const { return text_.nodes[statement_->first + i]; }
  const Statement& statement() const { return *statement_; }
  std::uint32_t count() const { return statement_->count; }
  void need(std::uint32_t low, std::uint32_t high) const;
  void need(std::uint32_t count) const { need(count, count); }

  Meaning meaning(const Node& node) const {
    return symbols_.find(text_.name(node), node.text.at, node.component);
  }
  std::optional<Register> find_register(const Node& node);
  Register need_register(const Node& node);
  // 9.4: the declared type must have the operation's size (or more, where `may_be_wider`), and integers do
  // not stand for floating-point numbers; .b types fit both.
  void check_type(const Node& node, Type declared, Type wanted, bool may_be_wider = false) const;

  // A register, a special register, a literal or an address. What is no operand of an instruction (a
  // predicate's literal, a clock) is made by one that is emitted first.
  Source source(const Node& node, Type type);
  // Likewise, but a register may be wider than the type (9.4.1): then its lower half.
  Source source_or_wider(const Node& node, Type type);
  // `reg` of `node`, which may name it with an addend.
  Source with_addend(const Node& node, const Register& reg);
  VirtualId destination(const Node& node, Type type);
  // Likewise, but the register may be wider than the type: then the caller extends the result.
  Register destination_or_wider(const Node& node, Type type);
  VirtualId destination_or_sink(const Node& node, Type type);  // also `_`: a register that nobody reads

  void read(DraftInstruction& d, std::size_t i, const Node& node, Type type) {
    set_source(d, i, source(node, type));
  }
  void write(DraftInstruction& d, std::size_t i, const Node& node, Type type) {
    set_destination(d, i, destination(node, type), type);
  }

 private:
  std::string full_name(const Node& node) const;  // with the component
  Register writable(const Node& node, Type type, bool may_be_wider);
  Source literal(const Node& node, Type type);
  Source predicate_constant(bool value);
  std::optional<Source> cluster_source(const Node& node, const std::string& name, Type type);
  Source special_source(const Node& node, Special special, Type type);
  Source address_source(const Node& node, const Meaning& meaning, Type type);
  Source function_source(const Node& node, const Meaning& meaning, Type type);

  const FunctionSymbols& symbols_;
  const ModuleText& text_;
  DraftBuilder& code_;
  const StackFrame& frame_;
  const Statement* statement_ = nullptr;
  std::vector<VirtualId> ids_;  // by number of the declared register
};

// "%tid.x" -> kTidX
std::optional<Special> special_of(std::string_view name);

}  // namespace weft::ptx

#endif
