// What a whole GPU makes of the options of its L2, its address map and its DRAM.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/gpu_bench.h"

namespace weft::test::memory_side_test {
namespace {

// Thread t adds 1 to word t, and to the word at 4 KB times its warp.
std::string kernel() {
  return kernel_text(".param .u64 data",
                     R"(
    ld.param.u64 %rd1, [data];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd2, %r4, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r5, [%rd3];
    add.u32 %r5, %r5, 1;
    st.global.u32 [%rd3], %r5;
    shr.u32 %r6, %r4, 5;
    mul.wide.u32 %rd4, %r6, 4096;
    add.u64 %rd5, %rd1, %rd4;
    red.global.add.u32 [%rd5+262144], 1;
)");
}

constexpr unsigned kThreads = 8 * 256;
constexpr std::size_t kWords = (262144 + 4096 * kThreads / 32) / 4;

struct Outcome {
  std::vector<std::uint32_t> memory;
  std::uint64_t cycles = 0;
  double dram_reads = 0, far = 0, l2_reads = 0;
};

Outcome run(const std::vector<std::string>& overrides) {
  GpuBench bench(overrides);
  std::vector<std::uint32_t> words(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) words[i] = i * 7;
  const runtime::Address data = bench.words(words);
  bench.load(kernel());
  Outcome outcome;
  outcome.cycles = bench.run({kThreads / 256, 1, 1}, {256, 1, 1}, runtime::Arguments().add(data));
  outcome.memory = bench.read(data, kWords);
  const auto statistics = bench.statistics();
  for (const auto& [name, group] : statistics.items()) {
    if (name.rfind("dram", 0) == 0) outcome.dram_reads += group["reads"].get<double>();
    if (name.rfind("l2", 0) != 0) continue;
    outcome.l2_reads += group["reads"].get<double>();
    if (group.contains("far")) outcome.far += group["far"].get<double>();
  }
  return outcome;
}

// Runs in a process of its own; text, for `apart`.
std::string numbers(const std::vector<std::string>& overrides) {
  return apart([&overrides] {
    const Outcome one = run(overrides);
    std::uint64_t sum = 0;
    for (const std::uint32_t word : one.memory) sum = sum * 31 + word;
    return std::to_string(sum) + " " + std::to_string(one.cycles) + " " + std::to_string(one.dram_reads);
  });
}
std::string memory_of(const std::string& numbers) {
  return numbers.substr(0, numbers.find(' '));
}

TEST(HostCopies, FillTheL2) {
  const Outcome filled = run({"l2.host_copies_fill=true", "l2.sets=1024"});
  EXPECT_LT(filled.dram_reads, 20) << "instructions alone";
  EXPECT_GT(filled.l2_reads, 0);
}

TEST(HostCopies, LeaveTheL2AloneByDefault) {
  EXPECT_GT(run({"l2.sets=1024"}).dram_reads, 200);
}

// 15 SMs in two partitions: 7 or 8 SMs are far from each slice.
TEST(Partitions, FarRequestsAreSlower) {
  const std::string near = numbers({}), slow = numbers({"l2.partitions=2", "l2.far_latency=200"});
  const Outcome far = run({"l2.partitions=2", "l2.far_latency=200"});  // the others ran in other processes
  EXPECT_GT(far.far, 0);
  EXPECT_LT(far.far, far.l2_reads + 2 * kThreads);
  EXPECT_EQ(memory_of(slow), memory_of(near));
  EXPECT_GT(far.cycles, std::stoull(near.substr(near.find(' '))) + 200);
}

// Maps, hashes and standards change times only.
TEST(MemorySide, LeavesTheSameMemory) {
  const std::string plain = memory_of(numbers({}));
  const std::vector<std::vector<std::string>> machines = {
      {"dram.slice_hash=polynomial"},
      {"dram.slice_hash=polynomial", "dram.slice_order=l2_banks", "dram.interleave_bytes=128",
       "dram.channels=16", "dram.slice_hash_shift=1"},
      {"dram.slice_hash=xor", "dram.channels=8"},
      {"dram.channels=48", "l2.banks_per_channel=2", "l2.set_index=polynomial"},
      {"l2.bytes_per_cycle=64"},
      {"dram.standard=gddr6", "dram.refresh=per_bank"},
      {"dram.standard=hbm2", "dram.devices=1", "dram.alternating_banks=2"},
      {"dram.standard=hbm3", "dram.devices=1", "dram.alternating_banks=2", "dram.refresh=per_bank"},
  };
  for (const std::vector<std::string>& machine : machines)
    EXPECT_EQ(memory_of(numbers(machine)), plain) << machine.front();
}

}  // namespace
}  // namespace weft::test::memory_side_test
