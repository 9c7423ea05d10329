// Floating-point formats over MPFR: values from bits, and results rounded as IEEE 754 does, subnormals
// included.
#ifndef WEFT_TESTS_CONFORMANCE_NUMBERS_H
#define WEFT_TESTS_CONFORMANCE_NUMBERS_H

#include <mpfr.h>

#include "conformance/words.h"

namespace weft::test::conformance {

struct Format {
  unsigned bits, precision;  // with the hidden bit
  int bias;
  std::uint64_t sign() const { return std::uint64_t{1} << (bits - 1); }
  std::uint64_t infinity() const { return sign() - (std::uint64_t{1} << (precision - 1)); }
  std::uint64_t one() const { return static_cast<std::uint64_t>(bias) << (precision - 1); }
  std::uint64_t magnitude(std::uint64_t x) const { return x & (sign() - 1); }
  bool negative(std::uint64_t x) const { return (x & sign()) != 0; }
  bool is_nan(std::uint64_t x) const { return magnitude(x) > infinity(); }
  bool is_infinite(std::uint64_t x) const { return magnitude(x) == infinity(); }
  bool is_subnormal(std::uint64_t x) const {
    return magnitude(x) != 0 && magnitude(x) < std::uint64_t{1} << (precision - 1);
  }
  std::uint64_t flush(std::uint64_t x) const { return is_subnormal(x) ? x & sign() : x; }
  // The NaN of an invalid operation: PTX calls 0x7fffffff and 0x7fff canonical; of f64 CUDA's CUDART_NAN.
  std::uint64_t nan() const { return bits == 64 ? 0xfff8000000000000 : sign() - 1; }
  std::uint64_t quiet(std::uint64_t x) const { return x | std::uint64_t{1} << (precision - 2); }
  // .sat: into [+0, 1], NaN to +0.
  std::uint64_t saturate(std::uint64_t x) const {
    if (is_nan(x) || negative(x)) return 0;
    return std::min(x, one());
  }
  // .relu: no negative numbers, the canonical NaN.
  std::uint64_t rectify(std::uint64_t x) const { return is_nan(x) ? nan() : negative(x) ? 0 : x; }
};
Format format_of(Type type);

// A number with room for exact sums and products of any two of f64 that are near each other.
class Real {
 public:
  Real() : Real(200) {}
  explicit Real(unsigned precision) { mpfr_init2(value_, static_cast<mpfr_prec_t>(precision)); }
  Real(const Format& format, std::uint64_t bits) : Real(format.precision) { set(format, bits); }
  ~Real() { mpfr_clear(value_); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  void set(const Format& format, std::uint64_t bits);  // exact
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }

 private:
  mpfr_t value_;
};

mpfr_rnd_t direction(const std::string& rounding);  // "rn", "rz", "rm", "rp"; "" is rn

// x as bits of the format, rounded from the exact value: `x` is of the format's precision and `ternary` says
// on which side of the exact value it lies. Infinities and the canonical NaN too.
std::uint64_t to_bits(const Format& format, Real& x, int ternary, mpfr_rnd_t mode);
// The nearest number of the format to any exact x.
std::uint64_t rounded(const Format& format, const Real& x, mpfr_rnd_t mode);

}  // namespace weft::test::conformance

#endif
