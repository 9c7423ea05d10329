// Registers that are not the size of what they hold: wider ones, those of 8 bits, vectors; and what functions
// pass in predicates and vectors, and keep in variables of their own. Texts are made for every type; the
// oracles are the order of bytes and the cases of cvt.
#include <gtest/gtest.h>

#include <sstream>

#include "conformance/integers.h"
#include "conformance/machine.h"

namespace weft::test::conformance::registers_test {
namespace {

constexpr unsigned kOperands = 256;
constexpr Type kLong{'b', 64, 1}, kWord{'b', 32, 1};

std::string text_of(Type t) {
  return std::string(1, t.kind) + std::to_string(t.bits);
}

void expect_right(Bench& bench, Case c, const std::string& what) {
  c.opcode = what;
  try {
    const Verdict verdict = judge(c, bench.run(c, kOperands, 5));
    EXPECT_EQ(verdict.wrong, 0u) << what << ":\n" << verdict.text;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
  }
}

std::uint64_t extended(Type t, std::uint64_t bits, unsigned width) {
  return low_bits(width, static_cast<std::uint64_t>(number(t, bits)));
}

std::vector<Type> memory_types() {
  std::vector<Type> types;
  for (const unsigned bits : {8u, 16u, 32u, 64u}) {
    for (const char kind : {'b', 'u', 's', 'f'}) {
      if (kind != 'f' || bits >= 32) types.push_back({kind, bits, 1});
    }
  }
  return types;
}

TEST(Registers, WiderThanTheAccess) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  unsigned forms = 0;
  for (const Type t : memory_types()) {
    for (const unsigned width : {16u, 32u, 64u}) {
      if (width < t.bits) continue;
      const std::string reg = ".reg .b" + std::to_string(width) + " %w;", word = text_of(t);
      Case load;
      load.loads = load.stores = false;
      load.locals = reg;
      load.sources = {kLong};
      load.results = {{'b', width, 1}};
      load.body = "ld.global." + word + " %w, [%in];\n  st.global.b" + std::to_string(width) + " [%out], %w;";
      load.expected = [=](const Cells& x) { return Cells{extended(t, x[0], width)}; };
      expect_right(bench, load, "ld." + word + " to .b" + std::to_string(width));
      Case store;
      store.loads = store.stores = false;
      store.locals = reg;
      store.sources = {kLong};
      store.results = {kLong};
      store.body = "st.global.b64 [%out], 0;\n  ld.global.b" + std::to_string(width) +
                   " %w, [%in];\n  st.global." + word + " [%out], %w;";
      store.expected = [=](const Cells& x) { return Cells{low_bits(t.bits, x[0])}; };
      expect_right(bench, store, "st." + word + " of .b" + std::to_string(width));
      forms += 2;
    }
  }
  EXPECT_GE(forms, 50u);
}

std::vector<std::string> conversions() {
  std::vector<std::string> all;
  const std::vector<std::string> integers = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
  const std::vector<std::string> floats = {"f16", "bf16", "f32", "f64"};
  for (const std::string& to : integers) {
    for (const std::string& from : integers) all.push_back("cvt." + to + "." + from);
    for (const std::string& from : floats) all.push_back("cvt.rzi." + to + "." + from);
  }
  for (const std::string& to : floats) {
    for (const std::string& from : integers) all.push_back("cvt.rn." + to + "." + from);
  }
  for (const char* opcode :
       {"cvt.f32.f16", "cvt.f64.f32", "cvt.rn.f32.f64", "cvt.rn.f16.f32", "cvt.rz.bf16.f32"})
    all.emplace_back(opcode);
  return all;
}

// Sources are the low bits of a register full of other bits; results are extended by zeros, or by their sign.
TEST(Registers, WiderThanAConversion) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  for (const std::string& opcode : conversions()) {
    const std::vector<Case> cases = cases_of(opcode);
    ASSERT_FALSE(cases.empty()) << opcode;
    const Case& usual = cases.front();
    const std::size_t dot = opcode.rfind('.');
    const std::size_t before = opcode.rfind('.', dot - 1);
    const auto to = parse_type(opcode.substr(before + 1, dot - before - 1)),
               from = parse_type(opcode.substr(dot + 1));
    ASSERT_TRUE(to && from) << opcode;
    Case c = usual;
    c.loads = c.stores = false;
    c.sources = {*from};
    c.results = {kLong};
    c.body = "ld.global.b64 %x3, [%in];\n  " + opcode + " %x4, %x3;\n  st.global.b64 [%out], %x4;";
    c.expected = [=](const Cells& x) {
      return Cells{extended(*to, low_bits(to->bits, usual.expected(x)[0]), 64)};
    };
    expect_right(bench, c, opcode + " of .b64 to .b64");
  }
}

TEST(Registers, OfEightBits) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  for (const char* type : {"b8", "u8", "s8"}) {
    const std::string t = type;
    const bool is_signed = t == "s8";
    const Type byte{is_signed ? 's' : 'u', 8, 1};
    Case c;
    c.locals = ".reg ." + t + " %k, %l<3>;";
    c.sources = {kWord};
    c.results = {kWord, kWord, kWord};
    const std::string suffix = is_signed ? "s" : "u";
    c.body = "cvt." + suffix + "8." + suffix + "32 %k, %a;\n  cvt." + suffix + "32." + suffix +
             "8 %d, %k;\n  cvt." + suffix + "32." + suffix + "8 %d2, %k+3;\n  ld.global.v2." + t +
             " {%l0, %l1}, [%in];\n  st.global.b32 [%out+24], 0;\n  st.global.v2." + t +
             " [%out+24], {%l1, %l0};\n  ld.global.b32 %d1, [%out+24];";
    c.expected = [=](const Cells& x) {
      const std::uint64_t a = x[0];
      return Cells{extended(byte, low_bits(8, a), 32), (a >> 8 & 0xff) | (a & 0xff) << 8,
                   extended(byte, low_bits(8, a + 3), 32)};
    };
    expect_right(bench, c, "registers of ." + t);
  }
  for (const std::string& opcode : conversions()) {  // from and to registers of 8 bits
    const std::size_t dot = opcode.rfind('.');
    const std::size_t before = opcode.rfind('.', dot - 1);
    const std::string to = opcode.substr(before + 1, dot - before - 1), from = opcode.substr(dot + 1);
    const bool to_byte = to.size() == 2, from_byte = from.size() == 2;
    if (!to_byte && !from_byte) continue;
    Case c = cases_of(opcode).front();
    c.locals += " .reg .b8 %k, %l;";
    c.body = from_byte ? "cvt.u8.u32 %k, %a;\n  " : "";
    c.body += opcode + (to_byte ? " %l" : " %d") + (from_byte ? ", %k;" : ", %a;");
    if (to_byte) c.body += "\n  cvt." + std::string(to[0] == 's' ? "s32.s8" : "u32.u8") + " %d, %l;";
    expect_right(bench, c, opcode + " of 8 bits");
  }
}

// mov.b16 and mov.b32 of two and four parts of 8 bits: registers, literals and `_` at each place.
TEST(Registers, PartsOfEightBits) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  for (const char* type : {"b8", "u8", "s8"}) {
    for (unsigned place = 0; place < 4; ++place) {
      Case c;
      c.locals = ".reg ." + std::string(type) + " %k<4>, %l<2>; .reg .b16 %g, %h;";
      c.sources = {kWord};
      c.results = {kWord, kWord, kWord};
      const auto list = [&](const std::string& other, bool turned) {
        std::string text;
        for (unsigned k = 0; k < 4; ++k) {
          text += (k ? ", " : "{") + (k == place ? other : "%k" + std::to_string(turned ? 3 - k : k));
        }
        return text + "}";
      };
      c.body = "mov.b32 {%k0, %k1, %k2, %k3}, %a;\n  mov.b32 " + list("_", false) +
               ", 0x11223344;\n  mov.b32 %d, " + list("0x5a", true) +
               ";\n  mov.b16 %g, {%k1, %k2};\n  cvt.u32.u16 %d1, %g;\n  ";
      c.body += place % 2 == 0 ? "mov.b16 {%l0, _}, %g;\n  mov.b16 %h, {%l0, 7};\n"
                               : "mov.b16 {_, %l1}, %g;\n  mov.b16 %h, {7, %l1};\n";
      c.body += "  cvt.u32.u16 %d2, %h;";
      c.expected = [=](const Cells& x) {
        const std::uint64_t all = 0xff;
        std::uint64_t k = 0x11223344, d = 0;
        k = (k & ~(all << 8 * place)) | (x[0] & all << 8 * place);
        for (unsigned i = 0; i < 4; ++i) {
          d |= (i == place ? 0x5a : k >> 8 * (3 - i) & all) << 8 * i;
        }
        const std::uint64_t g = k >> 8 & 0xffff;
        return Cells{d, g, place % 2 == 0 ? (g & all) | 0x700 : (g & 0xff00) | 7};
      };
      expect_right(bench, c, "parts of ." + std::string(type) + ", place " + std::to_string(place));
    }
  }
}

// v, v.x, v.r, ranges of vectors: loaded, moved as a whole and by element, stored.
TEST(Registers, Vectors) {
  const auto machine = make_straight_line_machine();
  Bench bench(*machine);
  for (const Type t : memory_types()) {
    for (const unsigned count : {2u, 4u}) {
      if (count * t.bits > 128) continue;
      const std::string type = text_of(t), v = "v" + std::to_string(count);
      Case c;
      c.loads = c.stores = false;
      c.sources = {kLong, kLong};
      c.results = {kLong, kLong};
      c.locals = ".reg ." + v + " ." + type + " v, w<3>;";
      c.body = "st.global.v2.b64 [%out], {0, 0};\n  ld.global." + v + "." + type + " v, [%in];\n  ";
      const bool moves = t.bits > 8;  // mov knows no 8 bits
      if (moves) {
        c.body += "mov." + v + "." + type + " w1, v;\n  mov." + type + " w2.x, w1.y;\n  mov." + type +
                  " w2.g, w1.r;\n";
        if (count == 4) c.body += "  mov." + v + "." + type + " w2, {w2.x, w2.y, w1.w, w1.b};\n";
        // Elements change places in one instruction.
        if (count == 2) c.body += "  mov." + v + "." + type + " {w2.x, w2.y}, {w2.y, w2.x};\n";
      }
      c.body += "  st.global." + v + "." + type + " [%out], " + (moves ? "w2" : "v") + ";";
      c.expected = [=](const Cells& x) {
        Cells d{};
        for (unsigned k = 0; k < count; ++k) {
          const unsigned from = !moves || count == 2 ? k : k ^ 1;
          const std::uint64_t value = low_bits(t.bits, x[from * t.bits / 64] >> (from * t.bits % 64));
          d[k * t.bits / 64] |= value << (k * t.bits % 64);
        }
        return d;
      };
      expect_right(bench, c, v + "." + type);
    }
  }
  Case special;  // the vectors of special registers: blocks have 128 threads in a row
  special.sources = {kWord};
  special.results = {kWord, kWord, kWord, kWord};
  special.locals = ".reg .v4 .u32 n;";
  special.body =
      "mov.v4.u32 n, %ntid;\n  mov.v4.u32 {%d, _, _, %d3}, %tid;\n  mov.u32 %d1, n.x;\n  mov.u32 %y3, "
      "%tid.w;\n"
      "  add.u32 %d2, n.z, %y3;\n  sub.u32 %d, %index, %d;\n  and.b32 %d, %d, 127;\n";
  special.expected = [](const Cells&) { return Cells{0, 128, 1, 0}; };
  expect_right(bench, special, "mov.v4.u32 of %ntid and %tid");
}

// Functions are called on the whole GPU.
TEST(Registers, OfFunctions) {
  const auto machine = make_gpu_machine();
  Bench bench(*machine);
  Case c;
  c.sources = {kWord, kWord};
  c.results = {kWord, kWord};
  c.globals = R"(
.func (.reg .u32 s, .reg .pred q) f(.reg .pred p, .reg .u32 a, .reg .pred e, .reg .u32 b) {
  .reg .u32 t;
  selp.u32 t, a, b, p;
  add.u32 s, t, 1;
  setp.lt.and.u32 q, a, b, e;
  ret;
})";
  c.body = R"(setp.gt.s32 %p1, %a, 0;
  setp.ne.u32 %p2, %b, 7;
  call (%d, %p3), f, (%p1, %a, %p2, %b);
  selp.u32 %d1, 1, 0, %p3;)";
  c.expected = [](const Cells& x) {
    const bool p = (x[0] >> 31) == 0 && x[0] != 0;
    return Cells{low_bits(32, (p ? x[0] : x[1]) + 1), std::uint64_t{x[0] < x[1] && x[1] != 7}};
  };
  expect_right(bench, c, "predicates as arguments and results");
  Case v = c;
  v.globals = R"(
.func (.reg .v2 .u32 s) f(.reg .v4 .u32 a) {
  add.u32 s.x, a.x, a.w;
  sub.u32 s.y, a.y, a.z;
  ret;
})";
  v.locals = ".reg .v2 .u32 s; .reg .v4 .u32 a;";
  v.body = "mov.v4.u32 a, {%a, %b, %a, %b};\n  call (s), f, (a);\n  mov.v2.u32 {%d, %d1}, s;";
  v.expected = [](const Cells& x) { return Cells{low_bits(32, x[0] + x[1]), low_bits(32, x[1] - x[0])}; };
  expect_right(bench, v, "vectors as arguments and results");
}

// Each of the functions and scopes has a variable `t` of its own; an inner one hides an outer one.
TEST(Registers, VariablesOfFunctions) {
  const auto machine = make_gpu_machine();
  Bench bench(*machine);
  for (const char* space : {"global", "const"}) {
    const std::string s = space;
    Case c;
    c.sources = {kWord};
    c.results = {kWord, kWord, kWord, kWord};
    c.globals = "." + s + " .b32 t = 1;\n.func (.reg .u32 s) f() {\n  ." + s +
                " .b32 t[2] = {2, 20};\n  ld." + s + ".u32 s, [t+4];\n  ret;\n}";
    c.locals = "." + s + " .b32 t[4] = {3, 4, 5, 6}; ." + s + " .u64 to_t = t;";
    c.body = "ld." + s + ".u32 %d, [t+4];\n  { ." + s + " .b32 t = 7; ld." + s +
             ".u32 %d1, [t]; }\n  call (%d2), f;\n  ld." + s + ".u64 %x3, [to_t];\n  ld." + s +
             ".u32 %d3, [%x3+12];";
    c.expected = [](const Cells&) { return Cells{4, 7, 20, 6}; };
    expect_right(bench, c, "." + s + " in functions");
  }
}

}  // namespace
}  // namespace weft::test::conformance::registers_test
