// The machines that model products show the latencies and widths that were published of these, within 5 %.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "microbenchmarks/measurement.h"
#include "microbenchmarks/weft_machine.h"
#include "weft/platform/gpu_config.h"

namespace weft::microbenchmarks::machines_of_products_test {
namespace {

// One per process.
struct Measured {
  explicit Measured(const std::string& name)
      : config(load_config(name, {})), machine(make_weft_machine(config)), bench(*machine) {}
  double operator()(const std::string& id) {
    for (const Measurement& each : all_measurements(bench.facts(), bench.sizes())) {
      if (each.id() == id) return each.run(bench);
    }
    ADD_FAILURE() << "there is no measurement " << id;
    return 0;
  }

  GpuConfig config;
  std::unique_ptr<Machine> machine;
  Bench bench;
};

struct Published {
  const char* machine;
  double fma, multiply, fma64, shuffle, shared, l1, l2;  // cycles; 0: not known
  double l1_width;                                       // bytes of an SM in a cycle
  double count, vote, convert, barrier, full_barrier;    // cycles; barriers of 1 and 32 warps
};

class Products : public testing::TestWithParam<Published> {};

TEST_P(Products, ShowWhatWasMeasuredOfThem) {
  const Published& published = GetParam();
  Measured measured(published.machine);
  const auto is_near = [&](const std::string& id, double value) {
    if (value == 0) return;
    EXPECT_NEAR(measured(id), value, 0.05 * value) << id;
  };
  is_near("latency instruction=fma.rn.f32", published.fma);
  is_near("latency instruction=mad.lo.u32", published.multiply);
  is_near("latency instruction=fma.rn.f64", published.fma64);
  is_near("latency instruction=shfl.sync.idx.b32", published.shuffle);
  is_near("latency instruction=ld.shared.u32", published.shared);
  is_near("latency instruction=popc.b32", published.count);
  is_near("latency instruction=setp.ne.u32 + vote.sync.ballot.b32", published.vote);
  is_near("latency instruction=cvt.rn.f32.u32 + cvt.rzi.u32.f32 + add.u32", published.convert);
  is_near("latency instruction=bar.sync threads=32", published.barrier);
  is_near("latency instruction=bar.sync threads=1024", published.full_barrier);
  is_near("chase cache=ca stride=128 bytes=1024", published.l1);
  is_near("chase cache=ca stride=128 bytes=1048576", published.l2);
  is_near("bandwidth_per_sm level=l1 access=read bytes=4", published.l1_width);
}

// Sources: the machines' pages.
INSTANTIATE_TEST_SUITE_P(Machines, Products,
                         testing::Values(Published{"a100", 4, 4, 6, 0, 23, 33, 206, 125, 0, 0, 0, 0, 0},
                                         Published{"gv100", 4, 5, 8, 0, 19, 28, 212, 126, 0, 0, 0, 0, 0},
                                         Published{"h200", 4, 4, 8, 26, 23, 32, 282.4, 125, 17, 17, 27.2, 14,
                                                   76},
                                         Published{"rtx3070", 4, 4, 0, 0, 24, 33, 219, 64, 0, 0, 0, 0, 0}),
                         [](const auto& info) { return std::string(info.param.machine); });

// What chains of these instructions take on GPGPU-Sim 4.2 itself (configs/rtx3070-oracle.md).
TEST(OracleMachines, ChainsAreThoseOfGpgpuSim) {
  Measured measured("rtx3070-oracle");
  EXPECT_EQ(measured("latency instruction=fma.rn.f32"), 9);
  EXPECT_EQ(measured("latency instruction=add.u32"), 9);
  EXPECT_EQ(measured("latency instruction=ld.shared.u32"), 34);
  EXPECT_NEAR(measured("chase cache=ca stride=128 bytes=1024"), 43, 0.1);
  // From the L2: 239 in a trace of its stages. Misses leave the L1 two cycles earlier here.
  EXPECT_NEAR(measured("chase cache=cg stride=128 bytes=65536"), 239 - 2, 0.1);
}

TEST(OracleMachines, MinimaOfQv100TakeLongerThanAdditions) {
  Measured measured("gv100-oracle");
  EXPECT_EQ(measured("latency instruction=add.rn.f32"), 4 + 5);
  EXPECT_EQ(measured("latency instruction=min.f32"), 13 + 5);
}

}  // namespace
}  // namespace weft::microbenchmarks::machines_of_products_test
