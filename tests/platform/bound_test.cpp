// "bound by" names what holds a kernel up: kernels that are made to be held up by one part each, and the same
// kernels on machines in which that part is wider, or against themselves without the cause.
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"

namespace weft::test::bound_test {
namespace {

using Overrides = std::vector<std::string>;

struct Load {
  std::string kernel;
  unsigned blocks = 1, threads = 32, turns = 100;
};

// What bounds the load on this machine, "by: text; waits".
std::string bound(const Load& load, const Overrides& overrides, const std::string& config = "gtx480") {
  return apart([&] {
    GpuBench bench(overrides, config);
    const auto out = bench.zeros(4 * 1024), data = bench.zeros(std::uint64_t{4} << 20);
    bench.load(load.kernel);
    bench.run({load.blocks, 1, 1}, {load.threads, 1, 1},
              runtime::Arguments().add(out).add(load.turns).add(data));
    const Bound bound = bench.device.gpu().bound();
    return bound.by + ": " + bound.text + "; " + bound.waits;
  });
}

bool by(const std::string& resource, const std::string& said) {
  return said.rfind(resource + ": ", 0) == 0;
}

// Each thread reads `loads` words of its own per turn, one behind the other over all threads.
Load stream(unsigned blocks, unsigned threads, unsigned turns) {
  const unsigned stride = blocks * threads * 4;
  std::string body;
  for (unsigned i = 0; i < 4; ++i)
    body += "ld.global.u32 %r" + std::to_string(10 + i) + ", [%rd4+" + std::to_string(i * stride) + "];\n";
  body += "add.u64 %rd4, %rd4, " + std::to_string(4 * stride) + ";\n";
  return {looped_kernel(body,
                        "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;\n"
                        "mul.wide.u32 %rd4, %r5, 4; add.u64 %rd4, %rd4, %rd3;\n"),
          blocks, threads, turns};
}

// The way from the SMs to memory is wide and fast, but for what a test narrows.
Overrides wide(const Overrides& more) {
  Overrides all = {"sm.l1d.enabled=false",     "clocks.core_mhz=700",     "clocks.interconnect_mhz=700",
                   "clocks.memory_mhz=2800",   "crossbar.flit_bytes=256", "crossbar.input_queue=64",
                   "crossbar.output_queue=64", "l2.sector_bytes=0",       "dram.alternating_banks=1"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Chains of dependent additions: 16 warps keep the port of one scheduler busy, and the ports of two no longer
// bound them.
TEST(BoundBy, TheIssuePort) {
  const Load load{looped_kernel(repeated(40, "add.u32 %r1, %r1, 1;\n")), 2, 256, 30};
  const std::string one = bound(load, {"sm.count=1", "sm.schedulers=1", "sm.schedulers_per_domain=1"});
  EXPECT_TRUE(by("issue_port", one)) << one;
  const std::string two = bound(load, {"sm.count=1"});
  EXPECT_FALSE(by("issue_port", two)) << two;
}

TEST(BoundBy, TheSpecialFunctionUnits) {
  const Load load{looped_kernel(repeated(8, "sin.approx.f32 %f1, %f2; cos.approx.f32 %f3, %f4;\n")), 4, 256,
                  30};
  const std::string narrow =
      bound(load, {"sm.count=1", "sm.sfu_groups=1", "sm.sfu_width=4", "sm.latency.sfu.interval=1"});
  EXPECT_TRUE(by("sfu", narrow)) << narrow;
  const std::string wide =
      bound(load, {"sm.count=1", "sm.sfu_groups=4", "sm.sfu_width=32", "sm.latency.sfu.interval=1"});
  EXPECT_FALSE(by("sfu", wide)) << wide;
}

// Every lane in the same bank, or each in its own.
TEST(BoundBy, TheLoadStoreUnitThroughBankConflicts) {
  const auto load = [](unsigned stride) {
    return Load{
        looped_kernel(repeated(8,
                               "ld.shared.u32 %r10, [%r6]; add.u32 %r11, %r11, 1; add.u32 %r12, %r12, 1;"
                               " add.u32 %r13, %r13, 1; add.u32 %r14, %r14, 1;\n"),
                      ".shared .align 4 .b8 box[4096];\n mov.u32 %r6, box; and.b32 %r7, %r2, 31;\n"
                      "mad.lo.u32 %r6, %r7, " +
                          std::to_string(stride) + ", %r6;\n"),
        2, 256, 20};
  };
  const std::string conflicts = bound(load(128), {"sm.count=1"});
  EXPECT_TRUE(by("load_store_unit", conflicts)) << conflicts;
  const std::string none = bound(load(4), {"sm.count=1"});
  EXPECT_FALSE(by("load_store_unit", none)) << none;
}

TEST(BoundBy, TheMshrsOfTheL1) {
  const Load load = stream(2, 256, 8);
  const auto machine = [](const char* entries) {
    return wide({"sm.count=1", "sm.l1d.enabled=true", std::string("sm.l1d.mshr_entries=") + entries});
  };
  const std::string one = bound(load, machine("1"));
  EXPECT_TRUE(by("l1_mshrs", one)) << one;
  const std::string many = bound(load, machine("128"));
  EXPECT_FALSE(by("l1_mshrs", many)) << many;
}

TEST(BoundBy, TheCrossbarToTheSms) {
  const Load load = stream(8, 256, 8);
  const std::string narrow = bound(load, wide({"sm.count=2", "crossbar.flit_bytes=16"}));
  EXPECT_TRUE(by("crossbar_response_out", narrow)) << narrow;
  const std::string broad = bound(load, wide({"sm.count=2"}));
  EXPECT_FALSE(by("crossbar_response_out", broad)) << broad;
}

// All threads add to one word: the bank does them one by one.
TEST(BoundBy, AnL2BankThatAllAddTo) {
  const Load load{looped_kernel("red.global.add.u32 [%rd3], 1;\n"), 8, 256, 8};
  const std::string slow = bound(load, wide({"sm.count=4", "l2.atomic_interval=2"}));
  EXPECT_TRUE(by("l2_bank", slow)) << slow;
  const std::string quick = bound(load, wide({"sm.count=4", "l2.atomic_interval=0"}));
  EXPECT_FALSE(by("l2_bank", quick)) << quick;
}

TEST(BoundBy, TheDataBusOfDram) {
  const Load load = stream(48, 256, 12);
  const std::string slow = bound(load, wide({"clocks.memory_mhz=100"}));
  EXPECT_TRUE(by("dram_bus", slow)) << slow;
  const std::string quick = bound(load, wide({}));
  EXPECT_FALSE(by("dram_bus", quick)) << quick;
}

TEST(BoundBy, RowsThatAreOpenedAgainAndAgain) {
  const Load load = stream(48, 256, 12);
  const std::string slow = bound(load, wide({"clocks.memory_mhz=924", "dram.t_rrd=150"}));
  EXPECT_TRUE(by("dram_rows", slow)) << slow;
  const std::string quick = bound(load, wide({"clocks.memory_mhz=924"}));
  EXPECT_FALSE(by("dram_rows", quick)) << quick;
}

TEST(BoundBy, TheLatencyOfOneWarp) {
  const Load load{
      looped_kernel("ld.global.u64 %rd4, [%rd3]; add.u64 %rd3, %rd3, %rd4; add.u64 %rd3, %rd3, 4096;\n"), 1,
      32, 60};
  const std::string lone = bound(load, {"sm.count=1", "sm.schedulers=1", "sm.schedulers_per_domain=1"});
  EXPECT_TRUE(by("latency", lone)) << lone;
  EXPECT_NE(lone.find(" % waiting for loads"), std::string::npos) << lone;
}

}  // namespace
}  // namespace weft::test::bound_test
