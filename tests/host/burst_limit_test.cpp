// A bus that takes few bytes in a transaction: host.burst_bytes holds for packets, copies, kernels, and
// device memory that lies in system memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "host/gpu_machine.h"
#include "weft/common/error.h"

namespace weft::test::burst_limit_test {
namespace {

// Thread i moves four words of `in` to `out`, stores one byte of three, adds its number to a sum of 64 bits,
// and adds to a word.
const char* const kMove = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry move(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %rd<12>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r4, 16;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd4];
  st.global.v4.u32 [%rd5], {%r8, %r7, %r6, %r5};
  mul.wide.u32 %rd6, %r4, 3;
  add.u64 %rd7, %rd2, %rd6;
  st.global.u8 [%rd7+8192], %r4;
  cvt.u64.u32 %rd8, %r4;
  atom.global.add.u64 %rd9, [%rd2+12288], %rd8;
  mul.wide.u32 %rd10, %r4, 4;
  add.u64 %rd11, %rd2, %rd10;
  atom.global.add.u32 %r9, [%rd11+16384], 5;
  ret;
}
)";
constexpr std::uint32_t kThreads = 4 * 64;
constexpr std::uint64_t kIn = kRam + 0x8'0000, kResults = kRam + 0x9'0000;

using Setup = std::tuple<unsigned, std::string>;

class BurstLimit : public ::testing::TestWithParam<Setup> {
 public:
  unsigned burst() const { return std::get<0>(GetParam()); }
  std::vector<std::string> overrides(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"system.enabled=true", "host.burst_bytes=" + std::to_string(burst()),
                             "host.dma_transport=" + std::get<1>(GetParam())});
    return more;
  }
  void limit(Machine& machine) const {
    machine.with_ram();
    machine.ram.most_bytes = burst();
    put_kernel(machine.ram, "move", kMove);
    for (std::uint32_t i = 0; i < 4 * kThreads; ++i) machine.ram.put<std::uint32_t>(kIn + 4 * i, 7 * i + 1);
  }
  static void run(Machine& machine, std::uint64_t results, std::uint32_t index) {
    machine.ram.put<std::int64_t>(kSignal, 1);
    machine.ram.put<std::uint64_t>(kArguments, kIn);
    machine.ram.put<std::uint64_t>(kArguments + 8, results);
    machine.submit(0, index, dispatch_packet(4, 64));
    machine.wait_for_interrupt();
    ASSERT_EQ(machine.reg(WEFT_REG_ERROR_CODE), 0u) << machine.gpu.host_error();
    machine.acknowledge();
  }
  template <class Word>
  static void expect_moved(const Word& word) {
    for (std::uint32_t i = 0; i < 4 * kThreads; ++i)
      ASSERT_EQ(word(4 * i), 7 * (i / 4 * 4 + 3 - i % 4) + 1) << "word " << i;
    for (std::uint32_t i = 0; i < kThreads; ++i)
      ASSERT_EQ(word(8192 + 3 * i / 4 * 4) >> 8 * (3 * i % 4) & 0xff, i) << "byte of thread " << i;
    EXPECT_EQ(word(12288), kThreads * (kThreads - 1) / 2);
    EXPECT_EQ(word(12292), 0u);
    for (std::uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(word(16384 + 4 * i), 5u) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(
    Buses, BurstLimit, ::testing::Combine(::testing::Values(4u, 8u, 16u, 32u), ::testing::Values("at", "lt")),
    [](const auto& info) { return std::get<1>(info.param) + std::to_string(std::get<0>(info.param)); });

TEST_P(BurstLimit, HoldsForKernels) {
  Machine machine(config_of("gtx480", overrides()));
  limit(machine);
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    run(machine, kResults, 0);
  }));
  expect_moved([&](std::uint64_t at) { return machine.ram.get<std::uint32_t>(kResults + at); });
}

TEST_P(BurstLimit, HoldsForKernelsWithoutTiming) {
  Machine machine(config_of("gtx480", overrides({"host.functional=true"})));
  limit(machine);
  machine.ram.answers_debug = false;
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    run(machine, kResults, 0);
  }));
  expect_moved([&](std::uint64_t at) { return machine.ram.get<std::uint32_t>(kResults + at); });
}

// Lines of the cache, copies, and accesses of the host through the aperture, long and with byte enables.
TEST_P(BurstLimit, HoldsForDeviceMemoryInSystemMemory) {
  Machine machine(config_of("integrated", overrides({kCarveOut})));
  limit(machine);
  ASSERT_TRUE(machine.cpu.run([&] {
    machine.open();
    run(machine, kOut, 0);
    const auto words = machine.read_words(kOut, 16384 / 4 + kThreads);
    expect_moved([&](std::uint64_t at) { return words[at / 4]; });

    machine.ram.put<std::int64_t>(kSignal, 1);
    machine.submit(0, 1, copy_packet(kOut, kResults, 4096));
    machine.wait_for_interrupt();
    for (std::uint32_t i = 0; i < 1024; ++i)
      ASSERT_EQ(machine.ram.get<std::uint32_t>(kResults + 4 * i), words[i]) << i;

    for (const auto style : {Traffic::Style::kLoose, Traffic::Style::kApproximate}) {
      machine.cpu.style = style;
      std::vector<unsigned char> bytes(301, 0xaa),
          enables = {TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_ENABLED};
      Traffic::Access access;
      access.command = tlm::TLM_WRITE_COMMAND;
      access.address = WEFT_APERTURE + (kOut - kDeviceBase) + 3;
      access.data = bytes.data();
      access.bytes = 301;
      EXPECT_EQ(machine.cpu.access(access), tlm::TLM_OK_RESPONSE);
      std::fill(bytes.begin(), bytes.end(), 0x55);
      access.enables = enables.data();
      access.enables_bytes = 3;
      EXPECT_EQ(machine.cpu.access(access), tlm::TLM_OK_RESPONSE);
      const auto changed = machine.read_words(kOut, 80);
      const auto* const found = reinterpret_cast<const unsigned char*>(changed.data());
      for (unsigned i = 0; i < 301; ++i) ASSERT_EQ(found[3 + i], i % 3 == 1 ? 0xaa : 0x55) << i;
      EXPECT_EQ(changed[78], words[78]);
    }
  }));
}

TEST(BurstLimitErrors, SaysWhatIsAllowed) {
  for (const char* const wrong : {"2", "24", "8192"}) {
    EXPECT_THROW(config_of("gtx480", {std::string("host.burst_bytes=") + wrong}), InputError) << wrong;
  }
}

}  // namespace
}  // namespace weft::test::burst_limit_test
