// Comparison and selection: PTX ISA 9.0, 9.7.6, 9.7.7, and testp, copysign of 9.7.3.
#include "conformance/integers.h"
#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;
constexpr Type kPred{'p', 1, 1};

Case comparison(Type result, std::vector<Type> sources, Oracle oracle) {
  return plain("Comparison", "int128, MPFR", result, std::move(sources), std::move(oracle));
}

// less (-1), equal (0), greater (1), unordered (2)
int order(Type t, bool ftz, u64 a, u64 b) {
  if (!t.is_float()) {
    const Wide x = number(t, a), y = number(t, b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  const Format f = format_of(t);
  if (f.is_nan(a) || f.is_nan(b)) return 2;
  const Real x(f, ftz ? f.flush(a) : a), y(f, ftz ? f.flush(b) : b);
  const int c = mpfr_cmp(x.get(), y.get());
  return c < 0 ? -1 : c > 0 ? 1 : 0;
}

bool holds(const std::string& relation, int order) {
  if (relation == "num") return order != 2;
  if (relation == "nan") return order == 2;
  const bool unordered = relation.size() == 3;  // equ, neu, ltu ...
  if (order == 2) return unordered;
  const std::string r = relation.substr(0, 2);
  if (r == "eq") return order == 0;
  if (r == "ne") return order != 0;
  if (r == "lt" || r == "lo") return order < 0;
  if (r == "le" || r == "ls") return order <= 0;
  if (r == "gt" || r == "hi") return order > 0;
  return order >= 0;
}

bool combined(const std::string& op, bool t, bool c) {
  return op == "and" ? t && c : op == "or" ? t || c : op == "xor" ? t != c : t;
}

struct Comparison {
  std::string relation, combine;
  bool ftz = false;
};
bool read(Words& words, Comparison& c) {
  c.relation = words.any({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu",
                          "leu", "gtu", "geu", "num", "nan"});
  c.combine = words.any({"and", "or", "xor"});
  c.ftz = words.take("ftz");
  return !c.relation.empty();
}

// Half of the operands equal each other, or nearly, without which .eq would hardly ever hold.
std::function<Cells(Random&)> near_pairs(std::vector<Type> sources) {
  return [=](Random& random) {
    Cells x{};
    for (std::size_t i = 0; i < sources.size(); ++i) x[i] = random_value(sources[i], random);
    if (random() % 2 == 0) x[1] = low_bits(sources[1].width(), x[0] + random() % 3 - 1);
    return x;
  };
}

std::vector<Case> set_predicate(Words& words) {
  Comparison by;
  if (!read(words, by)) return {};
  const auto t = words.type();
  if (!t || !words.done()) return {};
  std::vector<Type> sources = {*t, *t};
  if (!by.combine.empty()) sources.push_back(kPred);
  Case c = comparison(kPred, sources, [=](const Cells& x) {
    const bool p =
        holds(by.relation, order(t->part(), by.ftz, low_bits(t->bits, x[0]), low_bits(t->bits, x[1])));
    // Of pairs the second predicate is the comparison of the upper halves.
    const bool q = t->parts == 2 ? holds(by.relation, order(t->part(), by.ftz, x[0] >> 16, x[1] >> 16)) : !p;
    return Cells{u64{combined(by.combine, p, x[2] != 0)}, u64{combined(by.combine, q, x[2] != 0)}};
  });
  // One half-precision number gives one predicate (9.7.7).
  const bool one = t->is_float() && t->bits == 16 && t->parts == 1;
  if (!one) c.results.push_back(kPred);
  c.body = std::string(one ? "$op %d" : "$op %d|%d1") + ", %a, %b" + (by.combine.empty() ? ";" : ", %c;");
  c.operands = near_pairs(sources);
  return {c};
}

std::vector<Case> set_value(Words& words) {
  Comparison by;
  if (!read(words, by)) return {};
  const auto to = words.type(), from = to ? words.type() : std::nullopt;
  if (!to || !from || !words.done()) return {};
  std::vector<Type> sources = {*from, *from};
  if (!by.combine.empty()) sources.push_back(kPred);
  Case c = comparison(*to, sources, [=](const Cells& x) {
    u64 d = 0;
    for (unsigned k = 0; k < from->parts; ++k) {
      const u64 a = low_bits(from->bits, x[0] >> (from->bits * k)),
                b = low_bits(from->bits, x[1] >> (from->bits * k));
      const bool t = combined(by.combine, holds(by.relation, order(from->part(), by.ftz, a, b)), x[2] != 0);
      // Two comparisons give two values of 16 bits.
      const unsigned width = to->width() / from->parts;
      const u64 yes = to->is_float() ? format_of(to->part()).one() : low_bits(width, ~u64{0});
      d |= (t ? yes : 0) << (width * k);
    }
    return Cells{d};
  });
  c.operands = near_pairs(sources);
  return {c};
}

std::vector<Case> select(Words& words) {
  const auto t = words.type();
  if (!t || !words.done()) return {};
  return {comparison(*t, {*t, *t, kPred}, [](const Cells& x) { return Cells{x[2] != 0 ? x[0] : x[1]}; })};
}

// slct: a if c is not negative; -0 is not, a NaN chooses b.
std::vector<Case> select_by_sign(Words& words) {
  const bool ftz = words.take("ftz");
  const auto t = words.type(), by = t ? words.type() : std::nullopt;
  if (!t || !by || by->bits != 32 || !words.done()) return {};
  return {comparison(*t, {*t, *t, *by}, [=](const Cells& x) {
    const int against_zero = order(*by, ftz, x[2], 0);
    return Cells{against_zero == 0 || against_zero == 1 ? x[0] : x[1]};
  })};
}

std::vector<Case> test(Words& words) {
  const std::string property =
      words.any({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const auto t = words.type();
  if (property.empty() || !t || !t->is_float() || !words.done()) return {};
  return {comparison(kPred, {*t}, [=](const Cells& x) {
    const Format f = format_of(*t);
    const bool nan = f.is_nan(x[0]), infinite = f.is_infinite(x[0]), subnormal = f.is_subnormal(x[0]);
    const bool d = property == "finite"       ? !nan && !infinite
                   : property == "infinite"   ? infinite
                   : property == "number"     ? !nan
                   : property == "notanumber" ? nan
                   : property == "subnormal"  ? subnormal
                                              : !nan && !infinite && !subnormal;
    return Cells{u64{d}};
  })};
}

std::vector<Case> copy_sign(Words& words) {  // the sign of a with the magnitude of b
  const auto t = words.type();
  if (!t || !t->is_float() || !words.done()) return {};
  return {comparison(*t, {*t, *t}, [=](const Cells& x) {
    const Format f = format_of(*t);
    return Cells{(x[0] & f.sign()) | f.magnitude(x[1])};
  })};
}

}  // namespace

std::vector<Case> compare_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "setp") return set_predicate(words);
  if (m == "set") return set_value(words);
  if (m == "selp") return select(words);
  if (m == "slct") return select_by_sign(words);
  if (m == "testp") return test(words);
  if (m == "copysign") return copy_sign(words);
  return {};
}

}  // namespace weft::test::conformance
