// atom and red: PTX ISA 9.0, 9.7.13. Every thread has a word of its own, so that each result has one right
// value; what threads do to one word together is the subject of tests/isa and tests/sm.
#include "conformance/integers.h"
#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;

struct Update {
  std::string space, op;
  Type type;
};

bool is_hint(const std::string& word) {
  static const std::initializer_list<const char*> words = {"relaxed", "acquire", "release", "acq_rel", "cta",
                                                           "cluster", "gpu",     "sys",     "noftz"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<Update> read(Words& words) {
  Update u;
  while (!words.done()) {
    if (const auto t = words.type()) {
      u.type = *t;
      return words.done() && !u.op.empty() ? std::optional<Update>(u) : std::nullopt;
    }
    const std::string op = words.any({"add", "min", "max", "inc", "dec", "exch", "cas", "and", "or", "xor"});
    if (!op.empty()) {
      u.op = op;
      continue;
    }
    const std::string word = words.peek();
    words.take(word);
    if (word == "global" || word == "shared") {
      u.space = word;
    } else if (!is_hint(word)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// Addition of f32 outside shared memory flushes subnormals; all others keep them.
u64 float_sum(Type t, bool ftz, u64 a, u64 b) {
  const Format f = format_of(t);
  if (ftz) a = f.flush(a), b = f.flush(b);
  if (f.bits == 64 && f.is_nan(a)) return f.quiet(a);
  if (f.bits == 64 && f.is_nan(b)) return f.quiet(b);
  const Real x(f, a), y(f, b);
  Real sum(f.precision);
  const int ternary = mpfr_add(sum.get(), x.get(), y.get(), MPFR_RNDN);
  const u64 d = to_bits(f, sum, ternary, MPFR_RNDN);
  return ftz ? f.flush(d) : d;
}

u64 updated(const Update& u, bool shared, u64 old, u64 b, u64 c) {
  const Type t = u.type;
  if (u.op == "exch") return b;
  if (u.op == "cas") return old == b ? c : old;
  if (u.op == "and") return old & b;
  if (u.op == "or") return old | b;
  if (u.op == "xor") return old ^ b;
  if (u.op == "inc") return old >= b ? 0 : old + 1;
  if (u.op == "dec") return old == 0 || old > b ? b : old - 1;
  if (t.is_float()) {
    const bool ftz = t.bits == 32 && !shared;
    u64 d = 0;
    for (unsigned k = 0; k < t.parts; ++k) {
      const unsigned at = t.bits * k;
      d |= float_sum(t.part(), ftz, low_bits(t.bits, old >> at), low_bits(t.bits, b >> at)) << at;
    }
    return d;
  }
  const Wide x = number(t, old), y = number(t, b);
  return wrap(t, u.op == "add" ? x + y : u.op == "min" ? std::min(x, y) : std::max(x, y));
}

// The word lies in shared memory or behind the thread's results.
Case update_case(const Update& u, bool reduces, const std::string& place) {
  const bool cas = u.op == "cas", shared = place == "shared";
  const bool generic = u.space.empty();
  Case c = plain("Atomic", u.type.is_float() ? "MPFR" : "int128", u.type,
                 std::vector<Type>(cas ? 3 : 2, u.type), nullptr);
  const std::string bits = ".b" + std::to_string(u.type.width());
  std::string address = "add.u64 %x0, %out, 16;\n";
  if (shared) {
    c.locals = ".shared .align 8 .b8 tile[1024];";
    address =
        "mov.u32 %y0, %tid.x;\n  mul.wide.u32 %x1, %y0, 8;\n  mov.u64 %x0, tile;\n  add.u64 %x0, %x0, %x1;\n";
  }
  const std::string st = "  st." + place + bits + " [%x0], %a;\n";
  const std::string convert = generic ? "  cvta." + place + ".u64 %x2, %x0;\n" : "";
  const std::string at = generic ? "[%x2]" : "[%x0]";
  c.body = address + st + convert + "  $op " + (reduces ? "" : "%d, ") + at + ", %b" + (cas ? ", %c" : "") +
           ";\n  ld." + place + bits + (reduces ? " %d" : " %d1") + ", [%x0];";
  if (!reduces) c.results.push_back(u.type);
  c.expected = [=](const Cells& x) {
    const u64 now = updated(u, shared, x[0], x[1], x[2]);
    return reduces ? Cells{now} : Cells{x[0], now};
  };
  if (cas || u.op == "inc" || u.op == "dec") {  // often equal, else a comparison would hardly ever hold
    c.operands = [t = u.type](Random& random) {
      Cells x{random_value(t, random), random_value(t, random), random_value(t, random)};
      if (random() % 2 == 0) x[1] = low_bits(t.bits, x[0] + random() % 3 - 1);
      return x;
    };
  }
  return c;
}

}  // namespace

std::vector<Case> atomic_cases(Words words) {
  if (std::vector<Case> wide = wide_cases(words); !wide.empty()) return wide;
  const bool reduces = words.mnemonic() == "red";
  const auto u = read(words);
  if (!u) return {};
  if (!u->space.empty()) return {update_case(*u, reduces, u->space)};
  return {update_case(*u, reduces, "global"), update_case(*u, reduces, "shared")};
}

}  // namespace weft::test::conformance
