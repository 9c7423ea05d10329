#include "ptx/symbols.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "ptx/types.h"
#include "ptx/variables.h"
#include "weft/ptx/limits.h"

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

FunctionSymbols::FunctionSymbols(const Linkage& linkage, const FunctionReference& reference,
                                 SharedLayout& shared, const ModuleLocals& locals)
    : linkage_(linkage),
      reference_(reference),
      module_(*linkage.modules()[reference.module].module),
      text_(*module_.text),
      symbols_(*linkage.modules()[reference.module].symbols),
      shared_(shared),
      locals_(locals) {
  if (reference_.function->is_entry) {
    local_bytes_ = locals_.bytes;
    frame_alignment_ = std::max(frame_alignment_, locals_.align);
  }
  place_module_shared();
  scopes_.emplace_back();
  declare_parameters();
  read_statements();
  read_calls();
  rewind();
}

void FunctionSymbols::declare_parameters() {
  const Function& function = *reference_.function;
  if (function.is_entry) {
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
    return;
  }
  signature_ = signature_of(function.returns, function.parameters);
  if (signature_.bytes > kMaxParameterBytes) {
    text_.fail(function.name.at, "the parameters and results of a function take at most " +
                                     std::to_string(kMaxParameterBytes) + " bytes");
  }
  frame_alignment_ = std::max(frame_alignment_, signature_.align);
  for (const auto* slots : {&signature_.returns, &signature_.parameters}) {
    for (const Slot& slot : *slots) {
      if (slot.declaration.space == DeclarationSpace::kReg) {
        declare_register(slot.declaration, scopes_[0]);
        continue;
      }
      Meaning meaning;
      meaning.kind = Meaning::Kind::kAddress;
      meaning.region = Meaning::Region::kOwnArguments;
      meaning.space = Space::kLocal;
      meaning.address = slot.offset;
      scopes_[0].names.emplace(text_.view(slot.declaration.name), meaning);
    }
  }
}

void FunctionSymbols::read_statements() {
  const Function& function = *reference_.function;
  current_ = 0;
  for (std::uint32_t s = function.first; s < function.first + function.count; ++s) {
    const Statement& statement = text_.statements[s];
    switch (statement.kind) {
      case Statement::Kind::kOpen: {
        Scope scope;
        scope.parent = current_;
        current_ = static_cast<std::uint32_t>(scopes_.size());
        scopes_.push_back(std::move(scope));
        break;
      }
      case Statement::Kind::kClose:
        current_ = scopes_[current_].parent;
        break;
      case Statement::Kind::kDeclaration:
        declare(text_.declarations[statement.first], scopes_[current_]);
        declare_static(statement.first, scopes_[current_]);
        break;
      case Statement::Kind::kPrototype:
        scopes_[current_].prototypes[text_.view(text_.prototypes[statement.first].name)] = statement.first;
        break;
      case Statement::Kind::kTargets:
        scopes_[current_].targets[text_.view(text_.target_lists[statement.first].name)] = statement.first;
        break;
      case Statement::Kind::kLabel: {
        Meaning meaning;
        meaning.kind = Meaning::Kind::kLabel;
        meaning.index = labels_++;
        scopes_[current_].names.emplace(text_.view(statement.text), meaning);
        break;
      }
      default:
        break;
    }
  }
}

std::uint64_t FunctionSymbols::reserve(std::uint64_t& used, std::uint64_t bytes, std::uint64_t align) {
  const std::uint64_t offset = align_up(used, align);
  used = offset + bytes;
  return offset;
}

void FunctionSymbols::fail_shared(std::uint32_t at) const {
  text_.fail(at, "the kernel's .shared variables exceed " + std::to_string(kMaxSharedBytes) + " bytes");
}

// Module-level .shared belongs to a kernel that names it, itself or in a function that it reaches; others do
// not pay for it.
void FunctionSymbols::place_module_shared() {
  if (text_.shared_variables.empty()) return;
  const Function& function = *reference_.function;
  std::unordered_set<std::string_view> used;
  for (std::uint32_t n = function.first_node; n < function.first_node + function.node_count; ++n) {
    const Node& node = text_.nodes[n];
    if (node.kind == Node::Kind::kName) used.insert(text_.view(node.text));
  }
  // By what the kernel names, not over all variables: there may be as many of them as kernels.
  std::vector<std::uint32_t> named;
  for (const std::string_view name : used) {
    const auto known = text_.names.find(name);
    if (known == text_.names.end() || known->second.is_function) continue;
    if (module_.variables[known->second.index].space == Space::kShared) named.push_back(known->second.index);
  }
  std::sort(named.begin(), named.end());
  for (const std::uint32_t v : named) {
    const Variable& variable = module_.variables[v];
    const auto key = std::make_pair(reference_.module, v);
    if (shared_.addresses.count(key) != 0) continue;
    if (variable.size == 0) {
      if (std::find(shared_.dynamic.begin(), shared_.dynamic.end(), key) == shared_.dynamic.end()) {
        shared_.dynamic.push_back(key);
      }
    } else {
      shared_.addresses[key] = reserve(shared_.bytes, variable.size, variable.align);
      if (shared_.bytes > kMaxSharedBytes) fail_shared(function.name.at);
    }
  }
}

void FunctionSymbols::declare_register(const Declaration& declaration, Scope& scope) {
  const std::string_view name = text_.view(declaration.name);
  Meaning meaning;
  meaning.kind = Meaning::Kind::kRegister;
  meaning.type = declaration.wide_type ? Type::kNone : declaration.type;
  meaning.vector = declaration.vector;
  meaning.index = declared_registers_;
  declared_registers_ += static_cast<std::uint32_t>(declaration.count) * declaration.vector;
  if (declaration.is_range) {
    scope.ranges.emplace(name, Range{meaning.index, declaration.count, meaning.type, meaning.vector});
  } else {
    scope.names.emplace(name, meaning);
  }
}

void FunctionSymbols::declare(const Declaration& declaration, Scope& scope) {
  if (declaration.space == DeclarationSpace::kReg) return declare_register(declaration, scope);
  const std::uint64_t bytes = variable_bytes(text_, declaration);
  const std::uint64_t align = natural_alignment(declaration);
  const std::uint32_t at = declaration.name.at;
  Meaning meaning;
  meaning.kind = Meaning::Kind::kAddress;
  switch (declaration.space) {
    case DeclarationSpace::kShared:
      meaning.space = Space::kShared;
      meaning.address = reserve(shared_.bytes, bytes, align);
      if (shared_.bytes > kMaxSharedBytes) fail_shared(at);
      break;
    case DeclarationSpace::kLocal:
      meaning.space = Space::kLocal;
      meaning.region = Meaning::Region::kVariables;
      meaning.address = reserve(local_bytes_, bytes, align);
      frame_alignment_ = std::max(frame_alignment_, align);
      if (local_bytes_ > kMaxLocalBytes) {
        text_.fail(at, "the kernel's .local variables exceed " + std::to_string(kMaxLocalBytes) + " bytes");
      }
      break;
    case DeclarationSpace::kParam:  // of calls; they say where it lies
      meaning.space = Space::kLocal;
      meaning.region = Meaning::Region::kCallArguments;
      frame_alignment_ = std::max(frame_alignment_, align);
      break;
    default:
      return;
  }
  scope.names.emplace(text_.view(declaration.name), meaning);
}

// .global and .const in a function are variables of the module; only their names belong to the function.
void FunctionSymbols::declare_static(std::uint32_t declaration, Scope& scope) {
  const auto variable = text_.statics.find(declaration);
  if (variable == text_.statics.end()) return;
  Meaning meaning;
  meaning.kind = Meaning::Kind::kAddress;
  meaning.variable = variable->second;
  scope.names.emplace(text_.view(text_.declarations[declaration].name), meaning);
}

const TargetList* FunctionSymbols::find_targets(std::string_view name) const {
  for (std::uint32_t s = current_;; s = scopes_[s].parent) {
    const auto known = scopes_[s].targets.find(name);
    if (known != scopes_[s].targets.end()) return &text_.target_lists[known->second];
    if (s == 0) return nullptr;
  }
}

ModuleLocals place_module_locals(const Linkage& linkage) {
  ModuleLocals locals;
  for (std::uint32_t m = 0; m < linkage.modules().size(); ++m) {
    const Module& module = *linkage.modules()[m].module;
    for (const std::uint32_t v : module.text->local_variables) {
      const Variable& variable = module.variables[v];
      const std::uint64_t offset = align_up(locals.bytes, variable.align);
      locals.addresses[{m, v}] = offset;
      locals.bytes = offset + variable.size;
      locals.align = std::max(locals.align, variable.align);
    }
  }
  return locals;
}

bool place_dynamic_shared(const Linkage& linkage, SharedLayout& shared) {
  // At 16 bytes or at what the declarations ask for.
  for (const auto& [module, variable] : shared.dynamic) {
    const std::uint64_t align = linkage.modules()[module].module->variables[variable].align;
    shared.bytes = align_up(shared.bytes, std::max<std::uint64_t>(align, 16));
  }
  for (const auto& key : shared.dynamic) shared.addresses[key] = shared.bytes;
  return !shared.dynamic.empty();
}

Meaning FunctionSymbols::find(std::string_view name, std::uint32_t at, unsigned component) const {
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos && dot + 2 == name.size()) {
    const std::size_t letter = std::string_view("xyzwrgba").find(name[dot + 1]);
    if (letter != std::string_view::npos) component = letter % 4 + 1;
  }
  if (component == 0) return find_whole(name, at);
  Meaning meaning = find_whole(name.substr(0, dot), at);
  if (meaning.kind != Meaning::Kind::kRegister || meaning.vector < component || meaning.vector == 1)
    return Meaning();
  meaning.index += component - 1;
  meaning.vector = 1;
  return meaning;
}

Meaning FunctionSymbols::find_whole(std::string_view name, std::uint32_t at) const {
  std::size_t digits = name.size();
  while (digits > 0 && '0' <= name[digits - 1] && name[digits - 1] <= '9') --digits;
  // A range declares no leading zeros: %r<10> has %r1 but not %r01.
  const bool numbered = digits < name.size() && (name[digits] != '0' || digits + 1 == name.size());
  std::uint64_t number = 0;
  if (numbered) std::from_chars(name.data() + digits, name.data() + name.size(), number);
  for (std::uint32_t s = current_;; s = scopes_[s].parent) {
    const Scope& scope = scopes_[s];
    if (numbered) {
      const auto found = scope.ranges.find(name.substr(0, digits));
      if (found != scope.ranges.end() && number < found->second.count) {
        Meaning meaning;
        meaning.kind = Meaning::Kind::kRegister;
        meaning.index = found->second.first + static_cast<std::uint32_t>(number) * found->second.vector;
        meaning.type = found->second.type;
        meaning.vector = found->second.vector;
        return meaning;
      }
    }
    const auto known = scope.names.find(name);
    if (known != scope.names.end()) {
      const std::uint32_t variable = known->second.variable;
      return variable == Meaning::kNoVariable ? known->second : meaning_of_variable(variable, at);
    }
    if (s == 0) break;
  }
  const auto known = text_.names.find(name);
  Meaning meaning;
  if (known == text_.names.end()) return meaning;
  if (known->second.is_function) {
    meaning.kind = Meaning::Kind::kFunction;
    const auto placed = symbols_.find(std::string(name));
    if (placed != symbols_.end()) meaning.address = placed->second;
    return meaning;
  }
  return meaning_of_variable(known->second.index, at);
}

Meaning FunctionSymbols::meaning_of_variable(std::uint32_t variable, std::uint32_t at) const {
  const std::string& name = module_.variables[variable].name;
  Meaning meaning;
  meaning.kind = Meaning::Kind::kAddress;
  meaning.variable = variable;
  meaning.space = module_.variables[variable].space;
  meaning.opaque = module_.variables[variable].opaque;
  if (meaning.space == Space::kShared) {
    const auto placed = shared_.addresses.find({reference_.module, variable});
    // Absent where a guard wrongly names a variable.
    if (placed != shared_.addresses.end()) meaning.address = placed->second;
  } else if (meaning.space == Space::kLocal) {
    meaning.address = locals_.addresses.at({reference_.module, variable});
  } else {
    const auto placed = symbols_.find(name);
    if (placed == symbols_.end()) {
      text_.fail(at, "variable '" + name + "' has no address in this device");
    }
    meaning.address = placed->second;
  }
  return meaning;
}

}  // namespace weft::ptx
