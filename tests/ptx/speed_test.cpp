// Parsing and decoding stay fast on large modules. Times are processor time, so that a busy machine does not
// matter.
#include <ctime>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing {
namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A kernel as an unrolling compiler writes it: `values` virtual registers, of which about `live` live at
// once.
std::string unrolled(int values, int live) {
  std::string body = ".reg .f32 %v<" + std::to_string(values) + ">;\n";
  for (int i = 0; i < values; ++i) {
    const std::string v = "%v" + std::to_string(i);
    if (i < live) {
      body += "ld.global.f32 " + v + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    } else {
      body +=
          "fma.rn.f32 " + v + ", %v" + std::to_string(i - live) + ", %f1, %v" + std::to_string(i - 1) + ";\n";
    }
  }
  for (int i = values - live; i < values; ++i) body += "st.global.f32 [%rd1], %v" + std::to_string(i) + ";\n";
  return body + "ret;";
}

bool optimised() {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

TEST(Speed, TenMegabytesParseInASecond) {
  const std::string kernel = kernel_of(unrolled(300, 20)).substr(module_of("").size());
  std::string text = module_of("");
  for (int n = 0; text.size() < 10'000'000; ++n) {
    std::string copy = kernel;
    copy.replace(copy.find(" k("), 2, " k" + std::to_string(n));
    text += copy;
  }
  const double begin = cpu_seconds();
  const Module module = parse(text, "big.ptx");
  const double seconds = cpu_seconds() - begin;
  RecordProperty("milliseconds", static_cast<int>(seconds * 1e3));
  EXPECT_GT(module.kernels.size(), 500u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, ManySymbolsStayLinear) {
  std::string text = module_of("");
  for (int i = 0; i < 20'000; ++i) text += ".global .u32 v" + std::to_string(i) + " = 1;\n";
  for (int i = 0; i < 2'000; ++i) {
    text += ".entry k" + std::to_string(i) + "() { .reg .b64 %r<2>; mov.u64 %r1, v" + std::to_string(i) +
            "; ret; }\n";
  }
  const double begin = cpu_seconds();
  const Module module = parse(text, "symbols.ptx");
  const std::string listing = describe(module);
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(module.variables.size(), 20'000u);
  EXPECT_EQ(listing.find("cannot"), std::string::npos);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, TwentyThousandVirtualRegistersDecodeInASecond) {
  const Module module = parse(kernel_of(unrolled(20'000, 200)), "unrolled.ptx");
  const double begin = cpu_seconds();
  const Program program = decode(module, "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_GE(program.virtual_registers, 20'000u);
  EXPECT_LE(program.registers_per_thread, 210u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, ManyBlocksDecodeInASecond) {
  // 5,000 diamonds with values that live across all of them.
  std::string body;
  for (int i = 0; i < 60; ++i)
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    body += "setp.eq.s32 %p1, %r1, " + n + ";\n@%p1 bra E" + n + ";\nadd.s32 %r2, %r2, 1;\nbra J" + n +
            ";\nE" + n + ": add.s32 %r3, %r3, 1;\nJ" + n + ": add.s32 %r4, %r4, %r5;\n";
  }
  for (int i = 0; i < 60; ++i) body += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  const Module module = parse(kernel_of(body), "blocks.ptx");
  const double begin = cpu_seconds();
  const Program program = decode(module, "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_GT(program.blocks.size(), 15'000u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

}  // namespace
}  // namespace weft::ptx::testing
