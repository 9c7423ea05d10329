// Waveforms of whole runs, held against the statistics of the same run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "end_to_end/process.h"
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
    const Json& buckets = statistics.at(sm).at("scheduler0").at("cycles");

    std::uint64_t issuing = 0, lanes = 0;
    run.each(scope + "pc", [&](std::uint64_t pc, std::uint64_t cycles) {
      if (pc != kUndriven) issuing += cycles;
    });
    EXPECT_EQ(issuing, buckets.at("issued")) << sm;

    run.each(scope + "active_lanes",
             [&](std::uint64_t active, std::uint64_t cycles) { lanes += active * cycles; });
    EXPECT_EQ(lanes, statistics.at(sm).at("thread_instructions")) << sm;
    thread_instructions += lanes;

    std::vector<std::uint64_t> stalls(buckets.size(), 0);
    run.each(scope + "stall", [&](std::uint64_t stall, std::uint64_t cycles) { stalls.at(stall) += cycles; });
    std::size_t stall = 0;
    for (const auto& [name, cycles] : buckets.items()) {
      if (name == "empty") {  // also counts between launches
        EXPECT_GE(stalls[stall], cycles) << sm;
      } else {
        EXPECT_EQ(stalls[stall], cycles) << sm << " " << name;
      }
      ++stall;
    }
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
  std::uint64_t l2_used = 0, gddr5_used = 0;
  for (const auto& [name, wave] : run.vcd.waves) {
    if (name.rfind("gpu.l2_", 0) == 0) {
      banks += name.find(".pipeline") != std::string::npos ? 1 : 0;
      std::string key = name.substr(name.rfind('.') + 1);
      if (key == "pipeline") key = "latency";
      if (key == "mshrs") key = "mshr_entries";
      EXPECT_LE(run.most(name), l2.at(key)) << name;
      l2_used += run.most(name);
    } else if (name.rfind("gpu.gddr5_", 0) == 0) {
      ++channels;
      const Json& gddr5 = run.config.at("gddr5");
      EXPECT_LE(run.most(name),
                gddr5.at("queue_size").get<std::uint64_t>() + gddr5.at("extra_latency").get<std::uint64_t>());
      gddr5_used += run.most(name);
    }
  }
  const bool has_l2 = l2.at("enabled");
  EXPECT_EQ(banks != 0, has_l2);
  EXPECT_EQ(l2_used != 0, has_l2);
  EXPECT_GT(channels, 0u);
  EXPECT_GT(gddr5_used, 0u);
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

TEST(Tracing, ChangesNoStatistic) {
  const Folder folder;
  auto words = bfs("gtx480");
  const TracedRun run = traced(folder, words);
  words.insert(words.end(), {"--out", folder.path("plain")});
  ASSERT_EQ(weft(words).code, 0);
  EXPECT_EQ(comparable(run.stats), comparable(folder.json("plain/stats.json")));
}

TEST(Tracing, DoesNotDependOnSleep) {
  const Folder one, two;
  EXPECT_TRUE(traced(one, bfs("dwr-tesla")).text == traced(two, bfs("dwr-tesla"), {"--no-sleep"}).text);
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
  refused({"--vcd", "/dev/full"}, "/dev/full: cannot be written: No space left on device");
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
    const std::string kind = name.substr(name.rfind('.') + 1);
    const bool shown = name.rfind("gpu.sm", 0) == 0    ? kind == "stall" || kind == "active_lanes"
                       : name.rfind("gpu.l2_", 0) == 0 ? kind == "input_queue" || kind == "mshrs"
                                                       : true;
    std::string line = "} " + name;
    if (wave.type != "string") line.append("[").append(std::to_string(wave.width - 1)).append(":0]");
    line += '\n';
    EXPECT_EQ(save.find(line) != std::string::npos, shown || name.rfind("gpu.sm0.", 0) == 0) << name;
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
