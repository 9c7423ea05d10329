#include "conformance/numbers.h"

namespace weft::test::conformance {

Format format_of(Type type) {
  if (type.kind == 'g') return {16, 8, 127};
  if (type.bits == 16) return {16, 11, 15};
  return type.bits == 32 ? Format{32, 24, 127} : Format{64, 53, 1023};
}

void Real::set(const Format& f, std::uint64_t bits) {
  const std::uint64_t magnitude = f.magnitude(bits);
  if (f.is_nan(bits)) return mpfr_set_nan(value_);
  if (f.is_infinite(bits)) return mpfr_set_inf(value_, f.negative(bits) ? -1 : 1);
  const std::uint64_t hidden = std::uint64_t{1} << (f.precision - 1);
  const std::uint64_t field = magnitude >> (f.precision - 1), fraction = magnitude & (hidden - 1);
  const std::uint64_t significand = field == 0 ? fraction : fraction | hidden;
  const int exponent = static_cast<int>(field == 0 ? 1 : field) - f.bias - static_cast<int>(f.precision) + 1;
  mpfr_set_ui_2exp(value_, significand, exponent, MPFR_RNDN);
  mpfr_setsign(value_, value_, f.negative(bits) ? 1 : 0, MPFR_RNDN);
}

mpfr_rnd_t direction(const std::string& rounding) {
  return rounding == "rz"   ? MPFR_RNDZ
         : rounding == "rm" ? MPFR_RNDD
         : rounding == "rp" ? MPFR_RNDU
                            : MPFR_RNDN;
}

std::uint64_t to_bits(const Format& f, Real& x, int ternary, mpfr_rnd_t mode) {
  if (mpfr_nan_p(x.get()) != 0) return f.nan();
  // The exponent range in which mpfr_subnormalize rounds as IEEE 754 does (MPFR manual, "Exceptions"); MPFR's
  // numbers lie in [1/2, 1) times two to the exponent.
  const mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
  mpfr_set_emin(3 - f.bias - static_cast<int>(f.precision));
  mpfr_set_emax(f.bias + 1);
  ternary = mpfr_check_range(x.get(), ternary, mode);
  mpfr_subnormalize(x.get(), ternary, mode);
  mpfr_set_emin(low);
  mpfr_set_emax(high);
  const std::uint64_t sign = mpfr_signbit(x.get()) != 0 ? f.sign() : 0;
  if (mpfr_inf_p(x.get()) != 0) return sign | f.infinity();
  if (mpfr_zero_p(x.get()) != 0) return sign;
  const int exponent = static_cast<int>(mpfr_get_exp(x.get())) - 1;  // x in [1, 2) times 2^exponent
  const int field = std::max(exponent + f.bias, 1);
  Real significand(f.precision);  // in units of the last place
  mpfr_mul_2si(significand.get(), x.get(), f.bias - field + static_cast<int>(f.precision) - 1, MPFR_RNDN);
  mpfr_abs(significand.get(), significand.get(), MPFR_RNDN);
  // The hidden bit, where there is one, adds one to the exponent field.
  return sign | ((static_cast<std::uint64_t>(field - 1) << (f.precision - 1)) +
                 mpfr_get_ui(significand.get(), MPFR_RNDN));
}

std::uint64_t rounded(const Format& f, const Real& x, mpfr_rnd_t mode) {
  Real result(f.precision);
  const int ternary = mpfr_set(result.get(), x.get(), mode);
  return to_bits(f, result, ternary, mode);
}

}  // namespace weft::test::conformance
