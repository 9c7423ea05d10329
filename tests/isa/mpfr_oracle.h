// Correctly rounded results from MPFR, with the NaN and .ftz/.sat rules of the PTX ISA written out again.
#ifndef WEFT_TESTS_ISA_MPFR_ORACLE_H
#define WEFT_TESTS_ISA_MPFR_ORACLE_H

#include <mpfr.h>

#include "isa/harness.h"

namespace weft::isa::test {

// The value that `in` (add sub mul div fma mad rcp sqrt) has on f32 or f64 operands, as bits.
std::uint64_t exact_float(const Instruction& in, const Bits& operands);

// x rounded to f32 or f64 (Type) in direction `mode`, subnormals included, as bits. x and `ternary` as MPFR
// left them, computed with at least the precision of the type (exactly that precision where ternary is not
// 0).
std::uint64_t to_bits(mpfr_t x, int ternary, Type type, mpfr_rnd_t mode);

// An MPFR number set to the value of a float.
class Number {
 public:
  explicit Number(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Number(Type type, std::uint64_t bits);
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_ptr get() { return value_; }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

mpfr_rnd_t direction(Rounding rounding);
bool is_nan_bits(Type type, std::uint64_t bits);
bool is_subnormal_bits(Type type, std::uint64_t bits);
std::uint64_t flush_bits(Type type, std::uint64_t bits);
std::uint64_t saturate_bits(Type type, std::uint64_t bits);
inline std::uint64_t default_nan(Type type) {
  return type == Type::kF32 ? 0x7fffffff : 0xfff8000000000000;
}

}  // namespace weft::isa::test

#endif
