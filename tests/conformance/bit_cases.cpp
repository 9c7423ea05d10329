// Bits: PTX ISA 9.0, 9.7.1 (counts, searches, fields), 9.7.8 (logic and shifts), 9.7.9 (moves, permutation).
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;

Case bits(Type result, std::vector<Type> sources, Oracle oracle) {
  return plain("Bits", "bits", result, std::move(sources), std::move(oracle));
}

constexpr Type kWord{'u', 32, 1};

bool bit(u64 value, unsigned i) {
  return (value >> i & 1) != 0;
}

std::vector<Case> logic(const std::string& m, Type t) {
  const bool one = m == "not" || m == "cnot";
  const unsigned width = t.width();
  return {bits(t, one ? std::vector<Type>{t} : std::vector<Type>{t, t}, [=](const Cells& x) {
    const u64 d = m == "and"   ? x[0] & x[1]
                  : m == "or"  ? x[0] | x[1]
                  : m == "xor" ? x[0] ^ x[1]
                  : m == "not" ? ~x[0]
                               : u64{x[0] == 0};
    return Cells{low_bits(width, d)};
  })};
}

std::vector<Case> shift(const std::string& m, Type t) {
  return {bits(t, {t, kWord}, [=](const Cells& x) {
    if (m == "shl") return Cells{x[1] >= t.bits ? 0 : low_bits(t.bits, x[0] << x[1])};
    return Cells{wrap(t, number(t, x[0]) >> std::min<u64>(x[1], t.bits))};
  })};
}

std::vector<Case> funnel(Words& words) {
  const std::string direction = words.any({"l", "r"}), mode = words.any({"clamp", "wrap"});
  if (direction.empty() || mode.empty() || !words.take("b32") || !words.done()) return {};
  return {bits(kWord, {kWord, kWord, kWord}, [=](const Cells& x) {
    const u64 amount = mode == "wrap" ? x[2] % 32 : std::min<u64>(x[2], 32);
    const u64 both = x[1] << 32 | x[0];
    return Cells{direction == "l" ? both << amount >> 32 & 0xffffffff : both >> amount & 0xffffffff};
  })};
}

std::vector<Case> count(const std::string& m, Type t) {
  return {bits(kWord, {t}, [=](const Cells& x) {
    u64 n = 0;
    if (m == "popc") {
      for (unsigned i = 0; i < t.bits; ++i) n += bit(x[0], i);
    } else {
      while (n < t.bits && !bit(x[0], t.bits - 1 - static_cast<unsigned>(n))) ++n;
    }
    return Cells{n};
  })};
}

std::vector<Case> reverse(Type t) {
  return {bits(t, {t}, [=](const Cells& x) {
    u64 d = 0;
    for (unsigned i = 0; i < t.bits; ++i) d |= u64{bit(x[0], i)} << (t.bits - 1 - i);
    return Cells{d};
  })};
}

// The most significant bit that is not a copy of the sign.
std::vector<Case> find(bool shift_amount, Type t) {
  return {bits(kWord, {t}, [=](const Cells& x) {
    const bool sign = t.is_signed() && bit(x[0], t.bits - 1);
    for (unsigned i = t.bits; i-- > 0;) {
      if (bit(x[0], i) != sign) return Cells{shift_amount ? t.bits - 1 - i : i};
    }
    return Cells{0xffffffff};
  })};
}

std::vector<Case> find_nth() {
  Case c = bits(kWord, {kWord, kWord, {'s', 32, 1}}, [](const Cells& x) {
    const Wide offset = number({'s', 32, 1}, x[2]);
    if (x[1] > 31) return Cells{0xffffffff};
    if (offset == 0) return Cells{bit(x[0], static_cast<unsigned>(x[1])) ? x[1] : 0xffffffff};
    Wide left = offset < 0 ? -offset : offset;
    for (int i = static_cast<int>(x[1]); i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
      if (bit(x[0], static_cast<unsigned>(i)) && --left == 0) return Cells{static_cast<u64>(i)};
    }
    return Cells{0xffffffff};
  });
  c.operands = [](Random& random) {  // base: a bit; offset: near
    return Cells{random_value(kWord, random), random() % 32, (random() % 17 - 8) & 0xffffffff};
  };
  return {c};
}

// bfe: bits [pos, pos + length) of a, extended by the highest of them; beyond the top the sign (or zero)
// counts.
std::vector<Case> extract(Type t) {
  Case c = bits(t, {t, kWord, kWord}, [=](const Cells& x) {
    const unsigned position = x[1] & 0xff, length = x[2] & 0xff, top = t.bits - 1;
    const bool sign = t.is_signed() && length != 0 && bit(x[0], std::min(position + length - 1, top));
    u64 d = 0;
    for (unsigned i = 0; i < t.bits; ++i) {
      d |= u64{i < length && position + i <= top ? bit(x[0], position + i) : sign} << i;
    }
    return Cells{d};
  });
  // "Operands b and c are type .u32, but are restricted to the 8-bit value range 0..255" (9.7.1.20).
  c.open = [](const Cells& x) { return x[1] > 255 || x[2] > 255; };
  return {c};
}

std::vector<Case> insert(Type t) {
  Case c = bits(t, {t, t, kWord, kWord}, [=](const Cells& x) {
    const unsigned position = x[2] & 0xff, length = x[3] & 0xff;
    u64 d = x[1];
    for (unsigned i = 0; i < length && position + i < t.bits; ++i) {
      const u64 place = u64{1} << (position + i);
      d = bit(x[0], i) ? d | place : d & ~place;
    }
    return Cells{d};
  });
  c.open = [](const Cells& x) { return x[2] > 255 || x[3] > 255; };  // as of bfe (9.7.1.21)
  return {c};
}

std::vector<Case> mask(bool clamps) {
  return {bits(kWord, {kWord, kWord}, [=](const Cells& x) {
    const u64 position = clamps ? x[0] : x[0] % 32, length = clamps ? x[1] : x[1] % 32;
    u64 d = 0;
    for (u64 i = 0; i < 32; ++i) d |= u64{i >= position && i - position < length} << i;
    return Cells{d};
  })};
}

// szext: a cut to b bits and extended; b = 32 or more leaves a as it is (.clamp) or counts modulo 32 (.wrap).
std::vector<Case> extend(bool clamps, Type t) {
  return {bits(t, {t, kWord}, [=](const Cells& x) {
    if (clamps && x[1] >= 32) return Cells{x[0]};
    const unsigned length = x[1] % 32;
    if (length == 0) return Cells{0};
    return Cells{wrap(t, number({t.kind, length, 1}, x[0]))};
  })};
}

std::vector<Case> permute(Words& words) {
  if (!words.take("b32")) return {};
  const std::string mode = words.any({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (!words.done()) return {};
  return {bits(kWord, {kWord, kWord, kWord}, [=](const Cells& x) {
    // 9.7.9.7: the bytes chosen in each mode for selectors 0 to 3, most significant first.
    static const struct {
      const char* mode;
      std::array<const char*, 4> bytes;
    } tables[] = {{"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
                  {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
                  {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
    std::array<unsigned, 4> selector{};  // of byte k; bit 3: the byte's sign
    for (unsigned k = 0; k < 4; ++k) selector[k] = x[2] >> (4 * k) & 15;
    for (const auto& table : tables) {
      if (mode != table.mode) continue;
      for (unsigned k = 0; k < 4; ++k)
        selector[k] = static_cast<unsigned>(table.bytes[x[2] & 3][3 - k] - '0');
    }
    const u64 source = x[1] << 32 | x[0];
    u64 d = 0;
    for (unsigned k = 0; k < 4; ++k) {
      const u64 byte = source >> (8 * (selector[k] & 7)) & 0xff;
      d |= ((selector[k] & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xff : 0) << (8 * k);
    }
    return Cells{d};
  })};
}

// All 256 tables, one kernel each. With a boolean operation also a predicate: (d != 0) op q.
std::vector<Case> look_up(Words& words) {
  const std::string combine = words.any({"and", "or", "xor"});
  if (!words.take("b32") || !words.done()) return {};
  std::vector<Case> cases;
  for (unsigned table = 0; table < 256; ++table) {
    Case c = bits(kWord, {kWord, kWord, kWord}, nullptr);
    c.threads = c.wanted = 128;
    c.body = "$op %d, %a, %b, %c, " + std::to_string(table) + ";";
    if (!combine.empty()) {
      c.sources.push_back({'p', 1, 1});
      c.results.push_back({'p', 1, 1});
      c.body = "$op %d|%d1, %a, %b, %c, " + std::to_string(table) + ", %e;";
    }
    c.expected = [=](const Cells& x) {
      u64 d = 0;
      for (unsigned i = 0; i < 32; ++i) {
        const unsigned row = 4 * bit(x[0], i) + 2 * bit(x[1], i) + bit(x[2], i);
        d |= u64{bit(table, row)} << i;
      }
      const bool some = d != 0, q = x[3] != 0;
      return Cells{d, u64{combine == "and" ? some && q : combine == "or" ? some || q : some != q}};
    };
    if (combine.empty()) {
      const Oracle both = c.expected;
      c.expected = [both](const Cells& x) { return Cells{both(x)[0]}; };
    }
    cases.push_back(c);
  }
  return cases;
}

// mov: a register; of bits also packing and unpacking, into two and into four parts.
std::vector<Case> move(Type t) {
  std::vector<Case> cases = {bits(t, {t}, [](const Cells& x) { return x; })};
  cases[0].expected = [](const Cells& x) { return Cells{x[0]}; };
  for (const unsigned parts : {2u, 4u}) {
    if (t.kind != 'b' || t.bits / parts < 16) continue;
    const Type part{'b', t.bits / parts, 1};
    Case pack = bits(t, std::vector<Type>(parts, part), [=](const Cells& x) {
      u64 d = 0;
      for (unsigned k = 0; k < parts; ++k) d |= x[k] << (part.bits * k);
      return Cells{d};
    });
    pack.body = parts == 2 ? "$op %d, {%a, %b};" : "$op %d, {%a, %b, %c, %e};";
    Case unpack = bits(part, {t}, [=](const Cells& x) {
      Cells d{};
      for (unsigned k = 0; k < parts; ++k) d[k] = low_bits(part.bits, x[0] >> (part.bits * k));
      return d;
    });
    unpack.results.assign(parts, part);
    unpack.body = parts == 2 ? "$op {%d, %d1}, %a;" : "$op {%d, %d1, %d2, %d3}, %a;";
    cases.push_back(pack);
    cases.push_back(unpack);
  }
  return cases;
}

}  // namespace

std::vector<Case> bit_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "shf") return funnel(words);
  if (m == "prmt") return permute(words);
  if (m == "lop3") return look_up(words);
  const std::string mode = words.any({"clamp", "wrap", "shiftamt"});
  const auto t = words.type();
  if (!t || t->parts != 1 || !words.done()) return {};
  const bool bits_type = t->kind == 'b', word = t->bits == 32, wide = t->bits >= 32;
  if (m == "bmsk") return bits_type && word && !mode.empty() ? mask(mode == "clamp") : std::vector<Case>();
  if (m == "szext")
    return is_integer(*t) && word && !mode.empty() ? extend(mode == "clamp", *t) : std::vector<Case>();
  if (m == "bfind") return is_integer(*t) && wide ? find(!mode.empty(), *t) : std::vector<Case>();
  if (!mode.empty()) return {};
  if (m == "mov") return move(*t);
  if (m == "and" || m == "or" || m == "xor" || m == "not")
    return bits_type || t->kind == 'p' ? logic(m, *t) : std::vector<Case>();
  if (m == "cnot") return bits_type ? logic(m, *t) : std::vector<Case>();
  if (m == "shl" || m == "shr") return shift(m, *t);
  if (m == "bfe") return is_integer(*t) && wide ? extract(*t) : std::vector<Case>();
  if (!bits_type || !wide) return {};
  if (m == "popc" || m == "clz") return count(m, *t);
  if (m == "brev") return reverse(*t);
  if (m == "fns") return word ? find_nth() : std::vector<Case>();
  if (m == "bfi") return insert(*t);
  return {};
}

}  // namespace weft::test::conformance
