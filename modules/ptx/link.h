// Modules that see each other's functions and variables: what .extern, .visible, .weak and the rest mean.
//
//   std::vector<LinkedModule> modules = {{&a, &symbols_of_a}, {&b, &symbols_of_b}};
//   Linkage linkage(modules);                      // InputError: a name is defined twice
//   linkage.function(0, "helper");                 // as module 0 sees it
//
// A definition with .visible is seen by all modules; so is one with .weak, which gives way to others. What
// has neither belongs to its own module (PTX ISA 9.0, 5.3).
#ifndef WEFT_PTX_LINK_H
#define WEFT_PTX_LINK_H

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/calls.h"
#include "weft/ptx/module.h"

namespace weft::ptx {

class Linkage {
 public:
  explicit Linkage(const std::vector<LinkedModule>& modules);

  // The definition of function `name` for module `module`; none: nothing defines it.
  std::optional<FunctionReference> function(std::uint32_t module, std::string_view name) const;
  // The declaration or definition that module `module` has of it, nullptr: none.
  const Function* declaration(std::uint32_t module, std::string_view name) const;
  const std::vector<LinkedModule>& modules() const { return modules_; }
  const ModuleText& text(std::uint32_t module) const { return *modules_[module].module->text; }
  // Functions whose address is taken: in an instruction other than the call of it, or in an initialiser.
  std::vector<FunctionReference> with_address() const;

 private:
  void add_exports(std::uint32_t module);

  const std::vector<LinkedModule>& modules_;
  std::map<std::string_view, FunctionReference> exports_;
};

}  // namespace weft::ptx

#endif
