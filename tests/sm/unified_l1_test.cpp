// One memory for the data cache and shared memory: the option that a kernel gets, and what is left for the
// cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "execute/occupancy.h"
#include "platform/gpu_bench.h"
#include "sm/load_store_bench.h"
#include "weft/common/error.h"

namespace weft::test::unified_l1_test {
namespace {

using ::testing::HasSubstr;

// 128 KB, of which shared memory takes up to 100.
machine::SmConfig unified() {
  machine::SmConfig config;
  config.max_threads = 1536;
  config.max_blocks = 16;
  config.max_warps = 48;
  config.registers = 65536;
  config.shared_bytes = 100 * 1024;
  config.unified_l1.bytes = 128 * 1024;
  config.unified_l1.shared_options_kb = "0, 8, 16, 32, 64, 100";
  config.l1d.tags.sets = 4;
  config.l1d.tags.ways = 256;
  config.l1d.tags.line_bytes = 128;
  config.check("sm");
  return config;
}

execute::Occupancy occupancy(const machine::SmConfig& config, std::uint32_t threads, std::uint64_t shared,
                             int preferred_percent = -1) {
  auto program = std::make_shared<ptx::Program>();
  program->name = "k";
  program->registers_per_thread = 16;
  program->shared_bytes = shared;
  dispatch::Launch launch;
  launch.program = program;
  launch.block = {threads, 1, 1};
  launch.preferred_shared_percent = preferred_percent;
  return execute::occupancy(launch, config, 32);
}

TEST(UnifiedL1, AKernelGetsTheSmallestOptionThatItsBlocksNeed) {
  struct Row {
    std::uint32_t threads;
    std::uint64_t shared, blocks, option_kb, ways;
  };
  // By hand: blocks = the least of 16, 1536 / threads and 100 KB / shared; ways = 256 x (1 - option / 128
  // KB).
  const std::vector<Row> rows = {
      {256, 0, 6, 0, 256},       {256, 1024, 6, 8, 240},    {256, 1366, 6, 16, 224},  // 1408 x 6 = 8448
      {256, 5461, 6, 64, 128},  // 5504 x 6 = 33024 bytes, more than 32 KB
      {256, 5376, 6, 32, 192},   {96, 4096, 16, 64, 128},   {96, 6400, 16, 100, 56},
      {1024, 65536, 1, 64, 128}, {1024, 65537, 1, 100, 56}, {512, 51200, 2, 100, 56},
  };
  const machine::SmConfig config = unified();
  for (const Row& row : rows) {
    const execute::Occupancy found = occupancy(config, row.threads, row.shared);
    EXPECT_EQ(found.blocks, row.blocks) << row.threads << " " << row.shared;
    EXPECT_EQ(found.shared_option, row.option_kb * 1024) << row.threads << " " << row.shared;
    EXPECT_EQ(config.unified_l1.cache_ways(256, found.shared_option), row.ways);
  }
}

TEST(UnifiedL1, APreferenceCanOnlyEnlargeSharedMemory) {
  const machine::SmConfig config = unified();
  EXPECT_EQ(occupancy(config, 256, 0, 0).shared_option, 0u);
  EXPECT_EQ(occupancy(config, 256, 0, 50).shared_option, 64u * 1024) << "50 of 100 KB";
  EXPECT_EQ(occupancy(config, 256, 0, 100).shared_option, 100u * 1024);
  EXPECT_EQ(occupancy(config, 1024, 65536, 0).shared_option, 64u * 1024) << "the block needs it";
}

TEST(UnifiedL1, WaysAreRoundedToTheNearest) {
  machine::SmConfig::UnifiedL1 part;
  part.bytes = 192 * 1024;
  EXPECT_EQ(part.cache_ways(64, 164 * 1024), 9u);   // 9.33
  EXPECT_EQ(part.cache_ways(64, 100 * 1024), 31u);  // 30.67
  EXPECT_EQ(part.cache_ways(3, 96 * 1024), 2u);     // 1.5
  part.bytes = 0;
  EXPECT_EQ(part.cache_ways(64, 0), 64u);
}

TEST(UnifiedL1, ReservedBytesCountForEveryBlock) {
  machine::SmConfig config = unified();
  config.reserved_shared_bytes = 1024;
  EXPECT_EQ(occupancy(config, 64, 0).blocks, 16u);
  EXPECT_EQ(occupancy(config, 64, 0).shared_option, 16u * 1024);
  EXPECT_EQ(occupancy(config, 1024, 99 * 1024).blocks, 1u);
  EXPECT_THROW(occupancy(config, 1024, 99 * 1024 + 1), InputError);
  EXPECT_EQ(execute::most_dynamic_shared({}, 1, config), 99u * 1024);
}

// As many lines as the ways that are left; what was there is lost when their number changes, and only then.
TEST(UnifiedL1, TheCacheHasTheWaysThatAreLeft) {
  using namespace sm::load_store_bench;
  machine::SmConfig config = unified();
  config.l1d.tags.sets = 1;
  config.l1d.tags.ways = 8;
  Bench bench(config);
  const auto misses_of_second_turn = [&](std::uint64_t option_kb, std::uint64_t lines) {
    bench.unit.start_kernel(0, option_kb * 1024);
    std::size_t before = 0;
    for (unsigned turn = 0; turn < 2; ++turn) {
      before = bench.sent.size();
      for (std::uint64_t line = 0; line < lines; ++line) {
        const std::size_t sent = bench.sent.size();
        bench.accept(1, ptx::Opcode::kLd, line);
        bench.run(4);
        if (bench.sent.size() != sent) bench.answer(sent);
        bench.run(3);
      }
    }
    return bench.sent.size() - before;
  };
  EXPECT_EQ(misses_of_second_turn(0, 8), 0u);
  EXPECT_EQ(misses_of_second_turn(64, 4), 0u);
  EXPECT_EQ(misses_of_second_turn(64, 5), 5u) << "least recently used, in a circle";
  EXPECT_EQ(misses_of_second_turn(100, 2), 0u);  // 8 x 28 / 128 = 1.75
  EXPECT_EQ(misses_of_second_turn(100, 3), 3u);
  EXPECT_EQ(misses_of_second_turn(0, 8), 0u);
  EXPECT_TRUE(bench.unit.idle());
}

std::string refusal(const machine::SmConfig& config) {
  try {
    config.check("sm");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(UnifiedL1, RefusesWhatDoesNotFit) {
  const auto with = [](auto&& change) {
    machine::SmConfig config = unified();
    change(config);
    return refusal(config);
  };
  for (const char* list : {"", "0, 8, x", "0, 8, 8", "16, 8, 100", "0 8 100", "0,,100"}) {
    const std::string text = with([&](auto& config) { config.unified_l1.shared_options_kb = list; });
    EXPECT_THAT(text, HasSubstr("sm/unified_l1/shared_options_kb: found")) << list;
    EXPECT_THAT(text, HasSubstr("allowed: sizes in KB")) << list;
  }
  EXPECT_THAT(with([](auto& config) { config.shared_bytes = 49152; }),
              HasSubstr("found 100 as the largest size; allowed: that of shared_bytes = 49152"));
  EXPECT_THAT(with([](auto& config) { config.unified_l1.bytes = 65536; }),
              HasSubstr("allowed: sizes that leave one of l1d.ways = 256"));
  EXPECT_THAT(with([](auto& config) { config.l1d.kept = true; }),
              HasSubstr("sm/unified_l1/bytes: found 131072"));
  EXPECT_THAT(with([](auto& config) { config.l1d.enabled = false; }), HasSubstr("sm/unified_l1/bytes"));
  EXPECT_THAT(with([](auto& config) { config.default_block_shared_bytes = 102401; }),
              HasSubstr("sm/default_block_shared_bytes: found 102401; allowed: up to shared_bytes = 102400"));
}

// In a whole GPU: a kernel that reads 96 KB again and again has them in the cache, unless shared memory takes
// the place.
class UnifiedL1Launch : public ::testing::TestWithParam<bool> {};

TEST_P(UnifiedL1Launch, DividesTheMemory) {
  const bool box = GetParam();  // of 64 KB
  GpuBench bench({"sm.count=1", "sm.shared_bytes=102400", "sm.unified_l1.bytes=131072",
                  "sm.unified_l1.shared_options_kb=0,8,16,32,64,100", "sm.l1d.sets=4", "sm.l1d.ways=256",
                  "sm.l1d.set_index=modulo"});
  // 32 threads, each turn a line of each: 24 turns are 96 KB, 48 go over them twice.
  bench.load(
      looped_kernel("ld.global.u32 %r8, [%rd4]; add.u64 %rd4, %rd4, 4096; add.u32 %r9, %r9, 1;"
                    "setp.eq.u32 %p1, %r9, 24; @%p1 sub.u64 %rd4, %rd4, 98304; @%p1 mov.u32 %r9, 0;",
                    std::string(box ? ".shared .align 128 .b8 box[65536];\n mov.u32 %r7, box;\n" : "") +
                        "mov.u32 %r9, 0; mul.wide.u32 %rd4, %r2, 128; add.u64 %rd4, %rd4, %rd3;"));
  const runtime::Address data = bench.zeros(98304);
  bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(bench.zeros(128)).add(48u).add(data));
  // Without, all lines of the second turn hit; with it, 64 KB of cache hold no circle of 96.
  EXPECT_EQ(bench.sum_over_sms({"memory", "l1d", "misses"}), box ? 2 * 768 : 768);
  const auto options = bench.statistics().at("sm0").at("memory").at("shared_options");
  EXPECT_EQ(options.get<std::vector<unsigned>>(),
            box ? std::vector<unsigned>({0, 0, 0, 0, 1, 0}) : std::vector<unsigned>({1, 0, 0, 0, 0, 0}));
}
INSTANTIATE_TEST_SUITE_P(Boxes, UnifiedL1Launch, ::testing::Bool());

}  // namespace
}  // namespace weft::test::unified_l1_test
