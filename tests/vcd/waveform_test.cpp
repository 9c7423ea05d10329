// Waveforms of whole runs, held against the statistics of the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "end_to_end/process.h"
#include "platform/csv_table.h"
#include "vcd/vcd_reader.h"

namespace weft::vcd {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using end_to_end::Start;
using end_to_end::weft;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kUndriven = UINT64_MAX;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t number(const std::string& digits) {
  return digits == "z" ? kUndriven : std::stoull(digits, nullptr, 2);
}

// A run, its statistics and its waveform.
struct TracedRun {
  Json stats, config;
  Vcd vcd;
  std::string text;

  double core_mhz() const { return config.at("clocks").at("core_mhz"); }
  std::uint64_t cycle(std::uint64_t picoseconds) const {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(picoseconds) * core_mhz() * 1e-6));
  }
  const Wave& wave(const std::string& name) const { return vcd.waves.at(name); }
  // visit(value, cycles that it lasts) for each value of a wave.
  void each(const std::string& name, const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
    const auto& changes = wave(name).changes;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const std::uint64_t until = i + 1 < changes.size() ? changes[i + 1].time : vcd.end;
      visit(number(changes[i].value), cycle(until) - cycle(changes[i].time));
    }
  }
  std::uint64_t most(const std::string& name) const {
    std::uint64_t most = 0;
    each(name, [&](std::uint64_t value, std::uint64_t) { most = std::max(most, value); });
    return most;
  }
};

std::vector<std::string> bfs(const std::string& config, const std::string& size = "n=500") {
  return {"run", "--config", config, "--workload", "bfs", "--size", size};
}

TracedRun traced(const Folder& folder, std::vector<std::string> words,
                 const std::vector<std::string>& more = {}) {
  words.insert(words.end(), {"--out", folder.path("out"), "--vcd", folder.path("run.vcd")});
  words.insert(words.end(), more.begin(), more.end());
  const Exit exit = weft(words);
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  TracedRun run;
  run.stats = folder.json("out/stats.json");
  run.config = folder.json("out/config.json");
  run.text = folder.text("run.vcd");
  run.vcd = read_vcd(run.text);
  return run;
}

class Waveform : public ::testing::TestWithParam<const char*> {};

TEST_P(Waveform, AgreesWithEveryStatistic) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs(GetParam()));
  const Json& statistics = run.stats.at("statistics");
  EXPECT_EQ(run.vcd.timescale, "1ps");

  const std::uint64_t sms = run.config.at("sm").at("count");
  std::uint64_t thread_instructions = 0;
  for (std::uint64_t i = 0; i < sms; ++i) {
    const std::string sm = "sm" + std::to_string(i), scope = "gpu." + sm + ".";
    std::uint64_t of_sm = 0, of_schedulers = 0;
    const auto lanes_of = [&](const std::string& signal) {
      std::uint64_t lanes = 0;
      run.each(signal, [&](std::uint64_t active, std::uint64_t cycles) { lanes += active * cycles; });
      return lanes;
    };
    of_sm = lanes_of(scope + "active_lanes");
    EXPECT_EQ(of_sm, statistics.at(sm).at("thread_instructions")) << sm;
    thread_instructions += of_sm;

    const std::uint64_t schedulers = run.config.at("sm").at("schedulers");
    for (std::uint64_t s = 0; s < schedulers; ++s) {
      const std::string scheduler = "scheduler" + std::to_string(s), own = scope + scheduler + ".";
      const Json& buckets = statistics.at(sm).at(scheduler).at("cycles");
      std::uint64_t issuing = 0;
      run.each(own + "pc", [&](std::uint64_t pc, std::uint64_t cycles) {
        if (pc != kUndriven) issuing += cycles;
      });
      EXPECT_EQ(issuing, buckets.at("issued")) << own;
      of_schedulers += lanes_of(own + "active_lanes");

      std::vector<std::uint64_t> stalls(buckets.size(), 0);
      run.each(own + "stall", [&](std::uint64_t stall, std::uint64_t cycles) { stalls.at(stall) += cycles; });
      std::size_t stall = 0;
      for (const auto& [name, cycles] : buckets.items()) {
        if (name == "empty") {  // also counts between launches
          EXPECT_GE(stalls[stall], cycles) << own;
        } else {
          EXPECT_EQ(stalls[stall], cycles) << own << " " << name;
        }
        ++stall;
      }
    }
    EXPECT_EQ(of_schedulers, of_sm) << sm;
    EXPECT_LE(run.most(scope + "ready_warps"), run.config.at("sm").at("max_threads")) << sm;
  }
  EXPECT_EQ(thread_instructions, run.stats.at("thread_instructions"));
  EXPECT_GT(run.most("gpu.sm0.ready_warps"), 0u);

  EXPECT_EQ(run.most("gpu.launch"), statistics.at("gpu").at("launches"));
  EXPECT_EQ(run.most("gpu.blocks_done"), run.most("gpu.blocks_total"));
  const auto& kernels = run.wave("gpu.kernel").changes;
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [](const Change& change) {
    return change.value.find("bfs") != std::string::npos;
  }));
}

TEST_P(Waveform, KeepsQueuesWithinTheirCapacity) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs(GetParam()));
  const Json& l2 = run.config.at("l2");
  std::size_t banks = 0, channels = 0;
  std::uint64_t l2_used = 0, dram_used = 0;
  for (const auto& [name, wave] : run.vcd.waves) {
    if (name.rfind("gpu.l2_", 0) == 0) {
      banks += name.find(".pipeline") != std::string::npos ? 1 : 0;
      std::string key = name.substr(name.rfind('.') + 1);
      if (key == "pipeline") key = "latency";
      if (key == "mshrs") key = "mshr_entries";
      EXPECT_LE(run.most(name), l2.at(key)) << name;
      l2_used += run.most(name);
    } else if (std::regex_match(name, std::regex("gpu\\.dram[0-9]+\\.queue"))) {
      ++channels;
      const Json& dram = run.config.at("dram");
      EXPECT_LE(run.most(name),
                dram.at("queue_size").get<std::uint64_t>() + dram.at("extra_latency").get<std::uint64_t>());
      dram_used += run.most(name);
    }
  }
  const bool has_l2 = l2.at("enabled");
  EXPECT_EQ(banks != 0, has_l2);
  EXPECT_EQ(l2_used != 0, has_l2);
  EXPECT_GT(channels, 0u);
  EXPECT_GT(dram_used, 0u);
}

// Rows are opened as often as they are seen to be, or more often: a row may be open for less than a core
// cycle. Requests wait for a bank, on their way to a channel, and for an MSHR; each place holds what its
// statistics say at most.
TEST(MemorySignals, AgreeWithTheStatistics) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("gtx480", "n=3000"));
  const Json& statistics = run.stats.at("statistics");
  std::uint64_t all_opened = 0, mshrs = 0, requests = 0;
  for (unsigned channel = 0;; ++channel) {
    const std::string scope = "dram" + std::to_string(channel);
    if (!statistics.contains(scope)) break;
    std::uint64_t opened = 0;
    for (unsigned bank = 0;; ++bank) {
      const std::string own = "gpu." + scope + ".bank" + std::to_string(bank) + ".";
      if (run.vcd.waves.count(own + "row") == 0) break;
      for (const Change& change : run.wave(own + "row").changes) opened += change.value != "z" ? 1 : 0;
      EXPECT_LE(run.most(own + "queue"), run.config.at("dram").at("queue_size")) << own;
    }
    EXPECT_LE(opened, statistics.at(scope).at("activates")) << scope;
    EXPECT_GT(opened * 4, statistics.at(scope).at("activates").get<std::uint64_t>()) << scope;
    all_opened += opened;
  }
  EXPECT_GT(all_opened, 0u);
  for (std::uint64_t i = 0; i < run.config.at("sm").at("count"); ++i) {
    const std::string sm = "sm" + std::to_string(i);
    const std::uint64_t most = run.most("gpu." + sm + ".memory.l1d.mshr.in_use");
    EXPECT_LE(most, statistics.at(sm).at("memory").at("l1d").at("mshr").at("most_in_use")) << sm;
    mshrs += most;
    EXPECT_EQ(run.most("gpu." + sm + ".memory.l1d.misses"),
              statistics.at(sm).at("memory").at("l1d").at("misses"));
    const std::uint64_t waiting = run.most("gpu.crossbar." + sm + ".requests");
    EXPECT_LE(waiting, run.config.at("crossbar").at("input_queue")) << sm;
    requests += waiting;
  }
  EXPECT_GT(mshrs, 0u);
  EXPECT_GT(requests, 0u);
}

// What a scheme shows of itself, sampled once a cycle, does not exceed the peak that it counts.
TEST(SchemeSignals, MoveWithinTheSchemesOwnPeaks) {
  struct Case {
    const char *scheme, *signal,
        *peak;  // a JSON pointer below the scheme's statistics; empty: it counts none
  };
  for (const Case& c :
       {Case{"dwf", "pool", "/most_pool_warps"}, Case{"harp", "waiting_lookup.warps", "/waiting_lookup/peak"},
        Case{"dwr", "lat_barrier", ""}, Case{"sbr", "stack_entries", ""}, Case{"sbr", "parted_warps", ""},
        Case{"lwm", "issuing", ""}}) {
    const Folder folder;
    const TracedRun run =
        traced(folder, bfs("harp-fermi"), {"--set", std::string("warp_formation.scheme=") + c.scheme});
    const std::uint64_t most = run.most(std::string("gpu.sm0.warp_formation0.") + c.signal);
    EXPECT_GT(most, 0u) << c.scheme;
    if (*c.peak == '\0') continue;
    const Json& own = run.stats.at("statistics").at("sm0").at("warp_formation0");
    EXPECT_LE(most, own.at(Json::json_pointer(c.peak))) << c.scheme;
  }
}

// Of lanes that each run warps of their own: which warp, which instruction, and how far it has come. With a
// register per lane, so that a lane's signals show all of its instructions.
class LaneSignals : public ::testing::TestWithParam<const char*> {};

TEST_P(LaneSignals, AgreeWithTheStatisticsOfEachLane) {
  const std::string width = GetParam();
  const Folder folder;
  const TracedRun run =
      traced(folder, bfs("stsimt"),
             {"--set", "datapath.kind=temporal", "--set", "datapath.lane_width=" + width, "--set",
              "datapath.instruction_register=lane", "--set", "sm.count=3", "--set", "sm.observe.lanes=true"});
  const std::uint64_t lanes = 8 / std::stoull(width), sms = run.config.at("sm").at("count");
  const std::string save = read_file(WEFT_VCD_FOLDER "/weft.gtkw");
  for (std::uint64_t i = 0; i < sms * lanes; ++i) {
    const std::string sm = "sm" + std::to_string(i / lanes), lane = "lane" + std::to_string(i % lanes);
    const std::string scope = "gpu." + sm + "." + lane + ".";
    const Json& counted = run.stats.at("statistics").at(sm).at(lane);
    std::map<std::string, std::uint64_t> cycles;
    for (const std::string signal : {"warp", "place", "pc"}) {
      run.each(scope + signal, [&](std::uint64_t value, std::uint64_t lasts) {
        if (value == kUndriven) return;
        cycles[signal] += lasts;
        EXPECT_LT(value, signal == "pc" ? 1000u : 32u) << scope << signal;
        EXPECT_EQ(value % (signal == "place" ? std::stoull(width) : 1), 0u) << scope << signal;
      });
      EXPECT_EQ(save.find("} " + scope + signal + "[") != std::string::npos, sm == "sm0") << scope << signal;
    }
    EXPECT_EQ(cycles["pc"], counted.at("busy_cycles")) << scope;
    EXPECT_EQ(cycles["warp"], counted.at("busy_cycles")) << scope;
    EXPECT_LE(cycles["place"], counted.at("busy_cycles")) << scope;
    EXPECT_GE(cycles["place"] * std::stoull(width), counted.at("executed_thread_instructions")) << scope;
  }
}

INSTANTIATE_TEST_SUITE_P(OfWidth, LaneSignals, ::testing::Values("1", "4"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LaneSignalsOfSms, DoNotDependOnSleepNorOnWhatIsCounted) {
  const Folder one, two;
  const std::vector<std::string> temporal = {"--set", "datapath.kind=temporal", "--set", "sm.count=3"};
  auto awake = temporal;
  awake.insert(awake.end(), {"--no-sleep", "--set", "sm.observe.lanes=true"});
  EXPECT_TRUE(traced(one, bfs("stsimt"), temporal).text == traced(two, bfs("stsimt"), awake).text);
}

TEST(LaneSignalsOfSms, AreThoseOfLanesWithWarpsOfTheirOwn) {
  const Folder folder;
  const TracedRun run =
      traced(folder, bfs("stsimt"), {"--set", "datapath.kind=spatial", "--set", "sm.count=3"});
  EXPECT_EQ(run.text.find(" lane0 "), std::string::npos);
}

// One machine of each dependence model, with and without L2.
INSTANTIATE_TEST_SUITE_P(On, Waveform, ::testing::Values("dwr-tesla", "gtx480", "harp-fermi"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::string comparable(Json stats) {
  for (const char* key : {"cpu_seconds", "wall_seconds", "peak_memory_bytes"}) stats.erase(key);
  return stats.dump(1);
}

// Power over all cycles is the energy of the SM, as samples.csv has it. A signal is in whole mW.
TEST(PowerSignals, SumToTheEnergyOfTheirSm) {
  const Folder folder;
  const TracedRun run =
      traced(folder, bfs("gtx480", "small"), {"--set", "sm.observe.events=true", "--sample", "1000"});
  const test::CsvTable samples(read_file(folder.path("out/samples.csv")));
  double all = 0;
  for (unsigned sm = 0; sm < 15; ++sm) {
    double milliwatt_cycles = 0, cycles = 0;
    run.each("gpu.sm" + std::to_string(sm) + ".power_mw", [&](std::uint64_t value, std::uint64_t lasts) {
      milliwatt_cycles += static_cast<double>(value * lasts);
      cycles += static_cast<double>(lasts);
    });
    const double nanojoules = samples.sum("energy_nj", "sm", std::to_string(sm));
    EXPECT_NEAR(milliwatt_cycles / run.core_mhz(), nanojoules,
                0.5 * cycles / run.core_mhz() + 1e-3 * nanojoules);
    all += nanojoules;
  }
  EXPECT_GT(all, 0);
}

TEST(Tracing, ChangesNoStatistic) {
  const Folder folder;
  auto words = bfs("gtx480");
  const TracedRun run = traced(folder, words);
  words.insert(words.end(), {"--out", folder.path("plain")});
  ASSERT_EQ(weft(words).code, 0);
  EXPECT_EQ(comparable(run.stats), comparable(folder.json("plain/stats.json")));
}

TEST(Tracing, KeepsToItsWindow) {
  const Folder whole_folder, folder;
  constexpr std::uint64_t kFirst = 2000, kLast = 4999;
  const TracedRun whole = traced(whole_folder, bfs("dwr-tesla"));
  const TracedRun part = traced(folder, bfs("dwr-tesla"),
                                {"--vcd-start", std::to_string(kFirst), "--vcd-stop", std::to_string(kLast)});
  ASSERT_GT(whole.cycle(whole.vcd.end), kLast + 1000) << "the window lies inside the run";
  EXPECT_EQ(part.cycle(part.vcd.begin), kFirst);
  EXPECT_EQ(part.cycle(part.vcd.end), kLast + 1);
  EXPECT_LT(part.vcd.lines, whole.vcd.lines);

  // Inside, each wave is the whole run's.
  for (const auto& [name, wave] : whole.vcd.waves) {
    std::vector<Change> expected(1);
    for (const Change& change : wave.changes) {
      if (change.time <= part.vcd.begin) {
        expected[0] = {part.vcd.begin, change.value};
      } else if (change.time < part.vcd.end) {
        expected.push_back(change);
      }
    }
    const auto& found = part.wave(name).changes;
    EXPECT_TRUE(
        std::equal(expected.begin(), expected.end(), found.begin(), found.end(),
                   [](const Change& a, const Change& b) { return a.time == b.time && a.value == b.value; }))
        << name;
  }
}

// Signals by patterns: each wave is the whole run's, and nothing else is there.
TEST(Tracing, KeepsToItsSignals) {
  const Folder whole_folder, folder;
  const TracedRun whole = traced(whole_folder, bfs("gtx480"));
  const TracedRun part =
      traced(folder, bfs("gtx480"), {"--vcd-signals", "launch,sm[12].scheduler?.stall,l2_3,sm0.*.l1d"});
  std::set<std::string> expected{"gpu.launch", "gpu.sm0.memory.l1d.mshr.in_use", "gpu.sm0.memory.l1d.hits",
                                 "gpu.sm0.memory.l1d.misses"};
  for (const char* sm : {"sm1", "sm2"}) {
    for (const char* scheduler : {"scheduler0", "scheduler1"})
      expected.insert(std::string("gpu.") + sm + "." + scheduler + ".stall");
  }
  for (const char* queue : {"input_queue", "pipeline", "mshrs", "miss_queue", "response_queue"})
    expected.insert(std::string("gpu.l2_3.") + queue);
  std::set<std::string> found;
  for (const auto& [name, wave] : part.vcd.waves) {
    found.insert(name);
    const auto& changes = whole.wave(name).changes;
    EXPECT_TRUE(
        std::equal(changes.begin(), changes.end(), wave.changes.begin(), wave.changes.end(),
                   [](const Change& a, const Change& b) { return a.time == b.time && a.value == b.value; }))
        << name;
  }
  EXPECT_EQ(found, expected);
}

TEST(Tracing, KeepsToItsLaunches) {
  const Folder folder;
  const TracedRun run =
      traced(folder, bfs("dwr-tesla"), {"--vcd-first-launch", "2", "--vcd-last-launch", "3"});
  std::vector<std::string> launches;
  for (const Change& change : run.wave("gpu.launch").changes) launches.push_back(change.value);
  EXPECT_EQ(launches, (std::vector<std::string>{"10", "11"}));
  const test::CsvTable table(read_file(folder.path("out/launches.csv")));  // counts them from 0
  EXPECT_GT(run.stats.at("statistics").at("gpu").at("launches"), 3);
  EXPECT_NEAR(static_cast<double>(run.cycle(run.vcd.end) - run.cycle(run.vcd.begin)),
              table.sum("cycles", "launch", "1") + table.sum("cycles", "launch", "2"), 20);
}

TEST(Tracing, OfOneCycleIsOneDump) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("dwr-tesla"), {"--vcd-start", "3000", "--vcd-stop", "3000"});
  EXPECT_EQ(run.cycle(run.vcd.begin), 3000u);
  EXPECT_EQ(run.cycle(run.vcd.end), 3001u);
  for (const auto& [name, wave] : run.vcd.waves) EXPECT_EQ(wave.changes.size(), 1u) << name;
}

TEST(Tracing, BeyondTheRunHasAHeaderOnly) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("dwr-tesla"), {"--vcd-start", "1000000000"});
  EXPECT_FALSE(run.vcd.waves.empty());
  EXPECT_EQ(run.vcd.end, 0u);
}

TEST(Tracing, SurvivesAFullDisk) {
  const Folder folder;
  auto words = bfs("gtx480", "small");
  words.insert(words.end(), {"--out", folder.path("out"), "--vcd", folder.path("run.vcd")});
  Start full;
  full.file_size_limit = 600'000;
  const Exit exit = weft(words, full);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("run.vcd: cannot be written: File too large"));
  EXPECT_THAT(exit.out, HasSubstr("verified")) << "the run goes on without it";
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true);
  const Vcd vcd = read_vcd(folder.text("run.vcd"));
  EXPECT_GT(vcd.end, vcd.begin);
}

TEST(Tracing, IsRefusedBeforeTheRun) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::string>& more, const std::string& message) {
    auto words = bfs("gtx480");
    words.insert(words.end(), more.begin(), more.end());
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2);
    EXPECT_EQ(exit.out, "");
    EXPECT_THAT(exit.err, HasSubstr(message));
  };
  refused({"--vcd", folder.path("none") + "/a.vcd"}, "none/a.vcd: cannot be written: No such file");
  refused({"--vcd", folder.path("a.vcd"), "--vcd-start", "9", "--vcd-stop", "8"}, "--vcd-stop");
  refused({"--vcd", folder.path("a.vcd"), "--vcd-first-launch", "3", "--vcd-last-launch", "2"},
          "--vcd-last-launch: found 2; allowed: 3 (--vcd-first-launch) or more");
  const auto signals = [&](const std::string& patterns, const std::string& message) {
    refused({"--vcd", folder.path("a.vcd"), "--vcd-signals", patterns},
            "a.vcd: no signal is named " + message);
  };
  signals("sm0,tm1", "'tm1'; allowed: launch, kernel, blocks_done, blocks_total, sm0...sm14, crossbar, l2_0");
  signals("sm3.stall", "'sm3.stall'; allowed in sm3: active_lanes, blocks,");
  signals("launch.pc", "'launch.pc'; allowed: launch, which is a signal");
  signals("sm0,", "''; allowed: launch");
  refused({"--vcd-start", "5"}, "needs the file of the waveforms: --vcd FILE");
  refused({"--vcd", "/dev/full"}, "/dev/full: cannot be written: No space left on device");
}

// Which warp issues and which one waits, seen with the scheduler that chooses among them.
TEST(WarpSignals, AgreeWithTheSchedulers) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("gtx480", "n=3000"), {"--vcd-signals", "clock,sm0,launch"});
  const Json& sm = run.stats.at("statistics").at("sm0");
  // By cycle, in the course of the run.
  std::map<std::string, std::map<std::uint64_t, std::string>> waves;
  for (const auto& [name, wave] : run.vcd.waves) {
    for (const Change& change : wave.changes) waves[name][change.time] = change.value;
  }
  const auto at = [&](const std::string& name, std::uint64_t time) {
    return std::prev(waves.at(name).upper_bound(time))->second;
  };
  std::set<std::uint64_t> edges;
  for (const auto& [time, value] : waves.at("gpu.clock")) {
    if (value == "1") edges.insert(time);
  }
  std::uint64_t issued = 0, of_warps = 0, requests = 0;
  std::map<std::string, std::set<std::string>> opcodes;  // by PC
  for (const std::uint64_t time : edges) {
    for (const std::string scheduler : {"gpu.sm0.scheduler0.", "gpu.sm0.scheduler1."}) {
      const std::string pc = at(scheduler + "pc", time), warp = at(scheduler + "warp", time);
      ASSERT_EQ(pc == "z", warp == "z") << time;
      const std::string opcode = at(scheduler + "opcode", time);
      ASSERT_EQ(pc == "z", opcode == "-") << time;
      const std::uint64_t stall = number(at(scheduler + "stall", time));
      if (stall == 3) {
        bool any = false;
        for (unsigned w = 0; w < 48; ++w)
          any = any || at("gpu.sm0.warp" + std::to_string(w) + ".state", time) == "11";
        ASSERT_TRUE(any) << "the scheduler waits for memory at " << time << " ps, and no warp does";
      }
      if (pc == "z") continue;
      ++issued;
      opcodes[pc].insert(opcode);
      const std::string own = "gpu.sm0.warp" + std::to_string(number(warp)) + ".";
      ASSERT_EQ(number(at(own + "state", time)), 0u) << own << time;
      ASSERT_EQ(at(own + "pc", time), pc) << own << time;
    }
    for (unsigned w = 0; w < 48; ++w)
      of_warps += number(at("gpu.sm0.warp" + std::to_string(w) + ".state", time)) == 0 ? 1 : 0;
    const bool valid = at("gpu.sm0.memory.request_valid", time) == "1";
    requests += valid && at("gpu.sm0.memory.request_ready", time) == "1" ? 1 : 0;
    ASSERT_EQ(valid, at("gpu.sm0.memory.request_address", time) != "z") << time;
    ASSERT_EQ(valid, at("gpu.sm0.memory.request_write", time) != "z") << time;
  }
  EXPECT_EQ(issued, sm.at("warp_instructions"));
  EXPECT_EQ(of_warps, sm.at("warp_instructions"));
  std::set<std::string> all;
  for (const auto& [pc, names] : opcodes) {
    EXPECT_EQ(names.size(), 1u) << pc;
    all.insert(*names.begin());
  }
  EXPECT_THAT(all, ::testing::Contains("ld.global.u32"));
  const Json& memory = sm.at("memory");
  EXPECT_EQ(requests, memory.at("data_requests").get<std::uint64_t>() +
                          memory.at("l1c").at("misses").get<std::uint64_t>() +
                          sm.at("front_end").at("l1i").at("misses").get<std::uint64_t>());
}

// High from an edge to the middle of the cycle, at every edge at which anything is looked at.
TEST(ClockSignal, IsHighForHalfACycle) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("dwr-tesla"), {"--vcd-signals", "clock,launch"});
  const auto& changes = run.wave("gpu.clock").changes;
  ASSERT_GT(changes.size(), 1000u);
  const double period = 1e6 / run.core_mhz();
  for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
    ASSERT_EQ(changes[i].value, "1");
    ASSERT_EQ(changes[i + 1].value, "0");
    ASSERT_NEAR(static_cast<double>(changes[i + 1].time - changes[i].time), period / 2, 1.0);
    const double edges = static_cast<double>(changes[i].time) / period;
    ASSERT_NEAR(edges, std::round(edges), 0.01);
  }
}

// The files for GTKWave name codes and signals by hand.
TEST(GtkwaveFiles, FitTheWaveform) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("gtx480"));

  std::istringstream filter(read_file(WEFT_VCD_FOLDER "/stall.txt"));
  std::map<std::string, std::string> texts;
  for (std::string code, text; filter >> code >> text;) texts[code] = text.substr(text.rfind('?') + 1);
  const Json& buckets = run.stats.at("statistics").at("sm0").at("scheduler0").at("cycles");
  const std::string digits = "0123456789abcdef";
  std::size_t stall = 0;
  for (const auto& [name, cycles] : buckets.items()) EXPECT_EQ(texts[digits.substr(stall++, 1)], name);
  EXPECT_EQ(texts["A"], texts["a"]) << "GTKWave prints capital digits";

  const std::string save = read_file(WEFT_VCD_FOLDER "/weft.gtkw");
  for (const auto& [name, wave] : run.vcd.waves) {
    // Of a queue of the host side what it does; of the crossbar and of single banks nothing.
    static const std::regex kShown(
        R"(gpu\.(launch|kernel|blocks_.*|sm0\..*|sm\d+\.(scheduler0\.stall|active_lanes)|l2_\d+\.(input_queue|mshrs))"
        R"(|dram\d+\.queue|host\.(irq|queue\d\.(step|read_index)|dma\.jobs)))");
    const bool shown = std::regex_match(name, kShown);
    std::string line = "} " + name;
    if (wave.width != 1) line.append("[").append(std::to_string(wave.width - 1)).append(":0]");
    line += '\n';
    EXPECT_EQ(save.find(line) != std::string::npos, shown) << name;
  }
}

// A signal that is written where it is asked for: the save file shows what it is of one SM.
TEST(GtkwaveFiles, FitTheDetailsOfAnSm) {
  const Folder folder;
  const TracedRun run = traced(folder, bfs("gtx480"), {"--vcd-signals", "clock,sm0,sm1.warp0"});
  const std::string save = read_file(WEFT_VCD_FOLDER "/weft.gtkw");
  for (const auto& [name, wave] : run.vcd.waves) {
    std::string line = "} " + name;
    if (wave.width != 1) line.append("[").append(std::to_string(wave.width - 1)).append(":0]");
    line += '\n';
    const bool shown = !std::regex_match(name, std::regex(R"(gpu\.(sm1\..*|sm0\.warp\d+\.pc))"));
    EXPECT_EQ(save.find(line) != std::string::npos, shown) << name;
  }
}

// A run that is cut short leaves a waveform up to there.
TEST(Tracing, EndsWithAnAbandonedRun) {
  const Folder folder;
  auto words = bfs("dwr-tesla");
  words.insert(words.end(), {"--vcd", folder.path("run.vcd"), "--max-cycles", "3000"});
  EXPECT_EQ(weft(words).code, 3);
  const Vcd vcd = read_vcd(folder.text("run.vcd"));
  EXPECT_NEAR(static_cast<double>(vcd.end) * 1300e-6, 3000, 3);
}

}  // namespace
}  // namespace weft::vcd
