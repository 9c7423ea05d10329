// Accesses of 32 bytes (PTX 8.8) and atomics on vectors: PTX ISA 9.0, 9.7.9 and 9.7.13.5.
#include "conformance/integers.h"
#include "conformance/numbers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;
constexpr Type kLong{'b', 64, 1};

std::string list(const std::string& prefix, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i != 0 ? ", " : "{") + prefix + std::to_string(i);
  return text + "}";
}

// Four of 64 bits, or eight of 32 that are put together two by two. %x4 stands in for the base, which a load
// may overwrite.
Case access(bool loads, unsigned vector) {
  Case c;
  c.family = "Memory";
  c.oracle = "bytes";
  c.sources = {kLong, kLong, kLong, kLong};
  c.results = c.sources;
  c.expected = [](const Cells& x) { return x; };
  const bool words = vector == 8;
  static const char* const kLongs[] = {"%a", "%b", "%c", "%e"};
  static const char* const kOut[] = {"%d", "%d1", "%d2", "%d3"};
  std::string split, join;
  for (unsigned i = 0; i < 4; ++i) {
    const std::string pair = "{%y" + std::to_string(2 * i) + ", %y" + std::to_string(2 * i + 1) + "}";
    split += "  mov.b64 " + pair + ", " + kLongs[i] + ";\n";
    join += std::string("  mov.b64 ") + kOut[i] + ", " + pair + ";\n";
  }
  if (loads) {
    c.loads = false;
    c.body = words ? "$op " + list("%y", 8) + ", [%in];\n" + join
                   : "mov.b64 %x4, %in;\n  $op {%x4, %d1, %d2, %d3}, [%x4];\n  mov.b64 %d, %x4;";
  } else {
    c.stores = false;
    c.body = words ? split + "  $op [%out], " + list("%y", 8) + ";" : "$op [%out], {%a, %b, %c, %e};";
  }
  return c;
}

struct Vector {
  std::string op;
  unsigned count = 0;
  Type type;
};

u64 updated_part(const Vector& v, u64 old, u64 b) {
  const Type t = v.type.part();
  const Format f = format_of(t);
  const bool ftz = t.bits == 32;  // in global memory
  if (v.op == "add") {
    if (ftz) old = f.flush(old), b = f.flush(b);
    const Real x(f, old), y(f, b);
    Real sum(f.precision);
    const int ternary = mpfr_add(sum.get(), x.get(), y.get(), MPFR_RNDN);
    const u64 d = to_bits(f, sum, ternary, MPFR_RNDN);
    return ftz ? f.flush(d) : d;
  }
  if (f.is_nan(old) && f.is_nan(b)) return f.nan();
  if (f.is_nan(old)) return b;
  if (f.is_nan(b)) return old;
  const Real x(f, old), y(f, b);
  const int c = mpfr_cmp(x.get(), y.get());
  const bool less = c < 0 || (c == 0 && f.negative(old));
  return less == (v.op == "min") ? old : b;
}

// The thread's 16 bytes lie in a variable of the module. Results go to the registers of the operands.
Case atomic(const Vector& v, bool reduces, bool hint) {
  Case c;
  c.family = "Atomic";
  c.oracle = "MPFR";
  c.sources = {kLong, kLong, kLong, kLong};
  c.results = c.sources;
  c.globals = ".visible .global .align 16 .b8 words[32768];";
  const bool halves = v.type.width() == 16;
  const unsigned per_long = halves ? 4 : 2;
  const std::string reg = halves ? "%z" : "%y";
  const auto four = [&](unsigned first) {
    std::string text;
    for (unsigned i = 0; i < per_long; ++i) text += (i != 0 ? ", " : "{") + reg + std::to_string(first + i);
    return text + "}";
  };
  const std::string elements = list(reg, v.count), policy = hint ? ", %x5" : "";
  c.body = "mul.wide.u32 %x1, %index, 16;\n  mov.u64 %x0, words;\n  add.u64 %x0, %x0, %x1;\n";
  if (hint) c.body += "  createpolicy.fractional.L2::evict_last.b64 %x5, 0.5;\n";
  c.body += "  st.global.v2.b64 [%x0], {%a, %b};\n  mov.b64 " + four(0) + ", %c;\n  mov.b64 " +
            four(per_long) + ", %e;\n  $op " + (reduces ? "" : elements + ", ") + "[%x0], " + elements +
            policy + ";\n  mov.b64 %d, " + four(0) + ";\n  mov.b64 %d1, " + four(per_long) +
            ";\n  ld.global.v2.b64 {%d2, %d3}, [%x0];";
  c.expected = [=](const Cells& x) {
    Cells d{x[2], x[3], x[0], x[1]};
    const unsigned width = v.type.bits;
    for (unsigned k = 0; k < v.count * v.type.parts; ++k) {
      const unsigned cell = k * width / 64, at = k * width % 64;
      const u64 mask = low_bits(width, ~u64{0}) << at;
      const u64 old = low_bits(width, x[cell] >> at), b = low_bits(width, x[2 + cell] >> at);
      if (!reduces) d[cell] = (d[cell] & ~mask) | old << at;
      d[2 + cell] = (d[2 + cell] & ~mask) | updated_part(v, old, b) << at;
    }
    return d;
  };
  return c;
}

bool is_plain(const std::string& word) {
  static const std::initializer_list<const char*> words = {
      "global", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys", "noftz", "nc", "volatile"};
  return std::find(words.begin(), words.end(), word) != words.end() || word.rfind("L1::", 0) == 0 ||
         word.rfind("L2::", 0) == 0;
}

}  // namespace

std::vector<Case> wide_cases(Words words) {
  const std::string m = words.mnemonic();
  const bool atomic_op = m == "atom" || m == "red";
  if (!atomic_op && m != "ld" && m != "st") return {};
  Vector v;
  bool hint = false;
  while (!words.done()) {
    if (const auto t = words.type()) {
      v.type = *t;
      continue;
    }
    const std::string word = words.peek();
    words.take(word);
    hint = hint || word == "L2::cache_hint";
    if (word == "v2" || word == "v4" || word == "v8") {
      v.count = static_cast<unsigned>(word[1] - '0');
    } else if (word == "add" || word == "min" || word == "max") {
      v.op = word;
    } else if (!is_plain(word)) {
      return {};
    }
  }
  if (atomic_op) {
    if (v.count == 0 || v.op.empty() || !v.type.is_float()) return {};
    return {atomic(v, m == "red", hint)};
  }
  if (v.count * v.type.bits != 256 || hint) return {};
  return {access(m == "ld", v.count)};
}

}  // namespace weft::test::conformance
