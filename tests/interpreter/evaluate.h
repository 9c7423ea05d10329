// What one arithmetic, logic, move, compare or conversion instruction computes from one thread's operands.
#ifndef WEFT_TESTS_INTERPRETER_EVALUATE_H
#define WEFT_TESTS_INTERPRETER_EVALUATE_H

#include <array>
#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::test {

struct Result {
  std::uint64_t value = 0;    // register contents: 32 bits, or 64 where result_width says so
  bool p = false, q = false;  // q: also the carry out
};
using Sources = std::array<std::uint64_t, 5>;  // register contents; predicates as 0 or 1

// 32 or 64: the registers that an instruction reads as source n and writes.
unsigned source_width(const ptx::Instruction& in, unsigned n);
unsigned result_width(const ptx::Instruction& in);
// Are the results predicates?
bool writes_predicates(const ptx::Instruction& in);

// Throws std::runtime_error if the instruction has no meaning.
Result evaluate(const ptx::Instruction& in, const Sources& sources);

// The floating-point part of it: everything but moves and comparisons. cvt where either type is floating.
std::uint64_t evaluate_float(const ptx::Instruction& in, const Sources& sources);

// Bit permutations and integer sums, video, the instructions with carries, testp (evaluate_special.cpp).
std::uint64_t evaluate_special(const ptx::Instruction& in, const Sources& sources);
Result evaluate_carry(const ptx::Instruction& in, const Sources& sources);
bool evaluate_testp(const ptx::Instruction& in, std::uint64_t bits);

// What the modifiers of min and max ask for: .NaN, .abs, .xorsign.abs.
struct Order {
  bool nan_wins = false, magnitudes = false, product_of_signs = false;
};
Order order_of(ptx::Mode mode);

// Arithmetic on and conversion from and to 16-bit floats (evaluate_half.cpp), and the value of one.
std::uint64_t evaluate_half(const ptx::Instruction& in, const Sources& sources);
std::uint64_t evaluate_small(const ptx::Instruction& in, const Sources& sources);  // 8 bits and fewer, tf32
bool is_small(ptx::Type type);
double half_value(ptx::Type type, std::uint64_t bits);
// A half flushed to zero if subnormal.
std::uint64_t flushed_half(ptx::Type type, std::uint64_t bits);

// One step of an atomic: the new contents of memory. A generic address has become one of its space.
std::uint64_t evaluate_atomic(const ptx::Instruction& in, std::uint64_t old, std::uint64_t b,
                              std::uint64_t c);

// f32 addition, as atomics do it: `ftz` as for instructions.
std::uint64_t add_float(ptx::Type type, bool ftz, std::uint64_t a, std::uint64_t b);

}  // namespace weft::test

#endif
