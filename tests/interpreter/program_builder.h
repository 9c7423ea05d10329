// Builds small decoded programs by hand, without the PTX front end.
#ifndef WEFT_TESTS_INTERPRETER_PROGRAM_BUILDER_H
#define WEFT_TESTS_INTERPRETER_PROGRAM_BUILDER_H

#include <cstdint>
#include <initializer_list>

#include "weft/ptx/program.h"

namespace weft::test {

ptx::Operand row(unsigned index);
ptx::Operand predicate(unsigned index, bool negated = false);

class ProgramBuilder {
 public:
  // `rows` 32-bit register rows (even) and `predicates` predicates.
  ProgramBuilder(unsigned rows, unsigned predicates);

  ptx::Operand constant(std::uint64_t value, bool wide = false);
  // The row of a special register. All of them before the first use of a row number past `rows`.
  ptx::Operand special(ptx::Special which);

  // Appends an instruction; the reference is good until the next one.
  ptx::Instruction& add(ptx::Opcode op, ptx::Type type, std::initializer_list<ptx::Operand> dst = {},
                        std::initializer_list<ptx::Operand> src = {});
  ptx::Instruction& add(const ptx::Instruction& in);
  ptx::Pc here() const { return static_cast<ptx::Pc>(program_.code.size()); }

  ptx::Program& program() { return program_; }

 private:
  ptx::Program program_;
};

}  // namespace weft::test

#endif
