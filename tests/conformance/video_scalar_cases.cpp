// Scalar video instructions: PTX ISA 9.0, 9.7.18.1. No intermediate result is cut.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

constexpr Type kWord{'b', 32, 1};
constexpr unsigned kOperands = 1536;  // of one choice of parts; more than 10,000 of an opcode

// .b2 or .h1: where it begins and how wide it is; "" is the whole word.
struct Part {
  std::string suffix;
  unsigned at = 0, width = 32;
};
const Part kParts[] = {{"", 0, 32},    {".b0", 0, 8},  {".b1", 8, 8},  {".b2", 16, 8},
                       {".b3", 24, 8}, {".h0", 0, 16}, {".h1", 16, 16}};

Wide part_of(const Part& part, bool is_signed, std::uint64_t word) {
  return number({is_signed ? 's' : 'u', part.width, 1}, word >> part.at);
}

struct Video {
  std::string op, mode, second, compare;
  Type d, a, b;
  bool sat = false;
};

bool compares(const std::string& how, Wide a, Wide b) {
  if (how == "eq") return a == b;
  if (how == "ne") return a != b;
  if (how == "lt") return a < b;
  if (how == "le") return a <= b;
  return how == "gt" ? a > b : a >= b;
}

Wide primary(const Video& v, Wide a, Wide b) {
  if (v.op == "vadd") return a + b;
  if (v.op == "vsub") return a - b;
  if (v.op == "vabsdiff") return a < b ? b - a : a - b;
  if (v.op == "vmin") return std::min(a, b);
  if (v.op == "vmax") return std::max(a, b);
  if (v.op == "vset") return compares(v.compare, a, b) ? 1 : 0;
  const Wide steps = v.mode == "clamp" ? std::min<Wide>(b, 32) : b % 32;
  return v.op == "vshl" ? a * (Wide{1} << steps) : a >> steps;
}

Case video_case(const Video& v, const Part& a, const Part& b, const Part& d) {
  Case c = plain("Video", "int128", kWord, {kWord, kWord, kWord}, [=](const Cells& x) {
    Wide t = primary(v, part_of(a, v.a.is_signed(), x[0]), part_of(b, v.b.is_signed(), x[1]));
    if (v.sat) t = clamp({v.d.kind, d.width, 1}, t);
    const Wide third = number(v.d, x[2]);
    if (v.second == "add") t += third;
    if (v.second == "min") t = std::min(t, third);
    if (v.second == "max") t = std::max(t, third);
    const std::uint64_t mask = low_bits(d.width, ~std::uint64_t{0}) << d.at;
    return Cells{(low_bits(32, x[2]) & ~mask) | ((static_cast<std::uint64_t>(t) << d.at) & mask)};
  });
  const bool third = d.width != 32 || !v.second.empty();
  c.body = "$op %d" + d.suffix + ", %a" + a.suffix + ", %b" + b.suffix + (third ? ", %c;" : ";");
  c.wanted = kOperands;
  if (v.op == "vshl" || v.op == "vshr") {  // small amounts, or all bits are gone
    c.operands = [](Random& random) {
      return Cells{random_value(kWord, random), random() % 3 == 0 ? random() : random() % 40, random()};
    };
  }
  return c;
}

// vmad: which operands are subtracted, and .po.
Case multiply_case(const Video& v, unsigned shift, bool plus_one, const Part& a, const Part& b, int sign_a,
                   int sign_b, int sign_c) {
  Case c = plain("Video", "int128", kWord, {kWord, kWord, kWord}, [=](const Cells& x) {
    const bool is_signed = v.a.is_signed() || v.b.is_signed() || sign_a * sign_b < 0 || sign_c < 0;
    const Type whole{is_signed ? 's' : 'u', 32, 1};
    Wide t = part_of(a, v.a.is_signed(), x[0]) * part_of(b, v.b.is_signed(), x[1]) * sign_a * sign_b;
    // c is complemented as a word, extended, and 1 added: so the ISA subtracts it.
    t += sign_c < 0 ? number(whole, ~x[2]) + 1 : number(whole, x[2]);
    t = (t + (plus_one ? 1 : 0)) >> shift;
    return Cells{low_bits(32, static_cast<std::uint64_t>(v.sat ? clamp(whole, t) : t))};
  });
  const auto sign = [](int of) { return std::string(of < 0 ? "-" : ""); };
  c.body = "$op %d, " + sign(sign_a) + "%a" + a.suffix + ", " + sign(sign_b) + "%b" + b.suffix + ", " +
           sign(sign_c) + "%c;";
  c.wanted = kOperands;
  return c;
}

std::vector<Case> multiplies(Words& words, Video v) {
  const bool plus_one = words.take("po");
  v.sat = words.take("sat");
  const std::string scale = words.any({"shr7", "shr15"});
  if (!words.done()) return {};
  const unsigned shift = scale.empty() ? 0 : scale == "shr7" ? 7 : 15;
  std::vector<Case> cases;
  cases.reserve(8);
  for (unsigned k = 0; k < 8; ++k) {
    const int a = !plus_one && k % 4 == 1 ? -1 : 1, b = !plus_one && k % 4 == 2 ? -1 : 1,
              c = !plus_one && k % 4 == 3 ? -1 : 1;
    cases.push_back(multiply_case(v, shift, plus_one, kParts[k % 7], kParts[k * 3 % 7], a, b, c));
  }
  return cases;
}

}  // namespace

std::vector<Case> video_scalar_cases(Words words) {
  Video v;
  v.op = words.mnemonic();
  static const std::initializer_list<const char*> known = {"vadd", "vsub", "vabsdiff", "vmin", "vmax",
                                                           "vshl", "vshr", "vset",     "vmad"};
  if (std::find(known.begin(), known.end(), v.op) == known.end()) return {};
  const auto to = v.op == "vset" ? std::optional<Type>(Type{'u', 32, 1}) : words.type();
  const auto a = to ? words.type() : std::nullopt, b = a ? words.type() : std::nullopt;
  if (!b || !is_integer(*to) || !is_integer(*a) || !is_integer(*b)) return {};
  v.d = *to, v.a = *a, v.b = *b;
  if (v.op == "vmad") return multiplies(words, v);
  v.sat = words.take("sat");
  v.mode = words.any({"clamp", "wrap"});
  v.compare = words.any({"eq", "ne", "lt", "le", "gt", "ge"});
  v.second = words.any({"add", "min", "max"});
  const bool shifts = v.op == "vshl" || v.op == "vshr";
  if (!words.done() || shifts == v.mode.empty() || (v.op == "vset") == v.compare.empty()) return {};
  std::vector<Case> cases;
  cases.reserve(8);
  for (unsigned k = 0; k < 7; ++k) {
    cases.push_back(video_case(v, kParts[k], kParts[k * 3 % 7], kParts[v.second.empty() ? k * 5 % 7 : 0]));
  }
  return cases;
}

}  // namespace weft::test::conformance
