// Launches of several queues on one GPU: they overlap where SMs are free, and change nothing but time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "platform/csv_table.h"
#include "platform/gpu_bench.h"
#include "weft/runtime/arguments.h"

namespace weft::test::concurrent_test {
namespace {

using dispatch::LaunchOutcome;
using End = dispatch::LaunchOutcome::End;
using ::testing::HasSubstr;

// k(data, turns, 0): each thread spins `turns` times over its registers, then writes what came out.
std::string counting_kernel() {
  return looped_kernel("mad.lo.u32 %r1, %r1, 3, %r2;");
}

// Thread 0 writes outside of every allocation.
std::string bad_kernel() {
  return looped_kernel("st.global.u32 [%rd3], %r1;");
}

struct Machine {
  explicit Machine(const std::vector<std::string>& overrides = {}, const std::string& config = "gtx480",
                   const runtime::DeviceOptions& options = {})
      : bench(
            [&] {
              std::vector<std::string> all = {"sm.count=4"};
              all.insert(all.end(), overrides.begin(), overrides.end());
              return all;
            }(),
            config, options) {
    module = &bench.device.load_module(counting_kernel(), "k.ptx");
    bad = &bench.device.load_module(bad_kernel(), "bad.ptx");
    out = bench.zeros(8 * 4096);
    code = bench.device.allocate(4096);
  }
  Gpu& gpu() { return bench.device.gpu(); }

  // Results of launch `number` lie in 4 KB of its own.
  dispatch::Launch make(std::size_t number, std::uint32_t queue, std::uint32_t blocks, std::uint32_t turns,
                        loader::LoadedModule* of = nullptr) {
    dispatch::Launch launch;
    launch.program = (of != nullptr ? of : module)->program("k");
    launch.grid = {blocks, 1, 1};
    launch.block = {64, 1, 1};
    launch.parameters = runtime::lay_out(
        runtime::Arguments().add(out + number * 4096).add(turns).add(std::uint64_t{0x1'0800'0000}),
        *launch.program);
    launch.code_address = code;
    launch.parameter_address = code + 2048;
    launch.queue = queue;
    if (outcomes.size() <= number) outcomes.resize(number + 1);
    launch.done = [this, number](const LaunchOutcome& outcome) { outcomes[number] = outcome; };
    return launch;
  }
  void run() {
    while (!gpu().idle() && !gpu().faulted()) sc_core::sc_start(1, sc_core::SC_US);
  }
  // Core cycles of a launch that has the GPU for itself.
  std::uint64_t alone(std::uint32_t blocks, std::uint32_t turns) {
    gpu().launch(make(7, 0, blocks, turns));
    run();
    return outcomes[7]->cycles();
  }

  GpuBench bench;
  loader::LoadedModule *module = nullptr, *bad = nullptr;
  runtime::Address out = 0, code = 0;
  std::vector<std::optional<LaunchOutcome>> outcomes;
};

// Two blocks go to two of the four SMs, so both launches run at full speed. Apart from the arithmetic, which
// no other SM can slow down, they write a line each: that is the tolerance. All four SMs have the code.
TEST(Concurrent, IndependentLaunchesOverlap) {
  Machine m;
  m.alone(4, 10);  // the SMs keep the code in their instruction caches
  const std::uint64_t a = m.alone(2, 2000), b = m.alone(2, 1000);
  ASSERT_GT(b, 10'000u);
  const std::uint64_t before = m.gpu().totals().cycles;
  m.gpu().launch(m.make(0, 1, 2, 2000));
  m.gpu().launch(m.make(1, 2, 2, 1000));
  m.run();
  EXPECT_EQ(m.outcomes[0]->end, End::kDone);
  EXPECT_EQ(m.outcomes[1]->end, End::kDone);
  EXPECT_EQ(m.outcomes[0]->first_cycle, m.outcomes[1]->first_cycle);
  EXPECT_LT(m.outcomes[1]->last_cycle, m.outcomes[0]->last_cycle);
  EXPECT_NEAR(static_cast<double>(m.outcomes[0]->cycles()), static_cast<double>(a), 60);
  EXPECT_NEAR(static_cast<double>(m.outcomes[1]->cycles()), static_cast<double>(b), 60);
  EXPECT_EQ(m.gpu().totals().cycles - before, m.outcomes[0]->cycles()) << "the cycles of both together";
}

TEST(Concurrent, LaunchesOfOneQueueFollowEachOther) {
  Machine m;
  m.alone(2, 10);
  const std::uint64_t a = m.alone(2, 500);
  for (std::size_t i = 0; i < 3; ++i) m.gpu().launch(m.make(i, 5, 2, 500));
  m.run();
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_EQ(m.outcomes[i]->first_cycle, m.outcomes[i - 1]->last_cycle + 1);
    EXPECT_GT(m.outcomes[i]->begin_ps, m.outcomes[i - 1]->end_ps);
  }
  // The same as alone but for the phase of the clocks at which each begins.
  EXPECT_NEAR(static_cast<double>(m.outcomes[2]->last_cycle - m.outcomes[0]->first_cycle),
              static_cast<double>(3 * a), 30);
}

// One block fits an SM. Nine blocks fill the four SMs twice and one of them a third time; the block of the
// other queue begins as the first of the other three is done with the second, and runs beside the ninth.
TEST(Concurrent, ALaunchFillsTheTailOfAnother) {
  Machine m({"sm.max_blocks=1"});
  m.alone(4, 10);
  const auto twice = static_cast<double>(m.alone(8, 1000)), nine = static_cast<double>(m.alone(9, 1000));
  m.gpu().launch(m.make(0, 0, 9, 1000));
  m.gpu().launch(m.make(1, 1, 1, 500));
  m.run();
  EXPECT_NEAR(static_cast<double>(m.outcomes[1]->first_cycle - m.outcomes[0]->first_cycle), twice, 100);
  EXPECT_LT(m.outcomes[1]->last_cycle, m.outcomes[0]->last_cycle);
  EXPECT_NEAR(static_cast<double>(m.outcomes[0]->cycles()), nine, 100);
}

// Every SM's scheduler cycles sum to the cycles in which any launch was active.
TEST(Concurrent, AccountsBalance) {
  Machine m;
  for (std::size_t i = 0; i < 6; ++i)
    m.gpu().launch(m.make(i, static_cast<std::uint32_t>(i % 3), 1 + i % 3, 100 * (1 + i)));
  m.run();
  const auto all = m.bench.statistics();
  const auto cycles = all.at("gpu").at("cycles").get<double>();
  EXPECT_EQ(all.at("gpu").at("launches").get<double>(), 6);
  EXPECT_LT(cycles, static_cast<double>([&] {
              std::uint64_t sum = 0;
              for (std::size_t i = 0; i < 6; ++i) sum += m.outcomes[i]->cycles();
              return sum;
            }()));
  for (unsigned i = 0; i < 4; ++i) {
    const auto& sm = all.at("sm" + std::to_string(i));
    for (const char* scheduler : {"scheduler0", "scheduler1"}) {
      double sum = 0;
      for (const auto& bucket : sm.at(scheduler).at("cycles")) sum += bucket.get<double>();
      EXPECT_EQ(sum, cycles) << "SM " << i << ", " << scheduler;
    }
    EXPECT_EQ(sm.at("threads_launched"), sm.at("threads_retired"));
  }
  EXPECT_EQ(m.bench.sum_over_sms("blocks_launched"), 1 + 2 + 3 + 1 + 2 + 3);
}

// The row of a launch has what the SMs counted for it, whatever ran beside it.
TEST(Concurrent, TheTableOfLaunchesAddsUp) {
  Machine m;
  m.gpu().recordings().write_down_launches();
  const std::uint64_t expected = m.alone(2, 300);
  for (std::size_t i = 0; i < 6; ++i)
    m.gpu().launch(m.make(i, static_cast<std::uint32_t>(i % 3), 1 + i % 3, 100 * (1 + i)));
  m.run();
  const CsvTable table(m.gpu().recordings().launches());
  ASSERT_EQ(table.rows().size(), 7U);
  EXPECT_EQ(table.rows()[0].at("cycles"), std::to_string(expected));
  EXPECT_EQ(table.rows()[0].at("overlapped"), "0");
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& row = table.rows()[i + 1];
    // They begin in another order than they were queued: number and queue say which is which.
    EXPECT_EQ(row.at("overlapped"), "1");
    EXPECT_EQ(row.at("end"), "done");
    EXPECT_EQ(std::stoul(row.at("threads")), 64 * std::stoul(row.at("blocks")));
    EXPECT_EQ(row.at("grid"), row.at("blocks") + "x1x1");
  }
  EXPECT_EQ(table.sum("thread_instructions"), m.bench.sum_over_sms("thread_instructions"));
  EXPECT_EQ(table.sum("data_requests"), m.bench.sum_over_sms({"memory", "data_requests"}));
  EXPECT_EQ(table.sum("shared_accesses"), m.bench.sum_over_sms({"memory", "shared_accesses"}));
  EXPECT_EQ(table.sum("cycles_issued"), m.bench.sum_over_sms({"scheduler", "cycles", "issued"}));
  EXPECT_EQ(table.sum("cycles_empty"), m.bench.sum_over_sms({"scheduler", "cycles", "empty"}));
  EXPECT_EQ(table.sum("sm_cycles"), 4 * static_cast<double>(m.gpu().totals().cycles));
  double moved = 0, queued = 0;
  const auto all = m.bench.statistics();
  for (const auto& [name, of] : all.items()) {
    if (name.rfind("dram", 0) != 0) continue;
    moved += of.at("data_cycles").get<double>();
    queued += of.at("active_cycles").get<double>();
  }
  EXPECT_GT(moved, 0);
  EXPECT_EQ(table.sum("dram_data_cycles"), moved);
  EXPECT_EQ(table.sum("dram_active_cycles"), queued);
}

// A reset in the middle of a launch ends its row, and the next ones count from 0.
TEST(Concurrent, TablesOutliveAReset) {
  Machine m;
  m.gpu().recordings().write_down_launches();
  m.gpu().recordings().sample(100);
  m.alone(2, 300);
  const std::uint64_t before = m.gpu().totals().thread_instructions;
  m.gpu().launch(m.make(0, 0, 2, 3000));
  sc_core::sc_start(2, sc_core::SC_US);
  const std::uint64_t until_reset = m.gpu().totals().thread_instructions;
  ASSERT_GT(until_reset, before);
  m.bench.reset();
  m.module = &m.bench.device.load_module(counting_kernel(), "k.ptx");
  m.out = m.bench.zeros(8 * 4096);
  m.code = m.bench.device.allocate(4096);
  m.alone(1, 300);
  const std::uint64_t after = m.gpu().totals().thread_instructions;
  const CsvTable launches(m.gpu().recordings().launches()), samples(m.gpu().recordings().samples());
  ASSERT_EQ(launches.rows().size(), 3U);
  EXPECT_EQ(launches.rows()[1].at("end"), "reset");
  EXPECT_EQ(launches.rows()[1].at("thread_instructions"), std::to_string(until_reset - before));
  EXPECT_EQ(launches.rows()[2].at("thread_instructions"), std::to_string(after));
  EXPECT_EQ(samples.sum("thread_instructions"), static_cast<double>(until_reset + after));
}

// Room for 8 rows of 4 SMs: intervals are joined until they fit, and still add up.
TEST(Concurrent, TooManySamplesAreJoined) {
  Machine m;
  m.gpu().recordings().sample(10, 8);
  m.alone(4, 1000);
  const CsvTable samples(m.gpu().recordings().samples());
  EXPECT_GT(samples.rows().size(), 3U);
  EXPECT_LE(samples.rows().size(), 8U);
  EXPECT_EQ(samples.sum("thread_instructions"), m.bench.sum_over_sms("thread_instructions"));
  EXPECT_EQ(samples.sum("cycles"), 4 * static_cast<double>(m.gpu().totals().cycles));
  EXPECT_EQ(std::stoul(samples.rows()[0].at("cycle")) % 20, 0U) << "the interval is 10 doubled a few times";
}

// Who reads them while a launch runs changes nothing.
TEST(Concurrent, TablesAreReadAtAnyTime) {
  const auto tables = [](bool often) {
    return apart([often] {
      Machine m({"sm.count=2"});
      m.gpu().recordings().sample(1000);
      m.gpu().recordings().write_down_launches();
      m.gpu().launch(m.make(0, 0, 2, 3000));
      for (int i = 0; i < 5 && !m.gpu().idle(); ++i) {
        sc_core::sc_start(3, sc_core::SC_US);
        if (!often) continue;
        EXPECT_THAT(m.gpu().recordings().launches() + m.gpu().recordings().samples(), HasSubstr(",running,"));
      }
      m.run();
      const CsvTable samples(m.gpu().recordings().samples());
      EXPECT_EQ(samples.sum("cycles"), 2 * static_cast<double>(m.gpu().totals().cycles));
      // Between two readings a sleeping SM has not counted its last cycles yet, which changes no sum.
      return m.gpu().recordings().launches() + std::to_string(samples.sum("thread_instructions")) +
             std::to_string(samples.rows().size());
    });
  };
  EXPECT_EQ(tables(true), tables(false));
}

TEST(Concurrent, TablesAreAskedForOnce) {
  Machine m;
  EXPECT_THROW(m.gpu().recordings().sample(0), InputError);
  EXPECT_THROW(m.gpu().recordings().sample(Recordings::kMostSampleInterval + 1), InputError);
  EXPECT_EQ(m.gpu().recordings().samples() + m.gpu().recordings().launches(), "");
  m.gpu().recordings().sample(100);
  EXPECT_THROW(m.gpu().recordings().sample(100), InputError);
  m.alone(1, 10);
  EXPECT_THROW(m.gpu().recordings().write_down_launches(), InputError);  // the simulation has begun
}

// Checks are of one launch.
TEST(Concurrent, ObservedLaunchesFollowEachOther) {
  runtime::DeviceOptions options;
  options.check.race = true;
  Machine m({}, "gtx480", options);
  m.gpu().launch(m.make(0, 1, 1, 50));
  m.gpu().launch(m.make(1, 2, 1, 50));
  m.run();
  EXPECT_EQ(m.outcomes[1]->first_cycle, m.outcomes[0]->last_cycle + 1);
}

class ConcurrentMachines : public ::testing::TestWithParam<std::string> {};

std::string run_mixed(const std::string& machine, bool one_queue, const runtime::DeviceOptions& options) {
  return apart([&] {
    Machine m(overrides_of(machine, {}), config_of(machine), options);
    for (std::size_t i = 0; i < 6; ++i) {
      const auto queue = one_queue ? 0u : static_cast<std::uint32_t>(i % 3);
      m.gpu().launch(m.make(i, queue, 1 + i % 3, 20 * (1 + i)));
    }
    m.run();
    std::uint64_t sum = 0;
    for (const std::uint32_t word : m.bench.read(m.out, 8 * 1024)) sum = sum * 31 + word;
    if (sum == 0) throw std::runtime_error("nothing was written");
    std::string result = "memory " + std::to_string(sum) + m.gpu().violations();
    if (!one_queue) result += m.bench.statistics().dump();
    return result;
  });
}

TEST_P(ConcurrentMachines, AreDeterministicAndLeaveTheImageOfARunInOrder) {
  const std::string once = run_mixed(GetParam(), false, {});
  runtime::DeviceOptions awake, monitored;
  awake.sleeping = false;
  monitored.monitors = true;
  EXPECT_TRUE(run_mixed(GetParam(), false, awake) == once) << "with sleeping off";
  EXPECT_TRUE(run_mixed(GetParam(), false, monitored) == once) << "under monitors";
  const std::string in_order = run_mixed(GetParam(), true, {});
  EXPECT_EQ(once.substr(0, in_order.size()), in_order);
}

INSTANTIATE_TEST_SUITE_P(Machines, ConcurrentMachines, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

TEST(Concurrent, AFaultEndsAllLaunchesUntilTheReset) {
  Machine m;
  m.gpu().launch(m.make(0, 0, 2, 100'000));
  m.gpu().launch(m.make(1, 1, 1, 5, m.bad));
  m.gpu().launch(m.make(2, 1, 1, 5));
  m.run();
  ASSERT_TRUE(m.gpu().faulted());
  EXPECT_THAT(m.gpu().fault(), HasSubstr("0x108000000"));
  EXPECT_TRUE(m.gpu().idle());
  EXPECT_EQ(m.outcomes[0]->end, End::kStopped);
  EXPECT_EQ(m.outcomes[1]->end, End::kFaulted);
  EXPECT_EQ(m.outcomes[2]->end, End::kStopped);
  EXPECT_TRUE(m.outcomes[0]->began);
  EXPECT_FALSE(m.outcomes[2]->began);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(m.outcomes[i]->fault.text, m.gpu().fault());
  m.gpu().launch(m.make(3, 9, 1, 5));
  ASSERT_TRUE(m.outcomes[3].has_value()) << "the error is sticky";
  EXPECT_EQ(m.outcomes[3]->end, End::kStopped);

  m.gpu().reset();
  m.gpu().map(m.out, 8 * 4096, true);
  m.outcomes.clear();
  m.gpu().launch(m.make(0, 0, 2, 100));
  m.gpu().launch(m.make(1, 1, 2, 100));
  m.run();
  EXPECT_FALSE(m.gpu().faulted()) << m.gpu().fault();
  EXPECT_EQ(m.outcomes[0]->end, End::kDone);
  EXPECT_EQ(m.outcomes[1]->end, End::kDone);
}

// What faulted and what followed it, as text, with all statistics.
std::string run_contained(const std::string& machine, const runtime::DeviceOptions& options) {
  return apart([&] {
    Machine m(overrides_of(machine, {}), config_of(machine), options);
    const auto launch = [&](std::size_t number, std::uint32_t queue, std::uint32_t blocks,
                            std::uint32_t turns, loader::LoadedModule* of = nullptr) {
      dispatch::Launch made = m.make(number, queue, blocks, turns, of);
      made.contained = true;
      m.gpu().launch(made);
    };
    launch(0, 0, 2, 3000);
    launch(1, 1, 5, 1000, m.bad);
    launch(2, 1, 3, 50);
    launch(3, 2, 9, 500);
    m.run();
    std::string text = m.gpu().fault();
    for (const auto& outcome : m.outcomes) {
      text += outcome->end == End::kDone ? "done " : outcome->end == End::kFaulted ? "faulted " : "stopped ";
      text += outcome->fault.text + "\n";
    }
    const auto all = m.bench.statistics();
    const auto cycles = all.at("gpu").at("cycles").get<double>();
    for (unsigned i = 0; i < 4; ++i) {
      double sum = 0;
      for (const auto& bucket : all.at("sm" + std::to_string(i)).at("scheduler0").at("cycles"))
        sum += bucket.get<double>();
      if (sum != cycles) text += "SM " + std::to_string(i) + " accounts for other cycles\n";
    }
    return text + all.dump();
  });
}

// The launches beside it and behind it in its queue end well, and no SM loses a cycle, asleep or not.
TEST_P(ConcurrentMachines, AContainedFaultEndsItsLaunchOnly) {
  const std::string once = run_contained(GetParam(), {});
  const std::size_t end = once.find("\ndone \ndone \n{");
  ASSERT_NE(end, std::string::npos) << once.substr(0, 1000);
  EXPECT_THAT(once.substr(0, end), AllOf(HasSubstr("done \nfaulted k: thread ("),
                                         HasSubstr("at 0x108000000 is not in any allocation")));
  runtime::DeviceOptions awake;
  awake.sleeping = false;
  EXPECT_TRUE(run_contained(GetParam(), awake) == once) << "without sleeping";
}

// A hang ends what hangs; the queue goes on.
TEST(Concurrent, AContainedHangEndsItsLaunchOnly) {
  Machine m({"watchdog.cycles=2000"});
  const std::string waits = kernel_text(".param .u64 out, .param .u32 turns, .param .u64 start", R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bra FIRST;
  bar.sync 1, 64;
FIRST:
  bar.sync 0, 64;
  ret;)");
  auto& stuck = m.bench.device.load_module(waits, "waits.ptx");
  dispatch::Launch first = m.make(0, 0, 6, 1, &stuck), second = m.make(1, 0, 6, 100);
  first.contained = second.contained = true;
  m.gpu().launch(first);
  m.gpu().launch(second);
  m.run();
  EXPECT_FALSE(m.gpu().faulted()) << m.gpu().fault();
  EXPECT_EQ(m.outcomes[0]->end, End::kFaulted);
  EXPECT_EQ(m.outcomes[0]->fault.kind, FaultKind::kHang);
  EXPECT_THAT(m.outcomes[0]->fault.text, HasSubstr("deadlock"));
  EXPECT_EQ(m.outcomes[1]->end, End::kDone) << m.outcomes[1]->fault.text;
}

TEST(Concurrent, AResetInTheMiddleEqualsFreshConstruction) {
  const std::vector<std::string> clocks = {"clocks.core_mhz=700", "clocks.interconnect_mhz=700",
                                           "clocks.memory_mhz=700"};
  const auto twice = [](Machine& m) {
    m.gpu().launch(m.make(0, 0, 2, 50));
    m.gpu().launch(m.make(1, 1, 3, 80));
    m.run();
    return m.bench.statistics().dump() + std::to_string(m.outcomes[0]->cycles()) + " " +
           std::to_string(m.outcomes[1]->cycles());
  };
  const std::string fresh = apart([&] {
    Machine m(clocks);
    return twice(m);
  });
  Machine m(clocks);
  m.gpu().launch(m.make(0, 0, 2, 100'000));
  m.gpu().launch(m.make(1, 1, 2, 100'000));
  sc_core::sc_start(20, sc_core::SC_US);
  ASSERT_GT(m.gpu().progress().thread_instructions, 0u);
  m.gpu().reset();
  EXPECT_FALSE(m.outcomes[0].has_value()) << "a reset forgets launches without a word";
  m.gpu().map(m.out, 8 * 4096, true);
  EXPECT_EQ(twice(m), fresh);
}

// A deadlock in one queue is found when nothing else goes on any more; until then the other queue runs.
TEST(Concurrent, TheWatchdogNamesAllKernelsThatRun) {
  Machine m({"watchdog.cycles=2000"});
  const std::string waits = kernel_text(".param .u64 out, .param .u32 turns, .param .u64 start", R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 32;
  @%p1 bra FIRST;
  bar.sync 1, 64;
FIRST:
  bar.sync 0, 64;
  ret;)");
  auto& stuck = m.bench.device.load_module(waits, "waits.ptx");
  m.gpu().launch(m.make(0, 0, 1, 1, &stuck));
  m.gpu().launch(m.make(1, 1, 1, 3000));
  m.run();
  ASSERT_TRUE(m.gpu().faulted());
  EXPECT_THAT(m.gpu().fault(), HasSubstr("deadlock"));
  EXPECT_EQ(m.outcomes[0]->end, End::kStopped);
  EXPECT_EQ(m.outcomes[1]->end, End::kDone) << "it went on while the other one hung";
}

}  // namespace
}  // namespace weft::test::concurrent_test
