// Runs one instruction on many operands and compares each result with an oracle written apart from
// modules/isa.
//
// Values travel as their bits in a std::uint64_t, low bits first, upper bits zero. A result is the whole
// register cell (32 bits, or 64 for 64-bit types), so a wrong extension of a narrow result shows.
#ifndef WEFT_TESTS_ISA_HARNESS_H
#define WEFT_TESTS_ISA_HARNESS_H

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "isa/isa.h"

namespace weft::isa::test {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Rounding;
using ptx::Type;

using Bits = std::array<std::uint64_t, 4>;  // one operand each
using Random = std::mt19937_64;

inline constexpr std::size_t kRandomOperands = 10'000;

unsigned bits_of(Type type);  // 8 .. 64; 1 for kPred
bool is_signed_type(Type type);
bool is_float_type(Type type);
std::string name(const Instruction& in);

// The cell that holds the low bits of `value` as `type`: sign- or zero-extended to 32 bits, or 64.
std::uint64_t cell(Type type, std::uint64_t value);
// The value of an integer type, from its bits.
__extension__ using Wide = __int128;
Wide integer(Type type, std::uint64_t bits);

float as_float(std::uint64_t bits);
double as_double(std::uint64_t bits);
std::uint64_t bits(float x);
std::uint64_t bits(double x);

// An operand: corner cases of the type (NaNs with payloads, infinities, subnormals, extremes), small numbers,
// or any bits.
std::uint64_t random_operand(Type type, Random& random);

// The cells that the instruction computes; `operands[n]` are lane after lane. Narrow operands get rubbish in
// the upper bits of their cells. A missing function is a failed test, and gives an empty vector.
std::vector<std::uint64_t> evaluate(const Instruction& in, Type result, const std::vector<Type>& types,
                                    const std::vector<Bits>& operands);

using Oracle = std::function<std::uint64_t(const Bits&)>;
// Random operands against the oracle.
void check_random(const Instruction& in, Type result, const std::vector<Type>& types, const Oracle& oracle,
                  std::size_t count = kRandomOperands);

// The interpreter of tests/interpreter as oracle: it shares no code with modules/isa.
Oracle interpreted(const Instruction& in);

// One hand-written case.
struct Golden {
  Bits operands;
  std::uint64_t expected;
};
void check_golden(const Instruction& in, Type result, const std::vector<Type>& types,
                  const std::vector<Golden>& cases);

inline Instruction make(Opcode op, Type type, ptx::Mode mode) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.from = type;
  in.mode = mode;
  return in;
}
inline Instruction make(Opcode op, Type type) {
  Instruction in;
  in.op = op;
  in.type = type;
  in.from = type;
  return in;
}

}  // namespace weft::isa::test

#endif
