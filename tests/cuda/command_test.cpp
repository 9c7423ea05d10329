// `weft cuda` as a user runs it: results, messages, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "end_to_end/process.h"
#include "platform/csv_table.h"

namespace weft::end_to_end {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

Exit cuda(const Words& options, const Words& program) {
  Words words{"cuda"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return weft(words);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What is reported of kernels is what their launches take, on every machine.
TEST(WeftCuda, OccupancyIsWhatLaunchesTake) {
  for (const char* config : {"gtx480", "harp-fermi", "dwr-tesla", "crown-tesla", "stsimt", "integrated"}) {
    const Exit run =
        cuda({"--quiet", "--config", config, "--set", "sm.count=1"}, {DRIVER_BASICS, "occupancy"});
    EXPECT_EQ(run.code, 0) << config << ": " << run.err;
  }
}

// Pointers and what the driver says of them, variables and kernels.
TEST(WeftCuda, DeviceMemoryIsWhereTheMapHasIt) {
  for (const std::string base : {"4294967296", "8589938688", "1099511627776"}) {
    for (const bool functional : {false, true}) {
      Words options{"--quiet",
                    "--set",
                    "sm.count=2",
                    "--set",
                    "addresses.device_base=" + base,
                    "--set",
                    "addresses.shared_base=4398046511104",
                    "--set",
                    "addresses.local_base=2199023255552"};
      if (functional) options.emplace_back("--functional");
      const Exit run = cuda(options, {DRIVER_BASICS, "pointers", base});
      EXPECT_EQ(run.code, 0) << base << ": " << run.err;
    }
  }
}

TEST(WeftCuda, StatisticsOfEachLaunchAndOfAll) {
  const Folder folder;
  const Exit run = cuda({"--set", "sm.count=2", "--out", folder.path("r")}, {RUNTIME_BASICS});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("hello from thread 3 of block 0\n"));
  EXPECT_THAT(run.out, HasSubstr("hello from thread 3 of block 1\n"));
  EXPECT_THAT(run.err, HasSubstr("Share"));
  EXPECT_EQ(folder.text("r/summary.txt"), run.err);

  const auto stats = folder.json("r/stats.json");
  const auto& scale = stats["by_name"]["void scale<float>(float*, float, int)"];
  EXPECT_EQ(scale["calls"], 3);  // one to test it, two between events
  EXPECT_GT(scale["max_ns"], scale["min_ns"]);
  EXPECT_EQ(stats["by_name"]["hello()"]["calls"], 1);
  // Of 1000 floats and 1000 ints (4 bytes each) and 1000 doubles (8 bytes); 4 weights, 32 floats, a limit.
  EXPECT_EQ(stats["by_name"]["[copy host to device]"]["bytes"], 16000 + 16 + 128 + 4);

  std::uint64_t cycles = 0, launches = 0;
  for (const auto& activity : stats["activities"]) {
    if (!activity.contains("grid")) continue;
    ++launches;
    cycles += activity["cycles"].get<std::uint64_t>();
    // 700 MHz, to an edge.
    EXPECT_NEAR(activity["duration_ns"].get<double>(), activity["cycles"].get<double>() / 0.7, 3);
  }
  EXPECT_EQ(launches,
            3 + 1 + 1 + 2 + 1 + 1);  // scale of three types, weigh, count, scale twice, hello, by_value
  ASSERT_EQ(stats["devices"].size(), 1u);
  EXPECT_EQ(stats["devices"][0]["cycles"], cycles);
  const test::CsvTable table(folder.text("r/launches.csv"));
  EXPECT_EQ(table.rows().size(), launches);
  EXPECT_EQ(table.sum("cycles"), static_cast<double>(cycles));
  EXPECT_FALSE(folder.has("r/samples.csv"));
  EXPECT_EQ(folder.json("r/config.json")["sm"]["count"], 2);
}

TEST(WeftCuda, ResultsMakeAReport) {
  const Folder folder;
  const Exit run = cuda({"--quiet", "--set", "sm.count=2", "sm.observe.instructions=true",
                         "sm.observe.events=true", "--out", folder.path("r")},
                        {RUNTIME_BASICS});
  ASSERT_EQ(run.code, 0) << run.err;
  const Exit report = weft({"report", folder.path("r"), "--json", "--out", folder.path("model.json")});
  ASSERT_EQ(report.code, 0) << report.err;
  const auto model = folder.json("model.json"), stats = folder.json("r/stats.json");
  const auto& shown = model.at("runs")[0];
  EXPECT_EQ(shown.at("numbers").at("cycles"), stats.at("devices")[0].at("cycles"));
  EXPECT_TRUE(shown.at("bound").is_object());
  EXPECT_GT(shown.at("energy").at("joules").get<double>(), 0);
  std::uint64_t issues = 0;
  for (const auto& kernel : shown.at("profile").at("kernels"))
    issues += kernel.at("sum").at("issues").get<std::uint64_t>();
  EXPECT_EQ(issues, stats.at("devices")[0].at("warp_instructions").get<std::uint64_t>());
  const Exit lines = weft({"annotate", folder.path("r"), "--view", "ptx", "--kernel", "hello"});
  EXPECT_EQ(lines.code, 0) << lines.err;
  EXPECT_EQ(count(lines.out, ": kernel "), 1u);
}

TEST(WeftCuda, TheSameProgramGivesTheSameBytes) {
  const Folder folder;
  for (const char* name : {"a", "b"})
    ASSERT_EQ(cuda({"--set", "sm.count=2", "--out", folder.path(name)}, {RUNTIME_BASICS}).code, 0);
  EXPECT_EQ(folder.text("a/stats.json"), folder.text("b/stats.json"));
}

TEST(WeftCuda, AResetBeginsNewStatistics) {
  const Folder folder;
  const Exit run = cuda({"--quiet", "--set", "sm.count=2", "--sample", "1000", "--out", folder.path("r")},
                        {RUNTIME_STREAMS});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto devices = folder.json("r/stats.json")["devices"];
  EXPECT_EQ(devices.size(), 2u);
  // The tables go on over it.
  double instructions = 0;
  for (const auto& device : devices) instructions += device["thread_instructions"].get<double>();
  const test::CsvTable launches(folder.text("r/launches.csv")), samples(folder.text("r/samples.csv"));
  EXPECT_EQ(launches.sum("thread_instructions"), instructions);
  EXPECT_EQ(samples.sum("thread_instructions"), instructions);
  EXPECT_EQ(launches.sum("sm_cycles"), samples.sum("cycles"));
  EXPECT_GT(launches.sum("overlapped"), 0);
  // The fault that the program expects is reported: kernel, thread, and what was wrong.
  EXPECT_THAT(run.err, HasSubstr("faulty"));
  EXPECT_THAT(run.err, HasSubstr("store of 4 bytes at 0x0"));
  EXPECT_THAT(run.err, HasSubstr("thread"));
  EXPECT_THAT(run.err, Not(HasSubstr("Share")));
}

// With copies that take no time kernels meet the same machine as under `weft run`.
TEST(WeftCuda, KernelsTakeTheCyclesOfWeftRun) {
  const Folder folder;
  const auto cycles_of_run = [&](const std::string& workload) {
    const Exit run = weft({"run", "--config", "gtx480", "--workload", workload, "--size", "small", "--out",
                           folder.path(workload)});
    EXPECT_EQ(run.code, 0) << run.err;
    return folder.json(workload + "/stats.json")["cycles"].get<std::uint64_t>();
  };
  const auto cycles_of_program = [&](const Words& options, const char* elements, const char* vertices) {
    Words words{"--quiet", "--out", folder.path("p")};
    words.insert(words.end(), options.begin(), options.end());
    const Exit run = cuda(words, {DRIVER_WORKLOADS, WORKLOAD_PTX, elements, vertices});
    EXPECT_EQ(run.code, 0) << run.err;
    return folder.json("p/stats.json")["devices"][0]["cycles"].get<std::uint64_t>();
  };
  const std::uint64_t add = cycles_of_run("vector_add"), search = cycles_of_run("bfs");
  EXPECT_EQ(cycles_of_program({"--instant-copies"}, "10000", "0"), add);
  EXPECT_EQ(cycles_of_program({"--instant-copies"}, "0", "2000"), search);
  // Timed copies leave small inputs in the L2.
  EXPECT_LT(cycles_of_program({}, "10000", "0"), add);
  EXPECT_LT(cycles_of_program({}, "0", "2000"), search);
}

// Results are written, and the program dies by the signal all the same.
TEST(WeftCuda, SignalsLeaveResults) {
  std::vector<int> signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGABRT};
#if !defined(__SANITIZE_ADDRESS__)  // which has handlers of its own
  signals.insert(signals.end(), {SIGSEGV, SIGBUS, SIGFPE, SIGILL});
#endif
  for (const int signal : signals) {
    const Folder folder;
    const Exit run = cuda({"--set", "sm.count=2", "--out", folder.path("r")},
                          {DRIVER_SIGNALS, std::to_string(signal), "idle"});
    EXPECT_EQ(run.code, 128 + signal) << run.err;
    ASSERT_TRUE(folder.has("r/stats.json")) << signal;
    const auto stats = folder.json("r/stats.json");
    EXPECT_EQ(stats["interrupted"], true);
    EXPECT_EQ(stats["fault"], 0);
    EXPECT_EQ(stats["by_name"]["nothing"]["calls"], 1);
    EXPECT_EQ(count(run.err, "Share"), 1u);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(WeftCuda, ACrashWithinACallLeavesResults) {
  const Folder folder;
  const Exit run = cuda({"--quiet", "--set", "sm.count=2", "--out", folder.path("r")},
                        {DRIVER_SIGNALS, std::to_string(SIGSEGV), "function"});
  EXPECT_EQ(run.code, 128 + SIGSEGV) << run.err;
  EXPECT_EQ(folder.json("r/stats.json")["by_name"]["nothing"]["calls"], 1);
}
#endif

TEST(WeftCuda, EachWayToExitLeavesResults) {
  for (const char* way : {"exit", "_exit", "_Exit", "quick_exit"}) {
    const Folder folder;
    const Exit run = cuda({"--set", "sm.count=2", "--out", folder.path("r")}, {DRIVER_SIGNALS, "17", way});
    EXPECT_EQ(run.code, 17) << way << run.err;
    ASSERT_TRUE(folder.has("r/stats.json")) << way;
    const auto stats = folder.json("r/stats.json");
    EXPECT_EQ(stats["interrupted"], false) << way;
    EXPECT_EQ(stats["by_name"]["nothing"]["calls"], 1);
    EXPECT_EQ(count(run.err, "Share"), 1u) << way;
  }
}

TEST(WeftCuda, ChecksMemory) {
  const Folder folder;
  const auto run = [&](const Words& options, const char* what) {
    Words words{"--quiet", "--set", "sm.count=2", "--out", folder.path("r")};
    words.insert(words.end(), options.begin(), options.end());
    return cuda(words, {DRIVER_SIGNALS, "0", what});
  };
  // One element beyond an allocation: in the page that kernels may access, as on a real GPU.
  const Exit unchecked = run({}, "beyond");
  EXPECT_EQ(unchecked.code, 0) << unchecked.err;
  EXPECT_FALSE(folder.json("r/stats.json").contains("checks"));
  const Exit beyond = run({"--check", "memory"}, "beyond");
  EXPECT_EQ(beyond.code, 3);
  EXPECT_THAT(beyond.err, HasSubstr("store: thread (0,0,0) of block (0,0,0)"));
  EXPECT_THAT(beyond.err, HasSubstr("0 bytes after the end of allocation"));
  const auto checks = folder.json("r/stats.json")["checks"];
  ASSERT_EQ(checks["reports"].size(), 1u);
  EXPECT_EQ(checks["reports"][0]["kind"], "out of bounds");
  EXPECT_EQ(checks["reports"][0]["kernel"], "store");

  EXPECT_EQ(run({"--check", "memory"}, "race").code, 0);
  const Exit race = run({"--check", "memory", "race"}, "race");
  EXPECT_EQ(race.code, 3);
  EXPECT_EQ(folder.json("r/stats.json")["checks"]["reports"][0]["kind"], "race");
  EXPECT_EQ(run({"--functional", "--check", "race"}, "race").code, 3);

  // Before the first allocation there is room that kernels may access, as on a real GPU.
  const Exit before = run({}, "before");
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(run({"--check", "memory"}, "before").code, 3);
}

// As long as work is done before the program goes on, simulated time does not depend on when it was begun.
TEST(WeftCuda, WorkGoesOnForAProgramThatPolls) {
  const Folder folder;
  for (const char* name : {"a", "b"})
    ASSERT_EQ(cuda({"--quiet", "--set", "sm.count=2", "--out", folder.path(name)}, {RUNTIME_STREAMS}).code,
              0);
  EXPECT_EQ(folder.json("a/stats.json")["stood_in"], 3);
  EXPECT_EQ(folder.text("a/stats.json"), folder.text("b/stats.json"));
}

TEST(WeftCuda, SignalsEndSimulations) {
  const Folder folder;
  const Exit run = cuda({"--quiet", "--set", "sm.count=2", "--out", folder.path("r")},
                        {DRIVER_SIGNALS, std::to_string(SIGINT), "simulating"});
  EXPECT_EQ(run.code, 128 + SIGINT) << run.err;
  EXPECT_EQ(run.err, "");
  const auto stats = folder.json("r/stats.json");
  EXPECT_EQ(stats["interrupted"], true);
  EXPECT_EQ(stats["by_name"]["nothing"]["calls"], 1);
  EXPECT_GT(stats["by_name"]["spin"]["cycles"], 1000);  // up to the signal
}

TEST(WeftCuda, TheProgramsOwnHandlersStay) {
  const Folder folder;
  const Exit run = cuda({"--quiet", "--set", "sm.count=2", "--out", folder.path("r")},
                        {DRIVER_SIGNALS, std::to_string(SIGINT), "handled"});
  EXPECT_EQ(run.code, 9) << run.err;  // by _exit
  EXPECT_EQ(folder.json("r/stats.json")["by_name"]["nothing"]["calls"], 1);
}

TEST(WeftCuda, SignalsOfChildrenAreTheirs) {
  for (const int signal : {SIGTERM, SIGABRT}) {
    const Folder folder;
    const Exit run = cuda({"--quiet", "--set", "sm.count=2", "--out", folder.path("r")},
                          {DRIVER_SIGNALS, std::to_string(signal), "child"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(folder.json("r/stats.json")["interrupted"], false);
  }
}

TEST(WeftCuda, FunctionalRunsTakeNoTime) {
  const Folder folder;
  const Exit run = cuda({"--functional", "--out", folder.path("r")}, {RUNTIME_IMAGES});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto stats = folder.json("r/stats.json");
  EXPECT_EQ(stats["mode"], "functional");
  for (const auto& activity : stats["activities"]) EXPECT_EQ(activity["duration_ns"], 0);
}

TEST(WeftCuda, WhatCannotRunNamesTheRemedy) {
  const Exit machine_code = cuda({"--quiet"}, {RUNTIME_MACHINE_CODE});
  EXPECT_EQ(machine_code.code, 0) << machine_code.err;  // it expects the errors
  EXPECT_THAT(machine_code.err, HasSubstr("machine code for sm_75 and no PTX"));
  EXPECT_THAT(machine_code.err, HasSubstr("code=compute_75"));
  EXPECT_THAT(machine_code.err, HasSubstr("-rdc=true"));
  EXPECT_EQ(count(machine_code.err, "cudaGraphCreate: is not provided: CUDA graphs"), 1u);
  EXPECT_EQ(count(machine_code.err, "cudart shared"), 1u);
  EXPECT_THAT(machine_code.err, HasSubstr("cudaGetExportTable: is not provided: libcublas.so.13 needs it"));
}

TEST(WeftCuda, MistakesOfTheUserAreExitCode2) {
  const auto said = [](const Exit& run, const char* text) {
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr(text));
  };
  said(weft({"cuda"}), "needs a program: weft cuda [OPTIONS] [--] PROGRAM");
  said(weft({"cuda", "--"}), "needs a program");
  said(cuda({}, {"/nonexistent/program"}), "/nonexistent/program: cannot be started");
  said(cuda({"--config", "nonesuch"}, {RUNTIME_BASICS}), "unknown configuration \"nonesuch\"");
  said(cuda({"--set", "sm.count=0"}, {RUNTIME_BASICS}), "sm/count");
  said(cuda({"--capability", "seven"}, {RUNTIME_BASICS}), "allowed: MAJOR.MINOR");
  said(cuda({"--check", "bounds"}, {RUNTIME_BASICS}), "--check: found 'bounds'; allowed: memory, race, warp");
  said(cuda({"--check", "race", "--check-reports", "0"}, {RUNTIME_BASICS}), "--check-reports: found '0'");
  said(cuda({"--host-wait", "-1"}, {RUNTIME_BASICS}), "--host-wait: found '-1'; allowed: a whole number");
}

TEST(WeftCuda, TheProgramsExitCodeIsTheCommands) {
  EXPECT_EQ(cuda({}, {"/bin/sh", "-c", "exit 7"}).code, 7);
  const Exit shell = cuda({}, {"/bin/sh", "-c", "echo $1; echo \"$WEFT_CUDA\"", "sh", "--config"});
  EXPECT_THAT(shell.out, HasSubstr("--config\n"));  // the program's own option
  EXPECT_THAT(shell.out, HasSubstr("\"config\":\"gtx480\""));
}

}  // namespace
}  // namespace weft::end_to_end
