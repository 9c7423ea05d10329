// cvt to and from formats of 8 bits and fewer, and to tf32: PTX ISA 9.0, 9.7.9.21. A number is scaled so that
// the last place of the result is 1, rounded there to an integer, and put together again; doubles hold all of
// that exactly.
#include <cfenv>
#include <cmath>
#include <map>

#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;

struct Small {
  int fraction, bias;
  u64 largest, nan, sign;
  unsigned bits;
};

const Small* small_of(const std::string& word) {
  static const std::map<std::string, Small> formats = {{"e4m3x2", {3, 7, 0x7e, 0x7f, 0x80, 8}},
                                                       {"e5m2x2", {2, 15, 0x7b, 0x7f, 0x80, 8}},
                                                       {"e2m3x2", {3, 1, 0x1f, 0x1f, 0x20, 8}},
                                                       {"e3m2x2", {2, 3, 0x1f, 0x1f, 0x20, 8}}};
  const auto found = formats.find(word);
  return found == formats.end() ? nullptr : &found->second;
}

double value_of(const Type& t, u64 bits) {
  const Format f = format_of(t);
  if (f.is_nan(bits)) return std::nan("");
  if (f.is_infinite(bits)) return f.negative(bits) ? -HUGE_VAL : HUGE_VAL;
  const Real x(f, bits);
  return mpfr_get_d(x.get(), MPFR_RNDN);
}

// To the nearest integer, ties to even, which is the default of <cfenv>.
u64 to_small(const Small& s, double x, bool relu) {
  if (std::isnan(x)) return s.nan;
  const u64 sign = std::signbit(x) ? s.sign : 0;
  if (relu && sign != 0) return 0;
  if (std::isinf(x)) return sign | s.largest;
  const int lowest = 1 - s.bias;
  const int exponent = x == 0 ? lowest : std::max(std::ilogb(x), lowest);
  const double steps = std::fabs(std::nearbyint(std::ldexp(x, s.fraction - exponent)));
  const double code = std::ldexp(exponent - lowest, s.fraction) + steps;
  return sign | (code > static_cast<double>(s.largest) ? s.largest : static_cast<u64>(code));
}

u64 to_half(const Small& s, u64 code, bool relu) {
  const Format half = format_of({'f', 16, 1});
  const u64 magnitude = code & (s.sign - 1);
  const bool negative = (code & s.sign) != 0;
  const bool infinite = s.bias == 15 && magnitude == s.largest + 1;
  if (magnitude > s.largest && !infinite) return half.nan();
  if (negative && relu) return 0;
  const u64 sign = negative ? half.sign() : 0;
  if (infinite) return sign | half.infinity();
  const auto fraction = static_cast<double>(magnitude & ((u64{1} << s.fraction) - 1));
  const auto exponent = static_cast<int>(magnitude >> s.fraction);
  Real x(53);
  mpfr_set_d(x.get(),
             std::ldexp(fraction + (exponent > 0 ? std::ldexp(1, s.fraction) : 0),
                        std::max(exponent, 1) - s.bias - s.fraction),
             MPFR_RNDN);
  return sign | rounded(half, x, MPFR_RNDN);
}

// The sign is dropped.
u64 to_exponent(double x, bool up, bool finite) {
  if (std::isnan(x)) return 0xff;
  if (std::isinf(x)) return finite ? 0xfe : 0xff;
  int exponent = 0;
  const double fraction =
      std::frexp(std::fabs(x), &exponent);  // in [0.5, 1): x = 2^(exponent - 1) exactly at 0.5
  const int power = x == 0 ? -127 : exponent - 1 + (up && fraction > 0.5 ? 1 : 0);
  const int code = std::max(power, -127) + 127;
  return static_cast<u64>(code == 0xff && finite ? 0xfe : code);
}

u64 to_tf32(const std::string& rounding, bool relu, bool finite, u64 a) {
  const Format single = format_of({'f', 32, 1});
  const Format tf32{19, 11, 127};
  if (single.is_nan(a)) return single.nan();
  if (relu && single.negative(a)) return 0;
  const u64 sign = a & single.sign();
  u64 d = 0;
  if (rounding == "rna") {  // ties go away from zero
    d = (single.magnitude(a) / 0x1000 + 1) / 2;
    if (single.is_infinite(a)) d = tf32.infinity();
  } else {
    const Real x(single, single.magnitude(a));
    d = single.is_infinite(a) ? tf32.infinity() : rounded(tf32, x, direction(rounding));
  }
  if (finite && d == tf32.infinity()) --d;
  return sign | d << 13;
}

constexpr Type kSingle{'f', 32, 1}, kHalf{'f', 16, 1}, kHalves{'f', 16, 2}, kBf16{'g', 16, 1},
    kBf16s{'g', 16, 2};
constexpr Type kShort{'b', 16, 1}, kWord{'b', 32, 1};

// The value of one of both sources, the upper one first.
double source(const Type& from, const Cells& x, unsigned number) {
  if (from == kSingle) return value_of(kSingle, x[number]);
  return value_of(from.part(), low_bits(16, number == 0 ? x[0] >> 16 : x[0]));
}

Case pair_case(const Type& to, const Type& from, Oracle oracle) {
  return plain("Convert", "doubles", to,
               from == kSingle ? std::vector<Type>{from, from} : std::vector<Type>{from}, std::move(oracle));
}

}  // namespace

std::vector<Case> convert_small_cases(Words words) {
  const std::string rounding = words.any({"rn", "rna", "rz", "rp"});
  bool relu = words.take("relu");
  const bool finite = words.take("satfinite");
  relu = relu || words.take("relu");
  const std::string to = words.peek();
  if (words.take("tf32")) {
    if (!words.take("f32") || !words.done()) return {};
    return {plain("Convert", "doubles", kWord, {kSingle},
                  [=](const Cells& x) { return Cells{to_tf32(rounding, relu, finite, x[0])}; })};
  }
  if (const Small* s = small_of(to)) {
    words.take(to);
    const auto from = words.type();
    if (!from || !(*from == kSingle || *from == kHalves) || !words.done()) return {};
    return {pair_case(kShort, *from, [=](const Cells& x) {
      return Cells{to_small(*s, source(*from, x, 0), relu) << s->bits |
                   to_small(*s, source(*from, x, 1), relu)};
    })};
  }
  if (words.take("ue8m0x2")) {
    const auto from = words.type();
    if (!from || !(*from == kSingle || *from == kBf16s) || !words.done()) return {};
    return {pair_case(kShort, *from, [=](const Cells& x) {
      const bool up = rounding == "rp";
      return Cells{to_exponent(source(*from, x, 0), up, finite) << 8 |
                   to_exponent(source(*from, x, 1), up, finite)};
    })};
  }
  const auto type = words.type();
  if (!type) return {};
  if (*type == kBf16s && words.take("ue8m0x2") && words.done()) {
    return {plain("Convert", "doubles", kBf16s, {kShort}, [](const Cells& x) {
      const auto power = [](u64 code) {
        return code == 0xff ? u64{0x7fff} : code == 0 ? u64{0x40} : code << 7;
      };
      return Cells{power(x[0] >> 8) << 16 | power(x[0] & 0xff)};
    })};
  }
  const Small* from = small_of(words.peek());
  if (!(*type == kHalves) || from == nullptr) return {};
  return {plain("Convert", "doubles", kHalves, {kShort}, [=](const Cells& x) {
    return Cells{to_half(*from, x[0] >> 8, relu) << 16 | to_half(*from, x[0] & 0xff, relu)};
  })};
}

}  // namespace weft::test::conformance
