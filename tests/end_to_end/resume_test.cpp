// `weft run --checkpoint` and `--resume`: a run that was stopped, and goes on, has the results of one that
// was not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "end_to_end/process.h"
#include "warp_formation/schemes.h"

namespace weft::end_to_end::resume_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words into(const Folder& folder, const std::string& name, const Words& options) {
  return Words{"run", "--out", folder.path(name)} + options;
}

const Words kBfs{"--workload", "bfs", "--size", "small", "--config", "gtx480"};
const Words kOfEach{"--checkpoint", "0"};

ordered_json statistics(const Folder& folder, const std::string& name) {
  ordered_json json = folder.json(name + "/stats.json");
  for (const char* host : {"cpu_seconds", "wall_seconds", "peak_memory_bytes"}) json.erase(host);
  return json;
}

void expect_same(const Folder& folder, const std::string& one, const std::string& other) {
  EXPECT_EQ(statistics(folder, one), statistics(folder, other));
  for (const char* file : {"/launches.csv", "/config.json", "/run.json", "/summary.txt"})
    EXPECT_EQ(folder.text(one + file), folder.text(other + file)) << file;
  if (folder.has(one + "/samples.csv")) {
    EXPECT_EQ(folder.text(one + "/samples.csv"), folder.text(other + "/samples.csv"));
  }
  EXPECT_EQ(Folder::names_of(folder.path(one)), Folder::names_of(folder.path(other)))
      << "a run that has ended leaves no checkpoint";
}

struct Case {
  std::string name;
  Words options;
};
void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class Resume : public ::testing::TestWithParam<Case> {};

// Several launches between two waits of the host (the elimination), and one (the search, which reads a flag
// after each); caches that write back, open rows and closed ones, textures, every scheme.
TEST_P(Resume, GoesOnAsIfNothingHadHappened) {
  const Words& options = GetParam().options;
  const Folder folder;
  const Exit whole = weft(into(folder, "whole", options));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto cycles = folder.json("whole/stats.json").at("cycles").get<double>();

  Words go_on;
  for (const double share : {0.4, 0.8}) {
    const auto limit = std::to_string(static_cast<std::uint64_t>(share * cycles));
    const Exit cut = weft(into(folder, "cut", options + kOfEach + go_on + Words{"--max-cycles", limit}));
    ASSERT_EQ(cut.code, 3) << cut.err;
    ASSERT_TRUE(folder.has("cut/checkpoint")) << "no launch has ended by cycle " << limit;
    EXPECT_THAT(cut.err, HasSubstr("--resume"));
    go_on = {"--resume"};
  }
  // The last one needs no checkpoints of its own.
  const Exit rest = weft(into(folder, "cut", options + go_on));
  EXPECT_EQ(rest.code, 0) << rest.err;
  EXPECT_EQ(rest.err, "");
  expect_same(folder, "whole", "cut");
}

std::vector<Case> schemes() {
  std::vector<Case> cases;
  for (const std::string& scheme : scheme_classes::all()) {
    cases.push_back(
        {scheme, {"--workload", "bfs", "--size", "small", "--set", "warp_formation.scheme=" + scheme}});
  }
  return cases;
}
// Blocks over four sub-cores with units, queues and collectors of their own.
Words sub_cores(const char* workload) {
  Words words{"--workload", workload, "--size", "small", "--config", "gtx480"};
  for (const char* setting :
       {"sm.schedulers=4", "sm.schedulers_per_domain=1", "sm.block_placement=sub_cores",
        "datapath.units.enabled=true", "datapath.address_queue.entries=5", "sm.memory_queue=32",
        "datapath.operands.kind=collectors", "warp_formation.scheduling=greedy_then_youngest"})
    words.insert(words.end(), {"--set", setting});
  return words;
}
Words machine(const char* workload, const char* config) {
  return {"--workload", workload, "--size", "small", "--config", config, "--sample", "700"};
}

INSTANTIATE_TEST_SUITE_P(Schemes, Resume, ::testing::ValuesIn(schemes()),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Machines, Resume,
                         ::testing::Values(Case{"gtx480", machine("gaussian_elimination", "gtx480")},
                                           Case{"crown", machine("srad", "crown-tesla")},
                                           Case{"dwr", machine("lud", "dwr-tesla")},
                                           Case{"harp", machine("bfs_warp_centric", "harp-fermi")},
                                           Case{"stsimt", machine("needleman_wunsch", "stsimt")},
                                           Case{"sub_cores", sub_cores("gaussian_elimination")}),
                         [](const auto& test) { return test.param.name; });

// Wherever it is killed, and whatever it does then: making inputs, writing a checkpoint or the results.
TEST(Resume, AfterAnySignalAtAnyMoment) {
  const Folder folder;
  const Words options{"--workload", "bfs_warp_centric", "--size", "small", "--config", "stsimt"};
  ASSERT_EQ(weft(into(folder, "whole", options)).code, 0);
  const Words run = into(folder, "cut", options + kOfEach + Words{"--resume"});
  std::mt19937 random(4321);
  for (int round = 0; round < 8; ++round) {
    Start start;
    start.signal = round % 2 == 0 ? SIGKILL : SIGTERM;
    start.interrupt_after_ms = 20 + static_cast<int>(random() % 400);
    const Exit exit = weft(run, start);
    EXPECT_TRUE(exit.code == 0 || exit.code == 3 || exit.code == 128 + start.signal) << exit.code << exit.err;
  }
  ASSERT_EQ(weft(run).code, 0);
  expect_same(folder, "whole", "cut");
}

TEST(Resume, WithoutACheckpointStartsFromTheBeginning) {
  const Folder folder;
  const Exit exit = weft(into(folder, "out", kBfs + Words{"--resume"}));
  EXPECT_EQ(exit.code, 0);
  EXPECT_THAT(exit.err, HasSubstr("starts from its beginning"));
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true);
}

TEST(Resume, RefusesTheCheckpointOfAnotherRun) {
  const Folder folder;
  ASSERT_EQ(weft(into(folder, "out", kBfs + kOfEach + Words{"--max-cycles", "9000"})).code, 3);
  const std::string before = folder.text("out/checkpoint");
  const auto refused = [&](const Words& options, const char* why) {
    const Exit exit = weft(into(folder, "out", options + Words{"--resume"}));
    EXPECT_EQ(exit.code, 2) << why;
    EXPECT_THAT(exit.err, HasSubstr("out/checkpoint: belongs to another run: "));
    EXPECT_THAT(exit.err, HasSubstr(why));
    EXPECT_EQ(folder.text("out/checkpoint"), before) << "it stays";
  };
  refused({"--workload", "bfs", "--size", "small,seed=3"}, "size.seed: 12345 there, 3 now");
  refused({"--workload", "lud", "--size", "small"}, "workload: \"bfs\" there, \"lud\" now");
  refused(kBfs + Words{"--set", "sm.count=3"}, "config_fnv1a: ");
  refused(kBfs + Words{"--sample", "100"}, "options.sample: 0 there, 100 now");
}

TEST(Resume, RefusesADamagedCheckpoint) {
  const Folder folder;
  ASSERT_EQ(weft(into(folder, "out", kBfs + kOfEach + Words{"--max-cycles", "9000"})).code, 3);
  const std::string good = folder.text("out/checkpoint");
  const auto refused = [&](const std::string& text) {
    std::ofstream(folder.path("out/checkpoint"), std::ios::binary) << text;
    const Exit exit = weft(into(folder, "out", kBfs + Words{"--resume"}));
    EXPECT_EQ(exit.code, 2) << text.size() << exit.err;
    EXPECT_THAT(exit.err, HasSubstr("out/checkpoint: is "));
    EXPECT_THAT(exit.err, HasSubstr("without --resume"));
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{90}, good.size() - 1})
    refused(good.substr(0, size));
  for (const std::size_t place : {std::size_t{3}, std::size_t{30}, std::size_t{120}, good.size() / 2}) {
    std::string flipped = good;
    flipped[place] = static_cast<char>(flipped[place] ^ 4);
    refused(flipped);
  }
  refused(good + "x");
  std::ofstream(folder.path("out/checkpoint"), std::ios::binary) << good;
  EXPECT_EQ(weft(into(folder, "out", kBfs + Words{"--resume"})).code, 0);
}

TEST(Resume, SaysWhatItCannotContinue) {
  const Folder folder;
  const auto refused = [&](const Words& options, const char* why) {
    for (const Words& option : {kOfEach, Words{"--resume"}}) {
      const Exit exit = weft(Words{"run"} + options + option);
      EXPECT_EQ(exit.code, 2) << why;
      EXPECT_THAT(exit.err, HasSubstr(option[0]));
      EXPECT_THAT(exit.err, HasSubstr(why));
    }
  };
  const Words out{"--out", folder.path("out")};
  refused(kBfs, "--out");
  refused(kBfs + out + Words{"--functional"}, "without timing");
  refused(kBfs + out + Words{"--fast-forward", "2"}, "without timing");
  refused(kBfs + out + Words{"--monitors"}, "monitors");
  refused(kBfs + out + Words{"--check", "memory"}, "checks");
  refused(kBfs + out + Words{"--no-sleep"}, "--no-sleep");
  refused(Words{"--workload", "bfs", "--size", "small", "--config", "integrated"} + out, "system");
  refused({"--ptx", "k.ptx", "--grid", "1", "--block", "1"}, "single launch");
  const std::string plugin = std::string(WEFT_PLUGIN_FOLDER) + "/min_pc.so";
  refused(kBfs + out + Words{"--plugin", plugin, "--set", "warp_formation.scheme=min_pc"},
          "'min_pc' does not save its state");
}

// What cannot be the checkpoint's file, and would be waited for if it were opened.
struct Obstacle {
  const char* name;
  std::function<void(const std::string& path)> make;
};
const Obstacle kObstacles[] = {
    {"folder", [](const std::string& path) { std::filesystem::create_directories(path); }},
    {"pipe", [](const std::string& path) { ASSERT_EQ(mkfifo(path.c_str(), 0600), 0); }},
    {"device", [](const std::string& path) { std::filesystem::create_symlink("/dev/null", path); }},
    {"pipe behind a link", [](const std::string& path) {
       ASSERT_EQ(mkfifo((path + ".pipe").c_str(), 0600), 0);
       std::filesystem::create_symlink(path + ".pipe", path);
     }}};

// The run goes on without it, and says so; with a checkpoint missing it has not done all that was asked for.
TEST(Resume, DoesNotNeedTheCheckpointToBeWritten) {
  for (const Obstacle& obstacle : kObstacles) {
    const Folder folder;
    std::filesystem::create_directories(folder.path("out"));
    obstacle.make(folder.path("out/checkpoint"));
    const Exit exit = weft(into(folder, "out", kBfs + kOfEach), patient(30));
    EXPECT_EQ(exit.code, 2) << obstacle.name;
    EXPECT_THAT(exit.err, HasSubstr("--checkpoint: " + folder.path("out/checkpoint") +
                                    ": cannot be written: it is not a regular file"));
    EXPECT_EQ(exit.err.find("--checkpoint: "), exit.err.rfind("--checkpoint: ")) << "once";
    EXPECT_EQ(folder.json("out/stats.json").at("verified"), true);
  }
}

TEST(Resume, RefusesWhatIsNoFile) {
  for (const Obstacle& obstacle : kObstacles) {
    const Folder folder;
    std::filesystem::create_directories(folder.path("out"));
    obstacle.make(folder.path("out/checkpoint"));
    for (const Words& options : {Words{"--resume"}, kOfEach + Words{"--resume"}}) {
      const Exit exit = weft(into(folder, "out", kBfs + options), patient(30));
      EXPECT_EQ(exit.code, 2) << obstacle.name;
      EXPECT_THAT(exit.err, HasSubstr("out/checkpoint: is not a regular file; without --resume"));
      EXPECT_EQ(exit.out, "");
    }
  }
}

// A disk without room for it.
TEST(Resume, ACheckpointThatDoesNotFitIsTold) {
  const Folder folder;
  Start small;
  small.file_size_limit = 300'000;  // enough for stats.json; a checkpoint has all of the GPU's state
  const Words options = kBfs + kOfEach;
  const Exit exit = weft(into(folder, "out", options), small);
  EXPECT_THAT(exit.err, HasSubstr("--checkpoint: "));
  EXPECT_THAT(exit.err, HasSubstr("cannot be written: File too large"));
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_EQ(folder.json("out/stats.json").at("verified"), true);
}

}  // namespace
}  // namespace weft::end_to_end::resume_test
