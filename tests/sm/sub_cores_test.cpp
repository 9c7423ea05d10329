// Blocks whose warps are spread over scheduler domains that are sub-cores (`sm.block_placement`).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "execute/access.h"
#include "execute/kernel.h"
#include "platform/divergent_kernel.h"
#include "platform/gpu_bench.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::test::sub_cores_test {
namespace {

using runtime::Arguments;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;
using Words = std::vector<std::uint32_t>;

const std::vector<std::string> kSubCores = {
    "sm.count=1",       "sm.schedulers=4",       "sm.schedulers_per_domain=1", "sm.block_placement=sub_cores",
    "sm.simd_groups=4", "watchdog.cycles=200000"};

std::vector<std::string> settings(std::vector<std::string> more = {}) {
  more.insert(more.begin(), kSubCores.begin(), kSubCores.end());
  return more;
}

execute::ResidentBlock block(unsigned threads, unsigned domain, unsigned domains) {
  execute::ResidentBlock b;
  b.slot = 3;
  b.first_chunk = 40;
  b.threads = threads;
  b.domain = static_cast<std::uint16_t>(domain);
  b.domain_count = static_cast<std::uint16_t>(domains);
  return b;
}

// Every warp has a chunk of its own; warp w belongs to domain (first + w) mod n; parts are runs of chunks,
// and have the block's threads together.
TEST(SpreadBlock, PartsHaveNeighbouringChunks) {
  for (unsigned domains = 1; domains <= 5; ++domains) {
    for (unsigned threads = 1; threads <= 700; threads += 23) {
      const unsigned first = threads % domains;
      const execute::ResidentBlock b = block(threads, first, domains);
      std::set<unsigned> chunks;
      for (unsigned w = 0; w < b.warps(); ++w) {
        const unsigned chunk = b.chunk_of(w);
        ASSERT_TRUE(chunk >= 40 && chunk < 40 + b.warps());
        ASSERT_EQ(b.warp_of(chunk), w);
        ASSERT_EQ(b.thread_of(chunk, 5), 32 * w + 5);
        if (domains > 1) {
          ASSERT_EQ(b.domain_of(chunk), (first + w) % domains);
        }
        chunks.insert(chunk);
      }
      ASSERT_EQ(chunks.size(), b.warps());
      unsigned sum = 0;
      for (unsigned p = 0; p < b.parts(); ++p) {
        const warp_formation::Block part = b.part(p);
        ASSERT_NE(part.threads, 0u);
        for (unsigned c = 0; c * 32 < part.threads; ++c) {
          const unsigned warp = b.warp_of(part.first_chunk + c);
          if (domains > 1) {
            ASSERT_EQ(b.domain_of(part.first_chunk + c), b.domain_of_part(p));
          }
          ASSERT_EQ(std::min(32u, part.threads - 32 * c), std::min(32u, threads - 32 * warp));
        }
        sum += part.threads;
      }
      ASSERT_EQ(sum, threads);
    }
  }
}

const std::string kOut = ".param .u64 out";
const std::string kStart = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r12, %r3, %r4, %r2;
  mul.wide.u32 %rd2, %r12, 4;
  add.u64 %rd2, %rd1, %rd2;
)";
const std::string kEnd = "  st.global.u32 [%rd2], %r10;\n  ret;\n";

Words run_on(GpuBench& bench, const std::string& body, unsigned blocks, unsigned threads) {
  const auto out = bench.zeros(std::uint64_t{blocks} * threads * 4);
  bench.load(kernel_text(kOut, kStart + body + kEnd));
  bench.run({blocks, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  return bench.read(out, std::size_t{blocks} * threads);
}

// Each sub-core issues the same number of instructions of a block of eight warps, and a block of five warps
// begins one sub-core later in the next slot.
TEST(SubCores, WarpsOfABlockGoRound) {
  GpuBench bench(settings());
  run_on(bench, "mov.u32 %r10, 1;\n", 1, 256);
  const auto issued = [&](unsigned scheduler) {
    return bench.statistics()["sm0"]["scheduler" + std::to_string(scheduler)]["cycles"]["issued"]
        .get<std::uint64_t>();
  };
  const std::uint64_t of_two_warps = issued(0);
  ASSERT_GT(of_two_warps, 0u);
  for (unsigned s = 1; s < 4; ++s) EXPECT_EQ(issued(s), of_two_warps) << s;
}

TEST(SubCores, TheNextSlotBeginsWhereTheLastEnded) {
  GpuBench bench(settings());
  run_on(bench, "mov.u32 %r10, 1;\n", 4, 5 * 32);  // 20 warps in slots 0 to 3: five for each sub-core
  const nlohmann::ordered_json sm = bench.statistics()["sm0"];
  for (unsigned s = 1; s < 4; ++s) {
    EXPECT_EQ(sm["scheduler" + std::to_string(s)]["cycles"]["issued"], sm["scheduler0"]["cycles"]["issued"])
        << s;
  }
}

class EveryScheme : public ::testing::TestWithParam<std::string> {};

// 200 threads, of which those divisible by 7 have exited: 171 vote, 57 of those numbers are divisible by 3.
// Numbers, lanes and warps are those of the program, whatever sub-core has them.
TEST_P(EveryScheme, BarriersVotesAndNumbersAreTheBlocks) {
  GpuBench bench(settings({"warp_formation.scheme=" + GetParam()}));
  const Words out = run_on(bench, R"(
  rem.u32 %r5, %r2, 7;
  setp.eq.u32 %p1, %r5, 0;
  @%p1 exit;
  rem.u32 %r6, %r2, 3;
  setp.eq.u32 %p2, %r6, 0;
  bar.red.popc.u32 %r7, 0, %p2;
  setp.lt.u32 %p3, %r2, 199;
  bar.red.and.pred %p4, 1, %p3;
  selp.u32 %r8, 1000, 0, %p4;
  mov.u32 %r9, %laneid;
  mul.lo.u32 %r9, %r9, 10000;
  add.u32 %r10, %r7, %r8; add.u32 %r10, %r10, %r9;
)",
                           3, 200);
  for (unsigned i = 0; i < 600; ++i) {
    const unsigned t = i % 200;
    unsigned divisible = 0;
    for (unsigned j = 0; j < 200; ++j) divisible += j % 7 != 0 && j % 3 == 0 ? 1 : 0;
    const std::uint32_t expected = t % 7 == 0 ? 0 : divisible + t % 32 * 10000;  // thread 199 votes no
    ASSERT_EQ(out[i], expected) << "thread " << t;
  }
}

// Four turns of shared memory with a barrier: thread t reads what t + 37 wrote, of another warp and sub-core.
TEST_P(EveryScheme, ThreadsOfAllSubCoresMeetAtBarriers) {
  GpuBench bench(settings({"warp_formation.scheme=" + GetParam()}));
  const unsigned threads = 288;
  const Words out = run_on(bench, R"(
  .shared .u32 s[288];
  mov.u32 %r10, %r2;
  mov.u32 %r20, 0;
  mov.u32 %r21, s;
  mad.lo.u32 %r22, %r2, 4, %r21;
  add.u32 %r23, %r2, 37;
  rem.u32 %r23, %r23, 288;
  mad.lo.u32 %r23, %r23, 4, %r21;
TURN:
  st.shared.u32 [%r22], %r10;
  bar.sync 0;
  ld.shared.u32 %r10, [%r23];
  and.b32 %r25, %r2, 3;
  setp.lt.u32 %p2, %r25, %r20;
  @%p2 add.u32 %r10, %r10, 1000;
  bar.sync 0;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p1, %r20, 4;
  @%p1 bra TURN;
)",
                           2, threads);
  Words expected(threads);
  for (unsigned t = 0; t < threads; ++t) expected[t] = t;
  for (unsigned turn = 0; turn < 4; ++turn) {
    const Words before = expected;
    for (unsigned t = 0; t < threads; ++t)
      expected[t] = before[(t + 37) % threads] + ((t & 3) < turn ? 1000 : 0);
  }
  for (unsigned i = 0; i < 2 * threads; ++i) ASSERT_EQ(out[i], expected[i % threads]) << i;
}

// Parts that sleep, that are stepped in every cycle, and that a reset has put back give the same counters.
TEST_P(EveryScheme, SleepingChangesNothing) {
  const auto run = [&](bool sleeping) {
    return apart([&] {
      runtime::DeviceOptions options;
      options.sleeping = sleeping;
      GpuBench bench(settings({"warp_formation.scheme=" + GetParam()}), "gtx480", options);
      return run_divergent(bench, 5, 70);
    });
  };
  EXPECT_EQ(run(true), run(false));
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, ::testing::ValuesIn(warp_formation::scheme_names()),
                         [](const auto& info) { return info.param; });

// Warps that are larger, or smaller, than the 32 threads that a sub-core gets at a time.
class WarpSize : public ::testing::TestWithParam<const char*> {};
TEST_P(WarpSize, LeavesTheSameMemory) {
  const auto memory = [&](const std::vector<std::string>& more) {
    const std::string result = apart([&] {
      GpuBench bench(more);
      return run_divergent(bench, 5, 150);
    });
    return result.substr(result.rfind('\n'));
  };
  const std::string scheme = std::string("warp_formation.warp_size=") + GetParam();
  const std::string kept = memory({"sm.count=1"});
  EXPECT_EQ(memory({"sm.count=1", scheme}), kept);
  EXPECT_EQ(memory(settings({scheme})), kept);
}
INSTANTIATE_TEST_SUITE_P(Sizes, WarpSize, ::testing::Values("8", "16", "64", "128"),
                         [](const auto& info) { return std::string("Of") + info.param; });

// --- occupancy: 65536 registers are four parts of 16384, which hold warps of their own ---

execute::Occupancy occupancy(std::uint32_t threads, std::uint32_t registers,
                             const std::vector<std::string>& more = {}) {
  const machine::SmConfig config =
      load_config("gtx480", settings([&] {
                    std::vector<std::string> all = {"sm.registers=65536", "sm.max_blocks=32"};
                    all.insert(all.end(), more.begin(), more.end());
                    return all;
                  }()))
          .sm;
  auto program = std::make_shared<ptx::Program>();
  program->name = "k";
  program->registers_per_thread = registers;
  dispatch::Launch launch;
  launch.program = program;
  launch.block = {threads, 1, 1};
  return execute::occupancy(launch, config, 32);
}

TEST(SubCoreOccupancy, WarpsOfASubCoreLimit) {
  // 12 warps for each sub-core.
  EXPECT_EQ(occupancy(256, 10).blocks, 6u);
  EXPECT_EQ(occupancy(32, 10).blocks, 32u);
  // Blocks of five warps begin at sub-core 0, 1, 2, 3, ...: nine of them have 45 warps, at most 12 each.
  EXPECT_EQ(occupancy(160, 10).blocks, 9u);
  // Blocks of 13 warps: 4, 3, 3, 3 from sub-core 0, then from 1 and 2 on.
  EXPECT_EQ(occupancy(13 * 32, 10).blocks, 3u);
  // 18 warps are four for each sub-core: no third block of six.
  const execute::Occupancy found = occupancy(192, 10, {"sm.max_warps=18"});
  EXPECT_EQ(found.blocks, 2u);
  EXPECT_EQ(found.limit, "warps of the sub-cores");
  EXPECT_THAT(
      [] { occupancy(17 * 32, 10, {"sm.max_warps=18"}); },
      Throws<InputError>(Property(
          &InputError::what,
          HasSubstr("it needs 5 warps of one sub-core, the SM has 4; allowed with --set sm.max_warps=20"))));
}

TEST(SubCoreOccupancy, RegistersOfASubCoreLimit) {
  // 128 registers for each of 32 threads: four warps for a sub-core.
  EXPECT_EQ(occupancy(128, 128).blocks, 4u);
  // Three blocks of five warps take four, four, four and three.
  EXPECT_EQ(occupancy(160, 128).blocks, 3u);
  // 17 warps are five for sub-core 0, although the SM has room for 20 warps of 100 registers.
  EXPECT_EQ(occupancy(17 * 32, 100).blocks, 1u);
  EXPECT_THAT([] { occupancy(17 * 32, 128); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("does not fit an SM"))));
}

TEST(SubCores, BadCombinationsAreRefused) {
  const auto refused = [](std::vector<std::string> more, const std::string& said) {
    EXPECT_THAT([&] { load_config("gtx480", settings(more)); },
                Throws<InputError>(Property(
                    &InputError::what, ::testing::AllOf(HasSubstr("/sm/block_placement"), HasSubstr(said)))));
  };
  refused({"datapath.kind=temporal", "sm.simd_groups=1", "datapath.lane_width=32"}, "kind = temporal");
  refused({"datapath.registers=warp"}, "registers = warp");
  refused({"datapath.binding=turns"}, "turns");
}

}  // namespace
}  // namespace weft::test::sub_cores_test
