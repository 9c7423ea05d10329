// What the tests of lane functions share: instructions made by hand, and values as their bits.
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

unsigned bits_of(Type type);  // 8 .. 64; 1 for kPred
std::string name(const Instruction& in);

// The value of an integer type, from its bits.
__extension__ using Wide = __int128;
Wide integer(Type type, std::uint64_t bits);

inline Instruction make(Opcode op, Type type) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.from = type;
  return in;
}

}  // namespace weft::isa::test

#endif
