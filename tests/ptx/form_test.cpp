// What operands and declarations may look like, and what is refused. That the accepted forms compute the
// right values is shown in tests/conformance (forms_test.cpp, registers_test.cpp).
#include <sstream>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::form_test {
namespace {

void refused(const std::string& body, const std::string& why) {
  const std::string message = message_of([&] { decode_body(body); });
  EXPECT_EQ(message.rfind("k.ptx:6:", 0), 0u) << message;
  EXPECT_NE(message.find(why), std::string::npos) << message;
}

TEST(Form, AddendsBelongToSingleOperands) {
  for (const char* element : {"%r1+1", "%r1+0", "%r1+-1"}) {
    const std::string e = element;
    const std::string forms[] = {"st.global.v2.b32 [%rd1], {" + e + ", %r2};",
                                 "mov.b64 %rd1, {%r2, " + e + "};",
                                 "mov.b64 {" + e + ", %r2}, %rd1;",
                                 "call (%r3), f, (" + e + ");",
                                 "suld.b.1d.b32.trap %r2, [%rd1, " + e + "];",
                                 "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {" + e + "}];"};
    for (const std::string& form : forms) refused(form, "'%r1' has an addend");
  }
  for (const char* form : {"add.u32 %r1+1, %r2, %r3;", "ld.global.u32 %r1+1, [%rd1];",
                           "cvt.u32.u16 %r1+1, %rs1;", "mov.u32 %r1+1, 3;", "suq.width.b32 %r1+1, [%rd1];"}) {
    refused(form, "expected a register to write");
  }
  refused("add.f32 %f1, %f2+1, %f3;", "'%f2' of type .f32 takes no addend; allowed: .b, .u and .s registers");
  refused("st.global.f64 [%rd1], %fd2+1;", "'%fd2' of type .f64 takes no addend");
  refused("and.pred %p1, %p2+1, %p3;", "'%p2' of type .pred takes no addend");
  refused("mov.u32 %r1, %tid.x+1;", "'%tid.x' is an element, which has no addend");
  refused("bra L+4; L: ret;", "is not a label of this kernel");
  refused("t: .branchtargets q; brx.idx %r1+1, t; q: ret;", "an index has no addend");
}

// The sum is as wide as the register: one instruction more.
TEST(Form, AnAddendIsASum) {
  const Program p =
      decode_body("st.global.u8 [%rd1], %r1+300; cvt.u64.u16 %rd2, %rs1+-1; mov.u32 %r2, %clock+1; ret;");
  ASSERT_EQ(p.code.size(), 8u);
  EXPECT_EQ(p.code[0].op, Opcode::kAdd);
  EXPECT_EQ(p.code[0].type, Type::kU32);
  EXPECT_EQ(p.code[2].op, Opcode::kAdd);
  EXPECT_EQ(p.code[2].type, Type::kU16);
  EXPECT_EQ(p.code[5].op, Opcode::kAdd);
}

TEST(Form, ModifiersThatStayInOrder) {
  std::stringstream words(
      "mul.u32.lo mul.u32.wide mad.s32.lo mad.sat.hi.s32 mad.cc.lo.u32 madc.cc.hi.u32 mad24.sat.hi.s32 "
      "mul24.u32.lo div.ftz.full.f32 shf.wrap.l.b32 dp2a.u32.lo.s32 bar.popc.red.u32 "
      "barrier.aligned.cta.sync "
      "bar.sync.warp cvta.global.to.u64 cvt.sat.pack.u16.s32 ld.global.v2.nc.f32 ld.v4.global.u32 ld.u32.v2 "
      "cp.ca.async.shared.global");
  for (std::string opcode; words >> opcode;) {
    const std::string message = message_of([&] { decode_body(opcode + " %r1, %r2, %r3;"); });
    EXPECT_EQ(message.rfind("k.ptx:6:1: '" + opcode, 0), 0u) << message;
  }
  refused("mul.u32.wide %rd1, %r2, %r3;", "found .wide after .u32, expected it directly after mul");
  refused("ld.v2.global.u32 {%r1, %r2}, [%rd1];", "found .v2.global, expected the type after .v2");
  refused("ld.global.v2 {%r1, %r2}, [%rd1];", "a type is missing after .v2");
  refused("cvt.s32.u8 %r1, %rs1.x;", "");
  refused("add.rn.rz.f32 %f1, %f2, %f3;", "found .rz, expected no more modifiers");
  refused("add.f32.ftz.foo %f1, %f2, %f3;", "found .foo, expected no more modifiers");
  refused("add.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.u32 %r1, %r2, %r3;", "found more than 15 modifiers");
}

TEST(Form, RegistersOfOtherSizes) {
  refused("ld.global.f32 %fd1, [%rd1];", "'%fd1' of type .f64, expected .f32");
  refused("st.global.f32 [%rd1], %fd1;", "'%fd1' of type .f64, expected .f32");
  refused("cvt.rn.f32.s32 %fd1, %r1;", "'%fd1' of type .f64, expected .f32");
  refused("mov.f32 %rd1, %f1;", "'%rd1' of type .b64, expected .f32");
  refused(".reg .u64 %u; ld.global.f32 %u, [%rd1];", "'%u' of type .u64, expected .f32");
  const std::string bytes = ".reg .u8 %b<3>; ";
  refused(bytes + "add.u16 %b1, %b1, %b2;", "'%b1' of type .u8, expected .u16");
  refused(bytes + "ld.global.u16 %b1, [%rd1];", "'%b1' of type .u8, expected .u16");
  refused(bytes + "cvt.u16.u16 %rs1, %b1;", "'%b1' of type .u8, expected .u16");
  refused(bytes + "mov.u8 %b1, %b2;", "found .u8, expected one of");
  const std::string vectors = ".reg .v2 .u32 v; .reg .v4 .f32 w<2>; ";
  refused(vectors + "mov.u32 %r1, v.z;", "'v.z' is not declared");
  refused(vectors + "add.u32 %r1, v, 1;", "expected a register or a constant");
  refused(vectors + "mov.v4.u32 v, %tid;", "expected 4 elements");
  refused(vectors + "mov.v2.u32 v, %tid;", "expected 2 elements");
  refused(vectors + "ld.global.v4.f32 w1.x, [%rd1];", "expected 4 destinations");
  refused(vectors + "mov.f32 %f1, w2.x;", "'w2.x' is not declared");
  refused(".reg .v4 .u64 v;", "allowed: .v2 and .v4 of at most 128 bits");
  refused(".reg .v2 .pred v;", "allowed: .v2 and .v4 of at most 128 bits");
  refused(".reg .b128 %q; mov.b128 %q, %q;", "b128");
  refused("mov.u32 %r1, %tid;", "");
  decode_body(vectors +
              "{ .reg .f32 v; mov.f32 v, %f1; } mov.u32 v.y, v.x;");  // an inner name hides a vector
}

TEST(Form, VariablesOfFunctionsHaveNamesOfTheirOwn) {
  const Module m =
      parse(kernel_of(".global .b32 t[2] = {1, 2}; { .const .u64 t = 5; .global .u64 u = t; }"), "k.ptx");
  ASSERT_EQ(m.variables.size(), 3u);
  EXPECT_EQ(m.variables[0].name, "k.t");
  EXPECT_EQ(m.variables[0].size, 8u);
  EXPECT_EQ(m.variables[1].name, "k.t.2");
  EXPECT_EQ(m.variables[1].space, Space::kConst);
  EXPECT_EQ(m.variables[2].relocations.at(0).symbol, "k.t.2");
  refused(".global .b32 t = 1; ld.global.u32 %r1, [t];", "'k.t' has no address in this device");
}

// Legal PTX that Weft does not execute: the message has its name and what helps, and calls nothing illegal.
TEST(Form, WhatIsNotExecutedIsRefusedByName) {
  const std::string newer = "; code for older GPUs may not need it: nvcc -arch=compute_75";
  const std::string tensor = "; Weft has no tensor cores: use code without them";
  struct Kind {
    const char *opcodes, *name;
    std::string help;
  };
  const Kind kinds[] = {
      {"cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.prefetch.L2.global "
       "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.tile",
       "cp.async.bulk", newer},
      {"cp.async.mbarrier.arrive.noinc.shared.b64", "cp.async.mbarrier", newer},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
       "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group",
       "cp.reduce.async.bulk", newer},
      {"st.bulk.shared::cta st.bulk.weak.shared::cta", "st with .bulk", newer},
      {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32", "st with .async", newer},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32", "red with .async",
       newer},
      {"redux.sync.min.f32 redux.sync.max.abs.NaN.f32", "redux of floating-point numbers", newer},
      {"add.f32.f16 add.rn.sat.f32.f16", "add with .f16", newer},
      {"sub.f32.f16", "sub with .f16", newer},
      {"fma.rn.f32.f16", "fma with .f16", newer},
      {"fma.rn.f32.bf16", "fma with .bf16", newer},
      {"fma.rn.oob.f16 fma.rn.oob.relu.f16x2 fma.oob.rn.bf16", "fma with .oob", newer},
      {"wgmma.fence.sync.aligned", "wgmma", newer},
      {"tcgen05.wait::ld.sync.aligned tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32", "tcgen05",
       newer},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16", "stmatrix", newer},
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
       "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
       "mma", tensor},
      {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
       "wmma", tensor},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16", "ldmatrix",
       tensor},
      {"movmatrix.sync.aligned.m8n8.trans.b16", "movmatrix", tensor},
  };
  for (const Kind& kind : kinds) {
    std::stringstream words(kind.opcodes);
    for (std::string opcode; words >> opcode;) {
      const std::string statement = opcode + " %r1, %r2, %r3, %r4";
      EXPECT_EQ(message_of([&] { decode_body(statement + ";"); }),
                "k.ptx:6:1: '" + statement + "' is not executable yet: " + kind.name + kind.help);
    }
  }
}

TEST(Form, MasksAndSelectorsOfSimdVideoAreNamed) {
  for (const char* part : {"h0", "h10", "h32", "b0", "b7654", "b3210"}) {
    const std::string suffix = std::string(".") + part;
    for (const std::string& operands :
         {"%r1" + suffix + ", %r2, %r3, %r4", "%r1, %r2" + suffix + ", %r3, %r4"}) {
      refused("vadd2.u32.u32.u32 " + operands + ";",
              "masks and selectors of registers, here " + suffix + ", are not executable yet");
    }
  }
  refused("add.u32 %r1.b, %r2, %r3;", "'%r1.b' is not a declared register");
  refused("add.u32 %r1.c0, %r2, %r3;", "'%r1.c0' is not a declared register");
}

// 9.7.10.3 and 9.7.10.4: whether the texels are in memory, which without sparse textures they are.
TEST(Form, TexturesTellWhetherTexelsAreResident) {
  const std::string texels = "{%f1, %f2, %f3, %f4}", address = ", [%rd1, {%f5, %f6, %f7, %f8}]";
  for (const char* opcode : {"tex.2d.v4.f32.f32", "tex.base.2d.v4.f32.f32", "tex.3d.v4.f32.f32",
                             "tex.cube.v4.f32.f32", "tld4.r.2d.v4.f32.f32"}) {
    const Program without = decode_body(std::string(opcode) + texels + address + "; ret;");
    const Program with = decode_body(std::string(opcode) + texels + "|%p1" + address + "; ret;");
    ASSERT_EQ(with.code.size(), without.code.size() + 1) << opcode;
    EXPECT_EQ(with.code[0].op, without.code[0].op);
    EXPECT_EQ(with.code[1].op, Opcode::kSetp);
    EXPECT_EQ(with.code[1].compare, Compare::kEq);
  }
  refused("tex.2d.v4.f32.f32 " + texels + "|%r1" + address + ";", "'%r1' of type .b32, expected .pred");
  refused("tex.2d.v4.f32.f32 " + texels + "|" + address + ";", "");
  refused("ld.global.v4.f32 " + texels + "|%p1, [%rd1];", "");
  refused("mov.b64 %rd1, {%r1, %r2}|%p1;", "");
}

}  // namespace
}  // namespace weft::ptx::testing::form_test
