#include "ptx/link.h"

#include <algorithm>
#include <set>

#include "ptx/syntax.h"

namespace weft::ptx {

Linkage::Linkage(const std::vector<LinkedModule>& modules) : modules_(modules) {
  if (modules.size() < 2) return;  // a module by itself exports to nobody
  for (std::uint32_t m = 0; m < modules.size(); ++m) add_exports(m);
}

void Linkage::add_exports(std::uint32_t module) {
  const ModuleText& its = text(module);
  for (const Function& function : its.functions) {
    if (!function.has_body || function.is_entry || !(function.is_visible || function.is_weak)) continue;
    const auto [known, added] =
        exports_.emplace(its.view(function.name), FunctionReference{module, &function});
    if (added || function.is_weak) continue;
    if (!known->second.function->is_weak) {
      const ModuleText& other = text(known->second.module);
      its.fail(function.name.at, "function '" + std::string(its.view(function.name)) +
                                     "' is defined also at " + other.where(known->second.function->name.at));
    }
    known->second = {module, &function};
  }
}

const Function* Linkage::declaration(std::uint32_t module, std::string_view name) const {
  const ModuleText& its = text(module);
  const auto known = its.names.find(name);
  if (known == its.names.end() || !known->second.is_function) return nullptr;
  return &its.functions[known->second.index];
}

std::optional<FunctionReference> Linkage::function(std::uint32_t module, std::string_view name) const {
  const Function* own = declaration(module, name);
  if (own != nullptr && own->has_body && !own->is_weak) return FunctionReference{module, own};
  const auto exported = exports_.find(name);
  if (exported != exports_.end()) return exported->second;
  if (own != nullptr && own->has_body) return FunctionReference{module, own};
  return std::nullopt;
}

std::vector<FunctionReference> Linkage::with_address() const {
  std::vector<FunctionReference> result;
  std::set<const Function*> seen;
  for (std::uint32_t m = 0; m < modules_.size(); ++m) {
    const ModuleText& its = text(m);
    const auto take = [&](std::string_view name) {
      const Function* known = declaration(m, name);
      if (known == nullptr || known->is_entry) return;
      const auto found = function(m, name);
      if (found && seen.insert(found->function).second) result.push_back(*found);
    };
    const auto take_node = [&](const Node& node) {
      if (node.kind == Node::Kind::kName) take(its.view(node.text));
    };
    for (const Variable& variable : modules_[m].module->variables) {
      for (const auto& relocation : variable.relocations) take(relocation.symbol);
    }
    for (const Statement& statement : its.statements) {
      if (statement.kind != Statement::Kind::kInstruction) continue;
      const bool is_call = its.view(statement.text).substr(0, 4) == "call";
      for (std::uint32_t n = statement.first; n < statement.first + statement.count; ++n) {
        const Node& node = its.nodes[n];
        if (!is_call) take_node(node);
        if (node.kind != Node::Kind::kList) continue;
        for (std::uint32_t c = node.first; c < node.first + node.count; ++c) take_node(its.nodes[c]);
      }
    }
  }
  return result;
}

}  // namespace weft::ptx
