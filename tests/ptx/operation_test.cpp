// Which opcodes are executable, which are legal but not executable yet, and which are illegal.
#include <sstream>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::operation_test {
namespace {

// A statement with operands that suit the opcode's types, made from its text.
std::string statement_of(const std::string& opcode) {
  std::vector<std::string> words;
  std::stringstream stream(opcode);
  for (std::string word; std::getline(stream, word, '.');) words.push_back(word);
  const std::string& name = words[0];
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const auto reg = [](const std::string& type, int number) {
    static const std::pair<const char*, const char*> kKinds[] = {
        {"pred", "%p"}, {"f32", "%f"}, {"f64", "%fd"}, {"8", "%rs"},
        {"16", "%rs"},  {"32", "%r"},  {"64", "%rd"}};
    for (const auto& [suffix, prefix] : kKinds) {
      const std::string s(suffix);
      if (type.size() >= s.size() && type.compare(type.size() - s.size(), s.size(), s) == 0) {
        return prefix + std::to_string(number);
      }
    }
    return "%r" + std::to_string(number);
  };
  const std::string& type = words.back();
  const auto list = [&](const std::string& t, int first, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + reg(t, first + i);
    return text;
  };
  const auto vector = [&](int first) {
    const int count = has("v2") ? 2 : has("v4") ? 4 : 1;
    return count == 1 ? reg(type, first) : "{" + list(type, first, count) + "}";
  };
  const std::string address = has("param") ? "[a]" : has("shared") ? "[%r90+4]" : "[%rd90+4]";
  if (name == "ret" || name == "exit" || name == "membar" || name == "fence") return opcode + ";";
  if (name == "bra") return opcode + " L; L: ret;";
  if (name == "ld") return opcode + " " + vector(1) + ", " + address + ";";
  if (name == "st") return opcode + " " + address + ", " + vector(1) + ";";
  if (name == "atom")
    return opcode + " " + reg(type, 1) + ", " + address + ", " + list(type, 2, has("cas") ? 2 : 1) + ";";
  if (name == "red") return opcode + " " + address + ", " + reg(type, 2) + ";";
  if (name == "bar" || name == "barrier") {
    if (has("popc")) return opcode + " %r1, 0, %p2;";
    if (has("red")) return opcode + " %p1, 0, %p2;";
    return opcode + (has("arrive") ? " 1, 64;" : " 0;");
  }
  if (name == "setp") {
    const bool combined = has("and") || has("or") || has("xor");
    return opcode + " %p1|%p2, " + list(type, 1, 2) + (combined ? ", !%p3;" : ";");
  }
  if (name == "selp") return opcode + " " + list(type, 1, 3) + ", %p1;";
  if (name == "shl" || name == "shr") return opcode + " " + list(type, 1, 2) + ", %r3;";
  if (name == "bfe") return opcode + " " + list(type, 1, 2) + ", 3, %r4;";
  if (name == "bfi") return opcode + " " + list(type, 1, 3) + ", 3, %r4;";
  if (name == "popc" || name == "clz") return opcode + " %r1, " + reg(type, 2) + ";";
  if (name == "cvt") return opcode + " " + reg(words[words.size() - 2], 1) + ", " + reg(type, 2) + ";";
  if (has("wide")) {
    const std::string wide = reg(type == "u16" || type == "s16" ? "b32" : "b64", 1);
    return opcode + " " + wide + ", " + list(type, 2, 2) + (name == "mad" ? ", " + wide : "") + ";";
  }
  static const char* kUnary[] = {"mov",   "neg", "abs", "not", "cnot", "rcp",  "sqrt",
                                 "rsqrt", "ex2", "lg2", "sin", "cos",  "cvta", "brev"};
  int operands = 3;
  for (const char* unary : kUnary) operands = name == unary ? 2 : operands;
  if (name == "mad" || name == "fma") operands = 4;
  return opcode + " " + list(type, 1, operands) + ";";
}

// The opcodes of real programs (nvcc 13 and clang 19) that Weft executes.
constexpr const char* kExecutable = R"(
abs.f32 abs.f64 abs.s16 abs.s32 add.f32 add.f64 add.rm.f64 add.rn.f32 add.rn.f64 add.rp.f64 add.rz.f32 add.s16 add.s32
add.s64 add.u32 add.u64 add.sat.s32 add.rn.ftz.sat.f32 and.b16 and.b32 and.b64 and.pred atom.add.acq_rel.cta.u64
atom.add.acquire.cta.u32 atom.add.release.gpu.u32 atom.add.u32 atom.dec.u32 atom.exch.b32 atom.global.add.f32
atom.global.add.f64 atom.global.add.u64 atom.global.and.b32 atom.global.cas.b32 atom.global.cas.b64 atom.global.inc.u32
atom.global.max.s32 atom.global.max.u64 atom.global.min.u32 atom.global.or.b32 atom.global.sys.add.f64
atom.global.sys.cas.b32 atom.global.xor.b64 atom.or.acq_rel.cta.b32 atom.shared.add.f32 atom.shared.exch.b32
bar.red.and.pred bar.red.or.pred bar.red.popc.u32 bar.sync bar.arrive barrier.sync barrier.sync.aligned
barrier.cta.red.popc.aligned.u32 bfe.s32 bfe.u32 bfe.u64 bfi.b32 bfi.b64 bra bra.uni brev.b32 clz.b32 clz.b64 cnot.b32
copysign.f32 copysign.f64 cos.approx.f32 cvt.f64.f32 cvt.rm.f32.s64 cvt.rmi.f32.f32 cvt.rmi.f64.f64 cvt.rmi.s32.f32
cvt.rn.f32.f64 cvt.rn.f32.s16 cvt.rn.f32.u64 cvt.rn.f64.s32 cvt.rni.s64.f64 cvt.rp.f64.u64 cvt.rzi.ftz.s32.f32
cvt.rzi.s16.f32 cvt.rzi.u64.f64 cvt.s16.s8 cvt.s32.s8 cvt.s64.s32 cvt.s64.s8 cvt.sat.f32.f32 cvt.u16.u32 cvt.u32.u64
cvt.u32.u8 cvt.u64.u16 cvt.sat.u8.s32 cvta.global.u64 cvta.local.u64 cvta.shared.u64 cvta.to.global.u64
cvta.to.shared.u64 div.approx.f32 div.approx.ftz.f32 div.full.f32 div.rm.f64 div.rn.f32 div.rn.f64 div.s32 div.u16
div.u64 ex2.approx.f32 ex2.approx.ftz.f32 exit fence.sc.cta fence.acq_rel.gpu fma.rm.f32 fma.rn.f32 fma.rn.f64
fma.rz.f32 ld.acquire.cta.b64 ld.acquire.gpu.v2.u32 ld.acquire.sys.global.u8 ld.ca.u32 ld.cg.v2.u64 ld.const.f32
ld.const.s8 ld.const.v4.f32 ld.f64 ld.global.cs.f32 ld.global.nc.f64 ld.global.nc.v2.u16 ld.global.nc.v4.u8
ld.global.s8 ld.global.v2.u64 ld.global.v4.u32 ld.global.L1::no_allocate.L2::128B.v4.f32 ld.local.v4.u8 ld.param.b64
ld.param.u8 ld.param.v4.f32 ld.relaxed.gpu.v2.u64 ld.relaxed.sys.b32 ld.shared.u16 ld.shared.v4.f32 ld.u8
ld.volatile.global.v4.u32 ld.volatile.u32 ld.weak.global.u32 lg2.approx.f32 mad.lo.s32 mad.hi.sat.s32 mad.wide.u32
mad.rn.f32 max.f32 max.ftz.f32 max.s64 max.u16 membar.cta membar.gl membar.sys min.f64 min.s16 mov.b16 mov.b32 mov.b64
mov.f32 mov.f64 mov.pred mov.s32 mov.u16 mov.u64 mul.f32 mul.hi.s32 mul.hi.u16 mul.hi.u64 mul.lo.s16 mul.lo.s64
mul.rn.f64 mul.wide.s16 mul.wide.s32 mul.wide.u16 mul.wide.u32 neg.f32 neg.f64 neg.s16 neg.s64 not.b16 not.b64
not.pred or.b16 or.pred popc.b32 popc.b64 rcp.approx.ftz.f32 rcp.approx.ftz.f64 rcp.rn.f32 rcp.rn.f64
red.and.release.cta.b32 red.global.add.f32 rem.s32 rem.u64 ret ret.uni rsqrt.approx.f32 rsqrt.approx.f64
rsqrt.approx.ftz.f64 selp.b16 selp.b64 selp.f32 selp.f64 selp.s32 selp.u16 setp.eq.b16 setp.eq.f64 setp.equ.f64
setp.ge.u64 setp.gtu.f32 setp.le.u16 setp.lo.u32 setp.lt.and.s32 setp.nan.f32 setp.neu.ftz.f32 setp.num.f64 shl.b16
shl.b64 shr.b32 shr.s16 shr.s64 shr.u16 shr.u64 sin.approx.f32 sqrt.approx.f32 sqrt.rn.f32 sqrt.rn.f64 st.cg.v2.u64
st.f32 st.global.cs.f32 st.global.u16 st.global.v4.u8 st.local.v2.f64 st.relaxed.gpu.v2.u32 st.release.sys.global.u8
st.shared.v4.f32 st.v2.u32 st.volatile.shared.u16 sub.f32 sub.s16 sub.u64 xor.b32 xor.pred)";

TEST(Operation, WhatTheCensusListsIsExecutable) {
  std::stringstream words(kExecutable);
  int count = 0;
  for (std::string opcode; words >> opcode; ++count) {
    const std::string statement = statement_of(opcode);
    try {
      const Program p = decode_body(statement);
      const std::string name = opcode.substr(0, opcode.find('.'));
      const std::string executed = name_of(p.code[0].op);
      const bool renamed = opcode == "mad.rn.f32" || name == "barrier" || name == "fence";
      EXPECT_TRUE(executed == name || renamed) << statement << " became " << executed;
    } catch (const std::exception& error) {
      ADD_FAILURE() << statement << ": " << error.what();
    }
  }
  EXPECT_GT(count, 230);
}

TEST(Operation, OthersAreNotExecutableYet) {
  std::stringstream words(
      "cvt.rs.f16x2.f32 "
      "redux.sync.min.f32 cp.async.bulk.commit_group sured.b.add.2d.u32.trap tex.2dms.v4.f32.s32 "
      "vset4.u32.u32.eq "
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 fma.oob.rn.f16");
  for (std::string opcode; words >> opcode;) {
    const std::string message = message_of([&] { decode_body(opcode + " %r1, %r2, %r3, %r4;"); });
    EXPECT_EQ(message.rfind("k.ptx:6:1: '" + opcode, 0), 0u) << message;
    EXPECT_NE(message.find("is not executable yet"), std::string::npos) << message;
  }
}

TEST(Operation, IllegalModifiersAreRefused) {
  std::stringstream words(
      "add add.foo.s32 add.rn.s32 add.ftz.f64 add.sat.u32 add.s8 mul.s32 mul.lo.f32 mul.wide.u64 "
      "mad.lo.sat.s32 "
      "mad.f32 fma.f32 fma.lo.f32 div.f32 div.rn.s32 div.approx.f64 rem.f32 neg.u32 abs.ftz.f64 setp.s32 "
      "setp.lt.b32 "
      "setp.lo.s32 setp.gtu.u32 setp.eq.pred selp.pred shl.u32 shr.f32 and.s32 not.u32 cvt.f32.f64 "
      "cvt.rn.f64.f32 "
      "cvt.s32.f32 cvt.rn.s32.f32 cvt.rzi.f32.s32 cvt.rn.s32.s32 cvt.ftz.s32.s64 cvta.to.global.f64 rcp.f32 "
      "rcp.approx.f64 sqrt.approx.f64 rsqrt.rn.f32 sin.f32 sin.approx.f64 ex2.rn.f32 ld.global "
      "ld.global.shared.u32 "
      "ld.nc.u32 ld.shared.nc.u32 ld.volatile.cg.u32 ld.relaxed.u32 ld.gpu.u32 ld.v4.u64 ld.pred "
      "st.const.u32 "
      "st.acquire.gpu.u32 st.ca.u32 atom.u32 atom.local.add.u32 atom.add.b32 atom.inc.s32 atom.and.u32 "
      "red.exch.b32 bar bar.red.pred bar.red.and.u32 membar membar.gpu bfi.u32 bfe.b32 popc.u32 clz.s32 "
      "bra.cond shfl.sync.b32 shfl.bfly.b64 vote.sync.b32 vote.any.sync.b32 match.any.b32 redux.add.u32 "
      "redux.sync.add.b32 redux.sync.xor.u32 bar.warp cp.async.shared.global cp.async.ca.global.shared "
      "exit.uni ret.foo mov mov.u8 frobnicate.u32 LD.u32");
  for (std::string opcode; words >> opcode;) {
    const std::string message = message_of([&] { decode_body(" " + opcode + " %r1, %r2, %r3;"); });
    EXPECT_EQ(message.rfind("k.ptx:6:2: '" + opcode, 0), 0u) << message;
    EXPECT_EQ(message.find("is not executable yet"), std::string::npos) << message;
  }
}

TEST(Operation, MessagesQuoteTheInstruction) {
  EXPECT_EQ(
      message_of([] { decode_body("  mov.u32 %r1, 1;\n\t@!%p1  vset4.u32.u32.eq\t%r5, %r1,\n %r3, %r2;"); }),
      "k.ptx:7:9: '@!%p1 vset4.u32.u32.eq %r5, %r1, %r3, %r2' is not executable yet: vset4");
  EXPECT_EQ(message_of([] { decode_body("cvt.rs.f16x2.f32 %r1, %f1, %f2, %r3;"); }),
            "k.ptx:6:1: 'cvt.rs.f16x2.f32 %r1, %f1, %f2, %r3' is not executable yet: cvt with .rs; code for "
            "older GPUs may not need it: nvcc -arch=compute_75");
  EXPECT_EQ(message_of([] { decode_body("wgmma.fence.sync.aligned;"); }),
            "k.ptx:6:1: 'wgmma.fence.sync.aligned' is not executable yet: wgmma; code for older GPUs may not "
            "need it: nvcc -arch=compute_75");
  EXPECT_EQ(message_of([] { decode_body("cvt.f32.f64 %f1, %fd1;"); }),
            "k.ptx:6:1: 'cvt.f32.f64 %f1, %fd1': expected .rn, .rz, .rm or .rp for this conversion");
  EXPECT_EQ(message_of([] { decode_body("shl.u32 %r1, %r2, 3;"); }),
            "k.ptx:6:1: 'shl.u32 %r1, %r2, 3': found .u32, expected one of .b16, .b32, .b64");
}

TEST(Operation, FieldsUnitsAndLatencies) {
  const Program p = decode_body(
      "mad.wide.s32 %rd1, %r1, %r2, %rd2; fma.rz.ftz.sat.f32 %f1, %f2, %f3, %f4; div.full.ftz.f32 %f1, %f2, "
      "%f3;"
      "div.s64 %rd1, %rd2, %rd3; div.rn.f64 %fd1, %fd2, %fd3; sin.approx.f32 %f1, %f2; sqrt.rn.f64 %fd1, "
      "%fd2;"
      "setp.geu.xor.ftz.f32 %p1|%p2, %f1, %f2, !%p3; cvt.rzi.ftz.u16.f32 %rs1, %f1; cvta.to.shared.u64 %rd1, "
      "%rd2;"
      "ld.volatile.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; ld.global.nc.u8 %rs1, [%rd1];"
      "atom.shared.cas.b64 %rd1, [%r1+8], %rd2, %rd3; membar.gl; mul.f64 %fd1, %fd2, %fd3; add.f64 %fd1, "
      "%fd1, %fd2;"
      "shr.s16 %rs1, %rs2, %r3; mul.lo.u16 %rs1, %rs2, %rs3; min.f32 %f1, %f2, %f3; ret;");
  const auto unit = [&](Pc pc) { return std::make_pair(p.code[pc].unit, p.code[pc].latency); };
  EXPECT_EQ(p.code[0].width, Width::kWide);
  EXPECT_EQ(unit(0), std::make_pair(Unit::kSp, Latency::kIntMul));
  EXPECT_EQ(p.code[1].rounding, Rounding::kRz);
  EXPECT_TRUE(p.code[1].ftz && p.code[1].sat);
  EXPECT_EQ(unit(1), std::make_pair(Unit::kSp, Latency::kFloatFma));
  EXPECT_TRUE(p.code[2].full && p.code[2].ftz && !p.code[2].approx);
  EXPECT_EQ(unit(2), std::make_pair(Unit::kSfu, Latency::kFloatDiv));
  EXPECT_EQ(unit(3), std::make_pair(Unit::kSp, Latency::kIntDiv));
  EXPECT_EQ(unit(4), std::make_pair(Unit::kSfu, Latency::kDoubleDiv));
  EXPECT_EQ(unit(5), std::make_pair(Unit::kSfu, Latency::kSfu));
  EXPECT_EQ(unit(6), std::make_pair(Unit::kSfu, Latency::kDoubleDiv));
  EXPECT_EQ(p.code[7].compare, Compare::kGeu);
  EXPECT_EQ(p.code[7].combine, Combine::kXor);
  EXPECT_TRUE(p.code[7].src[2].negated);
  EXPECT_EQ(p.code[8].type, Type::kU16);
  EXPECT_EQ(p.code[8].from, Type::kF32);
  EXPECT_EQ(p.code[8].rounding, Rounding::kRzi);
  EXPECT_TRUE(p.code[9].to_space);
  EXPECT_EQ(p.code[9].space, Space::kShared);
  EXPECT_TRUE(p.code[10].is_volatile);
  EXPECT_EQ(p.code[10].vector, 4);
  EXPECT_EQ(unit(10).first, Unit::kMemory);
  EXPECT_TRUE(p.code[11].non_coherent);
  EXPECT_EQ(p.code[12].atomic, Atomic::kCas);
  EXPECT_FALSE(p.code[12].wide_address);
  EXPECT_EQ(p.code[12].offset, 8);
  EXPECT_EQ(unit(13).first, Unit::kControl);
  EXPECT_EQ(unit(14), std::make_pair(Unit::kSp, Latency::kDoubleMul));
  EXPECT_EQ(unit(15), std::make_pair(Unit::kSp, Latency::kDoubleAdd));
  EXPECT_EQ(unit(16), std::make_pair(Unit::kSp, Latency::kIntAdd));
  EXPECT_EQ(unit(17), std::make_pair(Unit::kSp, Latency::kIntMul));
  EXPECT_EQ(unit(18), std::make_pair(Unit::kSp, Latency::kFloatAdd));
  EXPECT_EQ(unit(19).first, Unit::kControl);
}

}  // namespace
}  // namespace weft::ptx::testing::operation_test
