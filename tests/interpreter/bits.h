// Values as bits, and the widths of types: what evaluation and memory access share.
#ifndef WEFT_TESTS_INTERPRETER_BITS_H
#define WEFT_TESTS_INTERPRETER_BITS_H

#include <cstdint>

#include "weft/ptx/program.h"

namespace weft::test {

__extension__ using Integer = __int128;  // holds every value of every integer type, and their sums

unsigned width_of(ptx::Type type);  // 8, 16, 32 or 64 bits
bool is_signed_integer(ptx::Type type);
bool is_half(ptx::Type type);      // f16, bf16 and pairs of them
bool is_floating(ptx::Type type);  // f32, f64

// The low `width` bits.
std::uint64_t low_bits(std::uint64_t value, unsigned width);
// The number that bits of an integer type stand for.
Integer number(ptx::Type type, std::uint64_t bits);
// The register contents for a value of a type: extended to 32 bits, or 64 for 64-bit types.
std::uint64_t in_register(ptx::Type type, std::uint64_t value);

float float_of(std::uint64_t bits);
double double_of(std::uint64_t bits);
std::uint64_t bits_of(float x);
std::uint64_t bits_of(double x);

}  // namespace weft::test

#endif
