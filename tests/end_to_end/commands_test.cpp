// The sub-commands, as their help describes them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::commands_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Commands, ExplainThemselves) {
  for (const char* command : {"run", "demo", "list", "check-config", "schema", "ptx", "bench", "compare",
                              "reproduce", "area", "energy", "measure"}) {
    const Exit exit = weft({command, "--help"});
    EXPECT_EQ(exit.code, 0) << command;
    EXPECT_THAT(exit.out, HasSubstr(std::string("usage: weft ") + command));
    EXPECT_EQ(exit.err, "");
    EXPECT_THAT(weft({"--help"}).out, HasSubstr(command));
  }
  EXPECT_THAT(weft({"--version"}).out, StartsWith("weft 0."));
}

// From the files alone it comes to what the run said; a run over itself is 1; what is wrong is named.
TEST(Commands, EnergyOfARunThatIsDone) {
  const Folder folder;
  const std::vector<std::string> run{"run", "--workload", "vector_add", "--size", "small", "--out"};
  std::vector<std::string> counted = run;
  counted.insert(counted.end(), {folder.path("a"), "--set", "sm.observe.events=true"});
  ASSERT_EQ(weft(counted).code, 0);
  const Exit same = weft({"energy", "--runs", folder.path("a"), "--base", folder.path("a"), "--sensitivity"});
  EXPECT_EQ(same.code, 0) << same.err;
  std::ifstream summary(folder.path("a/summary.txt"));
  std::string energy;
  while (std::getline(summary, energy) && energy.rfind("  energy", 0) != 0) continue;
  EXPECT_THAT(same.out, AllOf(HasSubstr(energy), HasSubstr("EDP     1.0000"), HasSubstr("leakage")));
  std::vector<std::string> uncounted = run;
  uncounted.push_back(folder.path("b"));
  ASSERT_EQ(weft(uncounted).code, 0);
  const Exit none = weft({"energy", "--runs", folder.path("b")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("sm.observe.events=true"));
  EXPECT_THAT(weft({"energy", "--runs", folder.path("a"), "--technology", "none"}).err,
              HasSubstr("known: 40nm"));
}

TEST(Commands, ThatDoNotExistAreAnsweredWithThoseThatDo) {
  const Exit unknown = weft({"rum"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("rum"), HasSubstr("run"), HasSubstr("check-config")));
  EXPECT_EQ(weft({}).code, 2);
  EXPECT_EQ(weft({"run", "--wrokload", "bfs"}).code, 2);
  EXPECT_EQ(weft({"list", "planets"}).code, 2);
  EXPECT_EQ(weft({"run"}).code, 2);
}

TEST(List, NamesWhatThereIs) {
  const auto lines = [](const std::string& what) {
    Start terminal;
    terminal.terminal_columns = 100;
    const std::string clipped = weft({"list", what}, terminal).out;
    const Exit exit = weft({"list", what});
    EXPECT_EQ(exit.code, 0) << exit.err;
    EXPECT_EQ(exit.out.find("…"), std::string::npos) << "whole for programs";
    std::map<std::string, std::string> items;
    std::istringstream on_terminal(clipped);
    for (std::string line; std::getline(on_terminal, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const auto within = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
      EXPECT_LE(line.size() - static_cast<std::size_t>(std::count_if(line.begin(), line.end(), within)),
                100U);
    }
    std::istringstream in(exit.out);
    for (std::string line; std::getline(in, line);) {
      const std::size_t end = line.find(' ');
      EXPECT_TRUE(items.emplace(line.substr(0, end), line.substr(end)).second) << line << ": one line each";
    }
    return items;
  };
  const auto configs = lines("configs");
  EXPECT_THAT(configs.at("gtx480"), HasSubstr("15 SMs, 2 x 32 lanes, warps of 32, scheme sbr"));
  EXPECT_THAT(configs.at("soc/rv64"), HasSubstr("host CPU rv64, GPU gtx480"));
  EXPECT_THAT(lines("workloads").at("bfs"), HasSubstr("breadth-first search"));
  EXPECT_THAT(lines("schemes").at("sbr"), HasSubstr("stack-based reconvergence"));
  EXPECT_THAT(lines("statistics").at("sm*.warp_instructions"), HasSubstr("[instructions]"));
  EXPECT_THAT(lines("measures").at("idle_share"), HasSubstr("[ratio]  Share of the cycles"));
}

// Every counter of a formula is a statistic of some machine, or a number of the run.
TEST(List, MeasuresAreMadeOfStatistics) {
  using nlohmann::ordered_json;
  std::set<std::string> known{"cycles", "lanes", "beats_in_a_cycle", "thread_places"};
  const Folder folder;
  for (const char* const kind : {"off", "full"}) {
    ordered_json config = ordered_json::parse(weft({"check-config", "gtx480", "--effective"}).out);
    config["scalarization"]["kind"] = kind;
    for (const char* const key : {"lane_oracle", "stalled_threads"}) config["sm"]["observe"][key] = true;
    const std::string file = folder.path() + "/machine.json";
    std::ofstream(file) << config;
    std::istringstream list(weft({"list", "statistics", "--config", file}).out);
    for (std::string line; std::getline(list, line);) known.insert(line.substr(0, line.find(' ')));
  }
  const ordered_json measures = ordered_json::parse(weft({"list", "measures", "--json"}).out);
  EXPECT_GT(measures.size(), 10u);
  for (const ordered_json& row : measures) {
    std::string formula = row.at("formula").get<std::string>();
    std::replace_if(formula.begin(), formula.end(), [](char c) { return c == '(' || c == ')'; }, ' ');
    std::istringstream words(formula);
    for (std::string word; words >> word;) {
      if (word.find_first_not_of("0123456789.+-/x") == std::string::npos) continue;
      EXPECT_EQ(known.count(word), 1u) << row.at("name") << ": " << word;
    }
  }
  EXPECT_EQ(weft({"list", "schemes", "--json"}).code, 2);
}

TEST(List, SaysAllAboutOneItem) {
  const Folder folder;
  EXPECT_THAT(weft({"list", "workloads", "bfs"}).out,
              AllOf(HasSubstr("degree     half of the most edges of a vertex"), HasSubstr("stsimt"),
                    HasSubstr("size dwr sets sm.registers_per_thread=20")));
  EXPECT_THAT(
      weft({"list", "schemes", "dwr"}).out,
      AllOf(HasSubstr("warp_formation.dwr.lat_barrier = virtual\n"), HasSubstr("allowed: virtual, real")));
  // Compaction within a warp is no scheme of warp formation, but a reader looks for it here.
  EXPECT_THAT(weft({"list", "schemes"}).out, AllOf(HasSubstr("\n+datapath.compaction=bcc  with any scheme"),
                                                   HasSubstr("\n+datapath.compaction=scc  with any scheme")));
  EXPECT_THAT(
      weft({"list", "schemes", "scc"}).out,
      AllOf(StartsWith("scc: "), HasSubstr("weft compare --schemes sbr,sbr+datapath.compaction=scc\n"),
            HasSubstr("datapath.compaction = auto\n"), HasSubstr("datapath.swizzle_latency = 1\n")));
  const Exit config = weft({"list", "configs", "stsimt"});
  EXPECT_EQ(config.out, weft({"check-config", "stsimt", "--effective"}).out);
  EXPECT_THAT(weft({"list", "statistics", "sm*.memory.l1d"}).out,
              AllOf(StartsWith("sm*.memory.l1d"), HasSubstr("hits [accesses]\n    requests that found"),
                    Not(HasSubstr("sm*.warp"))));
  EXPECT_THAT(weft({"list", "measures", "stalled_b"}).out,
              AllOf(StartsWith("stalled_barrier [ratio]\n"), HasSubstr("    = sm*.stalled.barrier / (sm*."),
                    HasSubstr("    needs sm.observe.stalled_threads\n")));
  for (const char* what : {"configs", "workloads", "schemes", "statistics", "measures"}) {
    const Exit none = weft({"list", what, "nothing"});
    EXPECT_EQ(none.code, 2);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("nothing"));
  }
}

TEST(Area, SaysWhatTablesAndRegistersTake) {
  const Exit table = weft({"area", "--config", "harp-fermi", "--scheme", "harp"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("harp-fermi, scheme harp"), HasSubstr("chip of 529 mm2"),
                               HasSubstr("512 x 130"), HasSubstr("CAM"), HasSubstr("register_crossbar")));

  const auto json = [](std::vector<std::string> more) {
    std::vector<std::string> words{"area", "--json", "--config", "harp-fermi", "--scheme"};
    words.insert(words.end(), more.begin(), more.end());
    return nlohmann::json::parse(weft(words).out);
  };
  const auto harp = json({"harp"});
  std::uint64_t counted = 0;
  for (const auto& array : harp.at("arrays")) {
    if (array.at("statistic") == "storage_bits") counted += array.at("sm_bits").get<std::uint64_t>();
    const double sms = harp.at("sms").get<double>();
    EXPECT_NEAR(array.at("chip_share").get<double>(), array.at("sm_mm2").get<double>() * sms / 529, 1e-12);
    EXPECT_GT(array.at("sm_mm2").get<double>(), 0);
  }
  EXPECT_EQ(counted, 2u * 87040) << "HARP Table 7, two schedulers";

  // Data that a CAM selects: as large a CAM, as CACTI has it, or a RAM.
  const auto lookup = [](const nlohmann::json& area, const std::string& kind) {
    for (const auto& array : area.at("arrays")) {
      if (array.at("part") == "ready_lookup" && array.at("kind") == kind)
        return array.at("sm_mm2").get<double>();
    }
    return 0.0;
  };
  EXPECT_EQ(lookup(harp, "RAM"), lookup(harp, "CAM"));
  const auto as_ram = json({"harp", "--set", "process.cam_data=ram"});
  EXPECT_EQ(lookup(as_ram, "CAM"), lookup(harp, "CAM"));
  EXPECT_LT(lookup(as_ram, "RAM"), lookup(harp, "RAM") / 4);

  // A smaller node, a larger table, deeper stacks.
  const auto second_level = [](const nlohmann::json& area) {
    for (const auto& array : area.at("arrays")) {
      if (array.at("part") == "second_level") return array.at("sm_mm2").get<double>();
    }
    return 0.0;
  };
  EXPECT_NEAR(second_level(json({"harp", "--set", "process.node_nm=28"})) / second_level(harp),
              28.0 * 28 / (40 * 40), 1e-9);
  EXPECT_GT(second_level(json({"harp+harp.second_level=1024"})), second_level(harp));
  EXPECT_EQ(json({"sbr"}).at("arrays").at(0).at("entries").get<std::uint64_t>(), 16u * 24);
  EXPECT_EQ(json({"sbr", "--stack-entries", "5"}).at("arrays").at(0).at("entries").get<std::uint64_t>(),
            5u * 24);
}

TEST(Area, RefusesWhatMakesNoSense) {
  const auto refused = [](std::vector<std::string> words, const std::string& found,
                          const std::string& allowed) {
    words.insert(words.begin(), "area");
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2) << found;
    EXPECT_THAT(exit.err, AllOf(HasSubstr(found), HasSubstr(allowed)));
  };
  refused({"--scheme", "hrap"}, "--scheme: unknown scheme 'hrap'",
          "known: capri, convergence_barriers, crown, dual_path");
  refused({"--config", "gtx481"}, "unknown configuration \"gtx481\"", "gtx480");
  refused({"--set", "process.node_nm=10"}, "/process/node_nm: is 10",
          "allowed: a number from 22.0 to 90.0 (nm)");
  refused({"--set", "process.chip_mm2=-1"}, "/process/chip_mm2: is -1",
          "allowed: a number from 0.0 to 2000.0 (mm2)");
  refused({"--stack-entries", "0"}, "--stack-entries: found '0'",
          "allowed: a whole number from 1 to 65536 (entries)");
  refused({"more"}, "", "too many positional options");
}

// Every claim about area or access time has its array, and the page says how it compares.
TEST(Area, StandsBesideWhatThePapersPrint) {
  const Folder folder;
  const Exit exit = weft({"area", "--printed", folder.path()});
  EXPECT_EQ(exit.code, 0) << exit.err;
  std::set<std::string> judged;
  const nlohmann::ordered_json page = folder.json("area.json");
  for (const auto& claim : page.at("claims")) {
    EXPECT_GT(claim.at("ours").get<double>(), 0) << claim;
    EXPECT_TRUE(claim.at("verdict").is_string()) << claim;
    judged.insert(claim.at("id").get<std::string>());
  }
  for (const char* paper : {"crown", "dwr", "harp", "related", "stsimt"}) {
    std::ifstream file(std::string(WEFT_EXPERIMENT_FILES "/") + paper + "/claims.json");
    const nlohmann::json claims = nlohmann::json::parse(file);
    for (const auto& claim : claims) {
      const auto id = claim.at("id").get<std::string>();
      const bool of_area = id.find(".area") != std::string::npos || id.find(".access.") != std::string::npos;
      EXPECT_EQ(judged.count(id) != 0, of_area) << id;
    }
  }
  EXPECT_THAT(folder.text("area.md"), AllOf(HasSubstr("`harp.area.chip`"), HasSubstr("0.5185")));
  EXPECT_THAT(folder.text("verdicts.md"), HasSubstr("[area](area.md)"));
}

TEST(Area, SaysWhatIsWrongWithTheListOfPrintedAreas) {
  const Folder folder;
  const Folder experiments;
  for (const char* paper : {"crown", "dwr", "harp", "related", "stsimt", "today"})
    std::filesystem::create_directory(experiments.path(paper));
  for (const char* name : {"library.json", "harp/claims.json"})
    std::filesystem::copy_file(std::string(WEFT_EXPERIMENT_FILES "/") + name, experiments.path(name));
  setenv("WEFT_EXPERIMENTS", experiments.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread
  const auto said = [&](const std::string& claims) {
    static_cast<void>(experiments.write(
        "area.json",
        R"({"title": "t", "about": "a", "machines": {"harp": {"config": "harp-fermi", "scheme": "harp"}}, )"
        R"("groups": [], "claims": [)" +
            claims + "]}"));
    const Exit exit = weft({"area", "--printed", folder.path()});
    EXPECT_EQ(exit.code, 2) << claims;
    return exit.err;
  };
  const std::string rest = R"(, "machine": "harp", "value": "mm2", "per": "domain")";
  EXPECT_THAT(said(R"({"id": "harp.area.chip", "parts": ["third_level"])" + rest + "}"),
              AllOf(HasSubstr("/claims/0: unknown part \"third_level\""), HasSubstr("second_level RAM")));
  EXPECT_THAT(said(R"({"id": "harp.area.chop", "parts": ["second_level"])" + rest + "}"),
              AllOf(HasSubstr("/claims/0/id"), HasSubstr("harp.area.chop")));
  EXPECT_THAT(said(R"({"id": "harp.area.chip", "parts": ["second_level"], "machine": "ours"})"),
              HasSubstr("/claims/0"));
  unsetenv("WEFT_EXPERIMENTS");  // NOLINT(concurrency-mt-unsafe): one thread
}

TEST(Configs, AreCheckedAndDescribed) {
  for (const char* config : {"a100", "crown-tesla", "dwr-tesla", "gtx480", "gv100", "gv100-oracle", "h100",
                             "h200", "harp-fermi", "rtx3070", "rtx3070-oracle", "stsimt"}) {
    const Exit exit = weft({"check-config", config});
    EXPECT_EQ(exit.code, 0) << exit.err;
    EXPECT_THAT(exit.out, HasSubstr("valid"));
  }
  const Folder folder;
  const auto effective = folder.write("full.json", weft({"check-config", "gtx480", "--effective"}).out);
  EXPECT_EQ(weft({"check-config", effective}).code, 0) << "what Weft writes it reads";
  const auto schema = nlohmann::json::parse(weft({"schema"}).out);
  EXPECT_TRUE(schema.at("properties").contains("sm"));
}

TEST(Configs, OfSystemsAreCheckedAndDescribed) {
  for (const char* config :
       {"soc/aarch64", "soc/external", "soc/integrated", "soc/linux", "soc/qemu", "soc/rv64", "rv64"}) {
    const Exit exit = weft({"check-config", config});
    EXPECT_EQ(exit.code, 0) << exit.err;
    EXPECT_THAT(exit.out, HasSubstr("valid; system "));
  }
  EXPECT_THAT(weft({"check-config", "integrated"}).out, HasSubstr("valid; integrated, 2 SMs")) << "a GPU's";
  const Folder folder;
  const auto effective = folder.write("full.json", weft({"check-config", "soc/rv64", "--effective"}).out);
  EXPECT_THAT(weft({"check-config", effective}).out,
              HasSubstr("valid; system rv64, host CPU rv64, GPU gtx480"));
  const auto schema = nlohmann::json::parse(weft({"schema", "soc"}).out);
  EXPECT_TRUE(schema.at("properties").contains("peripherals"));
  EXPECT_FALSE(schema.at("properties").contains("sm"));
  EXPECT_EQ(nlohmann::json::parse(weft({"schema", "claims"}).out).at("type"), "array");
  EXPECT_THAT(weft({"schema", "--reference"}).out, HasSubstr("\n### measured value\n"));
  const Exit unknown = weft({"schema", "cpu"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("cpu"), HasSubstr("allowed: gpu"), HasSubstr("soc"),
                                 HasSubstr("sweep (FILE.json)")));
}

// Kernels that can run are shown beside those that cannot.
TEST(Commands, PtxFailsForAKernelThatCannotRun) {
  const Folder folder;
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry first() {\nret;\n}\n"
      ".visible .entry second() {\n.reg .b32 %r<2>;\nmov.u32 %r1, %pm3;\nret;\n}\n"
      ".visible .entry third() {\nret;\n}\n";
  const Exit exit = weft({"ptx", folder.write("cluster.ptx", text)});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.out, AllOf(HasSubstr("kernel first\n  1 instructions"), HasSubstr("cannot be executed: "),
                              HasSubstr("kernel third\n  1 instructions")));
  EXPECT_THAT(exit.err, AllOf(HasSubstr("weft: kernel second: "), HasSubstr("cluster.ptx:9:"),
                              HasSubstr("special register %pm3 is not executable yet")));
}

TEST(Ptx, IsDescribed) {
  const Folder folder;
  const Exit exit = weft({"ptx", folder.write("good.ptx", kGoodKernel)});
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out, HasSubstr("good"));
}

TEST(RawKernel, TakesArgumentsAndGivesBuffersBack) {
  const Folder folder;
  const auto ptx = folder.write("good.ptx", kGoodKernel);
  const Exit exit =
      weft({"run", "--ptx", ptx, "--kernel", "good", "--grid", "1", "--block", "64,1,1", "--arg",
            "ptr:260=iota", "u32:100", "--dump", "0=" + folder.path("out.bin"), "--out", folder.path()});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const std::string bytes = folder.text("out.bin");
  ASSERT_EQ(bytes.size(), 260u);
  for (std::uint32_t i = 0; i < 65; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, &bytes[std::size_t{4} * i], 4);
    EXPECT_EQ(word, i < 64 ? i + 100 : 64u);
  }
  EXPECT_TRUE(folder.json("stats.json").at("verified").is_null()) << "nothing to compare with";
  EXPECT_EQ(folder.json("stats.json").at("workload"), "good");
  EXPECT_EQ(folder.json("stats.json").at("thread_instructions"), 64 * 8);
}

TEST(RawKernel, DumpsToWhatANameLeadsTo) {
  const Folder folder;
  const auto ptx = folder.write("good.ptx", kGoodKernel);
  const auto dump = [&](const std::string& to) {
    return weft({"run", "--ptx", ptx, "--grid", "1", "--block", "32", "--arg", "ptr:128", "u32:65", "--dump",
                 "0=" + to});
  };
  // A link stays a link, a device a device.
  folder.write("behind", "old");
  std::filesystem::create_symlink("behind", folder.path("link"));
  EXPECT_EQ(dump(folder.path("link")).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.text("behind").size(), 128u);
  std::filesystem::create_symlink("/dev/full", folder.path("full"));
  const Exit full = dump(folder.path("full"));
  EXPECT_EQ(full.code, 2);
  EXPECT_THAT(full.err, AllOf(HasSubstr("--dump 0: "), HasSubstr("full: cannot be written: No space left")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("full")));
  const std::string mark = "; it is in ";
  const auto begin = full.err.find(mark);
  ASSERT_NE(begin, std::string::npos) << full.err;
  const std::string other =
      full.err.substr(begin + mark.size(), full.err.find(" instead") - begin - mark.size());
  EXPECT_EQ(std::filesystem::file_size(other), 128u);
  std::filesystem::remove(other);
  const Exit said = dump("/dev/stdout");
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, AllOf(StartsWith(std::string("A\0\0\0B\0\0\0", 8)), HasSubstr("core cycles")));

  // What shows beforehand does not cost a run.
  for (const auto& [bad, why] : {std::pair<std::string, std::string>{"", "Is a directory"},
                                 {"none/file", "No such file or directory"}}) {
    const Exit refused = dump(folder.path(bad));
    EXPECT_EQ(refused.code, 2);
    EXPECT_EQ(refused.out, "") << bad;
    EXPECT_THAT(refused.err, HasSubstr("cannot be written: " + why));
  }
}

// Devices that never end, folders, pipes: wherever a file is read.
TEST(Inputs, HaveALimit) {
  const Folder folder;
  const auto ptx = folder.write("good.ptx", kGoodKernel);
  const auto refused = [](const std::vector<std::string>& words, const std::string& why) {
    const Exit exit = weft(words, patient(60));
    EXPECT_EQ(exit.code, 2) << words[0];
    EXPECT_THAT(exit.err, HasSubstr(why));
  };
  refused({"ptx", "/dev/zero"}, "/dev/zero: has more than 268435456 bytes; allowed: up to 268435456");
  refused({"run", "--ptx", ptx, "--grid", "1", "--block", "32", "--arg", "ptr:128=file:/dev/zero", "u32:1"},
          "--arg 0: /dev/zero: has more than 128 bytes; allowed: up to 128");
  refused({"check-config", "/dev/zero"}, "/dev/zero: has more than 16777216 bytes");
  refused({"ptx", "/"}, "/: cannot be read: Is a directory");
  refused({"check-config", folder.path() + "/"}, "/: cannot be read: Is a directory");

  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  std::thread writer([&] {
    int pipe = -1;
    for (int i = 0; pipe < 0 && i < 1000; ++i) {  // until it is read, but not for ever
      usleep(10'000);
      pipe = open(folder.path("pipe").c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    }
    const auto bytes = static_cast<ssize_t>(kGoodKernel.size());
    EXPECT_EQ(write(pipe, kGoodKernel.data(), kGoodKernel.size()), bytes);
    close(pipe);
  });
  const Exit piped = weft({"ptx", folder.path("pipe")});
  writer.join();
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("good"));
}

TEST(RawKernel, ArgumentsAreChecked) {
  const Folder folder;
  const auto ptx = folder.write("good.ptx", kGoodKernel);
  const auto with = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"run", "--ptx", ptx, "--grid", "1", "--block", "32", "--arg"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return weft(words);
  };
  EXPECT_EQ(with({"ptr:128=random:5", "u32:0x10"}).code, 0);
  EXPECT_EQ(with({"ptr:128=random:5", "s32:-3"}).code, 0);
  EXPECT_EQ(with({"ptr:128=random:5", "f32:1.5"}).code, 0);
  EXPECT_EQ(with({"ptr:128", "hex:00ff00ff"}).code, 0);
  for (const char* bad : {"u32:-1", "u32:4294967296", "u32:", "u32:1x", "u32:0x", "u8:256", "s32:3000000000",
                          "f32:one", "u33:1", "5", "ptr:0", "ptr:abc", "ptr:8=ones",
                          "ptr:8=random:", "hex:123", "hex:", "ptr:99999999999999999999"}) {
    const Exit exit = with({"ptr:128", bad});
    EXPECT_EQ(exit.code, 2) << bad;
    EXPECT_THAT(exit.err, HasSubstr("--arg 1")) << bad;
  }
  EXPECT_THAT(with({"ptr:8=file:/nowhere", "u32:1"}).err, HasSubstr("/nowhere: cannot be read"));
}

TEST(Demo, VerifiesAndShowsWhereTheCyclesWent) {
  const Exit exit = weft({"demo"}, patient(500));
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(exit.out,
              AllOf(HasSubstr("16 SMs"), HasSubstr("verified"), HasSubstr("breakdown of scheduler cycles"),
                    HasSubstr("bound by"), HasSubstr("With harp instead of sbr"), HasSubstr("  harp: ")));
  std::istringstream lines(exit.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace
}  // namespace weft::end_to_end::commands_test
