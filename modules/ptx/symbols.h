// What names mean inside one function: registers, variables, parameters and labels, by scope; and what its
// calls look like.
#ifndef WEFT_PTX_SYMBOLS_H
#define WEFT_PTX_SYMBOLS_H

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/calls.h"
#include "ptx/draft.h"
#include "ptx/link.h"
#include "ptx/syntax.h"

namespace weft::ptx {

struct Meaning {
  enum class Kind : std::uint8_t { kNothing, kRegister, kAddress, kLabel, kFunction };
  // Where a variable of the local space lies in the frame. kFixed: not in the frame.
  enum class Region : std::uint8_t { kFixed, kVariables, kOwnArguments, kCallArguments };
  Kind kind = Kind::kNothing;
  Region region = Region::kFixed;
  std::uint32_t index = 0;        // register: number among the declared; label: number
  std::uint8_t vector = 1;        // register: 2 or 4 elements, the first of which is `index`
  Type type = Type::kNone;        // register; of an element
  Space space = Space::kGeneric;  // address
  Opaque opaque = Opaque::kNone;  // address: of a reference
  std::uint64_t address = 0;      // shared: offset in the block's shared memory; param of a kernel: in its
                                  // parameters; in the frame: offset in the region
  std::uint64_t area = 0;         // kCallArguments: bytes of the call's area
  static constexpr std::uint32_t kNoVariable = UINT32_MAX;
  std::uint32_t variable =
      kNoVariable;  // address: in Module::variables; what else is said of it, `find` adds
};

// The shared memory of a kernel and of the functions that it reaches.
struct SharedLayout {
  std::uint64_t bytes = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> addresses;  // (module, variable)
  std::vector<std::pair<std::uint32_t, std::uint32_t>> dynamic;                // without a size: placed last
};

// The .local variables at module scope (PTX below 3.0): each thread has them once, whatever function names
// them. They lie at the beginning of the kernel's frame, where an offset is an address.
struct ModuleLocals {
  std::uint64_t bytes = 0, align = 1;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> addresses;  // (module, variable)
};
ModuleLocals place_module_locals(const Linkage& linkage);

class FunctionSymbols {
 public:
  // Places the function's shared variables. `linkage`, `shared` and `locals` outlive this.
  FunctionSymbols(const Linkage& linkage, const FunctionReference& reference, SharedLayout& shared,
                  const ModuleLocals& locals);

  // Walk the statements in order, entering and leaving scopes as they open and close.
  void rewind() { next_scope_ = 1, current_ = 0; }
  void enter() { current_ = next_scope_++; }
  void leave() { current_ = scopes_[current_].parent; }

  // The meaning of `name` at the present place; a variable without an address throws InputError at `at`.
  // `component`: 0, or 1 to 4 for an element of the vector register `name`; "v.x" says the same.
  Meaning find(std::string_view name, std::uint32_t at, unsigned component = 0) const;
  // The list of branch targets of that name, or nullptr.
  const TargetList* find_targets(std::string_view name) const;

  const Function& function() const { return *reference_.function; }
  const FunctionReference& reference() const { return reference_; }
  const Module& module() const { return module_; }
  std::uint32_t declared_registers() const { return declared_registers_; }
  std::uint32_t labels() const { return labels_; }

  // Calls by the index of their statement.
  const std::map<std::uint32_t, CallSite>& calls() const { return calls_; }
  bool calls_functions() const { return calls_functions_; }
  const Signature& signature() const { return signature_; }  // of a device function
  std::uint64_t local_bytes() const { return local_bytes_; }
  std::uint64_t largest_area() const { return largest_area_; }  // bytes of arguments and results of a call
  std::uint64_t frame_alignment() const { return frame_alignment_; }

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint64_t count = 0;
    Type type = Type::kNone;
    std::uint8_t vector = 1;
  };
  struct Scope {
    std::uint32_t parent = 0;
    std::unordered_map<std::string_view, Range> ranges;  // by what stands before the number
    std::unordered_map<std::string_view, Meaning> names;
    std::unordered_map<std::string_view, std::uint32_t> prototypes, targets;  // in the module's text
  };

  void declare_parameters();
  void declare_register(const Declaration& declaration, Scope& scope);
  void declare(const Declaration& declaration, Scope& scope);
  void declare_static(std::uint32_t declaration, Scope& scope);
  Meaning find_whole(std::string_view name, std::uint32_t at) const;
  Meaning meaning_of_variable(std::uint32_t variable, std::uint32_t at) const;
  void read_statements();
  void place_module_shared();
  [[noreturn]] void fail_shared(std::uint32_t at) const;
  static std::uint64_t reserve(std::uint64_t& used, std::uint64_t bytes, std::uint64_t align);

  // symbols_calls.cpp
  void read_calls();
  CallSite read(const Statement& statement) const;
  void resolve_direct(const Statement& statement, CallSite& site) const;
  void resolve_indirect(const Statement& statement, const Node* last, CallSite& site) const;
  void check(const Statement& statement, const CallSite& site) const;
  void bind(const Statement& statement, const std::vector<Node>& operands, const std::vector<Slot>& slots,
            std::uint64_t area);
  [[noreturn]] void fail(const Statement& statement, const std::string& what) const;

  const Linkage& linkage_;
  const FunctionReference reference_;
  const Module& module_;
  const ModuleText& text_;
  const Symbols& symbols_;
  SharedLayout& shared_;
  const ModuleLocals& locals_;
  std::vector<Scope> scopes_;
  std::uint32_t current_ = 0, next_scope_ = 1;
  std::uint32_t declared_registers_ = 0, labels_ = 0;
  std::uint64_t local_bytes_ = 0, largest_area_ = 0, frame_alignment_ = kFrameAlignment;
  Signature signature_;
  std::map<std::uint32_t, CallSite> calls_;
  bool calls_functions_ = false;
};

// Places the dynamic shared memory, behind everything else. Returns whether there is any.
bool place_dynamic_shared(const Linkage& linkage, SharedLayout& shared);

// Offsets of a kernel's parameters.
void lay_out_parameters(const ModuleText& text, const Function& function, std::vector<Parameter>& parameters,
                        std::uint64_t& bytes);

}  // namespace weft::ptx

#endif
