// The first launches run without timing, the others with it, on the same memory.
#include <gtest/gtest.h>

#include <sstream>

#include "platform/gpu_bench.h"

namespace weft::test {
namespace {

// first: every word + 1; second: every word * 2. Eight instructions each.
std::string module_text() {
  const auto kernel = [](const std::string& name, const std::string& work) {
    return ".visible .entry " + name + "(.param .u64 data) {\n.reg .b32 %r<8>; .reg .b64 %rd<4>;\n" + R"(
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  )" + work +
           R"(
  st.global.u32 [%rd1], %r2;
  ret;
})";
  };
  return ".version 7.0\n.target sm_70\n.address_size 64\n" + kernel("first", "add.u32 %r2, %r2, 1;") + "\n" +
         kernel("second", "shl.b32 %r2, %r2, 1;") + "\n";
}

struct Ran {
  std::vector<std::uint32_t> words;
  std::uint64_t functional = 0, timed = 0;  // thread instructions
};

Ran run(const runtime::FunctionalOptions& functional) {
  const std::string text = apart([functional] {
    runtime::DeviceOptions options;
    options.functional = functional;
    GpuBench bench({"sm.count=1"}, "gtx480", options);
    auto& module = bench.device.load_module(module_text(), "two.ptx");
    const auto data = bench.words({5, 6, 7});
    for (const char* kernel : {"first", "second", "first"}) {
      bench.device.launch(module, kernel, {1, 1, 1}, {3, 1, 1}, runtime::Arguments().add(data));
    }
    bench.device.synchronise();
    std::string result;
    for (const auto word : bench.read(data, 3)) result += std::to_string(word) + " ";
    result += std::to_string(bench.device.functional_counters().thread_instructions) + " " +
              std::to_string(bench.device.gpu().totals().thread_instructions);
    return result;
  });
  Ran ran;
  std::istringstream in(text);
  for (int i = 0; i < 3; ++i) {
    std::uint32_t word = 0;
    in >> word;
    ran.words.push_back(word);
  }
  in >> ran.functional >> ran.timed;
  return ran;
}

TEST(FastForward, RunsTheFirstLaunchesWithoutTiming) {
  constexpr std::uint64_t kLaunch = 3 * 8;  // threads by instructions
  for (std::uint64_t skipped = 0; skipped <= 3; ++skipped) {
    const Ran ran = run({false, skipped, ""});
    EXPECT_EQ(ran.words, (std::vector<std::uint32_t>{13, 15, 17})) << skipped;
    EXPECT_EQ(ran.functional, skipped * kLaunch);
    EXPECT_EQ(ran.timed, (3 - skipped) * kLaunch);
  }
}

TEST(FastForward, RunsUpToAKernelWithoutTiming) {
  const Ran ran = run({false, 0, "second"});
  EXPECT_EQ(ran.words, (std::vector<std::uint32_t>{13, 15, 17}));
  EXPECT_EQ(ran.functional, 24u);
  EXPECT_EQ(ran.timed, 48u);
}

}  // namespace
}  // namespace weft::test
