// cvt: PTX ISA 9.0, 9.7.9.21; cvt.pack, 9.7.9.22.
#include "conformance/integers.h"
#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;

struct Conversion {
  std::string rounding;
  bool relu = false, ftz = false, sat = false, finite = false;
  Type to, from;
};

// A floating-point number as an integer of the destination: rounded, then clamped. Of NaNs the ISA says 0,
// but where either side has 64 bits only the top bit of the result is set.
u64 to_integer(const Conversion& c, u64 a) {
  const Format f = format_of(c.from);
  if (f.is_nan(a)) return c.from.bits == 64 || c.to.bits == 64 ? u64{1} << (c.to.bits - 1) : 0;
  if (c.ftz) a = f.flush(a);
  Real x(f, a);
  const bool negative = f.negative(a);
  if (f.is_infinite(a)) return wrap(c.to, negative ? lowest(c.to) : highest(c.to));
  if (c.rounding == "rni") mpfr_rint(x.get(), x.get(), MPFR_RNDN);
  if (c.rounding == "rzi") mpfr_rint(x.get(), x.get(), MPFR_RNDZ);
  if (c.rounding == "rmi") mpfr_rint(x.get(), x.get(), MPFR_RNDD);
  if (c.rounding == "rpi") mpfr_rint(x.get(), x.get(), MPFR_RNDU);
  if (mpfr_cmpabs_ui(x.get(), 0) == 0) return 0;
  if (mpfr_get_exp(x.get()) > 64) return wrap(c.to, negative ? lowest(c.to) : highest(c.to));
  mpfr_abs(x.get(), x.get(), MPFR_RNDN);
  const Wide magnitude = mpfr_get_ui(x.get(), MPFR_RNDN);
  return wrap(c.to, clamp(c.to, negative ? -magnitude : magnitude));
}

u64 finish(const Conversion& c, const Format& to, u64 d) {
  if (c.ftz && to.bits == 32) d = to.flush(d);
  if (c.sat) d = to.saturate(d);
  if (c.finite && to.is_infinite(d)) --d;
  return c.relu ? to.rectify(d) : d;
}

u64 from_integer(const Conversion& c, u64 a) {
  const Format to = format_of(c.to);
  const Wide value = number(c.from, a);
  Real x(64);
  mpfr_set_ui(x.get(), static_cast<unsigned long>(value < 0 ? -value : value), MPFR_RNDN);
  if (value < 0) mpfr_neg(x.get(), x.get(), MPFR_RNDN);
  return finish(c, to, rounded(to, x, direction(c.rounding)));
}

// A NaN keeps its payload into f64, in the upper bits of the fraction; elsewhere it is the canonical one.
u64 float_to_float(const Conversion& c, u64 a) {
  const Format from = format_of(c.from), to = format_of(c.to);
  if (c.ftz && from.bits == 32) a = from.flush(a);
  if (from.is_nan(a)) {
    if (to.bits != 64) return finish(c, to, to.nan());
    const u64 payload = from.magnitude(a) & ~from.infinity();
    const u64 sign = from.negative(a) ? to.sign() : 0;
    return finish(c, to, to.quiet(sign | to.infinity() | payload << (to.precision - from.precision)));
  }
  Real x(from, a);
  if (c.rounding == "rni") mpfr_rint(x.get(), x.get(), MPFR_RNDN);
  if (c.rounding == "rzi") mpfr_rint(x.get(), x.get(), MPFR_RNDZ);
  if (c.rounding == "rmi") mpfr_rint(x.get(), x.get(), MPFR_RNDD);
  if (c.rounding == "rpi") mpfr_rint(x.get(), x.get(), MPFR_RNDU);
  return finish(c, to, rounded(to, x, direction(c.rounding)));
}

u64 convert(const Conversion& c, u64 a) {
  if (c.to.is_float()) return c.from.is_float() ? float_to_float(c, a) : from_integer(c, a);
  if (c.from.is_float()) return to_integer(c, a);
  const Wide value = number(c.from, a);
  return wrap(c.to, c.sat ? clamp(c.to, value) : value);
}

// Results of 8 bits are seen in registers of 32, into which they are extended.
u64 extended(Type t, u64 value) {
  return t.bits == 8 ? low_bits(32, static_cast<u64>(number(t, value))) : value;
}

std::vector<Case> packed(Words& words) {
  if (!words.take("sat")) return {};
  const std::string few = words.any({"u2", "s2", "u4", "s4"});  // bits
  const auto to = few.empty() ? words.type() : Type{few[0], static_cast<unsigned>(few[1] - '0'), 1};
  const auto from = to ? words.type() : std::nullopt;
  if (!to || !from || !is_integer(*to) || !(*from == Type{'s', 32, 1})) return {};
  const bool three = words.take("b32");
  if (!words.done() || three != (to->bits <= 8)) return {};
  std::vector<Type> sources = {*from, *from};
  if (three) sources.push_back({'b', 32, 1});
  return {plain("Convert", "int128", {'b', 32, 1}, sources, [=](const Cells& x) {
    const u64 a = wrap(*to, clamp(*to, number(*from, x[0]))), b = wrap(*to, clamp(*to, number(*from, x[1])));
    return Cells{low_bits(32, (three ? x[2] << 2 * to->bits : 0) | a << to->bits | b)};
  })};
}

}  // namespace

std::vector<Case> convert_cases(Words words) {
  if (std::vector<Case> small = convert_small_cases(words); !small.empty()) return small;
  if (words.take("pack")) return packed(words);
  Conversion c;
  c.rounding = words.any({"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"});
  c.relu = words.take("relu");
  c.finite = words.take("satfinite");
  c.relu = c.relu || words.take("relu");
  c.ftz = words.take("ftz");
  c.sat = words.take("sat");
  const auto to = words.type(), from = to ? words.type() : std::nullopt;
  if (!to || !from || !words.done()) return {};
  c.to = to->part();
  c.from = *from;
  if (to->parts == 2) {  // the first operand is the upper half
    return {plain("Convert", "MPFR", *to, {*from, *from},
                  [c](const Cells& x) { return Cells{convert(c, x[0]) << 16 | convert(c, x[1])}; })};
  }
  const Type shown = to->bits == 8 ? Type{'b', 32, 1} : *to;
  return {plain("Convert", to->is_float() || from->is_float() ? "MPFR" : "int128", shown, {*from},
                [c](const Cells& x) { return Cells{extended(c.to, convert(c, x[0]))}; })};
}

}  // namespace weft::test::conformance
