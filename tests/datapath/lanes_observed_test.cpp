// What is seen of lanes that each run warps of their own: what sm.observe.lanes counts, and where in its warp
// a lane is.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "datapath/issues.h"
#include "platform/csv_table.h"
#include "platform/divergent_kernel.h"
#include "platform/gpu_bench.h"

namespace weft::test::lanes_observed_test {
namespace {

using runtime::Arguments;

const std::vector<std::string> kLanes = {"sm.count=1", "datapath.kind=temporal", "sm.observe.lanes=true"};

class ObservedLanes : public ::testing::Test {
 protected:
  explicit ObservedLanes(std::vector<std::string> overrides = {})
      : bench_(with_lanes(std::move(overrides)), "stsimt"), out_(bench_.zeros(4 * 1024)) {}
  static std::vector<std::string> with_lanes(std::vector<std::string> overrides) {
    overrides.insert(overrides.end(), kLanes.begin(), kLanes.end());
    return overrides;
  }

  // What the counter of the SM counts during a run of `turns`.
  double counted(const std::string& ptx, unsigned threads, unsigned turns, statistics::Path path,
                 std::uint64_t start = 0, unsigned blocks = 1) {
    bench_.load(ptx);
    const auto& sm = *bench_.device.gpu().statistics().groups({"sm"}).front();
    const std::uint64_t before = sm.sum(path).value();
    bench_.run({blocks, 1, 1}, {threads, 1, 1}, Arguments().add(out_).add(turns).add(start));
    return static_cast<double>(sm.sum(path).value() - before);
  }
  // ... in one turn more, once the caches are filled.
  double per_turn(const std::string& ptx, unsigned threads, statistics::Path path, std::uint64_t start = 0) {
    constexpr unsigned kFew = 10, kMany = 60;
    counted(ptx, threads, kFew, path, start);
    const double few = counted(ptx, threads, kFew, path, start);
    return (counted(ptx, threads, kMany, path, start) - few) / (kMany - kFew);
  }
  std::array<double, 3> conflicts_per_turn(const std::string& ptx, unsigned threads) {
    return {per_turn(ptx, threads, {"lanes", "conflicts_1"}),
            per_turn(ptx, threads, {"lanes", "conflicts_2"}),
            per_turn(ptx, threads, {"lanes", "conflicts_3_or_more"})};
  }

  GpuBench bench_;
  const runtime::Address out_;
};

// Warps on lanes of their own leave a barrier in the same cycle, and the front end issues to one after the
// other. From then on each is a cycle behind the one before, and no two are ready at once.
TEST_F(ObservedLanes, IssueConflictsAreLanesThatWaitForTheFrontEnd) {
  using Conflicts = std::array<double, 3>;
  const std::string kernel = looped_kernel("bar.sync 0;\n" + repeated(4, "add.u32 %r1, %r1, 1;"));
  EXPECT_EQ(conflicts_per_turn(kernel, 32), (Conflicts{0, 0, 0}));
  EXPECT_EQ(conflicts_per_turn(kernel, 64), (Conflicts{1, 0, 0}));
  EXPECT_EQ(conflicts_per_turn(kernel, 96), (Conflicts{1, 1, 0}));
  EXPECT_EQ(conflicts_per_turn(kernel, 8 * 32), (Conflicts{1, 1, 5}));
}

// Warps of one thread leave their lanes free in the next cycle. With an addition that waits for the one
// before, no lane waits for the front end; with independent ones all do, but the one that it issues to.
class ObservedBusyFrontEnd : public ObservedLanes {
 protected:
  // It always has instructions.
  ObservedBusyFrontEnd() : ObservedLanes({"sm.fetch_width=16", "sm.instruction_buffer=32"}) {}
};

TEST_F(ObservedBusyFrontEnd, AWarpThatIsNotReadyIsNoConflict) {
  using Conflicts = std::array<double, 3>;
  const auto per_copy = [&](const std::string& copy) {
    const auto of = [&](unsigned copies) {
      return conflicts_per_turn(
          looped_kernel(repeated(copies, copy), "and.b32 %r9, %r2, 31; setp.ne.u32 %p1, %r9, 0; @%p1 ret;"),
          128);
    };
    const Conflicts many = of(6), few = of(2);
    return Conflicts{(many[0] - few[0]) / 4, (many[1] - few[1]) / 4, (many[2] - few[2]) / 4};
  };
  std::string independent;
  for (int i = 10; i < 26; ++i) {
    const std::string r = "%r" + std::to_string(i);
    independent.append("add.u32 ").append(r).append(", ").append(r).append(", 1;\n");
  }
  EXPECT_EQ(per_copy(repeated(4, "add.u32 %r1, %r1, 1;")), (Conflicts{0, 0, 0}));
  EXPECT_EQ(per_copy(independent), (Conflicts{0, 0, 4 * 16}));
}

// The same where any warp may run on any lane, and with more warps than lanes.
class ObservedSharedLanes : public ObservedLanes {
 protected:
  ObservedSharedLanes() : ObservedLanes({"datapath.locked=false"}) {}
};

TEST_F(ObservedSharedLanes, ConflictsAreOfFreeLanesForWhichThereIsAWarp) {
  using Conflicts = std::array<double, 3>;
  const std::string kernel = looped_kernel("bar.sync 0;\n" + repeated(4, "add.u32 %r1, %r1, 1;"));
  EXPECT_EQ(conflicts_per_turn(kernel, 96), (Conflicts{1, 1, 0}));
  EXPECT_EQ(conflicts_per_turn(kernel, 8 * 32), (Conflicts{1, 1, 5}));
}

// Nine warps on eight lanes: the two that share a lane wait for it, not for the front end.
TEST_F(ObservedLanes, WarpsOfOneLaneAreNoConflict) {
  const std::string kernel = looped_kernel("bar.sync 0;\n" + repeated(4, "add.u32 %r1, %r1, 1;"));
  EXPECT_EQ(conflicts_per_turn(kernel, 9 * 32)[2], 5);
}

// A chain of loads that hit in the L1: the warp waits for all of a load but for the cycle of its issue.
TEST_F(ObservedLanes, ALaneIsDynamicUnlessItsWarpsWaitForLoads) {
  const auto pointer = bench_.zeros(8);
  bench_.device.copy_to(pointer, &pointer, 8);
  const auto per_load = [&](const std::string& load, const std::string& prologue, const char* counter) {
    const auto of = [&](unsigned copies) {
      return per_turn(looped_kernel(repeated(copies, load), prologue), 1, {"lanes", counter}, pointer);
    };
    return (of(24) - of(8)) / 16;
  };
  const std::string load = "ld.global.u64 %rd3, [%rd3];";
  EXPECT_EQ(per_load(load, "", "dynamic_lane_cycles"), 1);
  EXPECT_EQ(per_load(load, "", "static_lane_cycles"), per_load(load, "", "cycles"));
  EXPECT_GT(per_load(load, "", "cycles"), 35);
  // Shared memory is near.
  const std::string near = "ld.shared.u32 %r8, [%r8];";
  const std::string words = ".shared .b32 words[32]; mov.u32 %r8, 0; st.shared.u32 [%r8], %r8;";
  EXPECT_EQ(per_load(near, words, "dynamic_lane_cycles"), per_load(near, words, "cycles"));
  EXPECT_GT(per_load(near, words, "cycles"), 25);
}

// Two blocks of two full warps and one of 20 threads on eight lanes [ST-SIMT 5.4].
TEST_F(ObservedLanes, BlocksOf84ThreadsLeaveLanesWithoutWarps) {
  const std::string kernel = looped_kernel(repeated(100, "add.u32 %r1, %r1, 1;"));
  counted(kernel, 84, 40, {"lanes", "cycles"}, 0, 2);
  const auto sm = bench_.statistics().at("sm0");
  const auto all = [&](const char* name) { return sm.at("lanes").at(name).get<double>(); };
  const auto lane = [&](unsigned number, const char* name) {
    return sm.at("lane" + std::to_string(number)).at(name).get<double>();
  };
  // A partial warp has an instruction every 20 cycles and is done when the others are at 20/32, but for what
  // each turn of the loop costs beside.
  EXPECT_NEAR(all("static_lane_cycles") / all("cycles"), 4 + 2 * 20.0 / 32, 0.05);
  EXPECT_EQ(all("resident_warp_cycles"), all("static_lane_cycles"));
  double threads = 0, executed = 0, issues = 0;
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(lane(i, "thread_instructions"), lane(0, "thread_instructions") / 32 *
                                                  (i > 5        ? 0
                                                   : i % 3 == 2 ? 20
                                                                : 32));
    EXPECT_EQ(lane(i, "issues"), i > 5 ? 0 : lane(0, "issues"));
    threads += lane(i, "thread_instructions");
    executed += lane(i, "executed_thread_instructions");
    issues += lane(i, "issues");
  }
  EXPECT_EQ(threads, sm.at("thread_instructions"));
  EXPECT_EQ(executed, sm.at("executed_thread_instructions"));
  EXPECT_EQ(issues, sm.at("warp_instructions"));
}

// Cycles are those in which the SM holds a block: not those in which another SM does.
TEST(ObservedLanesOfSms, CyclesAreThoseWithABlock) {
  GpuBench bench({"sm.count=2", "datapath.kind=temporal", "sm.observe.lanes=true"}, "stsimt");
  const auto out = bench.zeros(4 * 32);
  bench.load(looped_kernel("add.u32 %r1, %r1, 1;"));
  const auto cycles =
      static_cast<double>(bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out).add(500u).add(0ull)));
  const auto stats = bench.statistics();
  EXPECT_NEAR(stats.at("sm0").at("lanes").at("cycles").get<double>() / cycles, 1, 0.05);
  EXPECT_EQ(stats.at("sm0").at("lanes").at("cycles"), stats.at("sm0").at("lanes").at("static_lane_cycles"));
  EXPECT_EQ(stats.at("sm1").at("lanes").at("cycles"), 0);
}

// Each lane has columns in both tables, which add up to the statistics.
TEST(ObservedLanesOfSms, AreInTheTables) {
  GpuBench bench({"sm.count=2", "datapath.kind=temporal", "sm.observe.lanes=true"}, "stsimt");
  bench.device.gpu().recordings().sample(200);
  bench.device.gpu().recordings().write_down_launches();
  run_divergent(bench);
  const CsvTable samples(bench.device.gpu().recordings().samples()),
      launches(bench.device.gpu().recordings().launches());
  EXPECT_GT(samples.rows().size(), 20u);
  EXPECT_EQ(launches.rows().size(), 1u);
  const auto stats = bench.statistics();
  for (unsigned i = 0; i < 8; ++i) {
    const std::string lane = "lane" + std::to_string(i);
    for (const char* name :
         {"issues", "thread_instructions", "executed_thread_instructions", "busy_cycles"}) {
      const std::string column = lane + "_" + name;
      const auto of = [&](const char* sm) { return stats.at(sm).at(lane).at(name).get<double>(); };
      EXPECT_EQ(samples.sum(column, "sm", "0"), of("sm0")) << column;
      EXPECT_EQ(samples.sum(column, "sm", "1"), of("sm1")) << column;
      EXPECT_EQ(launches.sum(column), of("sm0") + of("sm1")) << column;
      EXPECT_GT(of("sm0"), 0) << column;
    }
  }
}

std::string divergent(const std::vector<std::string>& overrides, bool sleeping = true) {
  return apart([&] {
    runtime::DeviceOptions options;
    options.sleeping = sleeping;
    GpuBench bench(overrides, "stsimt", options);
    return run_divergent(bench);
  });
}

TEST(ObservedLanesOfSms, DoNotDependOnSleeping) {
  const std::vector<std::string> lanes = {"sm.count=2", "datapath.kind=temporal", "sm.observe.lanes=true"};
  const std::string asleep = divergent(lanes);
  EXPECT_NE(asleep.find("\"dynamic_lane_cycles\""), std::string::npos);
  EXPECT_EQ(asleep, divergent(lanes, false));
}

// Who observes only looks on, also under policies that ask which warps wait.
TEST(ObservedLanesOfSms, ChangeNothing) {
  for (const char* policy : {"loose_round_robin", "two_level"}) {
    const auto statistics = [&](const std::string& observe) {
      const std::string all =
          divergent({"sm.count=1", "datapath.kind=temporal", "sm.observe.lanes=" + observe,
                     std::string("warp_formation.scheduling=") + policy});
      auto tree = nlohmann::json::parse(all.substr(0, all.rfind("\nmemory")));
      auto& sm = tree.at("sm0");
      for (auto it = sm.begin(); it != sm.end();) it = it.key().rfind("lane", 0) == 0 ? sm.erase(it) : ++it;
      return tree.dump() + all.substr(all.rfind("\nmemory"));
    };
    EXPECT_EQ(statistics("true"), statistics("false")) << policy;
  }
}

// Where lanes work together there is nothing to count.
TEST(ObservedLanesOfSms, AreAbsentWhereLanesWorkTogether) {
  const std::string spatial = divergent({"sm.count=1", "datapath.kind=spatial", "sm.observe.lanes=true"});
  EXPECT_EQ(spatial.find("\"lanes\""), std::string::npos);
}

// --- places ---

constexpr unsigned kNone = datapath::Datapath::kNoPlace;
constexpr std::uint32_t kThreads = 0b10100110;

// The places at which lane 0 is, cycle by cycle, for the warp's threads whose guard holds. With a register
// per lane, so that instructions of all units take it.
std::vector<unsigned> places(unsigned width, ptx::Unit unit, unsigned interval, std::uint32_t threads,
                             std::uint32_t executing, unsigned warp_size = 32) {
  datapath::Config config;
  config.kind = "temporal";
  config.lane_width = width;
  config.instruction_register = datapath::InstructionRegister::kLane;
  datapath::Machine machine;
  machine.simd_width = 8;
  machine.sfu_width = 2;
  const auto datapath = datapath::create(config, machine);
  datapath->hold({0, 0, 32}, {32, 1, warp_size, 8});
  const datapath::test::Work work(unit, 4, interval);
  datapath::test::Threads issue(warp_size / width, {{threads, 0, 0, true}});
  issue.executing = {executing};
  datapath::test::start(*datapath, 100, work, issue);
  const unsigned lane = datapath->lane_of(0, threads);
  std::vector<unsigned> places;
  for (datapath::Cycle now = 100; now < datapath->lane_free(lane); ++now)
    places.push_back(datapath->place_of(lane, now));
  return places;
}

TEST(PlacesOfALane, AreThoseOfTheGroupsThatTakeACycle) {
  using Places = std::vector<unsigned>;
  EXPECT_EQ(places(1, ptx::Unit::kSp, 1, kThreads, kThreads), (Places{1, 2, 5, 7}));
  EXPECT_EQ(places(4, ptx::Unit::kSp, 1, kThreads, kThreads), (Places{0, 4}));
  EXPECT_EQ(places(1, ptx::Unit::kSp, 2, kThreads, kThreads), (Places{1, 1, 2, 2, 5, 5, 7, 7}));
  EXPECT_EQ(places(1, ptx::Unit::kMemory, 1, kThreads, 0b100), (Places{2}));
  EXPECT_EQ(places(1, ptx::Unit::kControl, 1, kThreads, 0), (Places{kNone}));
  EXPECT_EQ(places(1, ptx::Unit::kSp, 1, kThreads << 16, kThreads << 16, 16), (Places{1, 2, 5, 7}));
  // Special functions: two threads a cycle.
  EXPECT_EQ(places(1, ptx::Unit::kSfu, 1, kThreads, kThreads), (Places{1, 2, 5, 7}));
  EXPECT_EQ(places(4, ptx::Unit::kSfu, 1, 0xff, 0xff), (Places{0, 0, 4, 4}));
}

}  // namespace
}  // namespace weft::test::lanes_observed_test
