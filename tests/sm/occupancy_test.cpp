// Occupancy: each resource of the SM limits in turn, and the SM holds as many blocks as the rule says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "execute/kernel.h"
#include "platform/gpu_bench.h"
#include "weft/common/error.h"

namespace weft::test::occupancy_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

// GTX480: 1536 threads, 8 blocks, 48 warps, 32768 registers, 48 KB, two schedulers in one domain.
struct Case {
  std::uint32_t threads, registers;
  std::uint64_t shared, dynamic;
};

execute::Occupancy occupancy(const Case& c, machine::SmConfig config = load_config("gtx480").sm,
                             std::uint64_t warp_size = 32) {
  auto program = std::make_shared<ptx::Program>();
  program->name = "k";
  program->registers_per_thread = c.registers;
  program->shared_bytes = c.shared;
  dispatch::Launch launch;
  launch.program = program;
  launch.block = {c.threads, 1, 1};
  launch.dynamic_shared = c.dynamic;
  return execute::occupancy(launch, config, warp_size);
}

TEST(Occupancy, EachResourceLimitsInTurn) {
  const auto is = [](std::uint32_t blocks, const std::string& limit) {
    return AllOf(::testing::Field(&execute::Occupancy::blocks, blocks),
                 ::testing::Field(&execute::Occupancy::limit, HasSubstr(limit)));
  };
  EXPECT_THAT(occupancy({512, 10, 0, 0}), is(3, "threads"));
  EXPECT_THAT(occupancy({32, 10, 0, 0}), is(8, "blocks"));
  EXPECT_THAT(occupancy({192, 63, 0, 0}), is(2, "registers"));  // 6 warps x 2016 -> 2048 rounded up to 64
  EXPECT_THAT(occupancy({64, 10, 0, 10000}), is(4, "shared memory"));  // 10112 each after rounding to 128
  EXPECT_THAT(occupancy({64, 10, 6145, 0}), is(7, "shared memory"));   // 6272
  EXPECT_THAT(occupancy({64, 10, 6144, 0}), is(8, "shared memory"));   // exactly an eighth
  auto few_warps = load_config("gtx480").sm;
  few_warps.max_warps = 10;
  EXPECT_THAT(occupancy({33, 10, 0, 0}, few_warps), is(5, "warps"));  // a block of 33 threads takes 2 warps
}

// 5 + 0.75 x 20 = 20 registers for each of 8 warps, and 12 more where the kernel calls functions.
TEST(Occupancy, AnEstimateCountsRegistersAsAnotherCompilerWould) {
  auto config = load_config("gtx480", {"sm.register_estimate.enabled=true", "sm.register_estimate.base=5",
                                       "sm.register_estimate.share=0.75", "sm.register_estimate.calls=12"})
                    .sm;
  EXPECT_EQ(occupancy({256, 20, 0, 0}, config).registers_per_block, 256u * 20);
  EXPECT_EQ(occupancy({256, 30, 0, 0}, config).registers_per_block, 256u * 28);  // 27.5 rounded
  ptx::Program caller;
  caller.registers_per_thread = 20;
  caller.code.resize(1);
  caller.code[0].op = ptx::Opcode::kCall;
  EXPECT_EQ(execute::needs_of(caller, 256, 0, config).registers_per_thread, 32u);
  // The machine's limit, and blocks that would not fit any more: 1,024 threads have 32 registers each.
  EXPECT_EQ(occupancy({256, 80, 0, 0}, config).registers_per_block, 8u * 2048);  // 63 for each of 32 threads
  caller.registers_per_thread = 30;
  EXPECT_EQ(execute::needs_of(caller, 1024, 0, config).registers_per_thread, 32u);
  EXPECT_EQ(execute::needs_of(caller, 512, 0, config).registers_per_thread, 40u);
  EXPECT_THAT(
      [] { load_config("gtx480", {"sm.register_estimate.enabled=true", "sm.registers_per_thread=20"}); },
      Throws<InputError>(Property(&InputError::what, HasSubstr("register_estimate"))));
}

TEST(Occupancy, RegistersAreAllocatedPerWarpInUnits) {
  EXPECT_EQ(occupancy({32, 10, 0, 0}).registers_per_block, 320u);
  EXPECT_EQ(occupancy({32, 11, 0, 0}).registers_per_block, 384u);  // 352, in units of 64
  EXPECT_EQ(occupancy({32, 0, 0, 0}).registers_per_block, 64u);    // at least one register per thread
  auto fixed = load_config("gtx480").sm;
  fixed.registers_per_thread = 20;
  EXPECT_EQ(occupancy({32, 63, 0, 0}, fixed).registers_per_block, 640u);
}

TEST(Occupancy, WarpsOfADomainLimitToo) {
  auto harp = load_config("harp-fermi").sm;
  ASSERT_EQ(harp.schedulers / harp.schedulers_per_domain, 2u);
  harp.max_threads = 1536;
  harp.registers = 1u << 20;
  // 17 warps each: a domain of 24 holds one block, though the SM's 48 warps are room for two either way.
  EXPECT_EQ(occupancy({17 * 32, 1, 0, 0}, harp).blocks, 2u);
  EXPECT_EQ(occupancy({9 * 32, 1, 0, 0}, harp).blocks, 4u);  // 2 in each; 5 by threads
  EXPECT_THAT([&] { occupancy({25 * 32, 1, 0, 0}, harp); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("warps of one scheduler domain"))));
}

TEST(Occupancy, ABlockThatDoesNotFitSaysWhy) {
  const auto says = [](const std::string& what) {
    return Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("kernel k"), HasSubstr(what))));
  };
  EXPECT_THAT([] { occupancy({1024, 40, 0, 0}); }, says("it needs 40960 registers, the SM has 32768"));
  EXPECT_THAT([] { occupancy({32, 1, 40000, 20000}); }, says("bytes of shared memory"));
  auto small = load_config("gtx480").sm;
  small.max_threads = 512;
  EXPECT_THAT([&] { occupancy({513, 1, 0, 0}, small); }, says("513 threads"));
}

// A size is checked before it is added: none may wrap around to what fits.
TEST(Occupancy, NoSizeOfSharedMemoryWrapsAround) {
  const std::uint64_t has = load_config("gtx480").sm.shared_bytes;
  EXPECT_EQ(occupancy({32, 1, 0, has}).blocks, 1u);
  EXPECT_EQ(occupancy({32, 1, 64, has - 64}).blocks, 1u);
  for (const std::uint64_t fixed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{64}, has}) {
    for (const std::uint64_t dynamic :
         {has + 1, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX - 127, UINT64_MAX - 63,
          UINT64_MAX - 15, UINT64_MAX - 1, UINT64_MAX}) {
      EXPECT_THAT(
          [&] { occupancy({32, 1, fixed, dynamic}); },
          Throws<InputError>(Property(&InputError::what, HasSubstr("shared memory, the SM has 49152"))))
          << fixed << " + " << dynamic;
      EXPECT_THROW(occupancy({32, 1, dynamic, fixed}), InputError) << dynamic << " + " << fixed;
    }
  }
}

TEST(Occupancy, NoBlockWrapsAround) {
  auto program = std::make_shared<ptx::Program>();
  dispatch::Launch launch;
  launch.program = program;
  const machine::SmConfig config = load_config("gtx480").sm;
  const auto blocks = [&](const dispatch::Dim3& block) {
    launch.block = block;
    return execute::occupancy(launch, config, 32).blocks;
  };
  EXPECT_EQ(blocks({1024, 1, 1}), 1u);
  EXPECT_EQ(blocks({16, 1, 64}), 1u);
  for (const dispatch::Dim3& block : {dispatch::Dim3{0, 1, 1},
                                      {1, 0, 1},
                                      {1, 1, 0},
                                      {1025, 1, 1},
                                      {1, 1025, 1},
                                      {1, 1, 65},
                                      {1024, 2, 1},
                                      {UINT32_MAX, 1, 1},
                                      {65536, 65536, 1},
                                      {65536, 65537, 1},
                                      {1u << 31, 2, 1}}) {
    EXPECT_THROW(blocks(block), InputError) << block[0] << " x " << block[1] << " x " << block[2];
  }
}

// A message ends with the settings that would help: "...; allowed with --set sm.max_threads=2048
// sm.max_warps=64".
std::vector<std::string> settings_in(const std::string& message) {
  static const std::string kBefore = "; allowed with --set ";
  std::vector<std::string> settings;
  const auto at = message.find(kBefore);
  if (at == std::string::npos) return settings;
  std::istringstream words(message.substr(at + kBefore.size()));
  for (std::string word; words >> word;) settings.push_back(word);
  return settings;
}

std::string refusal(const Case& c, const GpuConfig& config) {
  try {
    occupancy(c, config.sm, config.warp_formation.warp_size);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// On every machine, with warps of every size: what is said to fit is accepted, one thread more is refused,
// and the settings that the refusal names make it fit.
TEST(Occupancy, WhatIsSaidToFitFitsAndTheSettingsNamedHelp) {
  unsigned refused = 0;
  for (const auto& name : config_names()) {
    for (const unsigned warp_size : {8u, 16u, 32u, 64u}) {
      // The needs below are given, not estimated.
      const std::vector<std::string> size{"warp_formation.warp_size=" + std::to_string(warp_size),
                                          "sm.register_estimate.enabled=false"};
      const GpuConfig config = load_config(name, size);
      for (const std::uint32_t registers : {1u, 16u, 17u, 63u, 128u}) {
        for (const std::uint64_t shared : {0ull, 5000ull, 16384ull, 100000ull}) {
          execute::BlockNeeds needs;
          needs.registers_per_thread = registers;
          needs.static_shared = shared;
          const std::uint32_t most = execute::most_threads(needs, config.sm, warp_size);
          if (most != 0) {
            EXPECT_GE(occupancy({most, registers, shared, 0}, config.sm, warp_size).blocks, 1u);
          }
          if (most == dispatch::kMostBlockThreads) continue;
          const Case more{most + 1, registers, shared, 0};
          const std::string message = refusal(more, config);
          ++refused;
          auto settings = settings_in(message);
          ASSERT_FALSE(settings.empty()) << name << ": " << message;
          settings.insert(settings.end(), size.begin(), size.end());
          EXPECT_EQ(refusal(more, load_config(name, settings)), "") << name << ": " << message;
        }
      }
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_THAT(refusal({768 + 1, 1, 0, 0}, load_config("harp-fermi")),
              HasSubstr("it needs 25 warps of one scheduler domain, the SM has 24; allowed with --set "
                        "sm.max_threads=1600"));
  EXPECT_THAT(refusal({1024, 20, 0, 0}, load_config("stsimt", {"sm.registers_per_thread=20"})),
              HasSubstr("it needs 20480 registers, the SM has 16384; allowed with --set "
                        "sm.registers_per_thread=16"));
  EXPECT_THAT(refusal({32, 1, 0, 1ull << 62}, load_config("gtx480")),
              HasSubstr("no setting allows such a block"));
  EXPECT_THAT(refusal({32, 1, 100, UINT64_MAX - 10}, load_config("gtx480")),
              HasSubstr("bytes of dynamic shared memory, the SM has 49152"));
}

TEST(Occupancy, SharedMemoryForSoManyBlocks) {
  const machine::SmConfig config = load_config("gtx480").sm;  // 48 KB in units of 128 bytes
  for (const std::uint64_t fixed : {0ull, 1ull, 100ull, 6000ull}) {
    for (std::uint64_t blocks = 1; blocks <= 8; ++blocks) {
      execute::BlockNeeds needs;
      needs.threads = 32;
      needs.static_shared = fixed;
      needs.dynamic_shared = execute::most_dynamic_shared(needs, blocks, config);
      EXPECT_GE(execute::blocks_that_fit(needs, config, 32), blocks);
      ++needs.dynamic_shared;
      EXPECT_LT(execute::blocks_that_fit(needs, config, 32), blocks);
    }
  }
}

// As many blocks as the rule says are together on the SM: they wait for each other.
TEST(Occupancy, TheSmHoldsSoManyBlocksAtOnce) {
  GpuBench bench({"sm.count=1", "watchdog.cycles=20000"});
  bench.load(kernel_text(".param .u64 counter, .param .u32 wanted", R"(
  ld.param.u64 %rd1, [counter];
  ld.param.u32 %r1, [wanted];
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  red.global.add.u32 [%rd1], 1;
WAIT:
  ld.volatile.global.u32 %r3, [%rd1];
  setp.lt.u32 %p2, %r3, %r1;
  @%p2 bra WAIT;
DONE:
  ret;)"));
  const auto counter = bench.zeros(4);
  // 512 threads: 3 blocks.
  bench.run({3, 1, 1}, {512, 1, 1}, runtime::Arguments().add(counter).add(3u));
  EXPECT_EQ(bench.read(counter, 1)[0], 3u);
}

}  // namespace
}  // namespace weft::test::occupancy_test
