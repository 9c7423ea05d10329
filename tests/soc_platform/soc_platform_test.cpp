// The SoC as a user runs it: firmware searches a graph on the GPU, with copies and in shared memory; so does
// another process. What the search must find is found here by a search of its own, over the graph that both
// sides draw.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "end_to_end/process.h"
#include "platform/csv_table.h"
#include "vcd/timeline_reader.h"
#include "vcd/vcd_reader.h"

namespace weft::end_to_end {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;

// Levels (with that of vertex 0) and reached vertices of the graph of 2,000 vertices with 1 to 12 edges that
// the generator of Numerical Recipes draws from 12345.
struct Search {
  unsigned levels = 0, reached = 0;
};
Search expected() {
  constexpr unsigned kVertices = 2000, kMostEdges = 12;
  std::uint32_t state = 12345;
  const auto draw = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::vector<std::vector<unsigned>> edges(kVertices);
  for (auto& of_vertex : edges) {
    of_vertex.resize(draw() % kMostEdges + 1);
    for (unsigned& to : of_vertex) to = draw() % kVertices;
  }
  std::vector<bool> seen(kVertices);
  std::vector<unsigned> frontier{0};
  seen[0] = true;
  Search search;
  while (!frontier.empty()) {
    ++search.levels;
    search.reached += static_cast<unsigned>(frontier.size());
    std::vector<unsigned> next;
    for (const unsigned vertex : frontier) {
      for (const unsigned to : edges[vertex]) {
        if (!seen[to]) next.push_back(to);
        seen[to] = true;
      }
    }
    frontier = next;
  }
  return search;
}

// The line that a right search prints, up to the interrupts: one launch per level, and one copy back.
std::string right(const std::string& how, unsigned copies) {
  const Search search = expected();
  return how + ": " + std::to_string(search.levels) + " levels, " + std::to_string(search.reached) +
         " vertices reached, 0 wrong, " + std::to_string(search.levels + copies) + " interrupts";
}

std::string firmware(const char* folder, const std::string& name, const std::string& architecture) {
  return std::string(folder) + "/" + name + "-" + architecture + ".elf";
}

class Firmware : public testing::TestWithParam<const char*> {};

TEST_P(Firmware, SearchesAGraphOnTheGpuAndSleepsMeanwhile) {
  const Folder folder;
  const Exit exit =
      weft({"soc", "--config", GetParam(), "--firmware", firmware(WEFT_FIRMWARE, "bfs", GetParam()), "--out",
            folder.path("results"), "--log", folder.path("log"), "--monitors"});
  const std::string log = folder.text("log");
  EXPECT_EQ(exit.code, 0) << exit.err << log;
  EXPECT_THAT(log, HasSubstr(" ns] " + right("with copies", 1)));
  EXPECT_THAT(log, HasSubstr(" ns] " + right("shared memory", 0)));
  EXPECT_THAT(exit.out, HasSubstr("exit code 0"));

  const ordered_json stats = folder.json("results/stats.json");
  const unsigned levels = expected().levels;
  EXPECT_EQ(stats["exit_code"], 0);
  EXPECT_EQ(stats["statistics"]["gpu"]["launches"], 2 * levels);
  // It sleeps through every launch, through the copy, and is not woken for nothing.
  EXPECT_EQ(stats["soc"]["cpu"]["sleeps"], 2 * levels + 1);
  const double asleep = stats["soc"]["cpu"]["asleep_ns"];
  EXPECT_LT(asleep, stats["simulated_ns"].get<double>());
  // At 700 MHz the kernels take cycles / 0.7 ns, all of which the CPU sleeps.
  EXPECT_GT(asleep, stats["cycles"].get<double>() / 0.7);
  // Instructions at 1 ns, and sleep, cannot exceed the simulated time.
  EXPECT_LT(asleep + stats["host_instructions"].get<double>(), stats["simulated_ns"].get<double>());
}

// Without timing: the same answers, no cycles, and less simulated time.
TEST_P(Firmware, FindsTheSameWithoutTiming) {
  const Folder folder;
  ordered_json stats[2];
  for (const bool functional : {false, true}) {
    const std::string name = functional ? "functional" : "timed";
    std::vector<std::string> words{
        "soc",   "--config",       GetParam(), "--firmware", firmware(WEFT_FIRMWARE, "bfs", GetParam()),
        "--out", folder.path(name)};
    if (functional) words.emplace_back("--functional");
    const Exit exit = weft(words);
    ASSERT_EQ(exit.code, 0) << exit.err;
    EXPECT_THAT(exit.out, HasSubstr(right("with copies", 1)));
    EXPECT_THAT(exit.out, HasSubstr(right("shared memory", 0)));
    stats[functional ? 1 : 0] = folder.json(name + "/stats.json");
  }
  EXPECT_EQ(stats[1]["cycles"], 0);
  EXPECT_EQ(stats[1]["functional"]["launches"], 2 * expected().levels);
  // Threads race for a vertex, and the loser goes another way: no exact number.
  const double timed = stats[0]["thread_instructions"];
  EXPECT_NEAR(stats[1]["functional"]["thread_instructions"].get<double>(), timed, 0.01 * timed);
  EXPECT_LT(stats[1]["simulated_ns"].get<double>(), stats[0]["simulated_ns"].get<double>());
  EXPECT_FALSE(stats[0].contains("functional"));
}

TEST_P(Firmware, TheSameRunGivesTheSameResults) {
  const Folder folder;
  ordered_json stats[2];
  std::string logs[2];
  for (int run = 0; run < 2; ++run) {
    const std::string out = "run" + std::to_string(run);
    const Exit exit = weft({"soc", "--config", GetParam(), "--firmware",
                            firmware(WEFT_FIRMWARE, "bfs", GetParam()), "--out", folder.path(out)});
    ASSERT_EQ(exit.code, 0) << exit.err;
    stats[run] = folder.json(out + "/stats.json");
    logs[run] = exit.out.substr(0, exit.out.find("result"));
    for (const char* key : {"cpu_seconds", "peak_memory_bytes"}) stats[run].erase(key);
  }
  EXPECT_EQ(stats[0], stats[1]);
  EXPECT_EQ(logs[0], logs[1]);
}

// The host side of the waveform against what the search says of itself: its packets and its interrupts. A
// waveform changes nothing.
TEST_P(Firmware, ShowsItsPacketsInAWaveform) {
  const Folder folder;
  const std::vector<std::string> words{"soc", "--config", GetParam(), "--firmware",
                                       firmware(WEFT_FIRMWARE, "bfs", GetParam())};
  auto plain = words, traced = words;
  plain.insert(plain.end(), {"--out", folder.path("plain")});
  traced.insert(traced.end(), {"--out", folder.path("traced"), "--vcd", folder.path("soc.vcd"),
                               "--vcd-signals", "launch,kernel,host,sm0.active_lanes"});
  ASSERT_EQ(weft(plain).code, 0);
  const Exit exit = weft(traced);
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_EQ(folder.json("plain/stats.json")["statistics"], folder.json("traced/stats.json")["statistics"]);

  const ordered_json host = folder.json("traced/stats.json")["statistics"]["host"];
  const vcd::Vcd vcd = vcd::read_vcd(folder.text("soc.vcd"));
  std::map<std::string, std::uint64_t> to_one, most;
  for (const auto& [name, wave] : vcd.waves) {
    for (const vcd::Change& change : wave.changes) {
      if (change.value == "1") ++to_one[name];
      if (wave.type != "string" && change.value != "z")
        most[name] = std::max<std::uint64_t>(most[name], std::stoull(change.value, nullptr, 2));
    }
  }
  const std::uint64_t levels = expected().levels;
  EXPECT_EQ(to_one["gpu.host.irq"], 2 * levels + 1) << "interrupts";
  EXPECT_EQ(most["gpu.launch"], 2 * levels);
  const std::uint64_t packets = host["queue0"]["packets"];
  EXPECT_EQ(most["gpu.host.queue0.read_index"], packets);
  EXPECT_EQ(most["gpu.host.queue0.write_index"], packets);
  EXPECT_EQ(most["gpu.host.queue0.packet"], 2u) << "kernel dispatches, beside copies";
  EXPECT_GT(most["gpu.host.dma.slots"], 0u);
  EXPECT_GT(most["gpu.host.dma_socket.transactions"], 0u);
  EXPECT_EQ(most["gpu.host.requests"], 0u) << "b_transport acts at once";
  EXPECT_EQ(vcd.waves.count("gpu.sm0.scheduler0.pc"), 0u);

  auto refused = words;
  refused.insert(refused.end(), {"--vcd", folder.path("bad.vcd"), "--vcd-signals", "host.queue9"});
  const Exit bad = weft(refused);
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.err, HasSubstr("no signal is named 'host.queue9'; allowed in host: irq, "));
}

// Packets with their steps, copies with their bytes, and the launches that packets ask for.
TEST_P(Firmware, HasItsPacketsInATimeline) {
  const Folder folder;
  const Exit exit =
      weft({"soc", "--config", GetParam(), "--firmware", firmware(WEFT_FIRMWARE, "bfs", GetParam()), "--out",
            folder.path("out"), "--timeline", folder.path("t"), "--timeline-sms", "0"});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const ordered_json statistics = folder.json("out/stats.json")["statistics"], host = statistics["host"];
  const test::TimelineFile file(folder.path("t"));
  using Slice = test::TimelineFile::Slice;
  std::uint64_t packets = 0, copies = 0, bytes = 0, interrupts = 0;
  std::vector<const Slice*> kernels, launches, executions;
  std::map<std::string, std::uint64_t> packet_begins;  // by the arrow of its doorbell
  for (const Slice& slice : file.slices) {
    if (slice.track == "host side/queue 0 of packets" && slice.depth == 0) {
      EXPECT_EQ(slice.number("packet"), packets++);
      if (!slice.arrow_end.empty()) packet_begins[slice.arrow_end] = slice.begin;
    } else if (slice.track == "host side/queue 0: doorbell and interrupt") {
      ++interrupts;
      EXPECT_EQ(slice.name, "interrupt");
    } else if (slice.name == "execution") {
      executions.push_back(&slice);
    } else if (slice.track == "host side/queue 0 of packets" && slice.name == "kernel") {
      kernels.push_back(&slice);
    } else if (slice.track.rfind("host side/copies ", 0) == 0) {
      ++copies;
      bytes += slice.number("bytes");
    } else if (slice.category == "launch") {
      launches.push_back(&slice);
    }
  }
  EXPECT_EQ(packets, host["queue0"]["packets"].get<std::uint64_t>());
  EXPECT_EQ(copies, host["dma"]["copies"].get<std::uint64_t>());
  EXPECT_EQ(bytes, host["dma"]["bytes"].get<std::uint64_t>());
  ASSERT_EQ(kernels.size(), host["queue0"]["kernels"].get<std::uint64_t>());
  ASSERT_EQ(launches.size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_GE(launches[i]->begin, kernels[i]->begin);
    EXPECT_LE(launches[i]->end, kernels[i]->end);
  }
  ASSERT_EQ(executions.size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_GE(executions[i]->begin, launches[i]->begin);
    EXPECT_LE(executions[i]->end, launches[i]->end);
    EXPECT_EQ(executions[i]->depth, kernels[i]->depth + 1);
  }
  EXPECT_EQ(interrupts, 2 * expected().levels + 1);
  std::uint64_t doorbells = 0;
  for (const auto& instant : file.instants) {
    if (instant.name != "doorbell") continue;
    ++doorbells;
    const auto packet = packet_begins.find(instant.arrow_begin);
    if (packet != packet_begins.end()) {
      EXPECT_GE(packet->second, instant.time);
    }
  }
  EXPECT_EQ(doorbells, host["doorbells"].get<std::uint64_t>());
  EXPECT_GE(packet_begins.size(), 2 * expected().levels);
}

// Each stage grows by its accesses to the bus, and by nothing else: the packet is read, the signal is read
// and written, the packet is marked as done, the handler reads the status. The first instructions lie in the
// GPU.
TEST_P(Firmware, TellsWhereTheTimeOfLaunchesGoes) {
  const Folder folder;
  std::map<std::string, double> means[2];
  ordered_json statistics[2];
  for (const bool slow : {false, true}) {
    const std::string out = folder.path(slow ? "slow" : "fast");
    std::vector<std::string> words{"soc",
                                   "--config",
                                   GetParam(),
                                   "--firmware",
                                   firmware(WEFT_FIRMWARE, "bfs", GetParam()),
                                   "--out",
                                   out,
                                   "--set",
                                   slow ? "bus.latency_ns=110" : "bus.latency_ns=10"};
    words.emplace_back("--launch-times");
    const Exit exit = weft(words);
    ASSERT_EQ(exit.code, 0) << exit.err;
    std::istringstream lines(exit.out.substr(exit.out.find("launches from packets")));
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::string name;
      unsigned launches = 0;
      double mean = 0;
      cells >> name >> launches >> mean;
      EXPECT_EQ(launches, 2 * expected().levels) << line;
      means[slow ? 1 : 0][name] = mean;
    }
    const test::CsvTable table(folder.text((slow ? "slow" : "fast") + std::string("/launch_times.csv")));
    ASSERT_EQ(table.rows().size(), 2 * expected().levels);
    const double total = (table.sum("handled_ns") - table.sum("doorbell_ns")) / (2 * expected().levels);
    EXPECT_NEAR(means[slow ? 1 : 0]["total"], total, 0.06);
    if (!slow) statistics[0] = folder.json("fast/stats.json")["statistics"];
  }
  ASSERT_EQ(means[0].size(), 10U);
  const auto grown = [&](const char* stage) { return means[1][stage] - means[0][stage]; };
  // On edges of the interconnect's clock, 1.4 ns.
  EXPECT_NEAR(grown("fetch"), 100, 3);
  EXPECT_NEAR(grown("start"), 0, 3);
  EXPECT_NEAR(grown("signal"), 200, 3);
  EXPECT_NEAR(grown("retire"), 100, 3);
  EXPECT_NEAR(grown("handler"), 100, 3);

  const Exit plain = weft({"soc", "--config", GetParam(), "--firmware",
                           firmware(WEFT_FIRMWARE, "bfs", GetParam()), "--out", folder.path("plain")});
  ASSERT_EQ(plain.code, 0);
  EXPECT_EQ(folder.json("plain/stats.json")["statistics"], statistics[0]);
  EXPECT_FALSE(folder.has("plain/launch_times.csv"));
}

TEST_P(Firmware, ThatDoesNotEndIsStopped) {
  const Exit slow = weft({"soc", "--config", GetParam(), "--firmware",
                          firmware(WEFT_FIRMWARE, "spin", GetParam()), "--max-ms", "2"});
  EXPECT_EQ(slow.code, 3);
  EXPECT_THAT(slow.err, HasSubstr("did not end within --max-ms 2"));
  const Exit asleep = weft(
      {"soc", "--config", GetParam(), "--firmware", firmware(WEFT_TEST_FIRMWARE, "forever", GetParam())});
  EXPECT_EQ(asleep.code, 3);
  EXPECT_THAT(asleep.err, HasSubstr("waits for an interrupt, but no event is pending"));
  EXPECT_THAT(asleep.out, HasSubstr("good night"));
}

// A GPU whose device memory is the upper half of the system's: copies to it are copies within memory.
TEST(Integrated, SearchesAGraphInSystemMemory) {
  if (std::strstr(WEFT_ARCHITECTURES, "rv64") == nullptr) GTEST_SKIP() << "no host CPU of kind rv64";
  const Folder folder;
  const Exit exit =
      weft({"soc", "--config", "integrated", "--firmware", firmware(WEFT_FIRMWARE, "bfs", "rv64"), "--out",
            folder.path("results"), "--log", folder.path("log"), "--monitors"});
  const std::string log = folder.text("log");
  EXPECT_EQ(exit.code, 0) << exit.err << log;
  EXPECT_THAT(log, HasSubstr("GPU with 2 SMs, 256 MiB"));
  EXPECT_THAT(log, HasSubstr(right("with copies", 1)));
  EXPECT_THAT(log, HasSubstr(right("shared memory", 0)));
  const ordered_json stats = folder.json("results/stats.json");
  EXPECT_FALSE(stats["statistics"].contains("dram0"));
  const ordered_json& carved = stats["statistics"]["carve_out"];
  EXPECT_GT(carved["reads"], 0);
  EXPECT_EQ(carved["errors"], 0);
  // What the carve-out, the windows and the packets send is what the bus counts for the GPU.
  const ordered_json& windows = stats["statistics"]["system_port"];
  const ordered_json& packets = stats["statistics"]["host"]["system"];
  EXPECT_EQ(stats["soc"]["bus"]["initiator1"]["reads"],
            carved["reads"].get<int>() + windows["reads"].get<int>() + packets["reads"].get<int>());
  EXPECT_EQ(stats["soc"]["bus"]["initiator1"]["writes"],
            carved["writes"].get<int>() + windows["writes"].get<int>() + packets["writes"].get<int>());
}

std::vector<const char*> architectures() {
  std::vector<const char*> list;
  if (std::strstr(WEFT_ARCHITECTURES, "rv64") != nullptr) list.push_back("rv64");
  if (std::strstr(WEFT_ARCHITECTURES, "aarch64") != nullptr) list.push_back("aarch64");
  return list;
}
INSTANTIATE_TEST_SUITE_P(Architectures, Firmware, testing::ValuesIn(architectures()),
                         [](const auto& info) { return std::string(info.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Firmware);

// Runs a command, returns its output; `code` becomes its exit code.
std::string output_of(const std::string& command, int& code) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  code = WEXITSTATUS(pclose(pipe));
  return output;
}

TEST(ExternalProcess, SearchesAGraphOnTheGpu) {
  const Folder folder;
  const std::string socket = folder.path("socket");
  Exit exit;
  std::thread simulation([&] {
    exit = weft({"soc", "--config", "external", "--set", "cpu.external.socket=" + socket, "--out",
                 folder.path("results"), "--monitors"});
  });
  for (int i = 0; i < 1000 && access(socket.c_str(), F_OK) != 0; ++i) usleep(10'000);
  int code = -1;
  const std::string output = output_of(std::string(WEFT_CLIENT) + " " + socket + " " + WEFT_BFS_PTX, code);
  simulation.join();
  EXPECT_EQ(code, 0) << output;
  EXPECT_EQ(exit.code, 0) << exit.err;
  EXPECT_THAT(output, HasSubstr(right("with copies", 1)));
  EXPECT_THAT(output, HasSubstr(right("shared memory", 0)));
  EXPECT_EQ(folder.json("results/stats.json")["statistics"]["gpu"]["launches"], 2 * expected().levels);
  EXPECT_FALSE(folder.has("socket"));
}

TEST(ExternalProcess, NobodyComesAndTheUserGivesUp) {
  const Folder folder;
  Start start;
  start.interrupt_after_ms = 1000;
  const Exit exit =
      weft({"soc", "--config", "external", "--set", "cpu.external.socket=" + folder.path("socket")}, start);
  EXPECT_EQ(exit.code, 3);
  EXPECT_FALSE(folder.has("socket"));
}

// Only where qemu-system-x86_64 is installed; its times differ from run to run, what it finds does not.
TEST(Qemu, AGuestSearchesAGraphOnTheGpu) {
  if (std::system("qemu-system-x86_64 -version 2> /dev/null | grep -q 'version [1-7][.]'") != 0)
    GTEST_SKIP() << "no qemu-system-x86_64 whose x-pci-proxy-dev works without KVM";
  if (access(WEFT_QEMU_GUEST, F_OK) != 0) GTEST_SKIP() << "no guest for this machine";
  const Folder folder;
  const Exit exit =
      weft({"soc", "--config", "qemu", "--firmware", WEFT_QEMU_GUEST, "--out", folder.path("results")});
  EXPECT_EQ(exit.code, 0) << exit.err << exit.out;
  const Search search = expected();
  const std::string found = std::to_string(search.levels) + " levels, " + std::to_string(search.reached) +
                            " vertices reached, 0 wrong";
  EXPECT_THAT(exit.out, HasSubstr("with copies: " + found));
  EXPECT_THAT(exit.out, HasSubstr("shared memory: " + found));
  EXPECT_EQ(folder.json("results/stats.json")["statistics"]["gpu"]["launches"], 2 * search.levels);
}

// How a guest ends is what QEMU's exit code says. A script stands for QEMU: it ends as QEMU does.
TEST(Qemu, APowerOffIsNoFault) {
  const Folder folder;
  const std::string guest = folder.write("guest.elf", "an image");
  const auto end_of = [&](const std::string& script) {
    const std::string qemu = folder.write("qemu", "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions(qemu, std::filesystem::perms::owner_all);
    return weft({"soc", "--config", "qemu", "--firmware", guest, "--set", "cpu.qemu.program=" + qemu});
  };
  const Exit off = end_of("exit 0");
  EXPECT_EQ(off.code, 0) << off.err;
  EXPECT_THAT(off.out, HasSubstr("exit code 0"));
  const Exit refused = end_of("exit 1");  // as for a wrong option
  EXPECT_EQ(refused.code, 3) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("ended with code 1 before it asked for the GPU"));
  EXPECT_THAT(end_of("kill -9 $$").err, HasSubstr("was killed by signal 9\n"));
  EXPECT_THAT(end_of("kill -11 $$").err,
              HasSubstr("was killed by signal 11 before it asked for the GPU; known:"));

  const std::string qemu = folder.write("qemu", "#!/bin/sh\nexec sleep 60\n");  // boots for ever
  const Exit slow = weft({"soc", "--config", "qemu", "--firmware", guest, "--set",
                          "cpu.qemu.boot_seconds=0.5", "--set", "cpu.qemu.program=" + qemu});
  EXPECT_EQ(slow.code, 3) << slow.out;
  EXPECT_THAT(slow.err, HasSubstr("the guest did not ask for the GPU's registers within 0.5 s"));

  const Exit missing = weft({"soc", "--config", "qemu", "--firmware", guest, "--set",
                             "cpu.qemu.program=" + folder.path("no-qemu")});
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("no-qemu is not there; `./weft packages qemu` installs it"));
}

// What does not fit the disk comes out where it can be seen, and is no success.
TEST(SocCommand, LosesNoSerialOutput) {
  if (std::strstr(WEFT_ARCHITECTURES, "rv64") == nullptr) GTEST_SKIP() << "no host CPU of kind rv64";
  const Exit exit = weft({"soc", "--firmware", firmware(WEFT_FIRMWARE, "bfs", "rv64"), "--log", "/dev/full"});
  EXPECT_EQ(exit.code, 2);
  EXPECT_THAT(exit.err,
              HasSubstr("/dev/full: cannot be written: No space left on device; further output goes to "
                        "standard output"));
  EXPECT_THAT(exit.out, HasSubstr(right("with copies", 1)));
  EXPECT_THAT(exit.out, HasSubstr(right("shared memory", 0)));
}

TEST(SocCommand, BadUseIsExplained) {
  const Folder folder;
  const auto refused = [](const std::vector<std::string>& arguments, const std::string& why) {
    const Exit exit = weft(arguments);
    EXPECT_EQ(exit.code, 2) << exit.err;
    EXPECT_THAT(exit.err, HasSubstr(why));
  };
  refused({"soc"}, "needs --firmware");
  refused({"soc", "--config", "nonsense"}, "known: aarch64, external, integrated, linux, qemu, rv64");
  refused({"soc", "--config", "integrated", "--set", "ram.bytes=67108864", "--firmware", "x"},
          "integrated: /carve_out/base: found 0x90000000");
  refused({"soc", "--config", "integrated", "--gpu-set", "carve_out.base=2147483648", "--firmware", "x"},
          "without its first byte: 0x80000000 to 0x9fffffff");
  refused({"soc", "--set", "ram.dmi=false", "--firmware", "x"}, "/ram/dmi: found false");
  refused({"soc", "--set", "gpu=gtx9999", "--firmware", "x"}, "/gpu: unknown configuration \"gtx9999\"");
  refused({"soc", "--set", "gpu_settings=host.queues=2 host.queues=99", "--firmware", "x"},
          "rv64: /gpu_settings host.queues=99: /host/queues: is 99");
  refused({"soc", "--set", "cpu.kind=z80", "--firmware", "x"}, "allowed");
  refused({"soc", "--set", "ram.bytes=5000", "--firmware", "x"}, "multiple of 4096");
  refused({"soc", "--max-ms", "0", "--firmware", "x"}, "--max-ms");
  refused({"soc", "--firmware", "x", "--log", folder.path()}, "cannot be written: Is a directory");
  refused({"soc", "--config", "qemu", "--firmware", folder.path()}, "is a directory, a pipe or a device");
  const std::string image = folder.write("image", "a kernel");
  refused({"soc", "--config", "linux", "--firmware", image, "--initrd", folder.path("none")},
          "none: cannot be read: No such file or directory");
  refused({"soc", "--config", "linux", "--firmware", image, "--set", "cpu.qemu.pool_mib=420"},
          "/cpu/qemu/pool_mib: found 420; allowed: up to 416");
  refused({"soc", "--config", "linux", "--firmware", image, "--set", "gpu=integrated", "--gpu-set",
           "carve_out.base=65536", "--gpu-set", "dram.bytes=67108864"},
          "/carve_out/enabled: found true; allowed in a system with cpu.qemu.doorbells: false");
  if (std::strstr(WEFT_ARCHITECTURES, "rv64") != nullptr) {
    refused({"soc", "--firmware", folder.path()}, "cannot be read: Is a directory");
    refused({"soc", "--firmware", "/dev/zero"}, "/dev/zero: has more than 268435456 bytes");
  }
  refused({"soc", "--config", "external", "--set", "cpu.external.socket=" + folder.path("s"), "--firmware",
           folder.write("any.elf", "anything")},
          "an external CPU runs its own program");
}

}  // namespace
}  // namespace weft::end_to_end
