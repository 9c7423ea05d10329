// PTX that is malformed, unknown or beyond the documented limits: the message has file, line and column, exit
// code 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::bad_ptx_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(BadPtx, MissingFile) {
  for (const char* command : {"run", "ptx"}) {
    std::vector<std::string> words{command};
    if (words[0] == "run") words.insert(words.end(), {"--grid", "1", "--block", "1", "--ptx"});
    words.emplace_back("/nowhere/k.ptx");
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2);
    EXPECT_THAT(exit.err, AllOf(HasSubstr("/nowhere/k.ptx"), HasSubstr("No such file")));
  }
}

struct Case {
  const char* name;
  int line;  // where the message points
  std::string text;
};
void PrintTo(const Case& malformed, std::ostream* out) {
  *out << malformed.name;
}
std::string body(const std::string& statements) {
  return kPtxHeader +
         ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n" +
         statements + "\nret;\n}\n";
}
const Case kMalformed[] = {
    {"no_version", 1, ".target sm_35\n.visible .entry k() { ret; }\n"},
    {"binary", 1,
     std::string("\x7f"
                 "ELF\x02\x01\x01\0\0\0",
                 10)},
    {"bad_directive", 4, kPtxHeader + ".visibel .entry k() { ret; }\n"},
    {"no_parameters_closed", 4, kPtxHeader + ".visible .entry k(.param .u64 p { ret; }\n"},
    {"no_body_end", 6, kPtxHeader + ".visible .entry k() {\nret;\n"},
    {"missing_semicolon", 7, body("add.u32 %r1, %r2, %r3")},
    {"missing_operand", 6, body("add.u32 %r1, %r2;")},
    {"too_many_operands", 6, body("add.u32 %r1, %r2, %r3, %r1, %r2, %r3;")},
    {"undeclared_register", 6, body("add.u32 %r1, %r2, %q9;")},
    {"register_beyond_its_range", 6, body("add.u32 %r1, %r2, %r4;")},
    {"unknown_label", 6, body("bra nowhere;")},
    {"label_twice", 7, body("here: nop_label: add.u32 %r1, %r2, %r3;\nhere: bra here;")},
    {"unknown_instruction", 6, body("frobnicate.u32 %r1, %r2;")},
    {"unknown_type", 6, body("add.u33 %r1, %r2, %r3;")},
    {"unknown_modifier", 6, body("add.purple.u32 %r1, %r2, %r3;")},
    {"guard_not_a_predicate", 6, body("@%r1 bra end; end:")},
    {"unclosed_bracket", 6, body("ld.global.u32 %r1, [%rd1;")},
    {"unclosed_comment", 6, body("/* never ends")},
    {"unclosed_string", 4, kPtxHeader + ".file 1 \"k.cu\n.visible .entry k() { ret; }\n"},
    {"number_too_large", 6, body("mov.u32 %r1, 99999999999999999999999;")},
    {"kernel_twice", 5, kPtxHeader + ".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n"},
};

class Malformed : public ::testing::TestWithParam<Case> {};
TEST_P(Malformed, IsRefusedWithItsPlace) {
  const Folder folder;
  const auto file = folder.write("bad.ptx", GetParam().text);
  const Exit exit = weft({"run", "--ptx", file, "--grid", "1", "--block", "1", "--arg", "ptr:4"});
  EXPECT_EQ(exit.code, 2) << exit.out << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("bad.ptx:" + std::to_string(GetParam().line) + ":")) << GetParam().text;
}
INSTANTIATE_TEST_SUITE_P(All, Malformed, ::testing::ValuesIn(kMalformed),
                         [](const auto& info) { return std::string(info.param.name); });

// Statements that Weft parses but does not execute are refused at the launch of their kernel, and only of
// theirs.
TEST(BadPtx, InstructionThatIsNotExecutable) {
  const Folder folder;
  const auto file = folder.write("both.ptx", kGoodKernel + R"(
.visible .entry later(.param .u64 out, .param .u32 add) {
  .reg .b32 %r<2>; .reg .pred %p<2>;
  vset4.u32.u32.eq %r1, %r1, %r1, %r1;
  ret;
}
)");
  const auto run = [&](const char* kernel) {
    return weft({"run", "--ptx", file, "--kernel", kernel, "--grid", "1", "--block", "32", "--arg", "ptr:128",
                 "u32:1"});
  };
  EXPECT_EQ(run("good").code, 0);
  const Exit exit = run("later");
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(HasSubstr("both.ptx:19:"), HasSubstr("vset4.u32.u32.eq")));
}

// Limits that keep a hostile file from taking the machine along.
TEST(BadPtx, BeyondTheLimits) {
  const Folder folder;
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{";
  const std::pair<const char*, std::string> cases[] = {
      {"registers", kPtxHeader + ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<4294967295>;\nret;\n}\n"},
      {"shared", kPtxHeader +
                     ".shared .b8 huge[1152921504606846976];\n.visible .entry k(.param .u64 p) {\n.reg .b64 "
                     "%rd<2>;\nmov.u64 %rd1, huge;\nret;\n}\n"},
      {"nesting", body(nested)},
      {"global",
       kPtxHeader + ".global .b8 huge[1152921504606846976];\n.visible .entry k(.param .u64 p) { ret; }\n"},
      {"local", kPtxHeader +
                    ".visible .entry k(.param .u64 p) {\n.local .b8 huge[1152921504606846976];\n.reg .b64 "
                    "%rd<2>;\nmov.u64 %rd1, huge;\nst.local.u64 [huge], %rd1;\nret;\n}\n"},
  };
  for (const auto& [name, text] : cases) {
    const Exit exit = weft(
        {"run", "--ptx", folder.write("limit.ptx", text), "--grid", "1", "--block", "1", "--arg", "ptr:4"},
        patient(20));
    EXPECT_EQ(exit.code, 2) << name << "\n" << exit.err.substr(0, 500);
  }
}

}  // namespace
}  // namespace weft::end_to_end::bad_ptx_test
