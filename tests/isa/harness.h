// What the tests of lane functions share: instructions made by hand.
#ifndef WEFT_TESTS_ISA_HARNESS_H
#define WEFT_TESTS_ISA_HARNESS_H

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "isa/isa.h"

namespace weft::isa::test {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

using Random = std::mt19937_64;

// In words, for messages.
std::string name(const Instruction& in);

inline Instruction make(Opcode op, Type type) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.from = type;
  return in;
}

}  // namespace weft::isa::test

#endif
