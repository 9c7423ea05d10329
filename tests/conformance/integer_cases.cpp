// Integer arithmetic: PTX ISA 9.0, sections 9.7.1 and 9.7.2. Division by zero is left open there; Weft states
// all ones for the quotient and the remainder too.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

constexpr const char* kFamily = "Integer";
constexpr const char* kOracle = "int128";

Case integer(Type result, std::vector<Type> sources, Oracle oracle) {
  return plain(kFamily, kOracle, result, std::move(sources), std::move(oracle));
}

Type doubled(Type t) {
  return {t.kind, 2 * t.bits, 1};
}

// The part of the full product of two values of type t that .lo, .hi or .wide name. Unsigned products of 64
// bits do not fit Wide: they stay unsigned until they are shifted or cut.
Wide part_of_product(const std::string& width, Type t, std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<UnsignedWide>(number(t, a)) * static_cast<UnsignedWide>(number(t, b));
  if (width == "lo") return number(t, wrap(t, static_cast<Wide>(product)));
  if (width == "wide") return static_cast<Wide>(product);
  return t.is_signed() ? static_cast<Wide>(product) >> t.bits : static_cast<Wide>(product >> t.bits);
}

// Every part of a pair by itself.
Oracle by_parts(Type t, std::size_t sources, std::function<Wide(const std::array<Wide, 3>&)> of) {
  return [=](const Cells& x) {
    Cells d{};
    for (unsigned k = 0; k < t.parts; ++k) {
      std::array<Wide, 3> a{};
      for (std::size_t i = 0; i < sources; ++i) a[i] = number(t.part(), x[i] >> (t.bits * k));
      d[0] |= wrap(t.part(), of(a)) << (t.bits * k);
    }
    return d;
  };
}

std::vector<Case> sum(Words& words, bool subtract) {
  const bool sat = words.take("sat");
  const auto t = words.type();
  if (!t || !is_integer(*t) || !words.done()) return {};
  return {integer(*t, {*t, *t}, by_parts(*t, 2, [=](const std::array<Wide, 3>& a) {
    const Wide result = subtract ? a[0] - a[1] : a[0] + a[1];
    return sat ? clamp(t->part(), result) : result;
  }))};
}

std::vector<Case> product(Words& words, bool adds) {
  const std::string width = words.any({"lo", "hi", "wide"});
  const bool sat = words.take("sat");
  const auto t = words.type();
  if (width.empty() || !t || !is_integer(*t) || t->parts != 1 || !words.done()) return {};
  const Type result = width == "wide" ? doubled(*t) : *t;
  std::vector<Type> sources = {*t, *t};
  if (adds) sources.push_back(result);
  return {integer(result, sources, [=](const Cells& x) {
    Wide value = part_of_product(width, *t, x[0], x[1]);
    if (adds) value += number(result, x[2]);
    return Cells{wrap(result, sat ? clamp(result, value) : value)};
  })};
}

// The 24 low bits of the factors; .hi are bits 47 to 16 of the product.
std::vector<Case> product24(Words& words, bool adds) {
  const std::string width = words.any({"lo", "hi"});
  const bool sat = words.take("sat");
  const auto t = words.type();
  if (width.empty() || !t || t->bits != 32 || !is_integer(*t) || !words.done()) return {};
  const Type part{t->kind, 24, 1};
  std::vector<Type> sources = {*t, *t};
  if (adds) sources.push_back(*t);
  return {integer(*t, sources, [=](const Cells& x) {
    const Wide whole = number(part, x[0]) * number(part, x[1]);
    Wide value = number(*t, wrap(*t, width == "hi" ? whole >> 16 : whole));
    if (adds) value += number(*t, x[2]);
    return Cells{wrap(*t, sat ? clamp(*t, value) : value)};
  })};
}

std::vector<Case> quotient(Words& words, bool remainder) {
  const auto t = words.type();
  if (!t || !is_integer(*t) || t->parts != 1 || !words.done()) return {};
  return {integer(*t, {*t, *t}, [=](const Cells& x) {
    const Wide a = number(*t, x[0]), b = number(*t, x[1]);
    if (b == 0) return Cells{wrap(*t, -1)};
    return Cells{wrap(*t, remainder ? a % b : a / b)};
  })};
}

std::vector<Case> unary(Words& words, bool negate) {  // neg, abs
  const auto t = words.type();
  if (!t || t->kind != 's' || t->parts != 1 || !words.done()) return {};
  return {integer(*t, {*t}, [=](const Cells& x) {
    const Wide a = number(*t, x[0]);
    return Cells{wrap(*t, negate || a < 0 ? -a : a)};
  })};
}

std::vector<Case> extremum(Words& words, bool greatest) {
  const bool relu = words.take("relu");
  const auto t = words.type();
  if (!t || !is_integer(*t) || !words.done()) return {};
  return {integer(*t, {*t, *t}, by_parts(*t, 2, [=](const std::array<Wide, 3>& a) {
    const Wide value = greatest ? std::max(a[0], a[1]) : std::min(a[0], a[1]);
    return relu ? std::max<Wide>(0, value) : value;
  }))};
}

std::vector<Case> difference(Words& words) {  // sad
  const auto t = words.type();
  if (!t || !is_integer(*t) || t->parts != 1 || !words.done()) return {};
  return {integer(*t, {*t, *t, *t}, [=](const Cells& x) {
    const Wide a = number(*t, x[0]), b = number(*t, x[1]);
    return Cells{wrap(*t, number(*t, x[2]) + (a < b ? b - a : a - b))};
  })};
}

// dp4a: four products of bytes; dp2a: two products of halves of a with the low or high bytes of b.
std::vector<Case> dot_product(Words& words) {
  const bool two = words.mnemonic() == "dp2a";
  const bool high = two && words.take("hi");
  if (two && !high && !words.take("lo")) return {};
  const auto ta = words.type(), tb = ta ? words.type() : std::nullopt;
  if (!ta || !tb || ta->bits != 32 || tb->bits != 32 || !is_integer(*ta) || !is_integer(*tb) || !words.done())
    return {};
  const Type sum{ta->kind == 's' || tb->kind == 's' ? 's' : 'u', 32, 1};
  return {integer(sum, {*ta, *tb, sum}, [=](const Cells& x) {
    const Type part_a{ta->kind, two ? 16u : 8u, 1}, part_b{tb->kind, 8, 1};
    Wide total = number(sum, x[2]);
    for (unsigned k = 0; k < (two ? 2u : 4u); ++k) {
      total += number(part_a, x[0] >> (part_a.bits * k)) * number(part_b, x[1] >> (8 * k + (high ? 16 : 0)));
    }
    return Cells{wrap(sum, total)};
  })};
}

// add.cc, addc ...: the carry in is e (0 or 1), from adding e to all ones before or from subtracting 1 from e
// (nothing is borrowed if e is 1); the carry out is shown by an addc or a subc of zeros behind.
Case carry_between(const std::string& mnemonic, const std::string& width, bool out, Type t, bool set_by_sub,
                   bool shown_by_sub) {
  const bool reads = mnemonic.back() == 'c', subtracts = mnemonic[0] == 's', multiplies = mnemonic[0] == 'm';
  const std::string bits = "u" + std::to_string(t.bits), temporary = t.bits == 64 ? "%x1" : "%y1";
  Case c = integer(t, {t, t, t, {'u', t.bits, 1}}, nullptr);
  c.body = "and.b" + std::to_string(t.bits) + " %e, %e, 1;\n";
  if (reads) c.body += (set_by_sub ? "  sub.cc." : "  add.cc.") + bits + " " + temporary + ", %e, ";
  if (reads) c.body += set_by_sub ? "1;\n" : "-1;\n";
  c.body += multiplies ? "  $op %d, %a, %b, %c;" : "  $op %d, %a, %b;";
  if (out) {
    c.body += std::string("\n  ") + (shown_by_sub ? "subc." : "addc.") + bits + " %d1, 0, 0;";
    c.results.push_back(t);
  }
  c.expected = [=](const Cells& x) {
    const Type u{'u', t.bits, 1};
    const Wide in = reads ? static_cast<Wide>(x[3] & 1) : subtracts ? 1 : 0;
    Wide a = number(u, x[0]), b = number(u, x[1]);
    if (multiplies) {
      // The product is signed where the type is; its part enters the sum as bits.
      a = number(u, wrap(u, part_of_product(width, t, x[0], x[1])));
      b = number(u, x[2]);
    }
    const Wide result = a + (subtracts ? highest(u) - b : b) + in;
    const bool carried = result > highest(u);
    return Cells{wrap(t, result), shown_by_sub ? wrap(t, carried ? 0 : -1) : std::uint64_t{carried}};
  };
  return c;
}

// Chains mix additions and subtractions.
std::vector<Case> carry(const std::string& mnemonic, const std::string& width, bool out, Type t) {
  std::vector<Case> cases;
  for (const bool set_by_sub : {false, true}) {
    for (const bool shown_by_sub : {false, true}) {
      cases.push_back(carry_between(mnemonic, width, out, t, set_by_sub, shown_by_sub));
    }
  }
  return cases;
}

}  // namespace

std::vector<Case> integer_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "add" || m == "sub" || m == "mad" || m == "addc" || m == "subc" || m == "madc") {
    Words ahead = words;
    const std::string width = m[0] == 'm' ? ahead.any({"lo", "hi"}) : "";
    const bool out = ahead.take("cc");
    if (out || m.back() == 'c') {
      const auto t = ahead.type();
      if (!t || !is_integer(*t) || t->parts != 1 || t->bits < 32 || !ahead.done()) return {};
      return carry(m, width, out, *t);
    }
  }
  if (m == "add" || m == "sub") return sum(words, m == "sub");
  if (m == "mul" || m == "mad") return product(words, m == "mad");
  if (m == "mul24" || m == "mad24") return product24(words, m == "mad24");
  if (m == "div" || m == "rem") return quotient(words, m == "rem");
  if (m == "neg" || m == "abs") return unary(words, m == "neg");
  if (m == "min" || m == "max") return extremum(words, m == "max");
  if (m == "sad") return difference(words);
  if (m == "dp2a" || m == "dp4a") return dot_product(words);
  return {};
}

}  // namespace weft::test::conformance
