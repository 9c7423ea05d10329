// Calls on the SM: threads that part in functions meet again where they must, so that every instruction is
// issued as few times as the structure of the program says. The counts follow from the sizes of the program's
// parts.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::call_test {
namespace {

const char* const kHeader = ".version 7.0\n.target sm_70\n.address_size 64\n";

std::string kernel_with(const std::string& functions, const std::string& body) {
  return std::string(kHeader) + functions +
         ".visible .entry k(.param .u64 out) {\n .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"
         " ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, "
         "%rd2;\n" +
         body + " st.global.u32 [%rd1], %r2;\n ret;\n}\n";
}

std::string function(const std::string& name, const std::string& operation) {
  return ".func (.param .b32 r) " + name +
         "(.param .b32 x) {\n .reg .b32 %r<3>;\n ld.param.b32 %r1, [x];\n " + operation +
         " %r2, %r1, 7;\n st.param.b32 [r], %r2;\n ret;\n}\n";
}

struct Counts {
  double warp = 0, thread = 0;
  std::vector<std::uint32_t> out;
  ptx::Program program;
};

// One warp of 32 threads.
Counts run(const std::string& ptx, const std::string& dependence) {
  GpuBench bench({"sm.count=1", "sm.dependence=" + dependence});
  const auto out = bench.zeros(128);
  auto& module = bench.device.load_module(ptx, "k.ptx");
  bench.device.launch(module, "k", {1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out));
  bench.device.synchronise();
  return {bench.sum_over_sms("warp_instructions"), bench.sum_over_sms("thread_instructions"),
          bench.read(out, 32), bench.device.program(module, "k")};
}

double size_of(const ptx::FunctionCode& function) {
  return function.last - function.first + 1;
}

class Calls : public ::testing::TestWithParam<const char*> {};

// Even threads call one function, odd ones another; both come back to the instruction behind the call
// together.
TEST_P(Calls, ADivergentCallReconvergesBehindIt) {
  const Counts counts =
      run(kernel_with(function("f", "add.u32") + function("g", "mul.lo.u32"),
                      "mov.u64 %rd3, f; mov.u64 %rd4, g; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0;\n"
                      "selp.b64 %rd5, %rd3, %rd4, %p1;\n"
                      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
                      "p: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), %rd5, (a), p;\n"
                      "ld.param.b32 %r2, [b]; }\n"),
          GetParam());
  ASSERT_EQ(counts.program.functions.size(), 2u);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(counts.out[t], t % 2 == 0 ? t + 7 : t * 7);
  const double all = static_cast<double>(counts.program.code.size());
  const double f = size_of(counts.program.functions[0]), g = size_of(counts.program.functions[1]);
  EXPECT_EQ(counts.warp, all) << "every instruction once";
  EXPECT_EQ(counts.thread, 32 * (all - f - g) + 16 * f + 16 * g);
}

// Both arms call the same function: it runs once for each, and the arms meet behind the branch.
TEST_P(Calls, TheSameFunctionFromBothArms) {
  const std::string call =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call (b), f, (a); ld.param.b32 %r2, [b]; }\n";
  const Counts counts =
      run(kernel_with(function("f", "add.u32"), "setp.lt.u32 %p1, %r1, 5; mov.u32 %r4, 100;\n@%p1 bra A;\n" +
                                                    call + "bra B;\nA: mov.u32 %r4, 200;\n" + call + "B:\n"),
          GetParam());
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(counts.out[t], t < 5 ? 207u : 107u);
  const double all = static_cast<double>(counts.program.code.size()),
               f = size_of(counts.program.functions[0]);
  EXPECT_EQ(counts.warp, all + f);
}

// f(n) calls f(n - 1) while n > 0, n = thread % 4: calls at depths 1 to 4, with 32, 24, 16 and 8 threads.
TEST_P(Calls, ARecursiveFunctionReconvergesAtEachDepth) {
  const Counts counts = run(
      kernel_with(
          ".func (.param .b32 r) f(.param .b32 n) {\n .reg .pred %p<2>; .reg .b32 %r<4>;\n"
          " ld.param.b32 %r1, [n]; mov.u32 %r3, 1; setp.eq.u32 %p1, %r1, 0;\n @%p1 bra END;\n"
          " sub.u32 %r2, %r1, 1;\n"
          " { .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r3, [b]; "
          "}\n"
          " add.u32 %r3, %r3, %r1;\nEND: st.param.b32 [r], %r3;\n ret;\n}\n",
          "and.b32 %r5, %r1, 3;\n{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r5; call (b), f, (a);\n"
          "ld.param.b32 %r2, [b]; }\n"),
      GetParam());
  const std::uint32_t sums[] = {1, 2, 4, 7};
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(counts.out[t], sums[t % 4]);
  const ptx::FunctionCode& f = counts.program.functions[0];
  ptx::Pc branch = f.first;
  while (!counts.program.code[branch].is_branch()) ++branch;
  const ptx::Pc join = counts.program.code[branch].reconvergence;
  ASSERT_EQ(counts.program.code[branch].target, join);
  const double begin = branch - f.first + 1, body = join - branch - 1, end = f.last - join + 1;
  const double kernel = static_cast<double>(counts.program.code.size()) - size_of(f);
  EXPECT_EQ(counts.warp, kernel + 4 * (begin + end) + 3 * body);
  EXPECT_EQ(counts.thread, 32 * kernel + (32 + 24 + 16 + 8) * (begin + end) + (24 + 16 + 8) * body);
}

// Threads end inside of a function; the others come back together.
TEST_P(Calls, ThreadsThatExitInAFunctionAreNotWaitedFor) {
  const Counts counts =
      run(kernel_with(".func (.param .b32 r) f(.param .b32 n) {\n .reg .pred %p<2>; .reg .b32 %r<4>;\n"
                      " ld.param.b32 %r1, [n]; setp.lt.u32 %p1, %r1, 10;\n @%p1 bra GO;\n exit;\n"
                      "GO: add.u32 %r1, %r1, 1; st.param.b32 [r], %r1;\n ret;\n}\n",
                      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a);\n"
                      "ld.param.b32 %r2, [b]; }\nbar.sync 0;\n"),
          GetParam());
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(counts.out[t], t < 10 ? t + 1 : 0);
  EXPECT_EQ(counts.warp, static_cast<double>(counts.program.code.size()));
}

INSTANTIATE_TEST_SUITE_P(Models, Calls, ::testing::Values("barrel", "scoreboard"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace weft::test::call_test
