// How fast the papers' machines issue. A chain of dependent instructions: a scheme pays no cycle between a
// commit and the next issue beyond the ones that its paper charges. Independent ones: with one issue port per
// scheduler no more threads than lanes.
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::issue_rate_test {
namespace {

// Branches to the next instruction but one, which all threads take.
std::string branches(unsigned count, const std::string& guard) {
  std::string all;
  for (unsigned i = 0; i < count; ++i) {
    const std::string label = "PAST_" + std::to_string(i);
    all += guard + " bra " + label + ";\n add.u32 %r9, %r9, 1;\n" + label + ":\n";
  }
  return all;
}

// Warps as wide as the lanes, so that an instruction is one beat under every scheme.
class DependentChain : public ::testing::TestWithParam<std::string> {
 protected:
  DependentChain()
      : bench_(overrides_of(GetParam(), {"sm.count=1", "warp_formation.warp_size=" + lanes_of(GetParam())}),
               config_of(GetParam())),
        scheme_(bench_.device.gpu().config().warp_formation.scheme) {}

  static std::string lanes_of(const std::string& machine) {
    return std::to_string(load_config(config_of(machine), {}).sm.simd_width);
  }
  const machine::SmConfig& sm() const { return bench_.device.gpu().config().sm; }
  // So many warps, all of one block and so of one scheduler.
  dispatch::Dim3 warps(unsigned count) const {
    return {count * static_cast<unsigned>(sm().simd_width), 1, 1};
  }
  double add(unsigned count) { return bench_.cycles_per_copy("add.u32 %r1, %r1, 1;", warps(count)); }
  double load(unsigned count) {
    const auto pointer = bench_.zeros(8);  // to itself
    bench_.device.copy_to(pointer, &pointer, 8);
    return bench_.cycles_per_copy("ld.global.u64 %rd3, [%rd3];", warps(count), pointer);
  }
  double shared_load(unsigned count) {
    return bench_.cycles_per_copy("ld.shared.u32 %r8, [%r8];", warps(count), 0,
                                  ".shared .b32 words[32]; mov.u32 %r8, 0; st.shared.u32 [%r8], %r8;");
  }
  double branch(unsigned count, const std::string& guard) {
    constexpr unsigned kFew = 8, kMany = 24;
    const auto turn = [&](unsigned copies) {
      return bench_.cycles_per_turn(looped_kernel(branches(copies, guard), "setp.eq.u32 %p14, %r63, %r63;"),
                                    warps(count));
    };
    return (turn(kMany) - turn(kFew)) / (kMany - kFew);
  }

  GpuBench bench_;
  const std::string scheme_;
};

// A loop of 100 turns, 16 copies: a cycle more at its end is far below.
constexpr double kNear = 0.05;

TEST_P(DependentChain, OfOneWarpTakesThePipelineDepthPerInstruction) {
  const auto depth = static_cast<double>(sm().pipeline_depth);
  EXPECT_NEAR(add(1), depth, kNear);
  EXPECT_NEAR(shared_load(1), depth, kNear);
  // An L1 hit is there before the end of the pipeline; LAT barriers take their own time.
  if (scheme_ != "dwr") {
    EXPECT_NEAR(load(1), depth, kNear);
  }
  // The instruction behind a taken branch is fetched a cycle late.
  EXPECT_NEAR(branch(1, ""), depth + 1, kNear);
  EXPECT_NEAR(branch(1, "@%p14"), depth + 1, kNear);
}

TEST_P(DependentChain, OfManyWarpsHidesThePipeline) {
  const auto depth = static_cast<unsigned>(sm().pipeline_depth);
  for (const unsigned count : {depth / 2, depth, 32u}) {
    // A large warp's instruction ends with the last of the packed warps that it issues, one per cycle.
    const bool waits = scheme_ == "lwm" && count <= depth;
    const double cycles = waits ? depth + count - 1 : std::max(depth, count);
    EXPECT_NEAR(add(count), cycles, kNear) << count;
    if (scheme_ != "dwr") {
      EXPECT_NEAR(load(count), cycles, kNear) << count;
    }
  }
}

std::vector<std::string> machines() {
  std::vector<std::string> list = {"harp-fermi", "crown-tesla", "dwr-tesla", "dwr-tesla+dwr"};
  for (const std::string& scheme : scheme_classes::all_without("sbr")) {
    for (const char* config : {"harp-fermi", "crown-tesla"}) list.push_back(config + ("+" + scheme));
  }
  return list;
}
INSTANTIATE_TEST_SUITE_P(Machines, DependentChain, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return test_name_of(info.param); });

struct Peak {
  std::string machine;
  unsigned warp_size;
};
class PeakRate : public ::testing::TestWithParam<Peak> {};

// Arithmetic, special functions and loads that hit, from as many threads as are resident.
TEST_P(PeakRate, IsOneThreadPerLaneAndCycle) {
  GpuBench bench(overrides_of(GetParam().machine, {"sm.count=1", "warp_formation.warp_size=" +
                                                                     std::to_string(GetParam().warp_size)}),
                 config_of(GetParam().machine));
  const machine::SmConfig& sm = bench.device.gpu().config().sm;
  ASSERT_EQ(sm.issue_port, machine::IssuePort::kShared);
  constexpr unsigned kBlock = 128;
  const auto blocks = static_cast<unsigned>(sm.max_threads / kBlock);
  const auto data = bench.zeros(kBlock * 4), out = bench.zeros(kBlock * 4);
  bench.load(
      looped_kernel(repeated(4,
                             "add.u32 %r10, %r11, %r12; sin.approx.f32 %f1, %f2; mul.lo.u32 %r13, %r11, "
                             "%r12; ld.global.u32 %r14, [%rd5]; fma.rn.f32 %f3, %f2, %f2, %f2; "
                             "ex2.approx.f32 %f4, %f2;"),
                    "mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd3, %rd4; mov.u32 %r11, 3; mov.u32 %r12, 4; "
                    "mov.f32 %f2, 0f3F800000;"));
  const auto after = [&](std::uint32_t turns) {
    const auto cycles = static_cast<double>(
        bench.run({blocks, 1, 1}, {kBlock, 1, 1}, runtime::Arguments().add(out).add(turns).add(data)));
    return std::pair(cycles, bench.sum_over_sms("thread_instructions"));
  };
  after(2);  // fills the L2
  const double start = bench.sum_over_sms("thread_instructions");
  const auto few = after(5);
  const auto many = after(30);
  const double rate = (many.second - few.second - (few.second - start)) / (many.first - few.first);
  const auto lanes = static_cast<double>(sm.schedulers * sm.simd_width);
  EXPECT_LE(rate, lanes * 1.001);
  // A warp may be narrower than the group.
  const double used = std::min(1.0, GetParam().warp_size / static_cast<double>(sm.simd_width));
  EXPECT_GE(rate, lanes * used * 0.95);
}

const std::vector<Peak> kPeaks = {
    {"harp-fermi", 8},        {"harp-fermi", 16},      {"harp-fermi", 32},      {"harp-fermi", 64},
    {"harp-fermi+dwf", 16},   {"harp-fermi+dwf", 32},  {"harp-fermi+dwf", 64},  {"harp-fermi+tbc", 16},
    {"harp-fermi+tbc", 32},   {"harp-fermi+lwm", 32},  {"harp-fermi+harp", 32}, {"crown-tesla", 8},
    {"crown-tesla", 16},      {"crown-tesla", 32},     {"crown-tesla", 64},     {"crown-tesla+dwf", 8},
    {"crown-tesla+dwf", 16},  {"crown-tesla+dwf", 32}, {"crown-tesla+dwf", 64}, {"crown-tesla+lwm", 32},
    {"crown-tesla+crown", 8}, {"dwr-tesla", 8},        {"dwr-tesla", 16},       {"dwr-tesla", 32},
    {"dwr-tesla", 64},        {"dwr-tesla+dwr", 8}};
INSTANTIATE_TEST_SUITE_P(Machines, PeakRate, ::testing::ValuesIn(kPeaks), [](const auto& info) {
  return test_name_of(info.param.machine) + "_" + std::to_string(info.param.warp_size);
});

}  // namespace
}  // namespace weft::test::issue_rate_test
