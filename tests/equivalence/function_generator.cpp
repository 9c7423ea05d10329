#include "equivalence/function_generator.h"

namespace weft::test {
namespace {

// Arguments a, b, level and the result, passed as nvcc does.
const char* const kSignature = "(.param .b32 r) ";
const char* const kParameters = "(.param .b32 a, .param .b32 b, .param .b32 level)";

std::string pass(const std::string& a, const std::string& b, const std::string& level) {
  return "  { .param .b32 x; .param .b32 y; .param .b32 z; .param .b32 v;\n  st.param.b32 [x], " + a +
         "; st.param.b32 [y], " + b + "; st.param.b32 [z], " + level + ";\n";
}

}  // namespace

std::string FunctionGenerator::functions() {
  std::string text;
  if (meets_) {
    text +=
        ".func meet(.param .b32 a) {\n  .reg .pred %p<2>; .reg .b32 %r<4>;\n  ld.param.b32 %r1, [a];\n"
        "  and.b32 %r1, %r1, 31; setp.eq.u32 %p1, %r1, " +
        std::to_string(below(2) == 0 ? 32 : below(32)) + ";\n  @%p1 exit;\n  bar.sync 0;\n  ret;\n}\n";
  }
  if (!called_) return text;
  for (unsigned f = 0; f < kFunctions; ++f) {
    text += std::string(".func ") + kSignature + "f" + std::to_string(f) + kParameters + ";\n";
  }
  for (unsigned f = 0; f < kFunctions; ++f) text += function(f);
  if (!quits_) return text;
  text += std::string(".func ") + kSignature + "quits" + kParameters +
          " {\n  .reg .pred %p<2>; .reg .b32 %r<8>;\n  ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];\n"
          "  and.b32 %r3, %r1, 31; setp.eq.u32 %p1, %r3, " +
          std::to_string(below(32)) +
          ";\n  @%p1 exit;\n  add.u32 %r4, %r1, %r2; st.param.b32 [r], %r4;\n  ret;\n}\n";
  return text;
}

// %r1 = a, %r2 = b, %r3 = level, %r4 = what is computed; each function may keep values in local memory.
std::string FunctionGenerator::function(unsigned which) {
  std::string text = std::string(".func ") + kSignature + "f" + std::to_string(which) + kParameters +
                     " {\n  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;\n";
  const bool keeps = below(2) != 0;
  if (keeps) text += "  .local .align 8 .b8 kept[16];\n";
  text += "  ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b]; ld.param.b32 %r3, [level];\n";
  text += "  mad.lo.u32 %r4, %r1, " + number() + ", %r2;\n";
  if (keeps) text += "  mov.u32 %r20, kept; st.local.u32 [%r20+4], %r4;\n";
  const std::string early = std::to_string(below(7));
  text += "  setp.eq.u32 %p1, %r3, 0; st.param.b32 [r], %r4;\n  @%p1 ret;\n  sub.u32 %r3, %r3, 1;\n";
  constexpr unsigned kSteps = 3;
  for (unsigned i = 0; i < kSteps; ++i) {
    const Choices::Span span(choices_);
    if (below(4) == 0) break;
    text += step();
  }
  if (keeps) text += "  ld.local.u32 %r21, [%r20+4]; xor.b32 %r4, %r4, %r21;\n";
  text +=
      "  and.b32 %r5, %r4, 7; setp.eq.u32 %p2, %r5, " + early +
      "; st.param.b32 [r], %r4;\n  @%p2 ret;\n  add.u32 %r4, %r4, %r2; st.param.b32 [r], %r4;\n  ret;\n}\n";
  return text;
}

// Straight code, a branch with a call in one arm or in both, or a loop around a call.
std::string FunctionGenerator::step() {
  const std::string other = "M" + std::to_string(labels_++), join = "M" + std::to_string(labels_++);
  const std::string condition = "  and.b32 %r6, %r" + std::to_string(1 + below(2)) + ", " +
                                std::to_string((2u << below(3)) - 1) + "; setp.lt.u32 %p3, %r6, " +
                                std::to_string(1 + below(4)) + ";\n";
  switch (below(4)) {
    case 0:
      return "  shf.l.wrap.b32 %r4, %r4, %r4, 5; add.u32 %r4, %r4, " + number() + ";\n";
    case 1: {
      std::string text = condition + "  @%p3 bra " + other + ";\n" + inner_call("%r4") + "  bra " + join +
                         ";\n" + other + ":\n";
      text += below(2) != 0 ? inner_call("%r4") : "  sub.u32 %r4, %r4, %r1;\n";
      return text + join + ":\n";
    }
    case 2: {  // at most twice around
      return "  and.b32 %r7, %r1, 1;\n" + other + ":\n" + inner_call("%r4") +
             "  setp.ne.u32 %p4, %r7, 0; sub.u32 %r7, %r7, 1;\n  @%p4 bra " + other + ";\n";
    }
    default:  // PTX lets a call have a guard
      return condition + pass("%r4", "%r2", "%r3") + "  @%p3 call (v), " + callee() +
             ", (x, y, z);\n  @%p3 ld.param.b32 %r4, [v]; }\n";
  }
}

std::string FunctionGenerator::inner_call(const std::string& result) {
  std::string text = pass("%r4", "%r1", "%r3");
  if (below(3) == 2) {
    const std::string prototype = "p" + std::to_string(labels_++);
    text +=
        "  and.b32 %r8, %r4, 3; mov.u64 %rd1, f0; mov.u64 %rd2, f1; mov.u64 %rd3, f2;\n"
        "  setp.eq.u32 %p5, %r8, 1; selp.b64 %rd4, %rd1, %rd2, %p5;\n"
        "  setp.eq.u32 %p5, %r8, 2; selp.b64 %rd4, %rd3, %rd4, %p5;\n  " +
        prototype +
        ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _, .param .b32 _);\n"
        "  call (v), %rd4, (x, y, z), " +
        prototype + ";\n";
  } else {
    text += "  call (v), " + callee() + ", (x, y, z);\n";
  }
  return text + "  ld.param.b32 " + result + ", [v]; }\n";
}

std::string FunctionGenerator::call(const std::string& result, const std::string& a, const std::string& b,
                                    const std::string& guard, bool may_exit) {
  std::string text = pass(a, b, std::to_string(below(kLevels)));
  const unsigned kind = below(4);
  called_ = true;
  quits_ |= may_exit && kind == 1;
  if (kind == 3) {  // through a register, to different functions
    text += "  mov.u64 %rd20, " + callee() + "; mov.u64 %rd21, " + callee() + "; and.b32 %r36, " + a +
            ", 1; setp.eq.u32 %p6, %r36, 0; selp.b64 %rd22, %rd20, %rd21, %p6;\n  list" +
            std::to_string(labels_) + ": .calltargets f0, f1, f2;\n  " + guard +
            "call (v), %rd22, (x, y, z), list" + std::to_string(labels_) + ";\n";
    ++labels_;
  } else {
    text += "  " + guard + "call (v), " + (may_exit && kind == 1 ? "quits" : callee()) + ", (x, y, z);\n";
  }
  return text + "  " + guard + "ld.param.b32 " + result + ", [v]; }\n";
}

std::string FunctionGenerator::meet(const std::string& a) {
  meets_ = true;
  return "  { .param .b32 x; st.param.b32 [x], " + a + ";\n  call meet, (x); }\n";
}

}  // namespace weft::test
