// An observer from outside of the SMs sees every instruction from issue to commit.
#include "sm/sm_observer.h"

#include <gtest/gtest.h>

#include <map>

#include "platform/divergent_kernel.h"
#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::sm_observer_test {
namespace {

using runtime::Arguments;

// The whole of a new observer.
struct Census final : sm::SmObserver {
  unsigned kernels = 0, ended = 0, blocks = 0, barriers = 0;
  std::uint64_t instructions = 0, threads = 0, executing = 0, resolved_threads = 0, returned_loads = 0;
  std::map<std::uint16_t, std::uint32_t> unresolved, waiting;  // threads, by instruction in flight

  void kernel_started(const KernelStart&) override { ++kernels; }
  void kernel_finished(Cycle) override { ++ended; }
  void issued(const Issue& issue) override {
    ++instructions;
    threads += issue.flight.threads();
    executing += issue.flight.executing_threads();
    unresolved[issue.id] += issue.flight.threads();
    if (issue.flight.op->instruction->is_load() && issue.flight.executing_threads() != 0)
      waiting[issue.id] = issue.flight.executing_threads();
  }
  void resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle) override {
    for (const auto& outcome : outcomes) {
      for (const auto& group : outcome.groups) {
        const auto count = static_cast<std::uint32_t>(__builtin_popcount(group.mask));
        resolved_threads += count;
        unresolved[id] -= count;
      }
    }
  }
  void returned(std::uint16_t id, Cycle) override { returned_loads += waiting.erase(id); }
  void barrier_opened(std::uint16_t, unsigned) override { ++barriers; }
  void retired(std::uint16_t) override { ++blocks; }
};

constexpr unsigned kThreads = 96, kBlocks = 4;

class SmObserverOfScheme : public testing::TestWithParam<std::string> {};

TEST_P(SmObserverOfScheme, SeesWhatTheCountersCount) {
  GpuBench bench({"sm.count=1", "warp_formation.scheme=" + GetParam()});
  Census census;
  bench.device.gpu().attach(0, census);
  const auto out = bench.zeros(4 * (kDivergentWords + 1));
  bench.load(divergent_kernel());
  bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, Arguments().add(out));
  bench.device.gpu().detach(0, census);
  bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, Arguments().add(out));

  const auto statistics = bench.statistics();
  const auto& counters = statistics.at("sm0");
  EXPECT_EQ(census.kernels, 1u);
  EXPECT_EQ(census.ended, 1u);
  EXPECT_EQ(census.blocks, kBlocks);
  EXPECT_EQ(census.barriers, kBlocks);
  // Both launches do the same work; it saw the first.
  EXPECT_EQ(2 * census.threads, counters.at("thread_instructions").get<std::uint64_t>());
  EXPECT_EQ(2 * census.executing, counters.at("executed_thread_instructions").get<std::uint64_t>());
  EXPECT_GT(census.instructions, 0u);
  EXPECT_EQ(census.resolved_threads, census.threads);
  for (const auto& [id, left] : census.unresolved) EXPECT_EQ(left, 0u) << "instruction " << id;
  EXPECT_GT(census.returned_loads, 0u);
  EXPECT_TRUE(census.waiting.empty());
}

INSTANTIATE_TEST_SUITE_P(Schemes, SmObserverOfScheme, testing::ValuesIn(scheme_classes::all()),
                         scheme_classes::name_of);

}  // namespace
}  // namespace weft::test::sm_observer_test
