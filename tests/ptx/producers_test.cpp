// PTX as producers other than nvcc and clang write it: what ptxas 13 accepts is accepted, what it refuses is
// refused. Values: tests/conformance.
#include "ptx/ptx_text.h"

namespace weft::ptx::testing::producers_test {
namespace {

// A kernel for PTX `version` and `target` with `symbols` before it.
Module module_for(const std::string& version, const std::string& target, const std::string& symbols,
                  const std::string& body) {
  return parse(
      ".version " + version + "\n.target " + target + "\n" + symbols +
          "\n.entry k(.param .u64 a, .param .u64 b) {\n .reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 "
          "%r<20>; .reg .b64 %rd<20>; .reg .f32 %f<9>; .reg .f64 %fd<9>;\n" +
          body + "\n}\n",
      "k.ptx");
}
Program decode_for(const std::string& version, const std::string& target, const std::string& body) {
  const Module module = module_for(version, target, "", body);
  return decode(module, "k", {});
}
void accepted(const std::string& body) {
  try {
    decode_body(body);
  } catch (const InputError& error) {
    ADD_FAILURE() << error.what();
  }
}
void refused(const std::string& body, const std::string& why) {
  const std::string message = message_of([&] { decode_body(body); });
  EXPECT_NE(message.find(why), std::string::npos) << body << ": " << message;
}

// --- Triton ---

TEST(Triton, AVectorOfOneElementIsThatElement) {
  const std::pair<const char*, const char*> types[] = {
      {"b8", "%rs1"},  {"u8", "%rs1"},  {"s8", "%rs1"},  {"b16", "%rs1"}, {"u16", "%rs1"},
      {"s16", "%rs1"}, {"b32", "%r1"},  {"u32", "%r1"},  {"s32", "%r1"},  {"f32", "%f1"},
      {"b64", "%rd1"}, {"u64", "%rd1"}, {"s64", "%rd1"}, {"f64", "%fd1"}};
  for (const auto& [type, reg] : types) {
    for (const std::string space :
         {".global", ".shared", ".local", "", ".volatile.global", ".relaxed.gpu.global"}) {
      const std::string address = space == ".shared" ? "[%r9]" : "[%rd9+8]";
      for (const char* guard : {"", "@%p1 ", "@!%p1 "}) {
        const std::string op = space + "." + type + " ";
        const Program with = decode_body(guard + ("ld" + op) + "{ " + reg + " }, " + address + "; " + guard +
                                         "st" + op + address + ", {" + reg + "};");
        const Program without = decode_body(guard + ("ld" + op) + reg + ", " + address + "; " + guard + "st" +
                                            op + address + ", " + reg + ";");
        ASSERT_EQ(with.code.size(), without.code.size()) << op;
        for (std::size_t pc = 0; pc < with.code.size(); ++pc) {
          EXPECT_EQ(with.code[pc].op, without.code[pc].op);
          EXPECT_EQ(with.code[pc].vector, 1);
          EXPECT_EQ(with.code[pc].dst[0], without.code[pc].dst[0]) << op;
          EXPECT_EQ(with.code[pc].src[1], without.code[pc].src[1]) << op;
        }
      }
    }
  }
  accepted("ld.param.u64 {%rd1}, [a]; st.global.b32 [%rd1], {5}; mov.b32 %r1, {%r2}; mov.b64 {%rd2}, %rd1;");
  refused("ld.global.b32 {%r1, %r2}, [%rd1];", "expected 1 destinations");
  refused("ld.global.v2.b32 {%r1}, [%rd1];", "expected 2 destinations");
  refused("atom.global.add.u32 {%r1}, [%rd1], %r2;", "");
  refused("mov.u32 {%r1}, %r2;", "does not make up a word");
  refused("add.u32 {%r1}, %r2, %r3;", "");
}

TEST(Triton, CacheHintsAreTakenWhereverTheyMayStand) {
  int count = 0;
  const auto both = [&](const std::string& text) {
    accepted(text);
    ++count;
  };
  for (const std::string l1 : {"", ".L1::evict_normal", ".L1::evict_unchanged", ".L1::evict_first",
                               ".L1::evict_last", ".L1::no_allocate"}) {
    for (const std::string policy : {"", ".L2::cache_hint"}) {
      const std::string operand = policy.empty() ? "" : ", %rd5";
      for (const std::string space :
           {".global", "", ".relaxed.gpu.global", ".acquire.sys.global", ".global.nc"}) {
        for (const std::string size : {"", ".L2::64B", ".L2::128B", ".L2::256B"}) {
          const std::string hints = space + l1 + policy + size;
          both("ld" + hints + ".b32 %r1, [%rd1]" + operand + ";");
          both("ld" + hints + ".v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]" + operand + ";");
        }
      }
      for (const std::string space : {".global", "", ".relaxed.gpu.global", ".release.gpu.global"}) {
        both("st" + space + l1 + policy + ".b32 [%rd1], %r1" + operand + ";");
        both("st" + space + l1 + policy + ".v2.b64 [%rd1], {%rd2, %rd3}" + operand + ";");
      }
    }
  }
  for (const std::string op : {"add", "min", "max", "exch"}) {
    const std::string type = op == "exch" ? ".b32" : ".u32";
    both("atom.global." + op + ".L2::cache_hint" + type + " %r1, [%rd1], %r2, %rd5;");
    both("atom.relaxed.gpu.global." + op + ".L2::cache_hint" + type + " _, [%rd1], 2, %rd5;");
    if (op != "exch") both("red.global." + op + ".L2::cache_hint" + type + " [%rd1], %r2, %rd5;");
  }
  for (const std::string size : {"", ".L2::128B"}) {
    for (const std::string more : {"", ", %r2", ", %p1"}) {
      both("cp.async.ca.shared.global.L2::cache_hint" + size + " [%r1], [%rd1], 4" + more + ", %rd5;");
      both("cp.async.cg.shared::cta.global" + size + " [%r1], [%rd1], 16" + more + ";");
    }
  }
  EXPECT_GT(count, 180);
  // A hint costs no instruction.
  EXPECT_EQ(decode_body("ld.global.L2::cache_hint.b32 %r1, [%rd1], %rd5; ret;").code.size(), 2u);

  refused("ld.global.L2::cache_hint.b32 %r1, [%rd1];", "expected 3");
  refused("ld.global.b32 %r1, [%rd1], %rd5;", "expected 2");
  refused("ld.global.L2::cache_hint.b32 %r1, [%rd1], %r5;", "of type .b32");
  refused("ld.shared.L2::cache_hint.b32 %r1, [%r2], %rd5;", "needs .global");
  refused("ld.volatile.global.L2::cache_hint.b32 %r1, [%rd1], %rd5;", ".volatile takes no");
  refused("ld.global.L1::evict_last.L1::evict_first.b32 %r1, [%rd1];", "contradicts");
  refused("ld.global.L1::foo.b32 %r1, [%rd1];", "found .L1::foo");
  refused("ld.global.L2::32B.b32 %r1, [%rd1];", "found .L2::32B");
  refused("ld.global.L2::evict_last.b32 %r1, [%rd1];", "32 bytes");
  refused("st.global.L2::128B.b32 [%rd1], %r1;", "found .L2::128B");
  refused("atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3, %rd5;", "takes no policy");
  refused("atom.shared.add.L2::cache_hint.u32 %r1, [%r1], %r2, %rd5;", "needs .global");
}

TEST(Triton, PoliciesAreMade) {
  for (const char* text :
       {"createpolicy.fractional.L2::evict_last.b64 %rd5, 1.0;",
        "createpolicy.fractional.L2::evict_first.b64 %rd5;",
        "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd5, 0.5;",
        "createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %rd5, %f1;",
        "createpolicy.range.L2::evict_last.L2::evict_first.b64 %rd5, [%rd1], 0x100000, 0x200000;",
        "createpolicy.range.global.L2::evict_last.b64 %rd5, [%rd1], %r1, %r2;",
        "createpolicy.cvt.L2.b64 %rd5, %rd6;",
        "prefetch.tensormap [%rd1]; prefetch.const.tensormap [%rd1];"}) {
    accepted(text);
  }
  refused("createpolicy.fractional.b64 %rd5;", "a priority such as");
  refused("createpolicy.cvt.L2.b64 %rd5;", "expected 2");
}

TEST(Triton, ParametersMayBeHidden) {
  const Module m = parse(
      module_of(".visible .entry k(.param .u64 a, .hidden .param .align 8 .b8 b[16]) { ret; }\n"), "m.ptx");
  const Program p = decode(m, "k", {});
  ASSERT_EQ(p.parameters.size(), 2u);
  EXPECT_EQ(p.parameters[1].offset, 8u);
  EXPECT_EQ(p.parameters[1].size, 16u);
}

// --- PTX 1.x and 2.x ---

TEST(OldPtx, PrototypesMayEndWithoutASemicolon) {
  const std::string body = "{ .reg .s32 %r<2>; ld.param.s32 %r1, [a]; st.param.s32 [r], %r1; ret; }\n";
  const std::string head = ".func (.param .s32 r) f(.param .s32 a)";
  const std::string call =
      ".visible .entry k() { .reg .s32 %r<2>; { .param .s32 x; .param .s32 y; st.param.s32 [x], 7; call (y), "
      "f, (x); "
      "ld.param.s32 %r1, [y]; } ret; }\n";
  for (const std::string linkage : {"", ".visible ", ".weak "}) {
    for (const std::string end :
         {"\n", ";\n", " // a comment\n", "\n.global .u32 g;\n", "\n.file 1 \"f.cu\"\n",
          "\n.const .u32 c = 1;\n", "\n.visible .func h\n.extern .func i;\n"}) {
      const Module m = parse(module_of(linkage + head + end + linkage + head + "\n" + body + call), "m.ptx");
      EXPECT_GT(decode(m, "k", {{"f", kFunctionBase}, {"g", 0x1000}, {"c", 0x2000}}).code.size(), 4u) << end;
    }
  }
  parse(module_of(".extern .func f(.param .u32 a)"), "m.ptx");  // the end of the text
  EXPECT_NE(message_of([] {
              parse(module_of(".entry k()\n.entry k() { ret; }\n"), "m.ptx");
            }).find("expected a performance directive"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              parse(module_of(".func f()\nadd.u32"), "m.ptx");
            }).find("expected a performance directive"),
            std::string::npos);
}

TEST(OldPtx, IndicesAndSizesAreReadAs16Bits) {
  for (const std::string name : {"%tid", "%ntid", "%ctaid", "%nctaid"}) {
    for (const char* axis : {".x", ".y", ".z"}) {
      for (const char* type : {"u16", "s16", "b16"}) {
        const Program p = decode_body("mov." + std::string(type) + " %rs1, " + name + axis + "; ret;");
        EXPECT_EQ(p.code[0].src[0].kind, Operand::Kind::kRow);
        EXPECT_EQ(p.code.size(), 2u);
      }
      accepted("cvt.u32.u16 %r1, " + name + axis + "; cvt.s32.s16 %r2, " + name + axis +
               "; cvt.u64.u16 %rd1, " + name + axis + "; cvt.u32.u8 %r3, " + name + axis +
               "; cvt.u64.u32 %rd2, " + name + axis + ";");
    }
  }
  accepted("mov.u16 %rs1, %gridid; cvt.u32.u16 %r1, %laneid; cvt.u32.u16 %r1, %smid;");
  refused("mov.u16 %rs1, %laneid;", "has 32 bits");
  refused("mov.u16 %rs1, %clock;", "has 32 bits");
  refused("mov.u64 %rd1, %tid.x;", "has 32 bits");
}

TEST(OldPtx, TexturesTakeMoreCoordinatesThanTheyUse) {
  const std::pair<const char*, int> geometries[] = {{"1d", 1}, {"2d", 2}, {"3d", 3}, {"a1d", 2}, {"a2d", 3}};
  const std::string texels = "{%f1, %f2, %f3, %f4}";
  for (const auto& [geometry, used] : geometries) {
    const bool layered = geometry[0] == 'a';
    for (int width : {1, 2, 4}) {
      std::string list;
      for (int i = 0; i < width; ++i)
        list += std::string(i != 0 ? ", " : "{") + (layered && i == 0 ? "%r1" : "%f5");
      const std::string text =
          "tex." + std::string(geometry) + ".v4.f32.f32 " + texels + ", [%rd1, " + list + "}];";
      if (width >= used)
        accepted(text);
      else
        refused(text, "coordinates, expected");
    }
  }
  accepted("tex.2d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r1, %r2, %r3, %r4}];");
  accepted("tex.level.2d.v4.f32.f32 " + texels + ", [%rd1, " + texels + "], %f5;");
  accepted("tld4.r.2d.v4.f32.f32 " + texels + ", [%rd1, " + texels + "];");
  refused("tex.2d.v4.f32.f32 " + texels + ", [%rd1, {%f1, %f2, %f3}];", "3 coordinates, expected 2");
  refused("suld.b.2d.b32 {%r1}, [%rd1, {%r1, %r2, %r3, %r4}];", "4 coordinates, expected 2");
}

TEST(OldPtx, TexturesAreDeclaredInASpaceOfTheirOwn) {
  for (const char* type : {".u32", ".u64"}) {
    const Module m = module_for("1.4", "sm_10", std::string(".tex ") + type + " t;",
                                "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2, %f3, %f4}];");
    EXPECT_EQ(m.variables.at(0).opaque, Opaque::kTexture);
    EXPECT_EQ(m.variables.at(0).size, 8u);
    EXPECT_EQ(decode(m, "k", {{"t", 0x1000}}).code[0].op, Opcode::kTex);
  }
}

TEST(OldPtx, LocalVariablesAtModuleScopeBelongToTheThread) {
  const std::string symbols =
      ".local .u32 A;\n.local .align 16 .b8 B[64];\n.func f { .reg .u32 %r; ld.local.u32 %r, [B+4]; ret; }";
  const Module m = module_for("2.3", "sm_20", symbols,
                              ".local .u32 own; mov.u32 %r1, A; mov.u64 %rd1, B; st.local.u32 [%r1], 7; "
                              "st.local.u32 [own], 8; call f; "
                              "ld.local.u32 %r2, [A];");
  const Program p = decode(m, "k", {{"f", kFunctionBase}});
  EXPECT_GE(p.local_bytes, 84u);
  int found = 0;
  for (const Instruction& i : p.code) {
    if (i.space != Space::kLocal || i.src[0].kind != Operand::Kind::kNone) continue;
    found |= i.op == Opcode::kSt && i.offset == 80 ? 1 : 0;  // own
    found |= i.op == Opcode::kLd && i.offset == 20 ? 2 : 0;  // B + 4, in the function
    found |= i.op == Opcode::kLd && i.offset == 0 ? 4 : 0;   // A
  }
  EXPECT_EQ(found, 7);
  const std::string message = message_of([] { module_for("3.0", "sm_20", ".local .u32 A;", ""); });
  EXPECT_NE(message.find("needs PTX below 3.0"), std::string::npos) << message;
}

TEST(OldPtx, MadNeedsNoRoundingUpToVersion31) {
  for (const char* version : {"1.4", "2.3", "3.0", "3.1"}) {
    const Program p =
        decode_for(version, "sm_20", "mad.f32 %f1, %f2, %f3, %f4; mad.ftz.sat.f32 %f1, %f2, %f3, %f4; ret;");
    EXPECT_EQ(p.code[0].op, Opcode::kFma);
    EXPECT_FALSE(p.code[0].ftz);
    EXPECT_TRUE(p.code[1].ftz && p.code[1].sat);
    EXPECT_NE(
        message_of([&] { decode_for(version, "sm_20", "mad.f64 %fd1, %fd2, %fd3, %fd4;"); }).find("rounding"),
        std::string::npos);
    EXPECT_NE(
        message_of([&] { decode_for(version, "sm_20", "fma.f32 %f1, %f2, %f3, %f4;"); }).find("rounding"),
        std::string::npos);
  }
  for (const char* version : {"3.2", "4.0", "8.7"}) {
    EXPECT_NE(
        message_of([&] { decode_for(version, "sm_20", "mad.f32 %f1, %f2, %f3, %f4;"); }).find("rounding"),
        std::string::npos);
  }
}

TEST(OldPtx, TargetsBelowSm20KnowNoSubnormalNumbersOfF32) {
  const std::string body =
      "add.f32 %f1, %f2, %f3; sub.f32 %f1, %f2, %f3; mul.f32 %f1, %f2, %f3; mad.f32 %f1, %f2, %f3, %f4; "
      "div.full.f32 %f1, %f2, %f3; "
      "abs.f32 %f1, %f2; neg.f32 %f1, %f2; min.f32 %f1, %f2, %f3; max.f32 %f1, %f2, %f3; rcp.approx.f32 %f1, "
      "%f2; sqrt.approx.f32 %f1, "
      "%f2; rsqrt.approx.f32 %f1, %f2; sin.approx.f32 %f1, %f2; cos.approx.f32 %f1, %f2; lg2.approx.f32 %f1, "
      "%f2; ex2.approx.f32 %f1, "
      "%f2; setp.lt.f32 %p1, %f1, %f2; set.lt.u32.f32 %r1, %f1, %f2; cvt.rzi.s32.f32 %r1, %f1; cvt.f32.f32 "
      "%f1, %f2;";
  for (const char* target : {"sm_10", "sm_11", "sm_12", "sm_13", "sm_13, map_f64_to_f32"}) {
    const Program p = decode_for("1.4", target, body);
    for (std::size_t pc = 0; pc < 20; ++pc) EXPECT_TRUE(p.code[pc].ftz) << target << " " << pc;
  }
  for (const char* target : {"sm_20", "sm_100"}) {
    const Program p = decode_for("3.0", target, body);
    for (std::size_t pc = 0; pc < 20; ++pc) EXPECT_FALSE(p.code[pc].ftz) << target << " " << pc;
  }
  EXPECT_FALSE(
      decode_for("1.4", "sm_13", "mov.f32 %f1, %f2; add.f64 %fd1, %fd2, %fd3; add.u32 %r1, %r2, %r3; ret;")
          .code[0]
          .ftz);
}

// --- newer ---

TEST(NewerPtx, ALaunchWithoutClustersSaysSo) {
  for (const std::string name : {"%cluster_ctaid", "%cluster_nctaid", "%clusterid", "%nclusterid"}) {
    for (const char* axis : {".x", ".y", ".z"}) accepted("mov.u32 %r1, " + name + axis + ";");
  }
  const Program p = decode_body(
      "mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %clusterid.y; mov.u32 "
      "%r4, %nclusterid.z; mov.pred "
      "%p1, %is_explicit_cluster; mov.u32 %r5, %aggr_smem_size; mov.u64 %rd1, %current_graph_exec; ret;");
  const auto constant = [&](Pc pc) { return p.constants.at(p.code[pc].src[0].index).lanes[0]; };
  EXPECT_EQ(constant(0), 1u);
  EXPECT_EQ(constant(1), 0u);
  const auto special = [&](Pc pc) {
    return p.special_rows.at((p.code[pc].src[0].index - p.register_rows) / 2u);
  };
  EXPECT_EQ(special(2), Special::kCtaidY);
  EXPECT_EQ(special(3), Special::kNctaidZ);
  refused("mov.u64 %rd1, %cluster_nctarank;", "has 32 bits");
  refused("mov.u32 %r1, %cluster_foo;", "is not declared");
}

TEST(NewerPtx, BarriersOfClustersAreThoseOfTheBlock) {
  for (const char* arrive : {"", ".release", ".relaxed"}) {
    for (const char* aligned : {"", ".aligned"}) {
      const Program p = decode_body("barrier.cluster.arrive" + std::string(arrive) + aligned +
                                    "; barrier.cluster.wait" + aligned + "; ret;");
      ASSERT_EQ(p.code.size(), 2u);
      EXPECT_TRUE(p.code[0].is_barrier());
    }
  }
  const std::string text = module_of(
      ".entry k() .reqnctapercluster 2, 1, 1 { ret; }\n.entry one() .explicitcluster .reqnctapercluster 1 { "
      "ret; }\n");
  const Module m = parse(text, "m.ptx");
  EXPECT_EQ(decode(m, "one", {}).code.size(), 1u);
  const std::string message = message_of([&] { decode(m, "k", {}); });
  EXPECT_NE(message.find("m.ptx:4:8: kernel 'k' needs clusters of several blocks"), std::string::npos)
      << message;
}

TEST(NewerPtx, PrototypesMayNamePreservedRegisters) {
  const Program p = decode_body(
      "{ p: .callprototype _ (.param .u32 x) .abi_preserve 4 .abi_preserve_control 2 .noreturn; } ret;");
  EXPECT_EQ(p.code.size(), 1u);
}

TEST(NewerPtx, WhatHasNoEffectIsTaken) {
  for (const std::string text :
       {"griddepcontrol.wait;", "griddepcontrol.launch_dependents;", "pmevent 7;", "pmevent.mask 0x1;",
        "setmaxnreg.inc.sync.aligned.u32 40;", "setmaxnreg.dec.sync.aligned.u32 40;"}) {
    EXPECT_EQ(decode_body(text + " ret;").code.size(), 1u) << text;
  }
  for (const std::string text :
       {"fence.proxy.alias;", "fence.proxy.async;", "fence.proxy.async.global;",
        "fence.proxy.async.shared::cta;", "fence.proxy.async.shared::cluster;",
        "fence.proxy.tensormap::generic.release.gpu;",
        "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;", "fence.mbarrier_init.release.cluster;",
        "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;",
        "fence.acquire.sync_restrict::shared::cluster.cluster;", "fence.acquire.gpu;", "fence.release.cta;",
        "membar.proxy.alias;"}) {
    EXPECT_EQ(decode_body(text + " ret;").code[0].op, Opcode::kMembar) << text;
  }
  accepted(
      "discard.global.L2 [%rd1], 128; discard.L2 [%rd1], 128; mapa.shared::cluster.u32 %r1, %r2, %r3; "
      "mapa.u64 %rd1, %rd2, 0;");
  accepted(
      "getctarank.shared::cluster.u32 %r1, %r2; getctarank.u64 %r1, %rd1; ld.shared::cluster.u32 %r1, "
      "[%r2];");
  accepted(
      "st.shared::cluster.u32 [%r2], %r1; atom.shared::cluster.add.u32 %r1, [%r2], %r3; "
      "isspacep.shared::cluster %p1, %rd1;");
  accepted(
      "ldu.global.u32 %r1, [%rd1]; ldu.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; ld.mmio.relaxed.sys.global.u32 "
      "%r1, [%rd1];");
  refused("pmevent 16;", "allowed: 0 to 15");
  refused("discard.global.L2 [%rd1], 64;", "128");
  refused("fence.proxy.generic;", "expected one of .alias, .async");
  refused("fence;", "expected one of .cta");
  refused("mapa.u64 %rd1, %rd2, 1;", "rank 0 only");
}

TEST(NewerPtx, WideAccessesAreOfGlobalMemory) {
  const std::string eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", four = "{%rd1, %rd2, %rd3, %rd4}";
  for (const std::string space : {"", ".global", ".volatile.global", ".relaxed.gpu.global", ".global.nc"}) {
    const Program p = decode_body("ld" + space + ".v8.b32 " + eight + ", [%rd9+32]; ret;");
    ASSERT_EQ(p.code.size(), 3u);
    EXPECT_EQ(p.code[0].vector, 4);
    EXPECT_EQ(p.code[1].offset, 48);
    accepted("ld" + space + ".v4.u64 " + four + ", [%rd9];");
  }
  accepted("ld.global.v8.b32 {%r1, _, %r3, _, %r5, _, _, _}, [%rd9]; st.v4.s64 [%rd9], " + four + ";");
  accepted("ld.global.L1::no_allocate.L2::evict_last.L2::256B.v8.b32 " + eight + ", [%rd9];");
  refused("ld.shared.v8.b32 " + eight + ", [%r9];", "needs .global");
  refused("st.local.v4.b64 [%rd9], " + four + ";", "needs .global");
  refused("ld.global.v8.u16 " + eight + ", [%rd9];", "needs a type of 32 bits");
  refused("ld.global.v8.u64 " + eight + ", [%rd9];", "at most 16 bytes");
  refused("ldu.global.v8.b32 " + eight + ", [%rd9];", "at most 16 bytes");
}

TEST(NewerPtx, AtomicVectors) {
  accepted("red.global.add.v2.f32 [%rd1], {%f1, %f2}; red.global.v4.f32.add [%rd1], {%f1, %f2, %f3, %f4};");
  accepted(
      "atom.global.add.v2.f32 {%f1, _}, [%rd1], {%f1, %f2}; red.global.max.noftz.v4.bf16x2 [%rd1], {%r1, "
      "%r2, %r3, %r4};");
  accepted(
      "red.global.min.noftz.v2.f16 [%rd1], {%rs1, %rs2}; atom.relaxed.sys.global.add.L2::cache_hint.v2.f32 "
      "{%f1, %f2}, [%rd1], "
      "{%f1, %f2}, %rd5;");
  refused("red.shared.add.v2.f32 [%r1], {%f1, %f2};", "needs .global");
  refused("red.global.add.v2.u32 [%rd1], {%r1, %r2};", "expected one of .f32");
  refused("red.global.min.v2.f32 [%rd1], {%f1, %f2};", "added only");
  refused("red.global.add.v8.f32 [%rd1], {%f1, %f2};", "at most 16 bytes");
  refused("red.global.min.noftz.f16 [%rd1], %rs1;", "need a vector");
  refused("red.global.add.v2.f32 [%rd1], {%f1, %f2, %f3};", "expected 2 values");
}

TEST(NewerPtx, ArithmeticAndConversions) {
  accepted(
      "add.f32x2 %rd1, %rd2, %rd3; mul.rn.ftz.f32x2 %rd1, %rd2, %rd3; sub.rz.f32x2 %rd1, %rd2, %rd3; "
      "fma.rp.f32x2 %rd1, %rd2, %rd3, %rd4;");
  accepted(
      "cvt.rna.tf32.f32 %r1, %f1; cvt.rna.satfinite.tf32.f32 %r1, %f1; cvt.rz.relu.tf32.f32 %r1, %f1; "
      "cvt.rn.satfinite.relu.tf32.f32 %r1, %f1;");
  accepted(
      "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2; cvt.rn.relu.satfinite.e5m2x2.f32 %rs1, %f1, 0f3f800000; "
      "cvt.rn.satfinite.relu.e4m3x2.f16x2 %rs1, %r1;");
  accepted(
      "cvt.rn.f16x2.e4m3x2 %r1, %rs1; cvt.rn.relu.f16x2.e5m2x2 %r1, %rs1; cvt.rn.satfinite.f16.f32 %rs1, "
      "%f1; cvt.rz.satfinite.bf16x2.f32 %r1, %f1, %f2;");
  accepted(
      "cvt.rz.satfinite.ue8m0x2.f32 %rs1, %f1, %f2; cvt.rp.ue8m0x2.bf16x2 %rs1, %r1; cvt.rn.bf16x2.ue8m0x2 "
      "%r1, %rs1;");
  refused("add.sat.f32x2 %rd1, %rd2, %rd3;", "takes no .sat");
  refused("fma.f32x2 %rd1, %rd2, %rd3, %rd4;", "rounding modifier is missing");
  refused("max.f32x2 %rd1, %rd2, %rd3;", ".f32x2");
  refused("cvt.rn.e5m2x2.f32 %rs1, %f1, %f2;", "expected .rn.satfinite");
  refused("cvt.rn.satfinite.e4m3x2.bf16x2 %rs1, %r1;", "made from .f32 or .f16x2");
  refused("cvt.rm.satfinite.f16.f32 %rs1, %f1;", ".satfinite needs");
  refused("cvt.rna.bf16.f32 %rs1, %f1;", ".rna needs .tf32");
  refused("cvt.rm.tf32.f32 %r1, %f1;", "expected .rna");
  refused("{ .reg .f32x2 x; add.f32x2 x, x, x; }", "expected a type");
}

TEST(NewerPtx, ScalarVideo) {
  accepted(
      "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1; vsub.u32.s32.s32 %r1.h0, %r2, %r3, %r4; vmin.s32.s32.u32 "
      "%r1.b3, %r2, 5, %r4;");
  accepted(
      "vadd.s32.s32.s32.min.sat %r1, %r2, %r3, %r4; vshl.s32.s32.u32.sat.wrap.add %r1, %r2.h0, %r3, %r4; "
      "vshr.s32.s32.u32.clamp.sat %r1, %r2, %r3;");
  accepted(
      "vmad.s32.s32.u32.sat %r1, -%r2.h0, -%r3.b1, %r4; vmad.u32.u32.u32.po.sat.shr7 %r1, %r2, %r3, %r4; "
      "vmad.s32.s32.s32 %r1, %r2, %r3, -5;");
  accepted("vset.s32.u32.ge.add %r1, %r2, %r3.h1, %r4; vset.s32.u32.eq %r1.b2, %r2, %r3.h1, %r4;");
  refused("vmax.s32.s32.u32.max %r1.b3, %r2, %r3, %r4;", "a second operation is not allowed");
  refused("vmad.s32.s32.u32.sat %r1, -%r2, %r3, -%r4;", "either the product");
  refused("vmad.u32.u32.u32.po %r1, %r2, %r3, -%r4;", "not with .po");
  refused("vadd.u32.u32.u32 %r1, -%r2, %r3;", "only vmad");
  refused("vadd.u32.u32.u32 %r1, %r2.b4, %r3;",
          "masks and selectors of registers, here .b4, are not executable yet");
  refused("vadd.u32.u32.u32 %r1.h0, %r2, %r3;", "expected 4");
  refused("vshr.u32.u32.u32 %r1, %r2, %r3;", ".clamp or .wrap");
  refused("vset.s32.u32.lo %r1, %r2, %r3;", "expected one of .eq");
  refused("add.u32 %r1, %r2, -%r3;", "only vmad");
}

}  // namespace
}  // namespace weft::ptx::testing::producers_test
