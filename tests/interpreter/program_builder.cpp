#include "interpreter/program_builder.h"

#include <algorithm>

namespace weft::test {

using ptx::Instruction;
using ptx::Operand;

ptx::Operand row(unsigned index) {
  return {Operand::Kind::kRow, false, static_cast<std::uint16_t>(index)};
}

ptx::Operand predicate(unsigned index, bool negated) {
  return {Operand::Kind::kPredicate, negated, static_cast<std::uint16_t>(index)};
}

ProgramBuilder::ProgramBuilder(unsigned rows, unsigned predicates) {
  program_.name = "test";
  program_.files = {"test.ptx"};
  program_.register_rows = static_cast<std::uint16_t>(rows);
  program_.rows = program_.register_rows;
  program_.predicates = static_cast<std::uint16_t>(predicates);
}

Operand ProgramBuilder::constant(std::uint64_t value, bool wide) {
  ptx::Constant constant;
  for (std::size_t i = 0; i < constant.lanes.size(); ++i) {
    constant.lanes[i] = static_cast<std::uint32_t>(wide && i % 2 != 0 ? value >> 32 : value);
  }
  program_.constants.push_back(constant);
  return {Operand::Kind::kConstant, false, static_cast<std::uint16_t>(program_.constants.size() - 1)};
}

Operand ProgramBuilder::special(ptx::Special which) {
  auto& rows = program_.special_rows;
  const auto found = std::find(rows.begin(), rows.end(), which);
  const auto k = static_cast<unsigned>(found - rows.begin());
  if (found == rows.end()) {
    rows.push_back(which);
    program_.rows = static_cast<std::uint16_t>(program_.register_rows + 2 * rows.size());
  }
  return row(program_.register_rows + 2 * k);
}

Instruction& ProgramBuilder::add(ptx::Opcode op, ptx::Type type, std::initializer_list<Operand> dst,
                                 std::initializer_list<Operand> src) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.from = type;
  std::copy(dst.begin(), dst.end(), in.dst.begin());
  std::copy(src.begin(), src.end(), in.src.begin());
  return add(in);
}

Instruction& ProgramBuilder::add(const Instruction& in) {
  program_.code.push_back(in);
  return program_.code.back();
}

}  // namespace weft::test
