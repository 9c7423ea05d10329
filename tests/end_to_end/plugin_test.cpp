// Schemes in shared objects: `--plugin` and WEFT_PLUGINS. The plugins are built beside this program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/sha256.h"
#include "end_to_end/process.h"

namespace weft::end_to_end {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string plugin(const std::string& name) {
  return std::string(WEFT_PLUGIN_FOLDER) + "/" + name + ".so";
}

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Environment {
 public:
  explicit Environment(const std::string& value) { setenv("WEFT_PLUGINS", value.c_str(), 1); }
  ~Environment() { unsetenv("WEFT_PLUGINS"); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

TEST(Plugin, RunsBesideOtherSchemesAndAChangedOneAgain) {
  const Folder folder;
  const std::string file = folder.path("mine.so");
  std::filesystem::copy_file(plugin("min_pc"), file);
  const auto compare = [&] {
    return weft({"compare", "--plugin", file, "--schemes", "sbr,min_pc,min_pc+min_pc.patience=2",
                 "--workloads", "bfs,reduction", "--size", "small", "--out", folder.path("out")},
                patient(300));
  };
  const Exit first = compare();
  ASSERT_EQ(first.code, 0) << first.err << first.out;
  const ordered_json runs = folder.json("out/comparison.json").at("runs");
  ASSERT_EQ(runs.size(), 6u);
  for (const auto& run : runs) EXPECT_EQ(run.at("result"), "verified") << run.dump();

  const std::string hash = sha256(content(file)), of = "out/runs/bfs/min_pc+min_pc.patience=2/";
  const ordered_json statistics = folder.json(of + "stats.json");
  EXPECT_EQ(statistics.at("scheme"), "min_pc");
  EXPECT_EQ(statistics.at("plugins"),
            ordered_json::array({{{"file", "mine.so"}, {"sha256", hash}, {"schemes", {"min_pc"}}}}));
  EXPECT_THAT(folder.json(of + "run.json").at("plugins"), ElementsAre(hash));
  EXPECT_EQ(folder.json(of + "config.json").at("warp_formation").at("min_pc").at("patience"), 2);
  // The key has its effect: with little patience more issues are those of threads that have waited.
  const auto impatient = [&](const std::string& run) {
    double sum = 0;
    const ordered_json all = folder.json("out/runs/bfs/" + run + "/stats.json").at("statistics");
    for (const auto& [name, part] : all.items()) {
      if (name.rfind("sm", 0) == 0) sum += part.at("warp_formation0").at("impatient_issues").get<double>();
    }
    return sum;
  };
  EXPECT_GT(impatient("min_pc+min_pc.patience=2"), impatient("min_pc"));

  EXPECT_THAT(compare().err, HasSubstr("6 of 6 runs already have results"));
  std::ofstream(file, std::ios::app) << '\n';  // what lies behind a shared object's sections is never read
  const Exit changed = compare();
  ASSERT_EQ(changed.code, 0) << changed.err;
  EXPECT_THAT(changed.err, Not(HasSubstr("already have results")));
  EXPECT_THAT(folder.json(of + "run.json").at("plugins"), ElementsAre(sha256(content(file))));
}

TEST(Plugin, ItsKeysAreThoseOfTheConfigurationAndOfTheSchema) {
  const std::string file = plugin("min_pc");
  const Exit schema = weft({"schema", "--plugin", file});
  ASSERT_EQ(schema.code, 0) << schema.err;
  const auto keys = [](const Exit& exit) {
    return ordered_json::parse(exit.out).at("properties").at("warp_formation").at("properties");
  };
  EXPECT_EQ(keys(schema).at("min_pc").at("properties").at("patience").at("maximum"), 1'000'000);
  EXPECT_FALSE(keys(weft({"schema"})).contains("min_pc"));

  const Exit wrong =
      weft({"check-config", "gtx480", "--plugin", file, "--set", "warp_formation.min_pc.patience=-1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("/warp_formation/min_pc/patience"), HasSubstr("0 to 1000000")));
  const Exit unknown = weft({"check-config", "gtx480", "--set", "warp_formation.min_pc.patience=1"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown key \"min_pc\""));
}

// The example as it came with 0.1.0 (of_0_1.cpp: not to be changed) does what today's does.
TEST(Plugin, ASchemeOf01CompilesAndDoesTheSame) {
  const Folder folder;
  const auto cycles = [&](const std::string& name) {
    const Exit exit = weft({"run", "--plugin", plugin(name), "--workload", "bfs", "--size", "small", "--set",
                            "warp_formation.scheme=min_pc", "--out", folder.path(name)},
                           patient(300));
    EXPECT_EQ(exit.code, 0) << exit.err << exit.out;
    return folder.json(name + "/stats.json").at("statistics").at("gpu").at("cycles").get<double>();
  };
  EXPECT_EQ(cycles("of_0_1"), cycles("min_pc"));
}

// Replacement, set index, order of warps, DRAM scheduler: chosen by name like Weft's own, each with an
// effect.
TEST(Plugin, BringsPartsOfEveryKind) {
  const Folder folder;
  const std::string file = plugin("parts");
  const auto cycles = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> words = {"run", "--config", "gtx480",          "--workload",
                                      "bfs", "--size",   "small",           "--plugin",
                                      file,  "--out",    folder.path("out")};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    const Exit exit = weft(words, patient(300));
    EXPECT_EQ(exit.code, 0) << exit.err << exit.out;
    return folder.json("out/stats.json").at("statistics").at("gpu").at("cycles").get<double>();
  };
  const double plain = cycles({});
  const ordered_json parts = {"replacement mru", "set index rotated", "warp scheduling last",
                              "DRAM scheduler youngest"};
  EXPECT_EQ(folder.json("out/stats.json").at("plugins").at(0).at("parts"), parts);
  EXPECT_EQ(folder.json("out/stats.json").at("plugins").at(0).at("schemes"), ordered_json::array());
  EXPECT_NE(cycles({"warp_formation.scheduling=last"}), plain);
  EXPECT_NE(cycles({"dram.scheduler=youngest", "l2.enabled=false"}), cycles({"l2.enabled=false"}));
  const std::string few = "sm.l1d.sets=4", modulo = "sm.l1d.set_index=modulo";
  const double plain_cache = cycles({few, modulo}), rotated = cycles({few, "sm.l1d.set_index=rotated"});
  EXPECT_NE(cycles({few, modulo, "sm.l1d.replacement=mru"}), plain_cache);
  EXPECT_NE(rotated, plain_cache);
  EXPECT_NE(cycles({few, "sm.l1d.set_index=rotated", "sm.l1d.rotated_bits=2"}), rotated);
  const Exit unknown = weft({"check-config", "gtx480", "--set", "sm.l1d.replacement=mru"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("allowed: lru, fifo, srrip"));
}

TEST(Plugin, TheEnvironmentNamesSeveral) {
  const Environment environment(plugin("min_pc") + "::" + plugin("failing"));
  const Exit schemes = weft({"list", "schemes"});
  EXPECT_EQ(schemes.code, 0) << schemes.err;
  EXPECT_THAT(schemes.out, AllOf(HasSubstr("\nmin_pc "), HasSubstr("\nfailing "), HasSubstr("\nfailing_too "),
                                 HasSubstr("\nsbr ")));
  // Named again it is the same one.
  EXPECT_EQ(weft({"list", "schemes", "--plugin", plugin("min_pc")}).out, schemes.out);
  const Environment wrong(plugin("taken"));
  EXPECT_THAT(weft({"check-config", "gtx480"}).err, HasSubstr("WEFT_PLUGINS: "));
}

TEST(Plugin, OneOfOtherHeadersIsRefusedByName) {
  const Exit exit =
      weft({"run", "--workload", "vector_add", "--size", "small", "--plugin", plugin("other_headers")});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err, AllOf(StartsWith("weft: --plugin: "), HasSubstr("other_headers.so"),
                              HasSubstr("the plugin:   headers 0123456789abcdef; "),
                              HasSubstr("this program: headers "), HasSubstr("build it again")));
  EXPECT_THAT(exit.out, "");
}

TEST(Plugin, WhatIsNoneIsRefused) {
  const Folder folder;
  const auto said = [&](const std::string& file) {
    const Exit exit = weft({"list", "schemes", "--plugin", file});
    EXPECT_EQ(exit.code, 2) << file;
    return exit.err;
  };
  EXPECT_THAT(said(folder.path("missing.so")), AllOf(HasSubstr("missing.so"), HasSubstr("No such file")));
  EXPECT_THAT(said(folder.write("text.so", "no library\n")), HasSubstr("cannot be loaded"));
  EXPECT_THAT(said(plugin("no_plugin")), HasSubstr("does not export weft_plugin_abi()"));
  EXPECT_THAT(said(plugin("taken")), AllOf(HasSubstr("taken.so"), HasSubstr("scheme sbr")));
  EXPECT_THAT(said(""), HasSubstr("--plugin"));
}

// As a copy that was interrupted leaves it, wherever.
TEST(Plugin, OneThatIsCutShortIsRefused) {
  const Folder folder;
  const std::string whole = content(plugin("min_pc"));
  const auto said = [&](std::size_t bytes) {
    const std::string file = folder.write("cut.so", whole.substr(0, bytes));
    const Exit exit = weft({"check-config", "gtx480", "--plugin", file});
    EXPECT_EQ(exit.code, 2) << bytes << exit.err;
    EXPECT_THAT(exit.err,
                AllOf(StartsWith("weft: --plugin: "), HasSubstr("cut.so"), HasSubstr("cannot be loaded")));
    return exit.err;
  };
  for (const std::size_t bytes : {0ul, 1ul, 10ul, 63ul}) said(bytes);
  for (const std::size_t bytes : {64ul, 100ul, 5000ul, whole.size() / 4, whole.size() / 3})
    EXPECT_THAT(said(bytes), HasSubstr("cut short: it has " + std::to_string(bytes) + " bytes")) << bytes;
}

TEST(Plugin, OneThatCannotBeLoadedAliveIsRefused) {
  const auto said = [](const char* how) {
    setenv("WEFT_TEST_DYING", how, 1);
    const Exit exit = weft({"check-config", "gtx480", "--plugin", plugin("dying")});
    unsetenv("WEFT_TEST_DYING");
    EXPECT_EQ(exit.code, 2) << how;
    EXPECT_THAT(exit.err, AllOf(StartsWith("weft: --plugin: "), HasSubstr("dying.so: cannot be loaded: ")));
    return exit.err;
  };
  EXPECT_THAT(said("standard"), HasSubstr("its constructor throws: no licence"));
  EXPECT_THAT(said("other"), HasSubstr("its constructor throws an object that is not a std::exception"));
  EXPECT_THAT(said("signal"), HasSubstr("its constructor gets signal 11 (Segmentation fault)"));
  EXPECT_THAT(said("terminate"), HasSubstr("it calls std::terminate()"));
  // Alive it is no plugin, but that is another message.
  EXPECT_THAT(weft({"check-config", "gtx480", "--plugin", plugin("dying")}).err,
              HasSubstr("does not export weft_plugin_abi()"));
}

TEST(Plugin, ItsExceptionsAreWhatTheyWereThrownAs) {
  const auto run = [](const std::string& setting, const std::string& scheme = "failing",
                      const std::string& more = "sm.count=1") {
    return weft({"run", "--workload", "vector_add", "--size", "small", "--plugin", plugin("failing"), "--set",
                 "warp_formation.scheme=" + scheme, setting, more});
  };
  const Exit input = run("warp_formation.failing.how=input");
  EXPECT_EQ(input.code, 2);
  EXPECT_THAT(input.err, HasSubstr("/warp_formation/failing: as was asked for"));
  const Exit fault = run("warp_formation.failing.how=fault");
  EXPECT_EQ(fault.code, 3);
  EXPECT_THAT(fault.err, AllOf(HasSubstr("failing, as"), Not(HasSubstr("internal error"))));
  const Exit standard = run("warp_formation.failing.how=standard");
  EXPECT_EQ(standard.code, 3);
  EXPECT_THAT(standard.err, HasSubstr("internal error: failing, as was asked for"));
  // A RuleError names where its values come from.
  const Exit rule = run("warp_formation.failing.low=5", "failing", "warp_formation.failing.high=4");
  EXPECT_EQ(rule.code, 2);
  EXPECT_THAT(rule.err,
              AllOf(HasSubstr("/warp_formation/failing/low: found 5 ("),
                    HasSubstr("/warp_formation/failing/high is from --set warp_formation.failing.high=4")));
  // A second scheme of the same file goes by the first one's keys.
  EXPECT_EQ(run("warp_formation.failing.how=input", "failing_too").code, 2);
}

}  // namespace
}  // namespace weft::end_to_end
