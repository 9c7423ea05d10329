// Gpu::reset() equals fresh construction: the same cycles, statistics and memory.
#include <gtest/gtest.h>

#include <random>
#include <systemc>

#include "platform/divergent_kernel.h"

namespace weft::test::reset_test {
namespace {

// One frequency for all domains: a reset keeps simulated time, and only then do all edges lie as at time 0.
const std::vector<std::string> kSmall = {"sm.count=3", "clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                                         "clocks.memory_mhz=700"};

class Reset : public ::testing::TestWithParam<std::string> {};

TEST_P(Reset, EqualsFreshConstruction) {
  const std::string fresh = apart([] {
    GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
    return run_divergent(bench);
  });
  GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
  run_divergent(bench, 5, 256);
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
}

TEST_P(Reset, AfterALaunchThatWasAbandonedInTheMiddle) {
  const std::string fresh = apart([] {
    GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
    return run_divergent(bench);
  });
  GpuBench* running = nullptr;
  runtime::DeviceOptions options;
  options.interrupted = [&] {
    return running != nullptr && running->device.gpu().progress().blocks_done > 0;
  };
  GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()), options);
  running = &bench;
  EXPECT_THROW(run_divergent(bench, 5000, 256), runtime::LaunchAbandoned);
  running = nullptr;
  bench.reset();
  EXPECT_EQ(run_divergent(bench), fresh);
}

// Kernels to be in the middle of: the divergent one; the same with a thread that faults when its loop is
// over; one that gathers warps and waits for asynchronous copies all the time.
std::string victim(unsigned kind, std::uint32_t thread) {
  const std::string loop = "OUT:\n";
  std::string text = divergent_kernel();
  if (kind == 1) {
    text.replace(text.find(loop), loop.size(),
                 "OUT:\n  mov.u64 %rd9, 0x1fffffffff0; setp.eq.u32 %p9, %r5, " + std::to_string(thread) +
                     "; @%p9 st.global.u32 [%rd9], %r5;\n");
  } else if (kind == 2) {
    text.replace(text.find(loop), loop.size(), R"(OUT:
  mov.u32 %r20, 0;
AGAIN:
  and.b32 %r21, %r2, 3;
  setp.ne.u32 %p9, %r21, 0;
  cp.async.ca.shared.global [%r11], [%rd1], 4;
  cp.async.commit_group;
  @%p9 bra FEW;
  cp.async.wait_group 0;
FEW:
  bar.warp.sync 0xffffffff;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p8, %r20, 1000;
  @%p8 bra AGAIN;
)");
  }
  return text;
}

// Statistics of the GPU and the checksum. A memory outside of it finishes what it has begun, reset or not.
std::string of_the_gpu(const std::string& run) {
  const std::size_t end = run.find('\n');
  auto statistics = nlohmann::ordered_json::parse(run.substr(0, end));
  statistics.erase("ram");
  return statistics.dump() + run.substr(end);
}

// Wherever a reset comes, nothing of what was is left: in the middle of a run, of a fault, or after one.
TEST_P(Reset, AtAnyTimeOfAnyRun) {
  GpuBench bench(overrides_of(GetParam(), kSmall), config_of(GetParam()));
  const std::string fresh = of_the_gpu(run_divergent(bench));
  std::mt19937_64 random(std::hash<std::string>{}(GetParam()));
  for (unsigned turn = 0; turn < 9; ++turn) {
    bench.reset();
    const auto data = bench.zeros(4 * (kDivergentWords + 1));
    auto& module =
        bench.device.load_module(victim(turn % 3, static_cast<std::uint32_t>(random() % 900)), "v.ptx");
    bench.device.launch(module, "k", {9, 1, 1}, {100, 1, 1}, runtime::Arguments().add(data));
    const auto picoseconds =
        static_cast<double>(turn < 6 ? random() % 3'000'000 : 30'000'000 + random() % 1'000'000);
    sc_core::sc_start(sc_core::sc_time(picoseconds, sc_core::SC_PS));
    if (turn == 7) {
      ASSERT_TRUE(bench.device.gpu().faulted()) << "the kernel was meant to";
    }
    bench.reset();
    ASSERT_EQ(of_the_gpu(run_divergent(bench)), fresh)
        << "kernel " << turn % 3 << ", after " << picoseconds << " ps";
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Reset, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

}  // namespace
}  // namespace weft::test::reset_test
