// The calls of a function: whom they name, with which signature, and where their arguments lie.
#include <algorithm>

#include "ptx/symbols.h"
#include "ptx/types.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {

void FunctionSymbols::fail(const Statement& statement, const std::string& what) const {
  text_.fail(statement.at, "'" + text_.statement_text(statement.at) + "': " + what);
}

void FunctionSymbols::read_calls() {
  const Function& function = *reference_.function;
  rewind();
  for (std::uint32_t s = function.first; s < function.first + function.count; ++s) {
    const Statement& statement = text_.statements[s];
    if (statement.kind == Statement::Kind::kOpen) enter();
    if (statement.kind == Statement::Kind::kClose) leave();
    if (statement.kind != Statement::Kind::kInstruction) continue;
    const std::string_view opcode = text_.view(statement.text);
    if (opcode != "call" && opcode.substr(0, 5) != "call.") continue;
    CallSite site = read(statement);
    const std::uint64_t area = site.signature.bytes;
    bind(statement, site.results, site.signature.returns, area);
    bind(statement, site.arguments, site.signature.parameters, area);
    calls_functions_ = calls_functions_ || site.system == SystemCall::kNone;
    largest_area_ = std::max(largest_area_, area);
    frame_alignment_ = std::max(frame_alignment_, site.signature.align);
    calls_.emplace(s, std::move(site));
  }
}

CallSite FunctionSymbols::read(const Statement& statement) const {
  CallSite site;
  const Node* last = read_call(text_, statement, site);
  const Meaning meaning = find(text_.view(site.target.text), site.target.text.at);
  site.indirect = meaning.kind == Meaning::Kind::kRegister;
  if (site.indirect) {
    if (meaning.type == Type::kNone || bytes_of(meaning.type) != 8 || is_float(meaning.type)) {
      fail(statement, "the address of a function needs a 64-bit integer register");
    }
    resolve_indirect(statement, last, site);
  } else {
    resolve_direct(statement, site);
  }
  if (site.signature.bytes > kMaxParameterBytes) {
    fail(statement, "arguments and results take at most " + std::to_string(kMaxParameterBytes) + " bytes");
  }
  check(statement, site);
  return site;
}

void FunctionSymbols::resolve_direct(const Statement& statement, CallSite& site) const {
  const std::string name(text_.view(site.target.text));
  const Function* declared = linkage_.declaration(reference_.module, name);
  if (declared == nullptr || declared->is_entry) {
    fail(statement, "'" + name + "' is not a function of this module");
  }
  site.signature = signature_of(declared->returns, declared->parameters);
  const auto found = linkage_.function(reference_.module, name);
  if (found) {
    site.callee = *found;
    const Signature defined = signature_of(found->function->returns, found->function->parameters);
    if (defined.bytes != site.signature.bytes) {
      fail(statement, "function '" + name + "' is declared with " + std::to_string(site.signature.bytes) +
                          " bytes of arguments and results, and defined with " +
                          std::to_string(defined.bytes));
    }
    return;
  }
  site.system = system_call_of(name);
  if (site.system == SystemCall::kNone) {
    fail(statement, "function '" + name + "' is not defined in any module that is linked here");
  }
  if (site.signature.bytes != bytes_of_system_call(site.system)) {
    fail(statement, "'" + name + "' of the device runtime is declared with " +
                        std::to_string(site.signature.bytes) + " bytes of arguments and results, it has " +
                        std::to_string(bytes_of_system_call(site.system)));
  }
}

void FunctionSymbols::resolve_indirect(const Statement& statement, const Node* last, CallSite& site) const {
  if (last == nullptr) {
    fail(statement, "a call through a register needs a .callprototype or a list of .calltargets");
  }
  const std::string_view name = text_.view(last->text);
  for (std::uint32_t s = current_;; s = scopes_[s].parent) {
    const auto known = scopes_[s].prototypes.find(name);
    if (known != scopes_[s].prototypes.end()) {
      const Prototype& prototype = text_.prototypes[known->second];
      site.signature = signature_of(prototype.returns, prototype.parameters);
      return;
    }
    if (s == 0) break;
  }
  const TargetList* list = find_targets(name);
  if (list == nullptr) {
    fail(statement, "'" + std::string(name) + "' is neither a .callprototype nor a list of .calltargets");
  }
  for (const Extent target : list->targets) {
    const auto found = linkage_.function(reference_.module, text_.view(target));
    if (!found) text_.fail(target.at, "'" + std::string(text_.view(target)) + "' is not a defined function");
    const Signature signature = signature_of(found->function->returns, found->function->parameters);
    if (!site.targets.empty() && signature.bytes != site.signature.bytes) {
      text_.fail(target.at, "the functions of a list of .calltargets have one signature");
    }
    site.signature = signature;
    site.targets.push_back(*found);
  }
}

void FunctionSymbols::check(const Statement& statement, const CallSite& site) const {
  const auto check_count = [&](std::size_t found, std::size_t expected, const char* what) {
    if (found == expected) return;
    fail(statement,
         "found " + std::to_string(found) + " " + what + ", the function has " + std::to_string(expected));
  };
  check_count(site.results.size(), site.signature.returns.size(), "results");
  check_count(site.arguments.size(), site.signature.parameters.size(), "arguments");
}

// .param variables that are passed lie where the callee expects them.
void FunctionSymbols::bind(const Statement& statement, const std::vector<Node>& operands,
                           const std::vector<Slot>& slots, std::uint64_t area) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].kind != Node::Kind::kName) continue;
    const std::string_view name = text_.view(operands[i].text);
    for (std::uint32_t s = current_;; s = scopes_[s].parent) {
      const auto known = scopes_[s].names.find(name);
      if (known != scopes_[s].names.end()) {
        Meaning& meaning = known->second;
        if (meaning.region != Meaning::Region::kCallArguments) break;
        const bool elsewhere = meaning.area != area || meaning.address != slots[i].offset;
        if (meaning.area != 0 && elsewhere) {
          fail(statement, "'" + std::string(name) +
                              "' is passed to functions of different signatures; declare one for each call");
        }
        meaning.address = slots[i].offset;
        meaning.area = area;
        break;
      }
      if (s == 0) break;
    }
  }
}

}  // namespace weft::ptx
