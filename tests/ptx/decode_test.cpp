// What operands become: rows, constants, addresses, special registers, and the keys of the scoreboard.
#include <algorithm>
#include <cstring>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::decode_test {
namespace {

std::uint64_t wide(const Program& p, const Operand& operand) {
  std::uint64_t bits = 0;
  EXPECT_EQ(operand.kind, Operand::Kind::kConstant);
  std::memcpy(&bits, &p.constants.at(operand.index).lanes[62], sizeof bits);  // lane 31
  return bits;
}

std::uint32_t narrow(const Program& p, const Operand& operand) {
  EXPECT_EQ(operand.kind, Operand::Kind::kConstant);
  return p.constants.at(operand.index).lanes[31];
}

TEST(Decode, ConstantsAreShared) {
  const Program p = decode_body(
      "mov.u32 %r1, 4; mov.u32 %r2, 4; mov.u64 %rd1, 4; mov.u64 %rd2, -1; mov.f32 %f1, 0f3F800000; mov.f64 "
      "%fd1, 1.0;"
      "mov.f32 %f2, 0.5; mov.b32 %r3, 0f3F800000; mov.u16 %rs1, -1; mov.s16 %rs2, -1; shl.b64 %rd3, %rd1, 4; "
      "ret;");
  EXPECT_EQ(p.code[0].src[0].index, p.code[1].src[0].index);
  EXPECT_NE(p.code[0].src[0].index, p.code[2].src[0].index);
  EXPECT_EQ(p.code[10].src[1].index, p.code[0].src[0].index) << "a shift amount has 32 bits";
  EXPECT_EQ(wide(p, p.code[3].src[0]), UINT64_MAX);
  EXPECT_EQ(narrow(p, p.code[4].src[0]), 0x3F800000u);
  EXPECT_EQ(wide(p, p.code[5].src[0]), 0x3FF0000000000000u);
  EXPECT_EQ(narrow(p, p.code[6].src[0]), 0x3F000000u);
  EXPECT_EQ(narrow(p, p.code[7].src[0]), 0x3F800000u);
  EXPECT_EQ(narrow(p, p.code[8].src[0]), 0xffffu) << "unsigned 16-bit values are zero-extended";
  EXPECT_EQ(narrow(p, p.code[9].src[0]), 0xffffffffu) << "signed ones are sign-extended";
}

TEST(Decode, SpecialRegistersTakePairsAfterTheAllocated) {
  const Program p = decode_body(
      "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x; mov.u64 %rd1, %gridid;"
      "mov.u32 %r4, WARP_SZ; mov.u64 %rd2, %clock64; mov.u32 %r5, %clock; add.u32 %r6, %r5, %clock; ret;");
  EXPECT_EQ(p.special_rows, (std::vector<Special>{Special::kTidX, Special::kCtaidY, Special::kGridid}));
  EXPECT_EQ(p.register_rows % 2, 0);
  EXPECT_EQ(p.rows, p.register_rows + 6);
  EXPECT_EQ(p.code[0].src[0].index, p.register_rows);
  EXPECT_EQ(p.code[1].src[0].index, p.register_rows + 2);
  EXPECT_EQ(p.code[2].src[0].index, p.register_rows);
  EXPECT_EQ(p.code[3].src[0].index, p.register_rows + 4);
  EXPECT_EQ(narrow(p, p.code[4].src[0]), 32u);
  EXPECT_EQ(p.code[5].src[0].kind, Operand::Kind::kDynamic);
  EXPECT_EQ(p.code[5].src[0].index, static_cast<std::uint16_t>(Special::kClock64));
  EXPECT_EQ(p.code[6].src[0].kind, Operand::Kind::kDynamic);
  // A changing register is read by a mov of its own only.
  EXPECT_EQ(p.code[7].op, Opcode::kMov);
  EXPECT_EQ(p.code[7].src[0].kind, Operand::Kind::kDynamic);
  EXPECT_EQ(p.code[8].op, Opcode::kAdd);
  EXPECT_EQ(p.code[8].src[1], p.code[7].dst[0]);
  EXPECT_EQ(p.code[0].read_count, 0) << "nothing waits for a special register";
}

TEST(Decode, Addresses) {
  const Module m =
      parse(module_of(".global .align 8 .b8 g[64];\n.const .u32 c = 5;\n.shared .align 4 .b8 unused[512];\n"
                      ".shared .align 4 .b8 used[64];\n.extern .shared .align 32 .b8 dyn[];\n"
                      ".visible .entry k(.param .u32 x, .param .align 8 .b8 s[24], .param .u16 h)\n{\n"
                      ".local .align 8 .b8 depot[48];\n.shared .align 16 .b8 own[20];\n"
                      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h;\n"
                      "ld.global.u32 %r1, [g+4];\n"      // 0
                      "ld.const.u32 %r1, [c];\n"         // 1
                      "mov.u64 %rd1, g;\n"               // 2
                      "mov.u64 %rd2, g+16;\n"            // 3
                      "st.shared.u32 [used+8], %r1;\n"   // 4
                      "mov.u32 %r2, own;\n"              // 5
                      "mov.u32 %r3, dyn;\n"              // 6
                      "mov.u64 %rd3, depot;\n"           // 7
                      "cvta.local.u64 %rd4, %rd3;\n"     // 8
                      "st.local.u32 [depot+40], %r1;\n"  // 9
                      "ld.param.u64 %rd5, [s+16];\n"     // 10
                      "mov.b64 %rd6, s;\n"               // 11
                      "ld.param.u32 %r4, [%rd6+4];\n"    // 12
                      "ld.param.u16 %h, [h];\n"          // 13
                      "ld.u32 %r5, [g];\n"               // 14
                      "ld.shared.u32 %r6, [%r2+-4];\n"   // 15
                      "ld.shared.u32 %r7, [%rd5];\n"     // 16
                      "ret;\n}\n"),
            "m.ptx");
  const Program p = decode(m, "k", {{"g", 0x1000}, {"c", 0x2000}});
  EXPECT_EQ(p.code[0].src[0].kind, Operand::Kind::kNone);
  EXPECT_EQ(p.code[0].offset, 0x1004);
  EXPECT_EQ(p.code[1].offset, 0x2000);
  EXPECT_TRUE(p.code[1].constant_cache);
  EXPECT_EQ(wide(p, p.code[2].src[0]), 0x1000u);
  EXPECT_EQ(wide(p, p.code[3].src[0]), 0x1010u);
  EXPECT_EQ(p.code[4].offset, 8);
  EXPECT_EQ(narrow(p, p.code[5].src[0]), 64u) << "after `used`; `unused` takes no room";
  EXPECT_EQ(p.shared_bytes, 96u) << "64 + 20, rounded up to what the dynamic part asks for";
  EXPECT_EQ(narrow(p, p.code[6].src[0]), 96u);
  EXPECT_TRUE(p.uses_dynamic_shared);
  EXPECT_EQ(wide(p, p.code[7].src[0]), 0u);
  EXPECT_EQ(p.code[8].space, Space::kLocal);
  EXPECT_FALSE(p.code[8].to_space);
  EXPECT_EQ(p.code[9].offset, 40);
  EXPECT_EQ(p.local_bytes, 48u);
  EXPECT_EQ(p.code[10].offset, 8 + 16);
  EXPECT_TRUE(p.code[10].constant_cache);
  EXPECT_EQ(wide(p, p.code[11].src[0]), 8u);
  EXPECT_EQ(p.code[12].src[0].kind, Operand::Kind::kRow);
  EXPECT_EQ(p.code[12].offset, 4);
  EXPECT_EQ(p.code[13].offset, 32);
  EXPECT_EQ(p.parameter_bytes, 34u);
  EXPECT_EQ(p.code[14].space, Space::kGlobal);
  EXPECT_EQ(p.code[15].offset, -4);
  EXPECT_FALSE(p.code[15].wide_address);
  EXPECT_TRUE(p.code[16].wide_address);
  EXPECT_EQ(message_of([&] { decode(m, "k", {{"c", 0x2000}}); }),
            "m.ptx:14:21: variable 'g' has no address in this device");
}

TEST(Decode, VectorsOfLoadsAndStores) {
  const Program p = decode_body(
      "ld.global.v4.f32 {%f1, %f2, _, %f4}, [%rd1]; st.global.v2.f64 [%rd1+8], {%fd1, 2.0}; ret;");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(p.code[0].dst[static_cast<std::size_t>(i)].kind, Operand::Kind::kRow);
  EXPECT_EQ(p.code[0].write_count, 4);
  EXPECT_EQ(p.code[1].src[1].kind, Operand::Kind::kRow);
  EXPECT_EQ(wide(p, p.code[1].src[2]), 0x4000000000000000u);
}

TEST(Decode, ScoreboardKeys) {
  const Program p =
      decode_body("@!%p1 add.s64 %rd1, %rd2, %rd2; setp.eq.s32 %p2|%p3, %r1, %r2; @%p2 bra X; X: ret;");
  const Instruction& add = p.code[0];
  ASSERT_EQ(add.read_count, 2) << "%rd2 once, and the guard";
  EXPECT_EQ(add.reads[0], add.src[0].index);
  EXPECT_EQ(add.reads[0] % 2, 0);
  EXPECT_EQ(add.reads[1], p.rows + add.guard);
  EXPECT_TRUE(add.guard_negated);
  ASSERT_EQ(add.write_count, 1);
  EXPECT_EQ(add.writes[0], add.dst[0].index);
  const Instruction& setp = p.code[1];
  ASSERT_EQ(setp.write_count, 2);
  EXPECT_EQ(setp.writes[0], p.rows + setp.dst[0].index);
  EXPECT_EQ(p.code[2].guard, setp.dst[0].index);
}

TEST(Decode, PackingAndUnpackingAreInsertsAndShifts) {
  const Program p =
      decode_body("mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd1; mov.b32 {_, %rs1}, %r4; ret;");
  std::vector<Opcode> ops;
  for (const Instruction& i : p.code) ops.push_back(i.op);
  EXPECT_EQ(ops, (std::vector<Opcode>{Opcode::kCvt, Opcode::kCvt, Opcode::kBfi, Opcode::kCvt, Opcode::kShr,
                                      Opcode::kCvt, Opcode::kShr, Opcode::kCvt, Opcode::kRet}));
  EXPECT_EQ(p.code[2].type, Type::kB64);
  EXPECT_EQ(narrow(p, p.code[2].src[2]), 32u);
  EXPECT_EQ(narrow(p, p.code[2].src[3]), 32u);
  EXPECT_EQ(narrow(p, p.code[4].src[1]), 32u);
  EXPECT_EQ(narrow(p, p.code[6].src[1]), 16u);
}

TEST(Decode, RegistersWiderThanTheType) {  // clang relies on it
  const Program p = decode_body(
      "ld.global.s32 %rd1, [%rd9]; st.global.u8 [%rd9], %rd1; cvt.s64.s32 %rd2, %rd1; cvt.s64.s8 %rd3, %rd2;"
      "ld.global.u8 %r1, [%rd9]; cvt.s32.s8 %r2, %r1; ret;");
  std::vector<std::pair<Type, Type>> conversions;
  for (const Instruction& i : p.code) {
    if (i.op == Opcode::kCvt) conversions.emplace_back(i.type, i.from);
  }
  EXPECT_EQ(conversions, (std::vector<std::pair<Type, Type>>{{Type::kS64, Type::kS32},
                                                             {Type::kU32, Type::kU64},
                                                             {Type::kU32, Type::kU64},
                                                             {Type::kS64, Type::kS32},
                                                             {Type::kU32, Type::kU64},
                                                             {Type::kS64, Type::kS8},
                                                             {Type::kS32, Type::kS8}}));
}

TEST(Decode, PredicateConstants) {
  const Program p = decode_body("mov.pred %p1, -1; @%p2 mov.pred %p1, 0; xor.pred %p3, %p1, 1; ret;");
  EXPECT_EQ(p.code[0].op, Opcode::kSetp);
  EXPECT_EQ(p.code[0].compare, Compare::kEq);
  EXPECT_EQ(p.code[1].compare, Compare::kNe);
  EXPECT_GE(p.code[1].guard, 0);
  EXPECT_EQ(p.code[2].op, Opcode::kSetp);
  EXPECT_EQ(p.code[3].op, Opcode::kXor);
}

TEST(Decode, Barriers) {
  const Program p = decode_body(
      "bar.sync 0; barrier.sync.aligned 1, 64; bar.arrive %r1, %r2; bar.red.popc.u32 %r3, 0, 64, !%p1;"
      "bar.red.or.pred %p2, 0, %p1; ret;");
  EXPECT_EQ(narrow(p, p.code[0].src[0]), 0u);
  EXPECT_EQ(p.code[0].src[1].kind, Operand::Kind::kNone);
  EXPECT_EQ(narrow(p, p.code[1].src[1]), 64u);
  EXPECT_EQ(p.code[2].barrier, BarrierKind::kArrive);
  EXPECT_EQ(p.code[2].src[0].kind, Operand::Kind::kRow);
  EXPECT_EQ(p.code[3].barrier, BarrierKind::kRedPopc);
  EXPECT_EQ(p.code[3].dst[0].kind, Operand::Kind::kRow);
  EXPECT_TRUE(p.code[3].src[2].negated);
  EXPECT_EQ(p.code[4].dst[0].kind, Operand::Kind::kPredicate);
  EXPECT_EQ(p.code[4].src[1].kind, Operand::Kind::kNone);
}

struct Refusal {
  const char* name;
  const char* body;
  const char* message;  // after "k.ptx:"
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithPlaceAndReason) {
  const Refusal& r = GetParam();
  const std::string message = message_of([&] { decode_body(r.body); });
  EXPECT_EQ(message, "k.ptx:" + std::string(r.message));
}

INSTANTIATE_TEST_SUITE_P(
    Operands, Refused,
    ::testing::Values(
        Refusal{"UndeclaredRegister", "add.s32 %r1, %q2, 1;",
                "6:14: 'add.s32 %r1, %q2, 1': '%q2' is not declared"},
        Refusal{"OutsideTheRange", "mov.u32 %r100, 1;",
                "6:9: 'mov.u32 %r100, 1': '%r100' is not a declared register"},
        Refusal{"LeadingZero", "mov.u32 %r01, 1;",
                "6:9: 'mov.u32 %r01, 1': '%r01' is not a declared register"},
        Refusal{"TooFewOperands", "add.s32 %r1, %r2;",
                "6:1: 'add.s32 %r1, %r2': found 2 operands, expected 3"},
        Refusal{"TooManyOperands", "ret %r1;", "6:1: 'ret %r1': found 1 operands, expected 0"},
        Refusal{"WrongSize", "add.s32 %r1, %r2, %rd3;",
                "6:19: 'add.s32 %r1, %r2, %rd3': found '%rd3' of type .b64, expected .s32"},
        Refusal{"IntegerIntoFloat", "cvt.rzi.s32.f32 %f1, %f2;",
                "6:17: 'cvt.rzi.s32.f32 %f1, %f2': found '%f1' of type .f32, expected .s32"},
        Refusal{"GuardIsNoPredicate", "@%r1 ret;",
                "6:2: '@%r1 ret': found '%r1' of type .b32, expected .pred"},
        Refusal{"NarrowRegisterForLoad", "ld.global.u32 %rs1, [%rd1];",
                "6:15: 'ld.global.u32 %rs1, [%rd1]': found '%rs1' of type .b16, expected .u32"},
        Refusal{"NarrowGlobalAddress", "ld.global.u32 %r1, [%r2];",
                "6:21: 'ld.global.u32 %r1, [%r2]': a global or generic address needs a 64-bit register"},
        Refusal{"ParameterAsGlobal", "ld.global.u32 %r1, [a];",
                "6:21: 'ld.global.u32 %r1, [a]': 'a' lies in another state space"},
        Refusal{"FloatLiteralInInteger", "mov.u32 %r1, 1.5;",
                "6:14: 'mov.u32 %r1, 1.5': expected an integer"},
        Refusal{"IntegerLiteralInFloat", "mov.f32 %f1, 1;",
                "6:14: 'mov.f32 %f1, 1': expected a floating-point number"},
        Refusal{"UnknownLabel", "bra NOWHERE;",
                "6:5: 'bra NOWHERE': 'NOWHERE' is not a label of this kernel"},
        Refusal{"LabelOfAnInnerScope", "bra L; { L: ret; }",
                "6:5: 'bra L': 'L' is not a label of this kernel"},
        Refusal{"WrongVectorLength", "ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];",
                "6:19: 'ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1]': expected 2 destinations"},
        Refusal{"ScalarForVector", "st.global.v2.u32 [%rd1], %r1;",
                "6:26: 'st.global.v2.u32 [%rd1], %r1': expected 2 values"},
        Refusal{"LiteralAsDestination", "mov.u32 1, %r1;", "6:9: 'mov.u32 1, %r1': expected a register"},
        Refusal{"ClockOfWrongSize", "mov.u32 %r1, %clock64;",
                "6:14: 'mov.u32 %r1, %clock64': this register has 64 bits"},
        Refusal{"PerformanceRegister", "mov.u32 %r1, %pm2;",
                "6:14: 'mov.u32 %r1, %pm2': special register %pm2 is not executable yet"},
        Refusal{"NoSuchEnvironmentRegister", "mov.u32 %r1, %envreg32;",
                "6:14: 'mov.u32 %r1, %envreg32': '%envreg32' is not declared"},
        Refusal{"UnknownSpecial", "mov.u32 %r1, %tid.v;",
                "6:14: 'mov.u32 %r1, %tid.v': '%tid.v' is not declared"},
        Refusal{
            "FunctionAddress", "mov.u64 %rd1, k;",
            "6:15: 'mov.u64 %rd1, k': 'k' has no address: only device functions that are defined have one"},
        Refusal{"OddPacking", "mov.b64 %rd1, {%r1, %r2, %r3};",
                "6:16: 'mov.b64 %rd1, {%r1, %r2, %r3}': this vector does not make up a word of the "
                "instruction's type; "
                "packing needs .b16, .b32 or .b64"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Decode, UnknownKernelListsTheKnown) {
  const Module m = parse(module_of(".entry a() { ret; }\n.entry b() { ret; }\n"), "m.ptx");
  EXPECT_EQ(message_of([&] { decode(m, "c", {}); }), "m.ptx: no kernel 'c'; the module has a, b");
}

TEST(Decode, AVariableIsNoGuard) {
  const Module m = parse(module_of(".shared .u32 s;\n.entry k() { @s ret; }\n"), "m.ptx");
  EXPECT_EQ(message_of([&] { decode(m, "k", {}); }), "m.ptx:5:15: '@s ret': 's' is not a declared register");
}

TEST(Decode, AKernelThatCannotRunDoesNotHarmOthers) {
  const Module m = parse(module_of(".entry a() { stacksave.u64 %r; }\n.entry b() { ret; }\n"), "m.ptx");
  EXPECT_THROW(decode(m, "a", {}), InputError);
  EXPECT_EQ(decode(m, "b", {}).code.size(), 1u);
}

}  // namespace
}  // namespace weft::ptx::testing::decode_test
