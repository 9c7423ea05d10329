// Variables at module scope: sizes, and initialisers as bytes and relocations.
#ifndef WEFT_PTX_VARIABLES_H
#define WEFT_PTX_VARIABLES_H

#include <vector>

#include "ptx/syntax.h"
#include "weft/ptx/module.h"

namespace weft::ptx {

// Bytes of a declared variable; an unsized array with an initialiser takes its length from it.
std::uint64_t variable_bytes(const ModuleText& text, const Declaration& declaration);

// Appends the variable that `declaration` declares and enters its name. A definition replaces an earlier
// .extern declaration.
void add_variable(ModuleText& text, const Declaration& declaration, std::vector<Variable>& variables);

// Appends the .global and .const variables that functions declare. Their names are known in their functions
// only; in the module they are called "function.variable" (and .2, .3 where scopes have one each).
void add_statics(ModuleText& text, std::vector<Variable>& variables);

}  // namespace weft::ptx

#endif
