// Texts that ask for unbounded memory, stack or time.
#include "weft/ptx/limits.h"

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::limits_test {
namespace {

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string parse_message(const std::string& text) {
  return message_of([&] { parse(text, "m.ptx"); });
}

TEST(Limits, Registers) {
  const std::string expected = "m.ptx:6:12: more than 1000000 registers declared in one function";
  EXPECT_EQ(parse_message(kernel_of(" .reg .b32 %q<4294967295>;")), expected);
  EXPECT_EQ(parse_message(kernel_of(" .reg .b32 %q<18446744073709551615>;")), expected);
  EXPECT_NO_THROW(parse(kernel_of(" .reg .b32 %q<900000>;"), "m.ptx"));
  EXPECT_NO_THROW(decode_body(" .reg .b32 %q<900000>; mov.u32 %q899999, 1; ret;"));
}

TEST(Limits, NestingOfScopes) {
  EXPECT_NO_THROW(parse(kernel_of(repeat("{", 200) + repeat("}", 200)), "m.ptx"));
  EXPECT_EQ(parse_message(kernel_of(repeat("{", 100'000))), "m.ptx:6:258: nested deeper than 256 levels");
}

TEST(Limits, NestingOfExpressions) {
  EXPECT_EQ(parse_message(kernel_of("mov.u32 %r1, " + repeat("(", 100'000))),
            "m.ptx:6:271: nested deeper than 256 levels");
  EXPECT_NE(parse_message(kernel_of("mov.u32 %r1, " + repeat("1?", 100'000))).find("nested deeper"),
            std::string::npos);
  // Prefix and binary operators are not recursive.
  EXPECT_NO_THROW(parse(kernel_of("mov.u32 %r1, " + repeat("-", 100'000) + "1;"), "m.ptx"));
  EXPECT_NO_THROW(parse(kernel_of("mov.u32 %r1, 1" + repeat("+1", 100'000) + ";"), "m.ptx"));
}

TEST(Limits, NestingOfListsAndOperands) {
  EXPECT_NE(parse_message(module_of(".global .u32 x[4] = " + repeat("{", 100'000))).find("nested deeper"),
            std::string::npos);
  EXPECT_NE(parse_message(kernel_of("mov.b64 %rd1, " + repeat("{", 100'000))).find("nested deeper"),
            std::string::npos);
  EXPECT_NE(parse_message(kernel_of("tex.1d " + repeat("[", 100'000))).find("nested deeper"),
            std::string::npos);
}

TEST(Limits, SizesOfVariables) {
  EXPECT_EQ(parse_message(module_of(".shared .b8 s[1152921504606846976];\n")),
            "m.ptx:4:13: 's' is larger than the 1048576 bytes allowed in .shared");
  EXPECT_EQ(parse_message(module_of(".global .b64 g[1152921504606846976];\n")),
            "m.ptx:4:14: 'g' is larger than the 68719476736 bytes allowed in .global");
  EXPECT_EQ(parse_message(module_of(".global .b8 g[4294967296][4294967296];\n")),
            "m.ptx:4:27: the array is too large");
  EXPECT_EQ(parse_message(kernel_of(" .local .b8 l[524289];")),
            "m.ptx:6:13: 'l' is larger than the 524288 bytes allowed in .local");
  EXPECT_EQ(parse_message(module_of(".const .b8 c[16777217];\n")),
            "m.ptx:4:12: 'c' is larger than the 16777216 bytes allowed in .const");
  EXPECT_EQ(parse_message(module_of(".entry k(.param .b8 p[32765]) { ret; }\n")),
            "m.ptx:4:21: 'p' is larger than the 32764 bytes allowed in .param");
  EXPECT_EQ(parse_message(module_of(".global .b8 g[4294967296] = {1};\n")),
            "m.ptx:4:13: an initialised variable has at most 268435456 bytes");
}

TEST(Limits, SumsOverAKernel) {
  const std::string half = ".shared .b8 s1[600000]; .shared .b8 s2[600000];";
  EXPECT_EQ(message_of([&] { decode_body(half + " ret;"); }),
            "k.ptx:6:37: the kernel's .shared variables exceed 1048576 bytes");
  const Module m =
      parse(module_of(".shared .b8 s1[600000];\n.shared .b8 s2[600000];\n.entry k() { .reg .b32 %r<2>;\n"
                      "mov.u32 %r0, s1; mov.u32 %r1, s2; ret; }\n"),
            "m.ptx");
  EXPECT_EQ(message_of([&] { decode(m, "k", {}); }),
            "m.ptx:6:8: the kernel's .shared variables exceed 1048576 bytes");
  EXPECT_EQ(message_of([&] {
              decode(
                  parse(module_of(".entry k(.param .b8 p[20000], .param .b8 q[20000]) { ret; }\n"), "m.ptx"),
                  "k", {});
            }),
            "m.ptx:4:42: the parameters of a kernel take at most 32764 bytes");
}

TEST(Limits, Constants) {
  std::string body;
  for (int i = 0; i <= 65536; ++i) body += "mov.u32 %r1, " + std::to_string(i) + ";\n";
  EXPECT_NE(message_of([&] { decode_body(body); }).find("more than 65536 distinct constants"),
            std::string::npos);
}

TEST(Limits, PredicatesLiveAtOnce) {
  std::string body = ".reg .pred %q<1100>;\n";
  for (int i = 0; i < 1100; ++i)
    body += "setp.eq.s32 %q" + std::to_string(i) + ", %r1, " + std::to_string(i) + ";\n";
  for (int i = 0; i < 1100; ++i) body += "@%q" + std::to_string(i) + " add.s32 %r2, %r2, 1;\n";
  EXPECT_NE(message_of([&] { decode_body(body); }).find("predicates live at once, at most 1024"),
            std::string::npos);
}

// Whatever stands in the text, parsing ends with a module or an InputError.
TEST(Limits, MutatedTextsNeverCrash) {
  const std::string good = module_of(
      ".global .align 8 .u64 s[3] = {120, generic(t)+4, 0xFF};\n.visible .entry k(.param .u64 a)\n.maxntid "
      "1, 2, 3\n{\n"
      ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n.loc 1 2 3, function_name $x, "
      "inlined_at 1 2 3\n"
      "L: @!%p1 bra L;\nld.global.v2.u32 {%r1, %r2}, [%rd1+-8];\nmov.f32 %f1, 0f3F800000;\n"
      "setp.lt.and.s32 %p1|%p2, %r1, (3+4*2), !%p3;\ncall (%r1), f, (%r2);\nmov.b64 %rd1, {%r1, "
      "7};\nret;\n}\n"
      ".section .debug_str { x: .b8 1,2 }\n");
  const std::string alphabet = "{}[]()<>;,:.%$@!|+-*/?=\"#_ \n0129axfrLU\x80";
  std::uint64_t state = 7;
  const auto random = [&](std::size_t n) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<std::size_t>((state >> 33) % n);
  };
  int parsed = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::size_t edits = 1 + random(4); edits > 0; --edits) {
      const std::size_t at = random(text.size());
      switch (random(3)) {
        case 0:
          text[at] = alphabet[random(alphabet.size())];
          break;
        case 1:
          text.erase(at, 1 + random(12));
          break;
        default:
          text.insert(at, 1, alphabet[random(alphabet.size())]);
      }
    }
    try {
      const Module m = parse(text, "m.ptx");
      ++parsed;
      describe(m);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 500);
  EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace weft::ptx::testing::limits_test
