// What names mean inside one function: registers, variables, parameters and labels, by scope.
#ifndef WEFT_PTX_SYMBOLS_H
#define WEFT_PTX_SYMBOLS_H

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/draft.h"
#include "ptx/syntax.h"

namespace weft::ptx {

struct Meaning {
  enum class Kind : std::uint8_t { kNothing, kRegister, kAddress, kLabel, kFunction };
  Kind kind = Kind::kNothing;
  std::uint32_t index = 0;        // register: number among the declared; label: number
  Type type = Type::kNone;        // register
  Space space = Space::kGeneric;  // address
  Opaque opaque = Opaque::kNone;  // address: of a reference
  std::uint64_t address = 0;  // shared: offset in the block's shared memory; local, param: in the thread's
};

class FunctionSymbols {
 public:
  FunctionSymbols(const Module& module, const Function& function, const Symbols& symbols);

  // Walk the statements in order, entering and leaving scopes as they open and close.
  void rewind() { next_scope_ = 1, current_ = 0; }
  void enter() { current_ = next_scope_++; }
  void leave() { current_ = scopes_[current_].parent; }

  // The meaning of `name` at the present place; a variable without an address throws InputError at `at`.
  Meaning find(std::string_view name, std::uint32_t at) const;

  std::uint32_t declared_registers() const { return declared_registers_; }
  std::uint32_t labels() const { return labels_; }
  std::uint64_t shared_bytes() const { return shared_bytes_; }
  std::uint64_t local_bytes() const { return local_bytes_; }
  bool uses_dynamic_shared() const { return uses_dynamic_shared_; }

 private:
  struct Range {
    std::string_view prefix;
    std::uint32_t first = 0;
    std::uint64_t count = 0;
    Type type = Type::kNone;
  };
  struct Scope {
    std::uint32_t parent = 0;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, Meaning> names;
  };

  void declare(const Declaration& declaration, Scope& scope);
  std::vector<std::uint32_t> place_module_shared(const Function& function);
  [[noreturn]] void fail_shared(std::uint32_t at) const;
  static std::uint64_t reserve(std::uint64_t& used, std::uint64_t bytes, std::uint64_t align);

  const Module& module_;
  const ModuleText& text_;
  const Symbols& symbols_;
  std::vector<Scope> scopes_;
  std::unordered_map<std::uint32_t, std::uint64_t> shared_addresses_;  // by index of the variable
  std::uint32_t current_ = 0, next_scope_ = 1;
  std::uint32_t declared_registers_ = 0, labels_ = 0;
  std::uint64_t shared_bytes_ = 0, local_bytes_ = 0;
  bool uses_dynamic_shared_ = false;
};

// Offsets of a kernel's parameters.
void lay_out_parameters(const ModuleText& text, const Function& function, std::vector<Parameter>& parameters,
                        std::uint64_t& bytes);

}  // namespace weft::ptx

#endif
