// Device functions as `decode` joins them to a kernel: frames, saves, returns, targets, and what is refused.
#include <algorithm>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::call_test {
namespace {

const char* const kAddOne =
    ".func (.param .b32 r) add_one(.param .b32 x) {\n .reg .b32 %r<3>;\n ld.param.b32 %r1, [x];\n"
    " add.s32 %r2, %r1, 1;\n st.param.b32 [r], %r2;\n ret;\n}\n";

std::string call_of(const std::string& callee, const std::string& argument, const std::string& result) {
  return "{ .param .b32 a; .param .b32 b; st.param.b32 [a], " + argument + "; call (b), " + callee +
         ", (a); ld.param.b32 " + result + ", [b]; }\n";
}

std::string kernel_calling(const std::string& body) {
  return ".entry k(.param .u64 out) {\n .reg .pred %p<40>; .reg .b32 %r<40>; .reg .b64 %rd<8>;\n" + body +
         " ret;\n}\n";
}

Program decode_text(const std::string& text, Symbols symbols = {}) {
  const Module m = parse(module_of(text), "m.ptx");
  add_functions(m, 0, symbols);
  return decode(m, "k", symbols);
}

std::vector<Pc> places_of(const Program& p, Opcode op) {
  std::vector<Pc> places;
  for (Pc pc = 0; pc < p.code.size(); ++pc) {
    if (p.code[pc].op == op) places.push_back(pc);
  }
  return places;
}

TEST(Call, AKernelWithoutCallsHasNoStackPointer) {
  const Program p = decode_text(std::string(kAddOne) + kernel_calling("mov.u32 %r1, 1;"));
  EXPECT_TRUE(p.functions.empty());
  EXPECT_EQ(p.code.size(), 2u);
  EXPECT_EQ(p.register_rows, 2u);  // one register, rounded up
  EXPECT_EQ(p.local_bytes, 0u);
}

// Results come first: r at 0, x at 4 of an area of 16 bytes, which is all of the kernel's frame.
TEST(Call, ArgumentsAndResultsLieAtTheEndOfTheFrame) {
  const Program p = decode_text(std::string(kAddOne) + kernel_calling(call_of("add_one", "5", "%r1")));
  // mov sp, 16; st [4], 5; call; ld %r1, [0]; ret | ld [sp-16+4]; add; st [sp-16]; return
  ASSERT_EQ(p.code.size(), 9u);
  EXPECT_EQ(p.code[0].op, Opcode::kMov);
  EXPECT_EQ(p.constants[p.code[0].src[0].index].lanes[0], 16u);
  EXPECT_EQ(p.code[1].op, Opcode::kSt);
  EXPECT_EQ(p.code[1].space, Space::kLocal);
  EXPECT_EQ(p.code[1].offset, 4);
  EXPECT_EQ(p.code[1].src[0].kind, Operand::Kind::kNone);
  EXPECT_EQ(p.code[2].op, Opcode::kCall);
  EXPECT_EQ(p.code[2].target, 5u);
  EXPECT_EQ(p.code[3].offset, 0);
  EXPECT_EQ(p.code[4].op, Opcode::kRet);
  EXPECT_EQ(p.code[5].op, Opcode::kLd);
  EXPECT_EQ(p.code[5].offset, -12);
  EXPECT_EQ(p.code[5].src[0].index, p.code[0].dst[0].index) << "the stack pointer";
  EXPECT_FALSE(p.code[5].wide_address);
  EXPECT_EQ(p.code[7].offset, -16);
  EXPECT_EQ(p.code[8].op, Opcode::kReturn);
  EXPECT_EQ(p.code[8].src[0].index, p.code[2].dst[0].index) << "the link register";
  EXPECT_EQ(p.local_bytes, 16u);
  EXPECT_FALSE(p.recursive);
  ASSERT_EQ(p.functions.size(), 1u);
  EXPECT_EQ(p.functions[0].name, "add_one");
  EXPECT_EQ(p.functions[0].first, 5u);
  EXPECT_EQ(p.functions[0].last, 8u);
  EXPECT_EQ(p.functions[0].frame_bytes, 0u);
}

// %rd1, %r2 and %p1 live across the call: 8 + 4 + 4 bytes of saves, then 16 bytes of arguments and results.
TEST(Call, TheCallerSavesWhatOutlivesTheCall) {
  const Program p =
      decode_text(std::string(kAddOne) +
                  kernel_calling("ld.param.u64 %rd1, [out]; mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 3;\n" +
                                 call_of("add_one", "%r2", "%r1") +
                                 "@%p1 add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1;"));
  EXPECT_EQ(p.local_bytes, 32u);
  const Pc call = places_of(p, Opcode::kCall).at(0);
  EXPECT_EQ(p.code[call - 4].op, Opcode::kSt);
  EXPECT_EQ(p.code[call - 4].type, Type::kB64);
  EXPECT_EQ(p.code[call - 4].offset, 0);
  EXPECT_EQ(p.code[call - 3].type, Type::kB32);
  EXPECT_EQ(p.code[call - 3].offset, 8);
  EXPECT_EQ(p.code[call - 2].op, Opcode::kSelp);
  EXPECT_EQ(p.code[call - 1].op, Opcode::kSt);
  EXPECT_EQ(p.code[call - 1].offset, 12);
  EXPECT_EQ(p.code[call + 1].op, Opcode::kLd);
  EXPECT_EQ(p.code[call + 1].type, Type::kB64);
  EXPECT_EQ(p.code[call + 1].dst[0].index, p.code[call - 4].src[1].index);
  EXPECT_EQ(p.code[call + 2].dst[0].index, p.code[call - 3].src[1].index);
  EXPECT_EQ(p.code[call + 3].offset, 12);
  EXPECT_EQ(p.code[call + 4].op, Opcode::kAnd);
  EXPECT_EQ(p.code[call + 5].op, Opcode::kSetp);
  EXPECT_EQ(p.code[call + 5].dst[0].index, p.code[call - 2].src[2].index) << "the same predicate";
}

// Depths: kernel 16, a 8 + 8 (link) -> 16 + 16 (area), b 0: the sum of the longest way.
TEST(Call, TheStackIsAsDeepAsTheLongestWay) {
  const std::string text =
      std::string(kAddOne) +
      ".func (.param .b32 r) a(.param .b32 x) {\n .reg .b32 %r<3>;\n ld.param.b32 %r1, [x];\n" +
      call_of("add_one", "%r1", "%r2") + "st.param.b32 [r], %r2; ret; }\n" +
      kernel_calling(call_of("a", "1", "%r1") + call_of("add_one", "%r1", "%r2"));
  const Program p = decode_text(text);
  EXPECT_EQ(p.functions.size(), 2u);
  // Kernel: area of 16 bytes. a: 16 for the link register, 16 for the area. add_one: nothing.
  EXPECT_EQ(p.functions[0].frame_bytes, 32u);
  EXPECT_EQ(p.local_bytes, 48u);
  EXPECT_FALSE(p.recursive);
  // a begins: sp += 32, [sp + 0 - 32] = link; it ends: link = [sp - 32], sp -= 32, return.
  const Pc first = p.functions[0].first, last = p.functions[0].last;
  EXPECT_EQ(p.code[first].op, Opcode::kAdd);
  EXPECT_EQ(p.constants[p.code[first].src[1].index].lanes[0], 32u);
  EXPECT_EQ(p.code[first + 1].offset, -32);
  EXPECT_EQ(p.code[last - 2].op, Opcode::kLd);
  EXPECT_EQ(p.code[last - 2].offset, -32);
  EXPECT_EQ(p.code[last - 1].op, Opcode::kSub);
  EXPECT_EQ(p.code[last].op, Opcode::kReturn);
}

TEST(Call, RecursionIsFound) {
  const std::string forward = ".func odd(.param .b32 x);\n";
  const auto function = [](const std::string& name, const std::string& other) {
    return ".func " + name + "(.param .b32 x) {\n { .param .b32 a; st.param.b32 [a], 1; call " + other +
           ", (a); }\n ret; }\n";
  };
  const std::string kernel = kernel_calling("{ .param .b32 a; st.param.b32 [a], 1; call even, (a); }\n");
  EXPECT_TRUE(decode_text(forward + function("even", "odd") + function("odd", "even") + kernel).recursive);
  EXPECT_TRUE(decode_text(function("even", "even") + kernel).recursive);
  EXPECT_FALSE(decode_text(function("even", "f") + kernel + ".func f(.param .b32 x) { ret; }\n").recursive);
}

// Every `ret` but the last is a branch to it, and branches reconverge there at the latest, also if a thread
// ends.
TEST(Call, AFunctionHasOneReturn) {
  const Program p = decode_text(
      ".func f(.param .b32 x) {\n .reg .pred %p<4>; .reg .b32 %r<4>;\n ld.param.b32 %r1, [x];\n"
      " setp.eq.u32 %p1, %r1, 0; @%p1 bra A; setp.eq.u32 %p2, %r1, 1; @%p2 ret; exit;\nA: ret;\n}\n" +
      kernel_calling("{ .param .b32 a; st.param.b32 [a], 1; call f, (a); }\n"));
  const auto returns = places_of(p, Opcode::kReturn);
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(returns[0], p.functions[0].last);
  for (const Pc branch : places_of(p, Opcode::kBra)) {
    EXPECT_EQ(p.code[branch].reconvergence, p.functions[0].last);
    EXPECT_EQ(p.code[branch].target, p.functions[0].last);
  }
  EXPECT_EQ(places_of(p, Opcode::kBra).size(), 2u);
}

TEST(Call, ThroughRegistersOnlyWhereAnAddressIsTaken) {
  const std::string functions = std::string(kAddOne) +
                                ".func (.param .b32 r) taken(.param .b32 x) { st.param.b32 [r], 2; ret; }\n"
                                ".func (.param .b32 r) never(.param .b32 x) { st.param.b32 [r], 3; ret; }\n"
                                ".global .u64 table[1] = {taken};\n";
  const std::string call =
      "mov.u64 %rd2, add_one; { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd2, (a), proto; }\n";
  const Program p = decode_text(functions + kernel_calling(call), {{"table", 0x1000}});
  ASSERT_EQ(p.functions.size(), 2u);
  EXPECT_EQ(p.functions[0].name, "taken");
  EXPECT_EQ(p.functions[1].name, "add_one");
  EXPECT_EQ(p.entry_of(kFunctionBase), p.functions[1].first);
  EXPECT_EQ(p.entry_of(kFunctionBase + kFunctionStride), p.functions[0].first);
  EXPECT_EQ(p.entry_of(kFunctionBase + 2 * kFunctionStride), kNoPc) << "never";
  EXPECT_EQ(p.entry_of(kFunctionBase + 1), kNoPc);
  EXPECT_EQ(p.entry_of(0), kNoPc);
  const Pc place = places_of(p, Opcode::kCall).at(0);
  EXPECT_EQ(p.code[place].target, kNoPc);
  EXPECT_EQ(p.code[place].reconvergence, place + 1);

  const std::string listed =
      "ld.param.u64 %rd2, [out]; { .param .b32 a; .param .b32 b; st.param.b32 [a], 1;\n"
      "list: .calltargets never; call (b), %rd2, (a), list; }\n";
  const Program q = decode_text(functions + kernel_calling(listed), {{"table", 0x1000}});
  ASSERT_EQ(q.functions.size(), 1u);
  EXPECT_EQ(q.functions[0].name, "never");
}

TEST(Call, IndexedBranches) {
  const Program p = decode_text(kernel_calling(
      "mov.u32 %r1, %tid.x; list: .branchtargets A, B, A;\nbrx.idx %r1, list;\nA: mov.u32 %r2, 1; bra C;\n"
      "B: mov.u32 %r2, 2;\nC: st.shared.u32 [0], %r2;\n"));
  const Pc place = places_of(p, Opcode::kBrx).at(0);
  const Instruction& i = p.code[place];
  ASSERT_EQ(i.target_count, 3u);
  EXPECT_EQ(p.branch_targets[i.target], place + 1);
  EXPECT_EQ(p.branch_targets[i.target + 1], place + 3);
  EXPECT_EQ(p.branch_targets[i.target + 2], place + 1);
  EXPECT_EQ(i.reconvergence, place + 4);
  EXPECT_EQ(p.blocks[0].successors, (std::vector<std::uint32_t>{1, 2}));
}

// PTX lets arguments and results be registers; a guarded call is a branch around it.
TEST(Call, RegistersAsArguments) {
  const Program p = decode_text(
      ".func (.reg .b32 r) f(.reg .b32 x, .reg .b64 y) { add.u32 r, x, 1; ret; }\n" +
      kernel_calling("mov.u64 %rd1, 7; setp.eq.u32 %p1, %r1, 0;\n@%p1 call (%r2), f, (%r1, %rd1);\n"));
  const Pc branch = places_of(p, Opcode::kBra).at(0), call = places_of(p, Opcode::kCall).at(0);
  EXPECT_TRUE(p.code[branch].guard_negated);
  EXPECT_LT(p.code[call].guard, 0);
  EXPECT_GT(p.code[branch].target, call);
  // Area: r at 0, x at 4, y at 8.
  EXPECT_EQ(p.code[call - 2].offset, 4);
  EXPECT_EQ(p.code[call - 1].offset, 8);
  EXPECT_EQ(p.code[call - 1].type, Type::kB64);
  EXPECT_EQ(p.code[call + 1].op, Opcode::kLd);
  EXPECT_EQ(p.code[call + 1].offset, 0);
}

TEST(Call, SystemCallsNeedNoStackPointer) {
  const Program p = decode_text(
      ".extern .func (.param .b64 r) malloc (.param .b64 n);\n" +
      kernel_calling("{ .param .b64 a; .param .b64 b; st.param.b64 [a], 9; call (b), malloc, (a); "
                     "ld.param.b64 %rd1, [b]; }\n"));
  EXPECT_TRUE(p.uses_heap);
  EXPECT_TRUE(p.functions.empty());
  EXPECT_EQ(p.local_bytes, 16u);
  EXPECT_EQ(p.code[0].offset, 8);
  EXPECT_EQ(p.code[1].op, Opcode::kSystem);
  EXPECT_EQ(p.code[1].system, SystemCall::kAllocate);
  EXPECT_EQ(p.code[1].offset, 0);
}

TEST(Call, Refusals) {
  const auto refused = [](const std::string& text, const std::string& message) {
    const std::string found = message_of([&] { decode_text(text); });
    EXPECT_NE(found.find(message), std::string::npos) << found;
  };
  refused(".extern .func g();\n" + kernel_calling("call g;"),
          "'call g': function 'g' is not defined in any module that is linked here");
  refused(kernel_calling("call nobody;"), "'nobody' is not a function of this module");
  refused(std::string(kAddOne) + kernel_calling("call add_one;"), "found 0 results, the function has 1");
  refused(std::string(kAddOne) + kernel_calling("call (%r1), add_one;"),
          "found 0 arguments, the function has 1");
  refused(std::string(kAddOne) + kernel_calling("call (%rd1), add_one, (%r1);"), "expected .b32");
  refused(kernel_calling("call %rd1;"), "needs a .callprototype or a list of .calltargets");
  refused(kernel_calling("p: .callprototype _ (); call %r1, (), p;"), "needs a 64-bit integer register");
  refused(kernel_calling("call %rd1, (), nothing;"), "neither a .callprototype nor a list of .calltargets");
  refused(".extern .func malloc (.param .b64 n);\n" + kernel_calling("call malloc, (%rd1);"),
          "'malloc' of the device runtime is declared with 8 bytes of arguments and results, it has 16");
  // Before the first statement of the function, and where it has none.
  refused(".func g(.reg .b128 x) { ret; }\n" + kernel_calling("call g, (3);"),
          "m.ptx:4:20: 'g(.reg .b128 x) { ret': 128-bit registers are not executable yet");
  refused(".func (.reg .b128 r) g() { }\n" + kernel_calling("call (_), g;"),
          "m.ptx:4:19: 'g() { } .entry k(.param .u64 out) { .reg .pred %p<40>': 128-bit registers");
  refused(kernel_calling("brx.idx %r1, nothing;"), "'nothing' is not a list of .branchtargets");
  refused(kernel_calling(".param .b32 a; st.param.b32 [a], 1;"), "'a' is not passed to any function");
}

TEST(Link, FunctionsOfOtherModules) {
  const Module a = parse(module_of(".extern .func (.param .b32 r) add_one(.param .b32 x);\n" +
                                   kernel_calling(call_of("add_one", "1", "%r1"))),
                         "a.ptx");
  const Module b = parse(module_of(".visible " + std::string(kAddOne)), "b.ptx");
  const Module hidden = parse(module_of(kAddOne), "hidden.ptx");
  const Module weak = parse(module_of(".weak " + std::string(kAddOne)), "weak.ptx");
  const Symbols none;
  const auto link = [&](std::vector<const Module*> modules) {
    std::vector<LinkedModule> linked;
    for (const Module* m : modules) linked.push_back({m, &none});
    return decode(linked, "k");
  };
  const Program p = link({&a, &b});
  ASSERT_EQ(p.functions.size(), 1u);
  EXPECT_EQ(p.place(p.functions[0].first), "b.ptx:6:2");
  EXPECT_EQ(p.place(1), "a.ptx:7:33");
  EXPECT_EQ(link({&weak, &a, &b}).place(p.functions[0].first), "b.ptx:6:2") << "weak gives way";
  EXPECT_EQ(link({&a, &weak}).place(p.functions[0].first), "weak.ptx:6:2");
  EXPECT_NE(message_of([&] { link({&a, &hidden}); }).find("'add_one' is not defined in any module"),
            std::string::npos);
  const Module again = parse(module_of("\n.visible " + std::string(kAddOne)), "again.ptx");
  EXPECT_EQ(message_of([&] { link({&a, &b, &again}); }),
            "again.ptx:5:32: function 'add_one' is defined also at b.ptx:4:32");
}

}  // namespace
}  // namespace weft::ptx::testing::call_test
