// Approximate functions: PTX ISA 9.0, 9.7.3 and 9.7.4. The bounds are those that it states; special operands
// (NaN, infinities, zeros, with .ftz subnormals) have the exact results of its tables.
#include <cmath>
#include <limits>

#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;
constexpr double kWrong = std::numeric_limits<double>::infinity();
constexpr unsigned kDigits = 120;  // of the exact value

enum class Kind { kRelative, kAbsolute };
struct Bound {
  double value;
  Kind kind;
};

// How far `found` is from the exact value y, in units of the bound.
double distance(const Format& f, bool ftz, const Real& y, u64 found, Bound bound) {
  if (mpfr_nan_p(y.get()) != 0) return found == f.nan() ? 0 : kWrong;
  if (f.is_nan(found)) return kWrong;
  // Infinities, zeros, and what rounds to them.
  if (found == rounded(f, y, MPFR_RNDN) && (!ftz || !f.is_subnormal(found)) && mpfr_regular_p(y.get()) == 0)
    return 0;
  if (mpfr_regular_p(y.get()) == 0) return kWrong;
  const bool negative = mpfr_signbit(y.get()) != 0;
  const u64 nearest = rounded(f, y, MPFR_RNDN);
  if (f.is_infinite(found)) return found == nearest ? 0 : kWrong;
  if (ftz && f.is_subnormal(found)) return kWrong;
  if (ftz && f.is_subnormal(nearest) && found == (negative ? f.sign() : 0)) return 0;
  const Real value(f, found), smallest(f, u64{1} << (f.precision - 1));
  Real difference(kDigits), scale(kDigits);
  mpfr_sub(difference.get(), y.get(), value.get(), MPFR_RNDA);
  if (bound.kind == Kind::kRelative) {  // of subnormal results relative to the smallest normal number
    mpfr_abs(scale.get(), y.get(), MPFR_RNDN);
    if (mpfr_cmp(scale.get(), smallest.get()) < 0) mpfr_set(scale.get(), smallest.get(), MPFR_RNDN);
    mpfr_div(difference.get(), difference.get(), scale.get(), MPFR_RNDA);
  }
  return std::fabs(mpfr_get_d(difference.get(), MPFR_RNDA)) / bound.value;
}

using Function = void (*)(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b);
using BoundOf = Bound (*)(double a, double b);

struct Approximation {
  const char* mnemonic;
  Type type;
  unsigned sources;
  Function exact;
  BoundOf bound;
  const char* text;
};

void reciprocal(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_ui_div(y, 1, a, MPFR_RNDN);
}
void root(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_sqrt(y, a, MPFR_RNDN);
}
void reciprocal_root(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_rec_sqrt(y, a, MPFR_RNDN);
  if (mpfr_zero_p(a) != 0 && mpfr_signbit(a) != 0)
    mpfr_set_inf(y, -1);  // MPFR says +infinity, the ISA -infinity
}
void sine(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_sin(y, a, MPFR_RNDN);
}
void cosine(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_cos(y, a, MPFR_RNDN);
}
void logarithm(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_log2(y, a, MPFR_RNDN);
}
void power(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_exp2(y, a, MPFR_RNDN);
}
void tangent(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr) {
  mpfr_tanh(y, a, MPFR_RNDN);
}
void quotient(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b) {
  mpfr_div(y, a, b, MPFR_RNDN);
}
// div.approx: a / b for |b| up to 2^126; for b beyond, 0, or NaN of an infinite a.
void near_quotient(mpfr_ptr y, mpfr_srcptr a, mpfr_srcptr b) {
  Real zero(24), limit(24);
  mpfr_set_ui_2exp(limit.get(), 1, 126, MPFR_RNDN);
  if (mpfr_number_p(b) == 0 || mpfr_cmpabs(b, limit.get()) <= 0) return quotient(y, a, b);
  mpfr_set_zero(zero.get(), mpfr_signbit(b) != 0 ? -1 : 1);
  mpfr_mul(y, a, zero.get(), MPFR_RNDN);
}

template <int kTenths>  // 2^-(kTenths / 10)
Bound relative(double, double) {
  static const double value = std::exp2(-kTenths / 10.0);
  return {value, Kind::kRelative};
}
Bound circular(double a, double) {
  const bool one_turn = std::fabs(a) <= 6.2831853071795864;
  return {one_turn ? std::exp2(-20.5) : std::exp2(-14.7), Kind::kAbsolute};
}
Bound logarithmic(double a, double) {
  return {0x1p-22, a > 0.5 && a < 2 ? Kind::kAbsolute : Kind::kRelative};
}
Bound half_tangent(double, double) {
  return {std::exp2(-10.987), Kind::kAbsolute};
}
Bound bfloat_tangent(double, double) {
  return {0x1p-8, Kind::kAbsolute};
}

constexpr Type kF32{'f', 32, 1}, kF64{'f', 64, 1}, kF16{'f', 16, 1}, kBf16{'g', 16, 1};

const Approximation kFunctions[] = {
    {"rcp", kF32, 1, reciprocal, relative<230>, "2^-23 relative"},
    {"rcp", kF64, 1, reciprocal, relative<200>, "2^-20 relative"},
    {"sqrt", kF32, 1, root, relative<230>, "2^-23 relative"},
    {"rsqrt", kF32, 1, reciprocal_root, relative<229>, "2^-22.9 relative"},
    {"rsqrt", kF64, 1, reciprocal_root, relative<200>, "2^-20 relative"},
    {"sin", kF32, 1, sine, circular, "2^-20.5 absolute to 2 pi, 2^-14.7 beyond"},
    {"cos", kF32, 1, cosine, circular, "2^-20.5 absolute to 2 pi, 2^-14.7 beyond"},
    {"lg2", kF32, 1, logarithm, logarithmic, "2^-22 absolute in (0.5, 2), relative elsewhere"},
    {"ex2", kF32, 1, power, relative<220>, "2^-22 relative"},
    {"ex2", kF16, 1, power, relative<99>, "2^-9.9 relative"},
    {"ex2", kBf16, 1, power, relative<70>, "2^-7 relative"},
    {"tanh", kF32, 1, tangent, relative<110>, "2^-11 relative"},
    {"tanh", kF16, 1, tangent, half_tangent, "2^-10.987 absolute"},
    {"tanh", kBf16, 1, tangent, bfloat_tangent, "2^-8 absolute"},
    {"div", kF32, 2, near_quotient, relative<220>, "2 ulp, 2^-22 relative"},
    {"div full", kF32, 2, quotient, relative<220>, "2 ulp, 2^-22 relative"},
};

// Of .approx.ftz.f64 only the upper 32 bits of operand and result count.
double of_part(const Approximation& function, bool ftz, bool upper, std::array<u64, 2> x, u64 found) {
  const Format f = format_of(function.type);
  const bool nan = f.is_nan(x[0]);
  if (upper) {
    if ((found & 0xffffffff) != 0) return kWrong;
    if (nan) return f.is_nan(found) ? 0 : kWrong;
    x[0] &= 0xffffffff00000000;
  } else if (f.bits == 64 && nan) {
    return found == f.quiet(x[0]) ? 0 : kWrong;
  }
  for (u64& each : x) {
    if (ftz) each = f.flush(each);
  }
  thread_local Real y(kDigits);
  const Real a(f, x[0]), b(f, x[1]);
  function.exact(y.get(), a.get(), b.get());
  return distance(f, ftz, y, found,
                  function.bound(mpfr_get_d(a.get(), MPFR_RNDN), mpfr_get_d(b.get(), MPFR_RNDN)));
}

// All numbers of 16 bits; of 32 bits one in each of 65,536 equal intervals of bit patterns, then random ones.
std::function<Cells(Random&)> sweep(Type t) {
  return [=, next = u64{0}](Random& random) mutable {
    const u64 n = next++;
    if (t.is_float() && t.bits == 16) return Cells{low_bits(32, n * 0x10001 + (n >> 16))};
    if (n >= 0x10000) return Cells{random_value(t, random), random_value(t, random)};
    const u64 low = t.bits == 32 ? random() & 0xffff : random() >> 16;
    return Cells{n << (t.bits - 16) | low};
  };
}

}  // namespace

std::vector<Case> approximate_cases(Words words) {
  const std::string m = words.mnemonic();
  std::string name = m;
  if (!words.take("approx")) {
    if (m != "div" || !words.take("full")) return {};
    name += " full";
  }
  const bool ftz = words.take("ftz");
  const auto t = words.type();
  if (!t || !words.done()) return {};
  for (const Approximation& function : kFunctions) {
    if (name != function.mnemonic || !(function.type == t->part())) continue;
    Case c = plain("Approximate", "MPFR", *t, std::vector<Type>(function.sources, *t), nullptr);
    c.bound_unit = function.text;
    // The manual bounds .approx.f64 of rcp and rsqrt by what their upper halves can hold; a 16-bit
    // exponential of .ftz flushes its subnormals too. bf16 has .ftz only.
    const bool upper = ftz && t->bits == 64;
    c.error = [&function, ftz, upper, type = *t](const Cells& x, const Cells& found) {
      double worst = 0;
      for (unsigned k = 0; k < type.parts; ++k) {
        const unsigned shift = type.bits * k;
        const auto part = [&](u64 value) { return low_bits(type.bits, value >> shift); };
        worst = std::max(worst, of_part(function, ftz, upper, {part(x[0]), part(x[1])}, part(found[0])));
      }
      return worst;
    };
    if (function.sources == 1) {
      c.operands = sweep(*t);
      c.wanted = 0x10000 + (t->bits == 16 ? 0 : 10'240);
    }
    return {c};
  }
  return {};
}

}  // namespace weft::test::conformance
