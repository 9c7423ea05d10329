// Turns the statements of one function into draft instructions.
#ifndef WEFT_PTX_LOWER_H
#define WEFT_PTX_LOWER_H

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ptx/draft.h"
#include "ptx/operation.h"
#include "ptx/symbols.h"

namespace weft::ptx {

// The functions of a program: 0 is the kernel.
using FunctionNumbers = std::map<const Function*, std::uint32_t>;

class Lowering {
 public:
  // `frame_alignment`: of all frames of the program; `saved_bytes`, `spilled_bytes`: room for values saved
  // across calls and for spilled registers.
  Lowering(FunctionSymbols& symbols, const FunctionNumbers& numbers, std::uint64_t frame_alignment,
           std::uint64_t saved_bytes, std::uint64_t spilled_bytes);
  Draft run();

 private:
  // A source operand after resolution, ready to be put into an instruction.
  struct Source {
    Operand::Kind kind = Operand::Kind::kNone;
    bool negated = false;
    std::uint16_t index = 0;     // kConstant, kDynamic
    VirtualId id = kNoRegister;  // kRow, kPredicate
  };
  struct Register {
    VirtualId id = kNoRegister;
    Type type = Type::kNone;  // as declared
  };

  // One statement (lower.cpp).
  void lower(const Statement& statement);
  void plain(Operation& operation);
  void move(Operation& operation);
  void pack(const Operation& operation, const Node& vector);
  void unpack(const Operation& operation, const Node& vector);
  void convert(Operation& operation);
  void compare(Operation& operation);
  void branch(Operation& operation);
  void indexed_branch(Operation& operation);
  void finish_branches();
  void emit_branch(std::uint32_t label, bool guarded, bool negated = false);

  // Functions (lower_calls.cpp).
  void begin_function();
  void end_function();
  void leave_function();
  void call(Operation& operation);
  void call_device_function(const CallSite& site);
  void call_system(const CallSite& site);
  void pass_arguments(const CallSite& site);
  void take_results(const CallSite& site);
  std::int64_t frame_offset(const Meaning& meaning) const;
  std::int64_t area_offset(std::uint64_t area) const;
  void set_frame_address(DraftInstruction& draft, std::int64_t offset);
  void emit_frame_access(Opcode op, Type type, std::int64_t offset, VirtualId data);
  void emit_stack_pointer(Opcode op);
  Source frame_value(const Meaning& meaning, std::uint64_t addend, Type type);

  // Operands with rules of their own (lower_special.cpp).
  void carry(Operation& operation);
  void check_table(const Node& node) const;
  VirtualId condition_code();
  void convert_two(const Operation& operation);
  void hint(const Operation& operation);

  // Warp-level primitives, barriers (lower_warp.cpp).
  void warp(Operation& operation);
  void barrier(Operation& operation);
  // Instructions that become others (lower_derived.cpp).
  void extremum(const Operation& operation);
  void pairs(const Operation& operation);
  void look_up_predicate(const Operation& operation);
  void select_by_sign(const Operation& operation);
  void extend_bits(const Operation& operation);
  void convert_pack(const Operation& operation);
  void rectify(VirtualId to, VirtualId id, Type type);
  void prefetch(const Operation& operation);

  // Memory (lower_memory.cpp).
  void load(Operation& operation);
  void store(Operation& operation);
  void atomic(Operation& operation, bool reduces);
  void copy_async(Operation& operation);
  void copy_wait(Operation& operation);
  void address(DraftInstruction& draft, const Node& node);

  // Textures and surfaces (lower_image.cpp).
  void texture(const Operation& operation);
  void image_query(const Operation& operation);
  void surface_load(const Operation& operation);
  void surface_store(const Operation& operation);
  Source image_object(const Node& node, Opaque wanted);
  void coordinates(DraftInstruction& draft, const Node& node);
  std::uint32_t image_address(DraftInstruction& draft, const Node& node, Opaque wanted);
  void results(DraftInstruction& draft, const Node& node);

  // Operands (lower_operands.cpp).
  const Node& operand(std::uint32_t i) const { return text_.nodes[statement_->first + i]; }
  void need_operands(std::uint32_t low, std::uint32_t high) const;
  std::optional<Register> find_register(const Node& node);
  Register need_register(const Node& node);
  void check_type(const Node& node, Type declared, Type wanted, bool may_be_wider = false) const;
  Source source(const Node& node, Type type);
  Source literal(const Node& node, Type type);
  Source constant(std::uint64_t bits, Type type);
  std::optional<Special> special(std::string_view name) const;
  Source special_source(const Node& node, Special special, Type type);
  Source predicate_constant(bool value);
  Source of(VirtualId id, Type type) const;
  void set_source(DraftInstruction& draft, std::size_t i, const Source& source);
  void set_destination(DraftInstruction& draft, std::size_t i, VirtualId id, Type type);
  VirtualId destination(const Node& node, Type type);
  VirtualId temporary(Type type);
  DraftInstruction draft(const Instruction& fixed) const;
  DraftInstruction draft(Opcode op, Type type) const;
  void emit(const DraftInstruction& d);
  void emit_convert(VirtualId to, Type to_type, VirtualId from, Type from_type);
  [[noreturn]] void fail(const Node& node, const std::string& what) const;
  [[noreturn]] void fail(const std::string& what) const;

  FunctionSymbols& symbols_;
  const FunctionNumbers& numbers_;
  const Module& module_;
  const ModuleText& text_;
  const Function& kernel_;  // or device function
  const std::uint64_t frame_alignment_;
  Draft draft_;
  std::vector<VirtualId> dense_;  // declared register -> id
  std::vector<Pc> label_places_;
  std::vector<std::uint32_t> branch_labels_;  // by PC; UINT32_MAX: no branch
  std::uint32_t end_label_ = 0;               // where a device function returns
  std::map<std::pair<std::uint64_t, bool>, std::uint16_t> constants_;
  const Statement* statement_ = nullptr;
  VirtualId guard_ = kNoRegister;
  VirtualId condition_code_ = kNoRegister;  // CC.CF, from its first use on
  SourcePlace place_, source_place_;
};

}  // namespace weft::ptx

#endif
