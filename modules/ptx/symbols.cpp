#include "ptx/symbols.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "ptx/limits.h"
#include "ptx/types.h"
#include "ptx/variables.h"

namespace weft::ptx {

void lay_out_parameters(const ModuleText& text, const Function& function, std::vector<Parameter>& parameters,
                        std::uint64_t& bytes) {
  bytes = 0;
  for (const Declaration& declaration : function.parameters) {
    Parameter parameter;
    parameter.name = text.view(declaration.name);
    parameter.type = declaration.type;
    parameter.size = declaration.count * element_bytes(declaration);
    parameter.align = natural_alignment(declaration);
    parameter.offset = align_up(bytes, parameter.align);
    bytes = parameter.offset + parameter.size;
    if (bytes > kMaxParameterBytes) {
      text.fail(declaration.name.at,
                "the parameters of a kernel take at most " + std::to_string(kMaxParameterBytes) + " bytes");
    }
    parameters.push_back(std::move(parameter));
  }
}

FunctionSymbols::FunctionSymbols(const Module& module, const Function& function, const Symbols& symbols)
    : module_(module), text_(*module.text), symbols_(symbols) {
  const std::vector<std::uint32_t> dynamic = place_module_shared(function);

  scopes_.emplace_back();
  std::vector<Parameter> parameters;
  std::uint64_t bytes = 0;
  lay_out_parameters(text_, function, parameters, bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Meaning meaning;
    meaning.kind = Meaning::Kind::kAddress;
    meaning.space = Space::kParam;
    meaning.address = parameters[i].offset;
    meaning.opaque = function.parameters[i].opaque;
    scopes_[0].names.emplace(text_.view(function.parameters[i].name), meaning);
  }
  std::uint32_t current = 0;
  for (std::uint32_t s = function.first; s < function.first + function.count; ++s) {
    const Statement& statement = text_.statements[s];
    switch (statement.kind) {
      case Statement::Kind::kOpen: {
        Scope scope;
        scope.parent = current;
        current = static_cast<std::uint32_t>(scopes_.size());
        scopes_.push_back(std::move(scope));
        break;
      }
      case Statement::Kind::kClose:
        current = scopes_[current].parent;
        break;
      case Statement::Kind::kDeclaration:
        declare(text_.declarations[statement.first], scopes_[current]);
        break;
      case Statement::Kind::kLabel: {
        Meaning meaning;
        meaning.kind = Meaning::Kind::kLabel;
        meaning.index = labels_++;
        scopes_[current].names.emplace(text_.view(statement.text), meaning);
        break;
      }
      default:
        break;
    }
  }
  // Dynamic shared memory follows, at 16 bytes or at what its declarations ask for.
  for (const std::uint32_t v : dynamic) {
    shared_bytes_ = align_up(shared_bytes_, std::max<std::uint64_t>(module.variables[v].align, 16));
  }
  for (const std::uint32_t v : dynamic) shared_addresses_[v] = shared_bytes_;
  uses_dynamic_shared_ = !dynamic.empty();
}

std::uint64_t FunctionSymbols::reserve(std::uint64_t& used, std::uint64_t bytes, std::uint64_t align) {
  const std::uint64_t offset = align_up(used, align);
  used = offset + bytes;
  return offset;
}

void FunctionSymbols::fail_shared(std::uint32_t at) const {
  text_.fail(at, "the kernel's .shared variables exceed " + std::to_string(kMaxSharedBytes) + " bytes");
}

// Module-level .shared belongs to a kernel that names it; others do not pay for it. Returns the variables
// without a size, which are placed last.
std::vector<std::uint32_t> FunctionSymbols::place_module_shared(const Function& function) {
  std::vector<std::uint32_t> dynamic;
  if (text_.shared_variables.empty()) return dynamic;
  std::unordered_set<std::string_view> used;
  for (std::uint32_t n = function.first_node; n < function.first_node + function.node_count; ++n) {
    const Node& node = text_.nodes[n];
    if (node.kind == Node::Kind::kName) used.insert(text_.view(node.text));
  }
  for (const std::uint32_t v : text_.shared_variables) {
    const Variable& variable = module_.variables[v];
    if (used.count(variable.name) == 0) continue;
    if (variable.size == 0) {
      dynamic.push_back(v);
    } else {
      shared_addresses_[v] = reserve(shared_bytes_, variable.size, variable.align);
      if (shared_bytes_ > kMaxSharedBytes) fail_shared(function.name.at);
    }
  }
  return dynamic;
}

void FunctionSymbols::declare(const Declaration& declaration, Scope& scope) {
  const std::string_view name = text_.view(declaration.name);
  Meaning meaning;
  if (declaration.space == DeclarationSpace::kReg) {
    meaning.kind = Meaning::Kind::kRegister;
    meaning.type = declaration.vector == 1 && !declaration.wide_type ? declaration.type : Type::kNone;
    meaning.index = declared_registers_;
    declared_registers_ += static_cast<std::uint32_t>(declaration.count);
    if (declaration.is_range) {
      scope.ranges.push_back({name, meaning.index, declaration.count, meaning.type});
      return;
    }
  } else {
    meaning.kind = Meaning::Kind::kAddress;
    const std::uint64_t bytes = variable_bytes(text_, declaration);
    const std::uint64_t align = natural_alignment(declaration);
    const std::uint32_t at = declaration.name.at;
    switch (declaration.space) {
      case DeclarationSpace::kShared:
        meaning.space = Space::kShared;
        meaning.address = reserve(shared_bytes_, bytes, align);
        if (shared_bytes_ > kMaxSharedBytes) {
          text_.fail(at,
                     "the kernel's .shared variables exceed " + std::to_string(kMaxSharedBytes) + " bytes");
        }
        break;
      case DeclarationSpace::kLocal:
        meaning.space = Space::kLocal;
        meaning.address = reserve(local_bytes_, bytes, align);
        if (local_bytes_ > kMaxLocalBytes) {
          text_.fail(at, "the kernel's .local variables exceed " + std::to_string(kMaxLocalBytes) + " bytes");
        }
        break;
      default:
        return;  // .param of a call: an error at the call; .global in a function: at its use
    }
  }
  scope.names.emplace(name, meaning);
}

Meaning FunctionSymbols::find(std::string_view name, std::uint32_t at) const {
  std::size_t digits = name.size();
  while (digits > 0 && '0' <= name[digits - 1] && name[digits - 1] <= '9') --digits;
  // A range declares no leading zeros: %r<10> has %r1 but not %r01.
  const bool numbered = digits < name.size() && (name[digits] != '0' || digits + 1 == name.size());
  std::uint64_t number = 0;
  if (numbered) std::from_chars(name.data() + digits, name.data() + name.size(), number);
  for (std::uint32_t s = current_;; s = scopes_[s].parent) {
    const Scope& scope = scopes_[s];
    if (numbered) {
      for (const Range& range : scope.ranges) {
        if (number < range.count && range.prefix == name.substr(0, digits)) {
          Meaning meaning;
          meaning.kind = Meaning::Kind::kRegister;
          meaning.index = range.first + static_cast<std::uint32_t>(number);
          meaning.type = range.type;
          return meaning;
        }
      }
    }
    const auto known = scope.names.find(name);
    if (known != scope.names.end()) return known->second;
    if (s == 0) break;
  }
  const auto known = text_.names.find(name);
  Meaning meaning;
  if (known == text_.names.end()) return meaning;
  if (known->second.is_function) {
    meaning.kind = Meaning::Kind::kFunction;
    return meaning;
  }
  const std::uint32_t variable = known->second.variable;
  meaning.kind = Meaning::Kind::kAddress;
  meaning.space = module_.variables[variable].space;
  meaning.opaque = module_.variables[variable].opaque;
  if (meaning.space == Space::kShared) {
    const auto placed = shared_addresses_.find(variable);  // absent where a guard wrongly names a variable
    if (placed != shared_addresses_.end()) meaning.address = placed->second;
  } else {
    const auto placed = symbols_.find(std::string(name));
    if (placed == symbols_.end()) {
      text_.fail(at, "variable '" + std::string(name) + "' has no address in this device");
    }
    meaning.address = placed->second;
  }
  return meaning;
}

}  // namespace weft::ptx
