// Events of the SM against the same counts made by hand, from the instructions and the threads that there
// are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/statistics_sample.h"
#include "energy/event_energy.h"
#include "platform/energy_machine.h"
#include "platform/gpu_bench.h"

namespace weft::test::event_count_test {
namespace {

using runtime::Arguments;

// Threads whose %p1 holds take one path, the others another; then they meet. `chosen` makes it of %r2, the
// thread.
std::string parted_kernel(const std::string& chosen) {
  return kernel_text(".param .u64 out", "  mov.u32 %r2, %tid.x;\n  " + chosen + R"(
  @%p1 bra A;
  add.u32 %r3, %r2, 1;
  bra B;
A:
  add.u32 %r3, %r2, 2;
B:
  add.u32 %r3, %r3, 1;
  ret;)");
}

// Of a thread, in words: 9 read, 8 written.
//   ld.param 0, 2; mov 0, 1 (%tid is no register of the file); mul.wide 1, 2; add.u64 4, 2;
//   mad 1 (one register three times), 1; st 3, 0; ret 0, 0
constexpr unsigned kReads = 9, kWrites = 8;
const std::string kStraight = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  mad.lo.u32 %r3, %r2, %r2, %r2;
  st.global.u32 [%rd3], %r3;
  ret;)";

struct Machine {
  const char* config;
  std::vector<std::string> set;
  unsigned lanes;          // of a beat
  bool fetches_all_beats;  // those without a thread, too
};

class RegisterRows : public testing::TestWithParam<Machine> {};

// Warps of 32 threads; the last has some.
TEST_P(RegisterRows, AreThoseOfInstructionsAndThreads) {
  const Machine& machine = GetParam();
  auto set = machine.set;
  set.insert(set.end(), {"sm.count=1", "sm.observe.events=true"});
  GpuBench bench(set, machine.config);
  const auto out = bench.zeros(1024);
  bench.load(kernel_text(".param .u64 out", kStraight));
  constexpr unsigned kThreads = 32 + 21;
  bench.run({1, 1, 1}, {kThreads, 1, 1}, Arguments().add(out));
  const unsigned whole = 32 / machine.lanes, rest = (21 + machine.lanes - 1) / machine.lanes;
  const unsigned fetched = whole + (machine.fetches_all_beats ? whole : rest);
  const auto rows = [&](const char* name) {
    return bench.sum_over_sms({"events", "vector_registers", name});
  };
  EXPECT_EQ(rows("rows_read"), kReads * fetched);
  EXPECT_EQ(rows("rows_written"), kWrites * (whole + rest));
  EXPECT_EQ(rows("words_read"), kReads * kThreads);
  EXPECT_EQ(rows("words_written"), kWrites * kThreads);
  // Each thread executes each instruction once.
  const auto operations = [&](const char* name) {
    return bench.sum_over_sms({"events", "operations", name});
  };
  EXPECT_EQ(operations("integer_multiply"), 2 * kThreads);
  EXPECT_EQ(operations("integer_64"), kThreads);
  EXPECT_EQ(operations("memory"), 2 * kThreads);
  EXPECT_EQ(operations("control"), kThreads);
  EXPECT_EQ(operations("move"), kThreads);
  double all = 0;
  const auto statistics = bench.statistics();
  for (const auto& [name, count] : statistics.at("sm0").at("events").at("operations").items())
    all += count.get<double>();
  EXPECT_EQ(all, bench.sum_over_sms("executed_thread_instructions"));
}

INSTANTIATE_TEST_SUITE_P(
    Datapaths, RegisterRows,
    testing::Values(Machine{"gtx480", {}, 32, true}, Machine{"stsimt", {}, 8, true},
                    Machine{"stsimt", {"datapath.kind=temporal", "datapath.lane_width=1"}, 1, false},
                    Machine{"stsimt", {"datapath.kind=temporal", "datapath.lane_width=4"}, 4, false}));

// Threads whose guard does not hold execute nothing, though their operands are fetched with the others'.
TEST(RegisterWords, AreOfThreadsThatExecute) {
  GpuBench bench({"sm.count=1", "sm.observe.events=true"});
  const auto out = bench.zeros(1024);
  bench.load(kernel_text(".param .u64 out", R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 5;
  @%p1 add.u32 %r3, %r2, 1;
  ret;)"));
  bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out));
  const auto of = [&](const char* name) { return bench.sum_over_sms({"events", "vector_registers", name}); };
  EXPECT_EQ(of("rows_read"), 2);           // setp and add, a beat each
  EXPECT_EQ(of("words_read"), 32 + 5);     // setp, add
  EXPECT_EQ(of("words_written"), 32 + 5);  // mov, add
}

struct SharedCase {
  const char* body;
  double read, written;
};
class SharedWords : public testing::TestWithParam<SharedCase> {};

// A warp on gtx480, where 32 threads are served together: those that name one word share it.
TEST_P(SharedWords, AreThoseOfTheBanks) {
  GpuBench bench({"sm.count=1", "sm.observe.events=true"});
  const auto out = bench.zeros(4);
  bench.load(kernel_text(".param .u64 out", std::string(R"(
  .shared .align 8 .b8 area[1024];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, area;
)") + GetParam().body + "\n  ret;"));
  bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out));
  EXPECT_EQ(bench.sum_over_sms({"events", "shared_memory", "words_read"}), GetParam().read);
  EXPECT_EQ(bench.sum_over_sms({"events", "shared_memory", "words_written"}), GetParam().written);
}

INSTANTIATE_TEST_SUITE_P(
    Accesses, SharedWords,
    testing::Values(SharedCase{"ld.shared.u32 %r4, [%r3];", 1, 0},
                    SharedCase{"mad.lo.u32 %r3, %r2, 4, %r3; st.shared.u32 [%r3], %r2;", 0, 32},
                    SharedCase{"mad.lo.u32 %r3, %r2, 8, %r3; ld.shared.u64 %rd4, [%r3];", 64, 0},
                    SharedCase{"and.b32 %r2, %r2, 3; mad.lo.u32 %r3, %r2, 4, %r3; ld.shared.u32 %r4, [%r3];",
                               4, 0},
                    SharedCase{"mad.lo.u32 %r3, %r2, 4, %r3; atom.shared.add.u32 %r4, [%r3], 1;", 32, 32}));

// Eight instructions of two warps on lanes of four, of which four are scalar if these are looked for.
void run_scalars(GpuBench& bench) {
  const auto out = bench.zeros(1024);
  bench.load(kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  add.u64 %rd2, %rd1, 64;
  mov.u32 %r2, 7;
  add.u32 %r3, %r2, 1;
  mov.u32 %r4, %tid.x;
  add.u32 %r5, %r4, %r3;
  st.global.u32 [%rd2], %r5;
  ret;)"));
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
}

std::vector<std::string> scalar_machine(const std::string& kind) {
  return {"sm.count=1", "sm.observe.events=true", "datapath.kind=temporal", "datapath.lane_width=4",
          "scalarization.kind=" + kind};
}

double all_operations(GpuBench& bench) {
  double all = 0;
  const auto statistics = bench.statistics();
  for (const auto& [name, count] : statistics.at("sm0").at("events").at("operations").items())
    all += count.get<double>();
  return all;
}

// What a warp has once is read once for all its beats, by vector instructions as by scalar ones, which are
// one thread's.
TEST(ScalarRegisters, AreReadOnceForAWarp) {
  constexpr double kWarps = 2, kThreads = 64, kBeats = 8;
  GpuBench bench(scalar_machine("full"), "stsimt");
  run_scalars(bench);
  const auto scalar = [&](const char* name) {
    return bench.sum_over_sms({"events", "scalar_registers", name});
  };
  const auto vector = [&](const char* name) {
    return bench.sum_over_sms({"events", "vector_registers", name});
  };
  // add.u64 2, add.u32 1; by vector instructions %r3 1, %rd2 2.
  EXPECT_EQ(scalar("words_read"), kWarps * (2 + 1 + 1 + 2));
  EXPECT_EQ(scalar("words_written"), kWarps * (2 + 2 + 1 + 1));
  // %r4, %r5; both written.
  EXPECT_EQ(vector("rows_read"), kWarps * kBeats * 2);
  EXPECT_EQ(vector("rows_written"), kWarps * kBeats * 2);
  EXPECT_EQ(scalar("operations"), kWarps * 4);
  EXPECT_EQ(scalar("saved_operations"), kThreads * 4 - kWarps * 4);
  EXPECT_EQ(all_operations(bench) + scalar("saved_operations"),
            bench.sum_over_sms("executed_thread_instructions"));
  EXPECT_EQ(bench.sum_over_sms({"events", "idle_lanes"}), 0);
}

TEST(ScalarRegisters, AreNotThereWithoutScalarization) {
  GpuBench bench(scalar_machine("off"), "stsimt");
  run_scalars(bench);
  EXPECT_FALSE(bench.statistics().at("sm0").at("events").contains("scalar_registers"));
  EXPECT_EQ(all_operations(bench), bench.sum_over_sms("executed_thread_instructions"));
}

// Lanes of beats are those of threads that execute, and the others.
TEST(IdleLanes, AreTheRestOfTheBeats) {
  GpuBench bench({"sm.count=1", "sm.observe.events=true"});
  const auto out = bench.zeros(1024);
  bench.load(kernel_text(".param .u64 out", R"(
  mov.u32 %r2, %tid.x;
  setp.lt.u32 %p1, %r2, 5;
  @%p1 add.u32 %r3, %r2, 1;
  ret;)"));
  bench.run({1, 1, 1}, {21, 1, 1}, Arguments().add(out));
  EXPECT_EQ(bench.sum_over_sms({"events", "idle_lanes"}), 3 * (32 - 21) + (32 - 5));
}

// Of thread block compaction: a warp is made, issues its instructions and dissolves.
TEST(CompactionTables, AreWrittenByTheCompactorAndReadAtIssues) {
  GpuBench bench({"sm.count=1", "sm.observe.events=true", "warp_formation.scheme=tbc"});
  const auto out = bench.zeros(4);
  bench.load(parted_kernel("and.b32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0;"));
  bench.run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  const auto of = [&](const char* table, const char* use) {
    return bench.sum_over_sms({"warp_formation", "tables", table, use});
  };
  const double made = bench.sum_over_sms({"warp_formation", "compacted_warps"});
  EXPECT_GT(made, 2);
  EXPECT_EQ(of("warp_buffer", "writes"), made);
  EXPECT_EQ(of("warp_buffer", "reads"), bench.sum_over_sms("warp_instructions"));
  // One parting: two paths and the entry that waits; and each warp that dissolves.
  EXPECT_EQ(of("stacks", "writes"), made + 3);
  EXPECT_EQ(of("stacks", "reads"), bench.sum_over_sms({"warp_formation", "compactions"}));
}

// A branch that parts a warp pushes two paths, of which each is popped; the entry below is written once.
TEST(StackAccesses, ArePushesAndPops) {
  GpuBench bench({"sm.count=1", "sm.observe.events=true"});
  const auto out = bench.zeros(4);
  bench.load(parted_kernel("setp.lt.u32 %p1, %r2, 16;"));
  bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out));
  EXPECT_EQ(bench.sum_over_sms({"warp_formation", "divergent_branches"}), 1);
  EXPECT_EQ(bench.sum_over_sms({"warp_formation", "tables", "stacks", "writes"}), 3);
  EXPECT_EQ(bench.sum_over_sms({"warp_formation", "tables", "stacks", "reads"}), 2);
}

// What memory is read for: lines that the L2 fetches, in bursts that the data bus moves.
TEST(DramBytes, AreLinesOfTheL2AndBurstsOfTheBus) {
  GpuBench bench;
  const auto out = bench.zeros(1 << 16);
  bench.load(
      looped_kernel("mad.lo.u32 %r4, %r63, 4096, 0; cvt.u64.u32 %rd4, %r4; add.u64 %rd5, %rd3, %rd4; "
                    "ld.global.u32 %r5, [%rd5]; add.u32 %r1, %r1, %r5;"));
  bench.run({4, 1, 1}, {64, 1, 1}, Arguments().add(out).add(10u).add(out));
  const auto all = bench.statistics();
  const GpuConfig& config = bench.device.gpu().config();
  double fetched = 0, read = 0, written = 0, cycles = 0;
  for (const auto& [name, group] : all.items()) {
    if (name.rfind("l2_", 0) == 0)
      fetched += group.at("fetches").get<double>() * static_cast<double>(config.l2.bank.unit_bytes());
    if (name.rfind("dram", 0) != 0) continue;
    read += group.at("bytes_read").get<double>();
    written += group.at("bytes_written").get<double>();
    cycles += group.at("data_cycles").get<double>();
  }
  const dram::Timing& timing = config.dram.channel.scheduler.timing;
  EXPECT_GT(read, 0);
  EXPECT_EQ(fetched, read);
  // A burst is longer than a sector: it is paid for in full.
  const double bursts = cycles / static_cast<double>(timing.burst_cycles());
  const double bytes = std::min<double>(static_cast<double>(timing.burst_bytes()),
                                        static_cast<double>(config.l2.bank.unit_bytes()));
  EXPECT_EQ(bursts, (read + written) / bytes);
}

// Events against what other statistics imply, on each machine: nothing is counted twice or lost.
class Conservation : public testing::TestWithParam<const char*> {};

TEST_P(Conservation, OfEvents) {
  GpuBench bench({"sm.observe.events=true"}, GetParam());
  const auto out = bench.zeros(1 << 16);
  bench.load(looped_kernel(
      "and.b32 %r4, %r63, 3; setp.eq.u32 %p2, %r4, 0; @%p2 bra SKIP; mad.lo.u32 %r4, %r63, 4096, 0; "
      "cvt.u64.u32 %rd4, %r4; add.u64 %rd5, %rd3, %rd4; ld.global.u32 %r5, [%rd5]; "
      "st.global.u32 [%rd5], %r5; SKIP: add.u32 %r1, %r1, %r4;"));
  bench.run({4, 1, 1}, {80, 1, 1}, Arguments().add(out).add(9u).add(out));
  const auto all = bench.statistics();
  const statistics::Sample sample(all);
  const energy::Events events = energy::Events::of(sample);
  const energy::Machine machine = machine_of(bench.device.gpu().config());
  const energy::Energy energy = energy::energy_of(
      sample, events, energy::prices_of(events, machine, technology_of(bench.device.gpu().config().energy)),
      machine);
  std::map<std::string, double> count;
  double operations = 0;
  for (const auto& part : energy.parts) {
    count[part.name] = part.count;
    const bool is_operation = part.component == energy::Component::kLanes;
    operations += is_operation && part.name != "operation.idle_lane" ? part.count : 0;
  }
  const auto sum = [&](statistics::Path path) { return sample.sum(path); };
  EXPECT_EQ(operations, sum({"sm", "executed_thread_instructions"}));
  EXPECT_GT(count["operation.idle_lane"], 0);
  EXPECT_EQ(count["issue"], sum({"sm", "warp_instructions"}));
  EXPECT_EQ(count["instruction_buffer_read"], count["issue"]);
  EXPECT_EQ(count["register_crossbar"], count["register_read"]);
  // Rows have the words of all threads that execute, and no more than its lanes have.
  EXPECT_LE(sum({"sm", "events", "vector_registers", "words_read"}),
            count["register_read"] * machine.row_lanes);
  EXPECT_LE(count["register_read"],
            sum({"sm", "events", "vector_registers", "words_read"}) + count["operation.idle_lane"] * 3);
  EXPECT_EQ(count["l1d_tags"], sum({"sm", "memory", "l1d", "accesses"}) +
                                   sum({"sm", "memory", "write_requests"}) +
                                   sum({"sm", "memory", "atomic_requests"}));
  EXPECT_EQ(count["sm_clock"], sum({"sm", "scheduler", "held_cycles"}));
  EXPECT_EQ(count["chip_clock"], sum({"gpu", "cycles"}));
  EXPECT_EQ(count["leakage"], count["chip_clock"]);
  // A packet's bytes fill flits; the last may have room.
  const double bytes =
      sum({"crossbar", "port", "request_bytes"}) + sum({"crossbar", "port", "response_bytes"});
  const double packets = sum({"crossbar", "request_packets"}) + sum({"crossbar", "response_packets"});
  const double flit = machine.flit_bits / 8;
  EXPECT_GE(count["flit"] * flit, bytes);
  EXPECT_LE(count["flit"] * flit, bytes + packets * (flit + 16));
  // Rows are activated where an access finds another one open, or none.
  EXPECT_EQ(count["dram_activate"], sum({"dram", "row_misses"}) + sum({"dram", "row_conflicts"}));
  EXPECT_GT(count["dram_activate"], 0);
  EXPECT_EQ(sum({"dram", "row_hits"}) + count["dram_activate"],
            sum({"dram", "reads"}) + sum({"dram", "writes"}) + sum({"dram", "atomics"}));
  EXPECT_GT(count["dram_read_byte"], 0);
}

INSTANTIATE_TEST_SUITE_P(Machines, Conservation,
                         testing::Values("gtx480", "harp-fermi", "dwr-tesla", "crown-tesla", "stsimt"),
                         [](const auto& named) {
                           std::string name = named.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace weft::test::event_count_test
