// Machines of many SMs: up to 256.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::machine_size_test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class SmCount : public ::testing::TestWithParam<unsigned> {
 protected:
  std::string last_sm() const { return "sm" + std::to_string(GetParam() - 1); }
  std::string set() const { return "sm.count=" + std::to_string(GetParam()); }
};

// A value per thread in local memory, written, and read again behind a barrier: threads of all SMs share the
// device memory that their local memory lies in. An SM holds one block, and each SM gets one.
const std::string kLocalKernel = kPtxHeader + R"(
.visible .entry local(.param .u64 out) {
  .local .align 4 .b8 own[32];
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  and.b32 %r5, %r3, 7;
  mul.wide.u32 %rd2, %r5, 4;
  mov.u64 %rd3, own;
  add.u64 %rd4, %rd3, %rd2;
  st.local.u32 [%rd4], %r4;
  bar.sync 0;
  ld.local.u32 %r6, [%rd4];
  mul.wide.u32 %rd5, %r4, 4;
  add.u64 %rd6, %rd1, %rd5;
  st.global.u32 [%rd6], %r6;
  ret;
}
)";

std::uint64_t sum(const nlohmann::ordered_json& crossbar, const std::string& side, const char* name) {
  std::uint64_t total = 0;
  for (const auto& [key, part] : crossbar.items()) {
    if (part.is_object() && part.contains(name) && key.compare(0, side.size(), side) == 0)
      total += part.at(name).get<std::uint64_t>();
  }
  return total;
}

TEST_P(SmCount, RunsVerified) {
  const Exit exit =
      weft({"run", "--config", "gtx480", "--workload", "bfs", "--size", "small", "--set", set()});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out, HasSubstr("verified"));
}

TEST_P(SmCount, HasLocalMemoryOfItsOwnForEveryThread) {
  const Folder folder;
  const unsigned threads = 64, blocks = 2 * GetParam();
  const std::string bytes = std::to_string(4 * threads * blocks);
  const Exit exit = weft({"run",
                          "--config",
                          "gtx480",
                          "--ptx",
                          folder.write("k.ptx", kLocalKernel),
                          "--grid",
                          std::to_string(blocks),
                          "--block",
                          std::to_string(threads),
                          "--arg",
                          "ptr:" + bytes,
                          "--dump",
                          "0=" + folder.path("dump"),
                          "--monitors",
                          "--out",
                          folder.path("out"),
                          "--set",
                          set(),
                          "sm.max_blocks=1",
                          "sm.observe.events=true"},
                         patient(100));
  ASSERT_EQ(exit.code, 0) << exit.err;
  const std::string dumped = folder.text("dump");
  ASSERT_EQ(dumped.size(), 4 * threads * blocks);
  for (std::uint32_t i = 0; i < threads * blocks; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, &dumped[4 * i], 4);
    ASSERT_EQ(value, i);
  }
  // Each SM has its statistics, and what entered the crossbar came out of it.
  const auto stats = folder.json("out/stats.json");
  const auto& statistics = stats.at("statistics");
  EXPECT_TRUE(statistics.contains(last_sm()));
  EXPECT_FALSE(statistics.contains("sm" + std::to_string(GetParam())));
  for (const char* direction : {"request_bytes", "response_bytes"}) {
    EXPECT_EQ(sum(statistics.at("crossbar"), "sm", direction),
              sum(statistics.at("crossbar"), "port", direction));
    EXPECT_GT(statistics.at("crossbar").at(last_sm()).at(direction).get<std::uint64_t>(), 0u);
  }
  EXPECT_GT(stats.at("energy").at("joules").get<double>(), 0);
}

// 128 and 132 SMs are those of GPUs on the market.
INSTANTIATE_TEST_SUITE_P(Counts, SmCount, ::testing::Values(1u, 65u, 127u, 128u, 132u, 256u));

TEST(SmCounts, AllHaveSignals) {
  const Folder folder;
  const Exit exit = weft({"run", "--config", "gtx480", "--workload", "vector_add", "--size", "n=32", "--vcd",
                          folder.path("w.vcd"), "--set", "sm.count=256"},
                         patient(100));
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(folder.text("w.vcd"), HasSubstr("$scope module sm255 $end"));
}

TEST(SmCounts, BeyondTheLimitAreRefused) {
  for (const char* count : {"0", "257", "512", "65536"}) {
    const Exit exit =
        weft({"run", "--config", "gtx480", "--workload", "bfs", "--set", std::string("sm.count=") + count});
    EXPECT_EQ(exit.code, 2);
    EXPECT_THAT(exit.err, HasSubstr("/sm/count: is " + std::string(count)));
    EXPECT_THAT(exit.err, HasSubstr("allowed: an integer from 1 to 256 (SMs)"));
  }
}

}  // namespace
}  // namespace weft::end_to_end::machine_size_test
