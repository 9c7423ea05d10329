// Malformed modules: each message names the exact place, what was found and what was expected.
#include "ptx/ptx_text.h"

namespace weft::ptx::testing::malformed_test {
namespace {

struct Case {
  const char* name;
  std::string text;
  const char* message;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Malformed : public ::testing::TestWithParam<Case> {};

TEST_P(Malformed, NamesPlaceFoundAndExpected) {
  EXPECT_EQ(message_of([] { parse(GetParam().text, "m.ptx"); }), std::string("m.ptx:") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, Malformed,
    ::testing::Values(
        Case{"Empty", "", "1:1: found the end of the file, expected .version"},
        Case{"OnlyComment", "// nothing\n", "2:1: found the end of the file, expected .version"},
        Case{"NoVersion", ".target sm_70\n", "1:1: found '.target', expected .version"},
        Case{"BadVersion", ".version seven\n", "1:10: found 'seven', expected a version such as 7.0"},
        Case{"AddressSize32", ".version 7.0\n.target sm_70\n.address_size 32\n",
             "3:15: found .address_size 32, only 64 is supported"},
        Case{"TargetWithoutName", ".version 7.0\n.target\n.address_size 64\n",
             "3:1: found '.address_size', expected a name"},
        Case{"UnknownDirective", module_of(".kernel k() {}\n"),
             "4:1: found '.kernel', expected a directive such as .entry, .func or .global"},
        Case{"StrayText", module_of("hello\n"),
             "4:1: found 'hello', expected a directive such as .entry, .func or .global"},
        Case{"LinkageOfNothing", module_of(".visible ;\n"),
             "4:10: found ';', expected .entry, .func or a state space such as .global"},
        Case{"EntryWithoutName", module_of(".entry {\n}\n"), "4:8: found '{', expected the function's name"},
        Case{"EntryWithoutBody", module_of(".entry k()\n"),
             "5:1: found the end of the file, expected a performance directive, '{' or ';'"},
        Case{"UnclosedParameters", module_of(".entry k(.param .u64 a\n{\n}\n"),
             "5:1: found '{', expected ',' or ')'"},
        Case{"ParameterWithoutSpace", module_of(".entry k(.param .u64 a, .u32 b)\n{\n}\n"),
             "4:25: found '.u32', expected .param or .reg"},
        Case{"UnclosedBody", kernel_of("  ret;\n").substr(0, kernel_of("  ret;\n").rfind('}')),
             "8:1: found the end of the file, expected a statement or '}'"},
        Case{"UnclosedScope", kernel_of("  { ret;"),
             "8:1: found the end of the file, expected a statement or '}'"},
        Case{"MissingSemicolon", kernel_of("  add.s32 %r1, %r2, %r3\n  ret;"),
             "7:3: found 'ret', expected an operand, ',' or ';'"},
        Case{"MissingOperand", kernel_of("  add.s32 %r1, , %r3;"), "6:16: found ',', expected an operand"},
        Case{"TrailingComma", kernel_of("  add.s32 %r1, %r2, ;"), "6:21: found ';', expected an operand"},
        Case{"UnclosedAddress", kernel_of("  ld.global.u32 %r1, [%rd1+4;\n  ret;"),
             "6:29: found ';', expected ',', an offset or ']'"},
        Case{"UnclosedVector", kernel_of("  ld.global.v2.u32 {%r1, %r2, [%rd1];"),
             "6:37: found ';', expected ',' or '}'"},
        Case{"OffsetMissing", kernel_of("  ld.global.u32 %r1, [%rd1+];"),
             "6:28: found ']', expected a constant"},
        Case{"GuardWithoutName", kernel_of("  @ ;"), "6:5: found ';', expected a name"},
        Case{"GuardAlone", kernel_of("  @%p1 ;"), "6:8: found ';', expected an instruction"},
        Case{"NumberWithLetters", kernel_of("  mov.u32 %r1, 12abc;"),
             "6:18: found 'abc', expected the end of the number"},
        Case{"ShortFloatBits", kernel_of("  mov.f32 %f1, 0f3F80;"),
             "6:16: 0f needs exactly 8 hexadecimal digits"},
        Case{"BadOctal", kernel_of("  mov.u32 %r1, 089;"), "6:16: an octal number has digits 0 to 7"},
        Case{"HugeInteger", kernel_of("  mov.u64 %rd1, 18446744073709551616;"),
             "6:17: the integer needs more than 64 bits"},
        Case{"DivisionByZero", kernel_of("  mov.u32 %r1, 4/(2-2);"),
             "6:16: division by zero in a constant expression"},
        Case{"UnclosedExpression", kernel_of("  mov.u32 %r1, 4*(2+2;"),
             "6:22: found ';', expected an operator or ')'"},
        Case{"UnclosedComment", kernel_of("  ret; /* begins"),
             "6:8: found a comment without end, expected a statement or '}'"},
        Case{"UnclosedString", kernel_of("  .pragma \"nounroll;\n"),
             "6:21: found '\\x0a', expected a closing '\"' on the same line"},
        Case{"ControlCharacter", kernel_of("  ret; \x01"), "6:8: found '\\x01', expected a statement or '}'"},
        Case{"UnknownType", module_of(".global .u33 x;\n"),
             "4:9: found '.u33', expected a type such as .u32, .align, .ptr or .attribute"},
        Case{"AlignOfThree", module_of(".global .align 3 .u32 x;\n"),
             "4:16: found .align 3, expected a power of two up to 65536"},
        Case{"NegativeSize", module_of(".global .b8 x[-1];\n"), "4:15: a number is an integer of 0 or more"},
        Case{"RangeWithoutEnd", kernel_of(" .reg .b32 %q<4;"), "6:16: found ';', expected '>'"},
        Case{"NameMissing", module_of(".global .u32 ;\n"),
             "4:14: found ';', expected a type, a property or the name to declare"},
        Case{"BadInitialiser", module_of(".global .u32 x = ;\n"),
             "4:18: found ';', expected a constant, an address or '{'"},
        Case{"TooManyElements", module_of(".global .u32 x[2] = {1, 2, 3};\n"),
             "4:28: the initialiser has more elements than the variable"},
        Case{"AddressInWord", module_of(".global .u32 y;\n.global .u32 x[2] = {1, y};\n"),
             "5:25: an address needs an element of 8 bytes"},
        Case{"FloatInInteger", module_of(".global .u32 x = 1.5;\n"),
             "4:18: a floating-point number in an integer variable"},
        Case{"SharedInitialiser", module_of(".shared .u32 x = 1;\n"),
             "4:14: only .global and .const variables can have an initialiser"},
        Case{"HalfAnAddress", module_of(".global .u32 y;\n.global .b8 x[4] = {0xff(y), 0xff00(y), 3, 4};\n"),
             "5:26: only some bytes of an address are given; Weft needs all eight"},
        Case{"TwiceDefinedVariable", module_of(".global .u32 x;\n.global .u32 x;\n"),
             "5:14: symbol 'x' is declared twice"},
        Case{"ExternInAnotherSpace", module_of(".extern .shared .u32 x;\n.global .u32 x;\n"),
             "5:14: the .extern declaration of this variable names another state space"},
        Case{"TwiceDefinedKernel", module_of(".entry k() { ret; }\n.entry k() { ret; }\n"),
             "5:8: function 'k' is defined twice"},
        Case{"KernelAndVariable", module_of(".global .u32 k;\n.entry k() { ret; }\n"),
             "5:8: symbol 'k' is declared twice"},
        Case{"TwiceDefinedLabel", kernel_of("L:\n  ret;\nL:\n  ret;"), "8:1: label 'L' is declared twice"},
        Case{"TwiceDefinedRegister", kernel_of("  .reg .b32 x, y, x;"),
             "6:19: register 'x' is declared twice"},
        Case{"TwiceDefinedRange", kernel_of("  .reg .b32 %r<4>;"), "6:13: register '%r' is declared twice"},
        Case{"NumberInDeclaredRange", kernel_of("  .reg .b32 %r7;"),
             "6:13: register '%r7' is declared twice"},
        Case{"TwiceDefinedParameter", module_of(".entry k(.param .u32 a, .param .u32 a) { ret; }\n"),
             "4:37: parameter 'a' is declared twice"},
        Case{"ModuleRegister", module_of(".reg .b32 %r<4>;\n"),
             "4:11: registers at module scope are not supported; declare them in the function"},
        Case{"LocWithoutColumn", kernel_of("  .loc 1 2\n  ret;"), "7:3: found 'ret', expected an integer"},
        Case{"BadInlinedAt", kernel_of("  .loc 1 2 3, inlined 1 2 3\n"),
             "6:15: found 'inlined', expected function_name or inlined_at"},
        Case{"FileWithoutName", module_of(".file 1 name\n"),
             "4:9: found 'name', expected the file's name in quotes"},
        Case{"FourDimensions", module_of(".entry k() .maxntid 1, 2, 3, 4 { ret; }\n"),
             "4:30: a block has at most three dimensions"},
        Case{"EntryInBody", kernel_of("  .entry q() { }"),
             "6:3: found '.entry', expected a directive that is allowed in a function"},
        Case{"CallOfNothing", kernel_of("  call ;"), "6:8: found ';', expected a function or its arguments"},
        Case{"SectionWithoutBrace", module_of(".section .debug_str 1\n"), "4:21: found '1', expected '{'"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::ptx::testing::malformed_test
