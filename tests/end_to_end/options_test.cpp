// Options that take numbers: the table in numeric_inputs.md against --help, and values outside each range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/kernels.h"
#include "end_to_end/process.h"

namespace weft::end_to_end::options_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

struct Row {
  std::string from, to, unit;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" `"), last = text.find_last_not_of(" `");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// "run --shared" -> its row.
std::map<std::string, Row> table() {
  std::map<std::string, Row> rows;
  std::ifstream file(WEFT_NUMERIC_INPUTS);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0 || line.find(" --") == std::string::npos) continue;
    Words cells;
    std::istringstream in(line.substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() == 5) rows[cells[0]] = {cells[1], cells[2], cells[3]};
  }
  return rows;
}

struct Shown {
  std::string placeholder, text;  // what --help says of an option; its lines joined
};

std::map<std::string, Shown> help_of(const std::string& command) {
  std::map<std::string, Shown> options;
  std::istringstream help(weft({command, "--help"}).out);
  static const std::regex begin(R"(^  --([a-z-]+)(?: (\S+))?(?:  .*|$| \(=.*))");
  Shown* last = nullptr;
  for (std::string line; std::getline(help, line);) {
    std::smatch found;
    if (std::regex_match(line, found, begin)) {
      last = &options[found[1]];
      last->placeholder = found[2];
    } else if (line.rfind("  ", 0) != 0) {
      last = nullptr;
    }
    std::istringstream words(line);
    for (std::string word; last != nullptr && words >> word;) last->text += word + " ";
  }
  return options;
}

const Words kCommands{"area",      "run",          "demo",   "bench",  "characterize", "compare",
                      "reproduce", "sweep",        "energy", "cuda",   "soc",          "list",
                      "ptx",       "check-config", "schema", "measure"};
// What stands for no number.
const std::set<std::string> kTexts{"",
                                   "NAME",
                                   "METRIC",
                                   "METRIC,...",
                                   "AXIS,...",
                                   "FILE",
                                   "FILE|NAME",
                                   "OPTIONS",
                                   "local|slurm",
                                   "DIR",
                                   "WORD",
                                   "PATH=VALUE",
                                   "NAME,...",
                                   "[=DIR(=own)]",
                                   "PROGRAM,...",
                                   "PATH,...",
                                   "PATTERN",
                                   "REGEX",
                                   "source|ptx|both",
                                   "configs|workloads|schemes|statistics|measures",
                                   "gpu|soc",
                                   "profiler",
                                   "memory|race|warp|scalar"};

TEST(NumericOptions, AllHaveARowThatSaysWhatHelpSays) {
  const auto rows = table();
  std::set<std::string> seen;
  for (const std::string& command : kCommands) {
    const auto options = help_of(command);
    EXPECT_FALSE(options.empty()) << command;
    for (const auto& [name, shown] : options) {
      if (kTexts.count(shown.placeholder) != 0) continue;
      const std::string key = (command == "demo" ? "run" : command) + " --" + name;
      const auto row = rows.find(key);
      if (row == rows.end()) {
        ADD_FAILURE() << "numeric_inputs.md has no row for " << key << " " << shown.placeholder;
        continue;
      }
      seen.insert(key);
      if (shown.placeholder == "N") {
        EXPECT_THAT(shown.text, HasSubstr("[" + row->second.from + " to " + row->second.to + " " +
                                          row->second.unit + "]"));
      } else if (shown.placeholder == "X") {
        EXPECT_THAT(shown.text, HasSubstr("[" + row->second.from + ", up to " + row->second.to + " " +
                                          row->second.unit + "]"));
      }
    }
  }
  for (const auto& [key, row] : rows) EXPECT_EQ(seen.count(key), 1u) << key << " is no option";
}

// Words in front of an option with which the command ends before it does anything, whatever the value.
const std::map<std::string, Words> kInFront{{"area", {"area", "--config", "nowhere"}},
                                            {"bench", {"bench", "--workload", "nowhere"}},
                                            {"sweep", {"sweep", "nowhere"}},
                                            {"run", {"run", "--workload", "nowhere"}},
                                            {"characterize", {"characterize", "nowhere"}},
                                            {"compare", {"compare", "--workloads", "nowhere"}},
                                            {"reproduce", {"reproduce", "nowhere"}},
                                            {"cuda", {"cuda"}},
                                            {"soc", {"soc"}}};

TEST(NumericOptions, AreRefusedOutsideTheirBoundsAndTakenAtThem) {
  const std::string most = "18446744073709551615";
  for (const auto& [command, front] : kInFront) {
    for (const auto& [name, shown] : help_of(command)) {
      if (shown.placeholder != "N" && shown.placeholder != "X") continue;
      const Row row = table().at(std::string(command).append(" --").append(name));
      const auto with = [&, words = front, option = "--" + name](const std::string& value) {
        Words all = words;
        all.insert(all.end(), {option, value});
        return weft(all);
      };
      Words bad{"-1", "99999999999999999999999", "nan", ""}, good;
      if (shown.placeholder == "N") {
        const std::string high = row.to == "2^64-1" ? most : row.to;
        good = {row.from, high};
        if (row.from != "0") bad.push_back(std::to_string(std::stoull(row.from) - 1));
        bad.push_back(high == most ? "18446744073709551616" : std::to_string(std::stoull(high) + 1));
      } else {
        good = {"1e-9", row.to};
        bad.insert(bad.end(), {"0", "1000000001"});
      }
      for (const std::string& value : bad) {
        const Exit exit = with(value);
        EXPECT_EQ(exit.code, 2) << command << " --" << name << " " << value;
        const std::string said = std::string("--").append(name).append(": found '").append(value);
        EXPECT_THAT(exit.err, HasSubstr(said + "'; allowed: a")) << command;
      }
      for (const std::string& value : good) {
        const Exit exit = with(value);
        EXPECT_EQ(exit.code, 2) << "for another reason";
        EXPECT_THAT(exit.err, Not(HasSubstr("--" + name + ": found"))) << command << " " << value;
      }
    }
  }
}

TEST(NumbersInTexts, AreCheckedTheSameWay) {
  const Words kernel{"run", "--ptx", "/nowhere.ptx", "--grid", "1", "--block", "1"};
  const auto refused = [](const Words& words, const std::string& option,
                          const std::vector<const char*>& values) {
    for (const char* value : values) {
      Words all = words;
      all.push_back(option + "=" + value);
      const Exit exit = weft(all);
      EXPECT_EQ(exit.code, 2) << option << "=" << value;
      EXPECT_THAT(exit.err, HasSubstr("allowed: ")) << option << "=" << value;
      EXPECT_THAT(exit.err, Not(HasSubstr("nowhere.ptx: cannot"))) << option << "=" << value;
    }
  };
  refused({"run", "--ptx", "/nowhere.ptx", "--block", "1"}, "--grid",
          {"0", "-1", "2147483648", "1,65536", "1,1,65536", "nan", "1,", "1,1,1,1", "99999999999999999999"});
  refused({"run", "--ptx", "/nowhere.ptx", "--grid", "1"}, "--block",
          {"0", "-1", "1025", "1,1025", "1,1,65", "nan", "1,,1", "99999999999999999999"});
  EXPECT_THAT(
      weft({"run", "--ptx", "/nowhere.ptx", "--grid", "2147483647,65535,65535", "--block", "1024,1024,64"})
          .err,
      HasSubstr("nowhere.ptx: cannot be read"));
  refused(kernel, "--arg", {"ptr:0", "ptr:17179869185", "ptr:-1", "u8:256", "s8:-129", "u32:nan", "f32:x"});
  Words with_buffer = kernel;
  with_buffer.insert(with_buffer.end(), {"--arg", "ptr:4"});
  refused(with_buffer, "--dump", {"1=f", "-1=f", "x=f", "99999999999999999999=f"});
  refused({"run", "--workload", "vector_add"}, "--size",
          {"n=0", "n=268435457", "n=-1", "n=nan", "n=99999999999999999999"});
  refused({"run", "--workload", "vector_add", "--size", "n=1"}, "--fast-forward",
          {"-1", "1x", "+1", ".5", "18446744073709551616"});
  // Counted from 1, the first up to the last.
  refused({"cuda"}, "--launches",
          {"0", "0-3", "3-0", "3-2", "-1", "1-", "-", "1-2-3", "x", "1,2", "1.5", "+1", " 1",
           "18446744073709551616", "1-18446744073709551616"});
  for (const char* value : {"1", "1-1", "2-18446744073709551615"})
    EXPECT_THAT(weft({"cuda", "--launches", value}).err, HasSubstr("needs a program")) << value;
  refused({"cuda"}, "--region", {"all", "Profiler", "profiler,profiler"});
  refused({"cuda"}, "--capability", {"0.9", "100.0", "-1.0", "7", "7.10", "nan"});
  EXPECT_THAT(weft({"cuda", "--capability", "seven.x", "--", "true"}).err, HasSubstr("--capability"));
}

TEST(Options, ThatChooseTransactionsAreChecked) {
  const Folder folder;
  const auto message = [&](Words more) {
    Words words{"run", "--workload", "vector_add", "--size", "n=1"};
    words.insert(words.end(), more.begin(), more.end());
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  const std::string file = folder.path("t.csv");
  EXPECT_THAT(message({"--transactions-sms", "0"}),
              HasSubstr("needs the file of the table: --transactions FILE"));
  for (const char* option : {"--transactions-sms", "--transactions-bytes"}) {
    for (const char* wrong : {"x", "1-", "-1", "1,", "3-2", "1-2-3"})
      EXPECT_THAT(message({"--transactions", file, option, wrong}),
                  HasSubstr(std::string(option) + ": found"));
  }
  EXPECT_THAT(message({"--transactions", file, "--transactions-sms", "0-99"}),
              HasSubstr("SM 99 in the selection of transactions; allowed: 0 to 14"));
  EXPECT_THAT(message({"--transactions", file, "--transactions-hops", "hop_sn*"}),
              HasSubstr("no hop of this GPU matches 'hop_sn*'"));
  EXPECT_THAT(message({"--transactions", folder.path("none/t.csv")}),
              HasSubstr("none/t.csv: cannot be written"));
  EXPECT_THAT(message({"--functional", "--transactions", file}),
              HasSubstr("--transactions: is not allowed with --functional"));
}

TEST(Options, ThatChooseATimelineAreChecked) {
  const Folder folder;
  const auto message = [&](Words more) {
    Words words{"run", "--workload", "vector_add", "--size", "n=1"};
    words.insert(words.end(), more.begin(), more.end());
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  const std::string file = folder.path("t");
  for (const char* option : {"--timeline-sms", "--timeline-start", "--timeline-stop",
                             "--timeline-first-launch", "--timeline-last-launch", "--timeline-interval"})
    EXPECT_THAT(message({option, "7"}), HasSubstr("needs the file of the timeline: --timeline FILE"))
        << option;
  EXPECT_THAT(message({"--timeline-bytes", "700000"}),
              HasSubstr("needs the file of the timeline: --timeline FILE"));
  for (const char* wrong : {"x", "1-", "-1", "1,", "3-2", "1-2-3"})
    EXPECT_THAT(message({"--timeline", file, "--timeline-sms", wrong}), HasSubstr("--timeline-sms: found"));
  EXPECT_THAT(message({"--timeline", file, "--timeline-sms", "0-99"}),
              HasSubstr("SM 99 in the selection of the timeline; allowed: 0 to 14"));
  EXPECT_THAT(message({"--timeline", file, "--timeline-start", "5", "--timeline-stop", "4"}),
              HasSubstr("--timeline-stop: found 4; allowed: 5 (--timeline-start) or more"));
  EXPECT_THAT(message({"--timeline", file, "--timeline-first-launch", "5", "--timeline-last-launch", "4"}),
              HasSubstr("--timeline-last-launch: found 4; allowed: 5 (--timeline-first-launch) or more"));
  EXPECT_THAT(message({"--timeline", folder.path("none/t")}), HasSubstr("none/t: cannot be written"));
  EXPECT_THAT(message({"--timeline", "/dev/full"}), HasSubstr("/dev/full: cannot be written: No space left"));
  EXPECT_THAT(message({"--functional", "--timeline", file}),
              HasSubstr("--timeline: is not allowed with --functional"));
}

TEST(Options, ThatAreEmptyOrStandTwiceAreRefused) {
  for (const char* option :
       {"--vcd", "--transactions", "--timeline", "--out", "--size", "--config", "--fast-forward"}) {
    const Exit exit = weft({"run", "--workload", "vector_add", option, ""});
    EXPECT_EQ(exit.code, 2) << option;
    EXPECT_THAT(exit.err, AnyOf(HasSubstr(std::string(option) + ": found ''"), HasSubstr(option))) << option;
  }
  const Exit twice = weft({"run", "--workload", "vector_add", "--size", "n=1,n=2"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("duplicate 'n' in 'n=1,n=2'"));
  const Exit shared = weft({"run", "--workload", "vector_add", "--size", "n=1", "--shared", "16"});
  EXPECT_EQ(shared.code, 2);
  EXPECT_THAT(shared.err, HasSubstr("not allowed with --workload"));
}

// The message names who gave the values: an option, the size, the file, nobody.
TEST(Options, ThatDoNotGoTogetherAreNamed) {
  const auto refused = [](Words words) {
    words.insert(words.begin(), {"run", "--workload", "vector_add"});
    const Exit exit = weft(words);
    EXPECT_EQ(exit.code, 2);
    return exit.err;
  };
  EXPECT_THAT(refused({"--set", "sm={}"}), HasSubstr("--set sm={}: sets no key"));
  EXPECT_THAT(refused({"--set", "sm.max_threads=16"}),
              AllOf(HasSubstr("weft: --set sm.max_threads=16: /warp_formation/warp_size: found 32; allowed: "
                              "at most sm.max_threads = 16"),
                    HasSubstr("/warp_formation/warp_size is from "), HasSubstr("gtx480.json")));
  EXPECT_THAT(refused({"--set", "sm.l1d.sets=65536", "sm.l1d.ways=1024"}),
              HasSubstr("--set sm.l1d.sets=65536, --set sm.l1d.ways=1024: /sm/l1d/sets: found 65536"));
  const Exit soc = weft({"soc", "--firmware", "/nowhere", "--gpu-set", "sm.simd_width=7"});
  EXPECT_THAT(soc.err, HasSubstr("--gpu-set sm.simd_width=7: /sm/simd_width: found 7"));
}

// Refused before inputs are made for it: once this took 90 seconds and 4 GB.
TEST(Workloads, ThatDoNotFitTheDeviceAreRefusedAtOnce) {
  Start start;
  start.timeout_s = 20;
  const Exit exit = weft({"run", "--workload", "vector_add", "--size", "n=268435456"}, start);
  EXPECT_EQ(exit.code, 2) << exit.err;
  EXPECT_THAT(exit.err,
              HasSubstr("size of vector_add: needs 3221225472 bytes of device memory; dram.bytes is "));
  const Folder folder;
  const Exit buffer = weft({"run", "--ptx", folder.write("good.ptx", kGoodKernel), "--grid", "1", "--block",
                            "32", "--arg", "ptr:17179869184=iota", "u32:1"},
                           start);
  EXPECT_EQ(buffer.code, 2);
  EXPECT_THAT(buffer.err, HasSubstr("device memory: asked for 17179869184 bytes"));
}

double cpu_seconds_of_children() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

// Its input and reference take several seconds, before anything is simulated.
TEST(Workloads, AreInterruptedWhileTheirInputIsMade) {
  Start start;
  start.interrupt_after_ms = 400;
  const Folder folder;
  const double before = cpu_seconds_of_children();
  const Exit exit =
      weft({"run", "--workload", "matrix_multiply", "--size", "n=2048", "--out", folder.path("out")}, start);
  EXPECT_EQ(exit.code, 3) << exit.err;
  EXPECT_THAT(exit.err, HasSubstr("interrupted"));
  EXPECT_EQ(folder.json("out/stats.json").at("interrupted"), true);
  EXPECT_EQ(folder.json("out/stats.json").at("thread_instructions"), 0);
  EXPECT_LT(cpu_seconds_of_children() - before, 1.0);
}

}  // namespace
}  // namespace weft::end_to_end::options_test
