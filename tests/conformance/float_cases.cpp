// Correctly rounded floating-point arithmetic: PTX ISA 9.0, 9.7.3 (f32, f64) and 9.7.4 (f16, bf16, pairs).
// What PTX leaves open and Weft states: a NaN result of f64 is its first NaN operand, quiet; neg and abs
// touch the sign bit alone.
#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;

struct Modifiers {
  std::string rounding;
  bool ftz = false, sat = false, relu = false;
};

using Operation = int (*)(mpfr_ptr, const std::array<Real, 3>&, mpfr_rnd_t);

const struct {
  const char* mnemonic;
  unsigned sources;
  Operation of;
} kOperations[] = {
    {"add", 2,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_add(d, x[0].get(), x[1].get(), r);
     }},
    {"sub", 2,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_sub(d, x[0].get(), x[1].get(), r);
     }},
    {"mul", 2,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_mul(d, x[0].get(), x[1].get(), r);
     }},
    {"div", 2,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_div(d, x[0].get(), x[1].get(), r);
     }},
    {"fma", 3,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_fma(d, x[0].get(), x[1].get(), x[2].get(), r);
     }},
    {"mad", 3,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) {
       return mpfr_fma(d, x[0].get(), x[1].get(), x[2].get(), r);
     }},
    {"rcp", 1,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) { return mpfr_ui_div(d, 1, x[0].get(), r); }},
    {"sqrt", 1,
     [](mpfr_ptr d, const std::array<Real, 3>& x, mpfr_rnd_t r) { return mpfr_sqrt(d, x[0].get(), r); }},
};

u64 evaluate(const Format& f, Operation of, unsigned sources, const Modifiers& m, std::array<u64, 3> x) {
  // Made once: MPFR's numbers live on the heap.
  thread_local std::array<Real, 3> operands;
  thread_local std::array<Real, 4> results;
  for (unsigned i = 0; i < sources; ++i) {
    if (m.ftz) x[i] = f.flush(x[i]);
    if (f.bits == 64 && f.is_nan(x[i])) return f.quiet(x[i]);
    operands[i].set(f, x[i]);
  }
  Real& result = results[f.bits == 64 ? 0 : f.bits == 32 ? 1 : f.precision == 11 ? 2 : 3];
  mpfr_set_prec(result.get(), f.precision);
  const mpfr_rnd_t mode = direction(m.rounding);
  const int ternary = of(result.get(), operands, mode);
  u64 d = to_bits(f, result, ternary, mode);
  if (m.ftz) d = f.flush(d);
  if (m.sat) d = f.saturate(d);
  return m.relu ? f.rectify(d) : d;
}

Case floating(Type t, std::size_t sources, std::function<u64(const std::array<u64, 3>&)> of) {
  return plain("Float", "MPFR", t, std::vector<Type>(sources, t), [=](const Cells& x) {
    u64 d = 0;
    for (unsigned k = 0; k < t.parts; ++k) {
      std::array<u64, 3> a{};
      for (std::size_t i = 0; i < sources; ++i) a[i] = low_bits(t.bits, x[i] >> (t.bits * k));
      d |= of(a) << (t.bits * k);
    }
    return Cells{d};
  });
}

std::vector<Case> arithmetic(Words& words) {
  Modifiers m;
  m.rounding = words.any({"rn", "rz", "rm", "rp"});
  m.ftz = words.take("ftz");
  m.sat = words.take("sat");
  m.relu = words.take("relu");
  const auto t = words.type();
  if (!t || !t->is_float() || !words.done()) return {};
  for (const auto& op : kOperations) {
    if (words.mnemonic() != op.mnemonic) continue;
    const Format f = format_of(t->part());
    return {floating(*t, op.sources,
                     [=](const std::array<u64, 3>& x) { return evaluate(f, op.of, op.sources, m, x); })};
  }
  return {};
}

std::vector<Case> sign(Words& words, bool negates) {
  const bool ftz = words.take("ftz");
  const auto t = words.type();
  if (!t || !t->is_float() || !words.done()) return {};
  const Format f = format_of(t->part());
  return {floating(*t, 1, [=](const std::array<u64, 3>& x) {
    const u64 a = ftz ? f.flush(x[0]) : x[0];
    return negates ? a ^ f.sign() : f.magnitude(a);
  })};
}

// min, max: a number wins over a NaN, with .NaN a NaN wins; -0 is less than +0. .xorsign.abs: of the
// magnitudes, with the product of the signs; .abs (three operands): of the magnitudes.
std::vector<Case> extremum(Words& words, bool greatest) {
  const bool ftz = words.take("ftz"), nan_wins = words.take("NaN");
  const bool xorsign = words.take("xorsign"), magnitudes = words.take("abs");
  const auto t = words.type();
  if (!t || !t->is_float() || (xorsign && !magnitudes) || !words.done()) return {};
  const Format f = format_of(t->part());
  const auto of_two = [=](u64 a, u64 b) {
    if (f.is_nan(a) && f.is_nan(b)) return f.nan();
    if (nan_wins && (f.is_nan(a) || f.is_nan(b))) return f.nan();
    if (f.is_nan(a)) return b;
    if (f.is_nan(b)) return a;
    const Real x(f, a), y(f, b);
    const int c = mpfr_cmp(x.get(), y.get());
    const bool first_is_less = c < 0 || (c == 0 && f.negative(a));
    return first_is_less == greatest ? b : a;
  };
  const auto prepared = [=](u64 a) {
    if (ftz) a = f.flush(a);
    return magnitudes ? f.magnitude(a) : a;
  };
  const auto two = [=](const std::array<u64, 3>& x) {
    const u64 d = of_two(prepared(x[0]), prepared(x[1]));
    return xorsign && !f.is_nan(d) ? d | ((x[0] ^ x[1]) & f.sign()) : d;
  };
  const auto three = [=](const std::array<u64, 3>& x) {
    return of_two(of_two(prepared(x[0]), prepared(x[1])), prepared(x[2]));
  };
  std::vector<Case> cases;
  if (xorsign || !magnitudes) cases.push_back(floating(*t, 2, two));
  if (!xorsign && t->bits == 32) cases.push_back(floating(*t, 3, three));
  return cases;
}

}  // namespace

std::vector<Case> float_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "neg" || m == "abs") return sign(words, m == "neg");
  if (m == "min" || m == "max") return extremum(words, m == "max");
  return arithmetic(words);
}

}  // namespace weft::test::conformance
