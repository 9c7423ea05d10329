// Variable warp sizing, step by step. A warp of eight threads on eight lanes, in slices of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "warp_formation/four_lanes.h"
#include "warp_formation/kernels.h"
#include "warp_formation/variable_warps_options.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation::test::variable_warps_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using Kind = Outcome::Kind;

Config variable_warps(std::uint64_t slice = 2, unsigned warp_size = 8) {
  Config config;
  config.scheme = "variable_warps";
  config.warp_size = warp_size;
  config.own<VariableWarpsOptions>().slice = slice;
  return config;
}

Geometry eight_lanes(unsigned threads = 8, bool barrel = true) {
  Geometry geometry = four_lanes(threads);
  geometry.lanes = 8;
  geometry.barrel = barrel;
  return geometry;
}

// Accepts everything whose lanes are free. The test says when an instruction resolves, and where to.
class Turns final : public SmView {
 public:
  Turns(const ptx::Program& program, const Config& config, const Geometry& geometry)
      : lanes_(geometry.lanes), unit_(create(config, geometry)) {
    unit_->bind(tree_.group("scheme"));
    unit_->attach(program, *this);
  }

  void launch(unsigned threads) { unit_->launch({0, 0, threads}); }
  // What issues in a cycle, in order: "pc 0: 0 1 2 3".
  std::vector<std::string> turn() {
    std::vector<std::string> issues;
    Issue issue;
    taken_ = 0;
    unit_->advance(++now_);
    Stall stall = unit_->pick(0, issue);
    while (stall == Stall::kNone) {
      issues.push_back(describe(issue));
      taken_ |= lanes_of(issue);
      unit_->issued(next_id_++, issue);
      if (issues.size() == unit_->issues_at_once()) break;
      stall = unit_->pick_beside(0, issue);
    }
    return issues;
  }
  void resolve(IssueId id, const std::vector<std::pair<ptx::Pc, Threads>>& paths, Kind kind = Kind::kGo) {
    std::vector<ThreadGroup> groups;
    groups.reserve(paths.size());
    for (const auto& [pc, threads] : paths) groups.push_back(group_of(threads));
    std::vector<Outcome> outcomes;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      Outcome outcome;
      outcome.kind = kind;
      outcome.next_pc = paths[i].first;
      outcome.groups = {&groups[i], 1};
      outcomes.push_back(outcome);
    }
    unit_->resolved(id, {outcomes.data(), static_cast<std::uint32_t>(outcomes.size())});
  }
  // All threads of the issue go on at `pc`.
  void resolve_whole(IssueId id, ptx::Pc pc, const Threads& threads) {
    const ThreadGroup group = group_of(threads);
    Outcome outcome;
    outcome.next_pc = pc;
    outcome.groups = {&group, 1};
    outcome.whole = true;
    unit_->resolved(id, {&outcome, 1});
  }
  void release_sync(const Threads& threads) {
    const ThreadGroup group = group_of(threads);
    unit_->warp_sync_released({&group, 1});
  }
  double statistic(const std::string& name) const {
    return tree_.sample().at(nlohmann::json::json_pointer("/scheme/" + name)).get<double>();
  }
  WarpFormation& unit() { return *unit_; }

  std::uint32_t waits = 0;  // threads of chunk 0 whose loads have not come

  Stall ready(unsigned, const Issue& issue) const override {
    const bool wait = (issue.groups.data[0].mask & waits) != 0;
    if (wait) waiting_for_memory_.add(issue.context);
    return wait ? Stall::kMemory : Stall::kNone;
  }
  std::uint32_t waiting_threads(const Issue&, const ThreadGroup& group) const override {
    return group.mask & waits;
  }
  Stall ready_beside(unsigned scheduler, const Issue& issue) const override {
    return (lanes_of(issue) & taken_) != 0 ? Stall::kUnitBusy : ready(scheduler, issue);
  }
  void data_come() {
    waits = 0;
    waiting_for_memory_.clear();
  }

 private:
  static ThreadGroup group_of(const Threads& threads) {
    ThreadGroup group;
    for (const unsigned t : threads) group.mask |= 1u << t;
    return group;
  }
  std::uint32_t lanes_of(const Issue& issue) const {
    std::uint32_t lanes = 0;
    for (unsigned t = 0; t < kChunk; ++t) lanes |= (issue.groups.data[0].mask >> t & 1) << (t % lanes_);
    return lanes;
  }
  static std::string describe(const Issue& issue) {
    std::ostringstream out;
    out << "pc " << issue.pc << ":";
    for (unsigned t = 0; t < kChunk; ++t) {
      if ((issue.groups.data[0].mask >> t & 1) != 0) out << " " << t;
    }
    return out.str();
  }

  const unsigned lanes_;
  std::unique_ptr<WarpFormation> unit_;
  statistics::Group tree_;
  std::uint32_t taken_ = 0;
  IssueId next_id_ = 0;
  Cycle now_ = 0;
};

const std::string kIfElse = R"(
  @%p1 bra C;              // 0: A
  bra D;                   // 1: B
C:
  add.u32 %r1, %r1, 1;     // 2: C
D:
  add.u32 %r1, %r1, 1;     // 3: D
  ret;                     // 4)";

// Slices 0 and 1 take C and slice 2 B. Slice 3 parts: thread 6 takes B, 7 C.
void part(Turns& turns) {
  turns.launch(8);
  EXPECT_THAT(turns.turn(), ElementsAre("pc 0: 0 1 2 3 4 5 6 7"));
  EXPECT_THAT(turns.turn(), ElementsAre());
  turns.resolve(0, {{2, {0, 1, 2, 3, 7}}, {1, {4, 5, 6}}});
}

// The example of the README.
TEST(VariableWarps, GangsIssueIntoDisjointSlicesAndMeet) {
  const ptx::Program program = kernel(kIfElse);
  Turns turns(program, variable_warps(), eight_lanes());
  part(turns);
  EXPECT_THAT(turns.turn(), ElementsAre("pc 1: 4 5 6", "pc 2: 0 1 2 3"));
  turns.resolve_whole(1, 3, {4, 5, 6});
  turns.resolve_whole(2, 3, {0, 1, 2, 3});
  const std::vector<std::string> third = turns.turn();
  EXPECT_THAT(third, UnorderedElementsAre("pc 3: 0 1 2 3 4 5", "pc 2: 7"));
  const bool d_first = third.front() == "pc 3: 0 1 2 3 4 5";
  turns.resolve_whole(d_first ? 3 : 4, 4, {0, 1, 2, 3, 4, 5});
  turns.resolve_whole(d_first ? 4 : 3, 3, {7});
  EXPECT_THAT(turns.turn(), UnorderedElementsAre("pc 4: 0 1 2 3 4 5", "pc 3: 6 7"));
  EXPECT_EQ(turns.statistic("control_splits"), 2);
  EXPECT_EQ(turns.statistic("reformed"), 1);
  EXPECT_EQ(turns.statistic("beside_issues"), 3);
  EXPECT_EQ(turns.statistic("divergent_branches"), 1);
  EXPECT_EQ(turns.statistic("uniform_branches"), 3 + 2);  // A in three slices, and B in two
  EXPECT_EQ(turns.statistic("most_gangs"), 3);
  EXPECT_EQ(turns.statistic("deepest_stack"), 3);
}

TEST(VariableWarps, InelasticGangsStayApart) {
  const ptx::Program program = kernel(kIfElse);
  Config config = variable_warps();
  config.own<VariableWarpsOptions>().regang = Regang::kInelastic;
  Turns turns(program, config, eight_lanes());
  part(turns);
  turns.turn();
  turns.resolve_whole(1, 3, {4, 5, 6});
  turns.resolve_whole(2, 3, {0, 1, 2, 3});
  EXPECT_THAT(turns.turn(), UnorderedElementsAre("pc 3: 0 1 2 3", "pc 3: 4 5", "pc 2: 7"));
  EXPECT_EQ(turns.statistic("reformed"), 0);
}

// Two gangs whose threads share slices do not issue together, though their warps differ.
TEST(VariableWarps, ASliceTakesOneGangInACycle) {
  const ptx::Program program = kernel(kIfElse);
  Turns turns(program, variable_warps(), eight_lanes(16));
  turns.launch(16);
  EXPECT_THAT(turns.turn(), ElementsAre("pc 0: 0 1 2 3 4 5 6 7"));
  EXPECT_THAT(turns.turn(), ElementsAre("pc 0: 8 9 10 11 12 13 14 15"));
  turns.resolve(0, {{1, {0, 1, 2, 3}}, {2, {4, 5, 6, 7}}});
  turns.resolve(1, {{1, {8, 9}}, {2, {10, 11, 12, 13, 14, 15}}});
  EXPECT_EQ(turns.turn().size(), 2u);
  EXPECT_EQ(turns.turn().size(), 2u);
  EXPECT_EQ(turns.turn().size(), 0u);
}

// A gang that comes to a barrier as a whole leaves it as a whole. Its instruction stays in the own context.
TEST(VariableWarps, AGangStaysTogetherAtABarrier) {
  const ptx::Program program = kernel("  bar.sync 0;\n  ret;");
  Config config = variable_warps();
  config.own<VariableWarpsOptions>().regang = Regang::kInelastic;
  Turns turns(program, config, eight_lanes());
  turns.launch(8);
  turns.turn();
  turns.resolve(0, {{1, {0, 1, 2, 3, 4, 5, 6, 7}}}, Kind::kBarrier);
  EXPECT_EQ(turns.unit().census().barrier, 8u);
  EXPECT_EQ(turns.unit().contexts().pc(0), 1u);
  EXPECT_THAT(turns.turn(), ElementsAre());
  turns.unit().barrier_released(0, 0);
  EXPECT_THAT(turns.turn(), ElementsAre("pc 1: 0 1 2 3 4 5 6 7"));
}

// Slices that part before a primitive of their warp meet behind it.
TEST(VariableWarps, SlicesMeetBehindAPrimitive) {
  const ptx::Program program =
      kernel("  @%p1 bra L;\n  add.u32 %r1, %r1, 1;\nL:\n  bar.warp.sync -1;\n  ret;");
  Turns turns(program, variable_warps(4), eight_lanes());
  turns.launch(8);
  turns.turn();
  turns.resolve(0, {{2, {0, 1, 2, 3}}, {1, {4, 5, 6, 7}}});
  EXPECT_THAT(turns.turn(), UnorderedElementsAre("pc 2: 0 1 2 3", "pc 1: 4 5 6 7"));
  const bool first_is_sync = turns.statistic("control_splits") == 1 && turns.unit().contexts().pc(0) == 2;
  const IssueId sync = first_is_sync ? 2 : 1;
  turns.resolve(sync, {{3, {0, 1, 2, 3}}}, Kind::kWarpSync);
  EXPECT_EQ(turns.unit().census().warp_sync, 4u);
  turns.resolve_whole(3 - sync, 2, {4, 5, 6, 7});
  EXPECT_THAT(turns.turn(), ElementsAre("pc 2: 4 5 6 7"));
  turns.resolve(3, {{3, {4, 5, 6, 7}}}, Kind::kWarpSync);
  turns.release_sync({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(turns.turn(), ElementsAre("pc 3: 0 1 2 3 4 5 6 7"));
}

// --- memory ------------------------------------------------------------------------------------------------

const std::string kLoad = "  ld.global.u32 %r2, [%rd1];\n  add.u32 %r1, %r2, 1;\n  ret;";

Config with_memory(GangMemory memory) {
  Config config = variable_warps();
  config.own<VariableWarpsOptions>().memory = memory;
  return config;
}

// Barrel: the parts of a load come at different times.
TEST(VariableWarps, ImpatientSliceWarpsLeaveALoadOnTheirOwn) {
  const ptx::Program program = kernel(kLoad);
  for (const GangMemory memory : {GangMemory::kPatient, GangMemory::kImpatient}) {
    Turns turns(program, with_memory(memory), eight_lanes());
    turns.launch(8);
    turns.turn();
    turns.unit().memory_issued(0);
    turns.resolve(0, {{1, {0, 1, 2, 4, 5}}});  // slices 0 and 2, and half of slice 1
    const bool impatient = memory == GangMemory::kImpatient;
    EXPECT_EQ(turns.turn(),
              impatient ? std::vector<std::string>{"pc 1: 0 1 4 5"} : std::vector<std::string>{});
    turns.resolve(0, {{1, {3, 6, 7}}});
    EXPECT_EQ(turns.turn(), std::vector<std::string>{impatient ? "pc 1: 2 3 6 7" : "pc 1: 0 1 2 3 4 5 6 7"});
    EXPECT_EQ(turns.statistic("memory_splits"), impatient ? 1 : 0);
  }
}

// Scoreboard: the instruction behind the load waits for operands.
TEST(VariableWarps, ImpatientSliceWarpsWithOperandsGoOn) {
  const ptx::Program program = kernel(kLoad);
  for (const GangMemory memory : {GangMemory::kPatient, GangMemory::kImpatient}) {
    Turns turns(program, with_memory(memory), eight_lanes(8, false));
    turns.launch(8);
    turns.turn();
    turns.resolve_whole(0, 1, {0, 1, 2, 3, 4, 5, 6, 7});
    turns.waits = 0b00001100;  // slice 1
    const bool impatient = memory == GangMemory::kImpatient;
    EXPECT_EQ(turns.turn(),
              impatient ? std::vector<std::string>{"pc 1: 0 1 4 5 6 7"} : std::vector<std::string>{});
    EXPECT_EQ(turns.statistic("memory_splits"), impatient ? 1 : 0);
    if (impatient) turns.resolve_whole(1, 1, {0, 1, 4, 5, 6, 7});  // as if it were a loop
    if (impatient) {
      EXPECT_THAT(turns.turn(), ElementsAre("pc 1: 0 1 4 5 6 7")) << "slice 1 still waits";
    }
    turns.data_come();
    EXPECT_EQ(turns.turn(), std::vector<std::string>{impatient ? "pc 1: 2 3" : "pc 1: 0 1 2 3 4 5 6 7"});
  }
}

// --- as others ---------------------------------------------------------------------------------------------

// With one slice it is sbr: the same threads in the same cycles.
TEST(VariableWarps, WithOneSliceItIsSbr) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const ptx::Program program = random_kernel(seed);
    std::vector<std::vector<Record>> traces;
    for (const char* name : {"sbr", "variable_warps"}) {
      Config config = variable_warps(8);
      config.scheme = name;
      Driver driver(program, config, eight_lanes(64));
      driver.holds = [&](unsigned thread, ptx::Pc pc, unsigned visit) {
        return random_guard(seed, program, thread, pc, visit);
      };
      driver.launch(50);
      driver.run(100'000);
      traces.push_back(driver.trace());
    }
    EXPECT_EQ(traces[0], traces[1]) << "seed " << seed;
  }
}

// The slice with the spinning threads hangs as a warp of sbr does. The other one comes to its end.
TEST(VariableWarps, ASpinLockHangsItsOwnSliceOnly) {
  const ptx::Program program = kernel("SPIN:\n  @%p1 bra SPIN;\n  ret;");
  Driver driver(program, variable_warps(4), eight_lanes());
  driver.holds = [&driver](unsigned thread, ptx::Pc, unsigned) {
    return thread != 0 && thread < 4 && driver.visits().count({0, 1}) == 0;
  };
  driver.launch(8);
  try {
    driver.run(500);
    FAIL() << "no deadlock";
  } catch (const ContractError& error) {
    EXPECT_THAT(error.what(), HasSubstr("4 threads are still live"));
    EXPECT_THAT(error.what(), HasSubstr("reconverges at pc 1"));
  }
}

// 32 warps of 16 gangs are more than the 256 contexts that there are. Gangs wait for one, and each gets its
// turn.
TEST(VariableWarps, GangsWaitForAContextAndGetOne) {
  std::string body = "  @%p1 bra X;\n";
  for (unsigned i = 0; i < 16; ++i) body += "  add.u32 %r1, %r1, 1;\n";
  const ptx::Program program = kernel(body + "X:\n  ret;");
  Geometry geometry = eight_lanes(1024);
  geometry.lanes = 32;
  geometry.slots = 1;
  geometry.chunks = 32;
  for (const Regang regang : {Regang::kInelastic, Regang::kElastic}) {
    Config config = variable_warps(1, 32);
    config.own<VariableWarpsOptions>().regang = regang;
    Driver driver(program, config, geometry);
    driver.jump = [](unsigned thread, ptx::Pc pc) { return pc == 0 ? 1 + thread % 16 : ptx::kNoPc; };
    driver.launch(1024);
    EXPECT_NO_THROW(driver.run(20'000));
    EXPECT_EQ(driver.statistic("most_gangs"), 16);
    EXPECT_GT(driver.statistic("context_waits"), 0);
  }
}

}  // namespace
}  // namespace weft::warp_formation::test::variable_warps_test
