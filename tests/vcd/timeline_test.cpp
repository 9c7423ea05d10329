// Timelines of a GPU: their numbers are those of the statistics, and nothing changes for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "folder.h"
#include "platform/csv_table.h"
#include "platform/gpu_bench.h"
#include "vcd/timeline_reader.h"
#include "weft/platform/timeline_selection.h"

namespace weft::test::timeline_test {
namespace {

using runtime::Arguments;
using testing::HasSubstr;
using Slice = TimelineFile::Slice;

// Scattered loads and atomics, a branch that parts warps, a barrier that warps reach at different times.
const char* const kBody = R"(
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  shr.u32 %r6, %r5, 14;
  and.b32 %r6, %r6, 65532;
  cvt.u64.u32 %rd5, %r6;
  add.u64 %rd5, %rd3, %rd5;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra ELSE;
  ld.global.u32 %r7, [%rd5];
  add.u32 %r5, %r5, %r7;
ELSE:
  bar.sync 0;
  atom.global.add.u32 %r8, [%rd3], 1;
)";
constexpr std::uint32_t kTurns = 5;

class TimelineOf {
 public:
  explicit TimelineOf(const TimelineSelection& selection = {}, const std::string& machine = "gtx480",
                      std::vector<std::string> overrides = {"sm.count=2"})
      : bench_(overrides_of(machine, std::move(overrides)), config_of(machine)) {
    bench_.device.gpu().recordings().write_timeline(folder_.path("t"), selection);
    bench_.device.gpu().recordings().write_down_launches();
  }
  void run(unsigned launches = 1) {
    const auto out = bench_.zeros(4 * 1024), data = bench_.zeros(1 << 16);
    bench_.load(looped_kernel(kBody, "  mov.u32 %r5, %r2;\n"));
    for (unsigned i = 0; i < launches; ++i)
      bench_.run({6, 1, 1}, {96, 1, 1}, Arguments().add(out).add(kTurns).add(data));
  }
  TimelineFile read() {
    said_ = gpu().recordings().close_timeline();
    return TimelineFile(folder_.path("t"));
  }
  Gpu& gpu() { return bench_.device.gpu(); }
  GpuBench& bench() { return bench_; }
  const std::string& said() const { return said_; }

 private:
  Folder folder_;
  GpuBench bench_;
  std::string said_;
};

std::string sm_name(unsigned sm) {
  return "sm" + std::to_string(sm);
}

class TimelineOfMachine : public ::testing::TestWithParam<std::string> {};

// Every cycle of every scheduler, every issue with its threads, every access to L2 and memory.
TEST_P(TimelineOfMachine, HasTheNumbersOfTheStatistics) {
  TimelineOf timeline({}, GetParam());
  timeline.run(2);
  const TimelineFile file = timeline.read();
  const auto statistics = timeline.bench().statistics();
  for (unsigned i = 0; i < 2; ++i) {
    const auto& sm = statistics.at(sm_name(i));
    for (unsigned s = 0; sm.contains("scheduler" + std::to_string(s)); ++s) {
      auto cycles = sm.at("scheduler" + std::to_string(s)).at("cycles");
      cycles.erase("empty");  // no slice
      auto found = file.lengths(sm_name(i) + "/scheduler " + std::to_string(s));
      for (const auto& [bucket, count] : cycles.items())
        EXPECT_EQ(found[bucket], count.get<std::uint64_t>()) << bucket << " of scheduler " << s;
    }
    std::uint64_t issues = 0, threads = 0, executing = 0;
    for (const Slice& slice : file.slices) {
      if (!slice.is_in(sm_name(i) + "/warp slots/") || slice.category != "issue") continue;
      EXPECT_EQ(slice.length(), 1U);
      ++issues;
      threads += slice.number("threads");
      executing += slice.number("executing");
    }
    EXPECT_EQ(issues, sm.at("warp_instructions").get<std::uint64_t>());
    EXPECT_EQ(threads, sm.at("thread_instructions").get<std::uint64_t>());
    EXPECT_EQ(executing, sm.at("executed_thread_instructions").get<std::uint64_t>());
    const std::string unit = sm_name(i) + "/load-store unit/";
    const auto& l1d = sm.at("memory").at("l1d");
    EXPECT_EQ(file.last(unit + "l1d hits so far"), l1d.at("hits").get<std::uint64_t>());
    EXPECT_EQ(file.last(unit + "l1d misses so far"), l1d.at("misses").get<std::uint64_t>());
  }
  for (const auto& [name, part] : statistics.items()) {
    const auto sum = [&, &part = part](std::initializer_list<const char*> terms) {
      std::uint64_t all = 0;
      for (const char* term : terms) all += part.at(term).template get<std::uint64_t>();
      return all;
    };
    if (name.rfind("l2_", 0) == 0) {
      EXPECT_EQ(file.last(name + "/accesses so far"), sum({"reads", "writes", "atomics"}));
    } else if (name.rfind("dram", 0) == 0) {
      EXPECT_EQ(file.last(name + "/accesses so far"), sum({"reads", "writes"}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TimelineOfMachine, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

// The same by launch: rows of launches.csv are sums over SMs and schedulers.
TEST(Timeline, HasTheStallsOfEachLaunch) {
  TimelineOf timeline;
  timeline.run(3);
  const CsvTable launches(timeline.gpu().recordings().launches());
  const TimelineFile file = timeline.read();
  ASSERT_EQ(launches.rows().size(), 3U);
  std::vector<const Slice*> shown;
  for (const Slice& slice : file.slices) {
    if (slice.category == "launch") shown.push_back(&slice);
  }
  ASSERT_EQ(shown.size(), 3U);
  for (unsigned i = 0; i < 3; ++i) {
    const CsvTable::Row& row = launches.rows()[i];
    EXPECT_EQ(shown[i]->track, "launches/queue 0");
    EXPECT_EQ(shown[i]->name, row.at("kernel"));
    EXPECT_EQ(shown[i]->number("launch"), i + 1);
    EXPECT_EQ(shown[i]->arguments.at("grid"), "6 x 1 x 1");
    EXPECT_EQ(shown[i]->arguments.at("block"), "96 x 1 x 1");
    EXPECT_EQ(shown[i]->begin, std::stoull(row.at("first_cycle")));
    EXPECT_EQ(shown[i]->end, std::stoull(row.at("last_cycle")) + 1);
    for (const char* bucket : {"issued", "unit_busy", "memory_busy", "memory", "dependence", "control",
                               "fetch", "barrier", "reconvergence", "scheme"}) {
      std::uint64_t cycles = 0;
      for (const Slice& slice : file.slices) {
        const bool of_scheduler = slice.track.find("/scheduler ") != std::string::npos;
        if (of_scheduler && slice.name == bucket && slice.begin >= shown[i]->begin &&
            slice.end <= shown[i]->end)
          cycles += slice.length();
      }
      EXPECT_EQ(cycles, std::stod(row.at(std::string("cycles_") + bucket))) << bucket << " of launch " << i;
    }
  }
}

// A slot does one thing at a time.
TEST(Timeline, HasNoSlicesOfASlotAtOnce) {
  for (const char* machine : {"gtx480", "harp-fermi", "dwr-tesla"}) {
    const std::string result = apart([&]() -> std::string {
      TimelineOf timeline({}, machine);
      timeline.run();
      std::map<std::string, std::uint64_t> until;
      for (const Slice& slice : timeline.read().slices) {
        if (slice.track.find("/warp slots/") == std::string::npos) continue;
        if (slice.begin < until[slice.track]) return slice.track + " at " + std::to_string(slice.begin);
        until[slice.track] = slice.end;
      }
      return until.size() > 5 ? "fine" : "few slots";
    });
    EXPECT_EQ(result, "fine") << machine;
  }
}

// A lone warp: what it waits for is known to the cycle.
TEST(Timeline, ShowsWhatAWarpWaitsFor) {
  TimelineOf timeline({}, "gtx480", {"sm.count=1"});
  const auto out = timeline.bench().zeros(4 * 64);
  timeline.bench().load(kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  add.u32 %r3, %r3, 1;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra AT;
)" + repeated(10, "  add.u32 %r3, %r3, 1;\n") + R"(
  st.global.u32 [%rd1], %r3;
AT:
  bar.sync 0;
  ret;)"));
  timeline.bench().run({1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  const TimelineFile file = timeline.read();
  // Of both slots: the first issue of each name, and what comes after it.
  std::array<std::map<std::string, const Slice*>, 2> issues, after;
  for (std::size_t slot = 0; slot < issues.size(); ++slot) {
    const Slice* before = nullptr;
    for (const Slice& slice : file.slices) {
      if (slice.track != "sm0/warp slots/warp slot " + std::to_string(slot)) continue;
      if (before != nullptr) after[slot].emplace(before->name, &slice);
      before = &slice;
      if (slice.category == "issue") issues[slot].emplace(slice.name, &slice);
    }
  }
  const Slice& load = *issues[0].at("ld.global.u32");
  EXPECT_EQ(load.number("pc"), 1U);
  EXPECT_EQ(load.number("threads"), 32U);
  EXPECT_EQ(load.line, load.number("ptx_line")) << "where the PTX names no source";
  EXPECT_THAT(load.file, HasSubstr("ptx"));
  // From the issue of the load to that of the instruction that needs it.
  const Slice& wait = *after[0].at("ld.global.u32");
  EXPECT_EQ(wait.name, "memory");
  EXPECT_EQ(wait.begin, load.end);
  ASSERT_EQ(file.instants.size(), 2U);  // of two warps
  const auto back = std::find_if(file.instants.begin(), file.instants.end(),
                                 [&](const TimelineFile::Instant& one) { return one.arrow == load.arrow; });
  ASSERT_NE(back, file.instants.end());
  EXPECT_EQ(back->name, "data returned");
  EXPECT_EQ(back->track, load.track);
  EXPECT_EQ(back->time, wait.end);
  // The first warp waits for the second one, which comes later, until its barrier instruction is resolved.
  const auto barrier = std::find_if(file.slices.begin(), file.slices.end(), [](const Slice& slice) {
    return slice.name == "barrier" && slice.is_in("sm0/warp");
  });
  ASSERT_NE(barrier, file.slices.end());
  EXPECT_EQ(barrier->track, load.track);
  const Slice& resolved = *after[1].at("bar");
  EXPECT_EQ(resolved.name, "control");
  EXPECT_LT(barrier->begin, issues[1].at("bar")->begin);
  EXPECT_EQ(barrier->end, resolved.end);
}

// Every load from beyond the SM has one arrow, from its issue to a later return. Where each of them is of one
// line, as here, they are as many as the requests of the load-store unit.
TEST(Timeline, HasAnArrowForEachLoad) {
  TimelineOf timeline;
  const auto out = timeline.bench().zeros(4 * 1024);
  timeline.bench().load(kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r1, %r2, 128, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  ld.global.u32 %r3, [%rd1];
  ret;)"));
  timeline.bench().run({8, 1, 1}, {128, 1, 1}, Arguments().add(out));
  const TimelineFile file = timeline.read();
  std::map<std::string, const Slice*> from;
  for (const Slice& slice : file.slices) {
    if (slice.arrow.empty()) continue;
    EXPECT_EQ(slice.name, "ld.global.u32");
    EXPECT_TRUE(from.emplace(slice.arrow, &slice).second);
  }
  EXPECT_EQ(from.size(), 2U * 8 * 4);
  EXPECT_EQ(from.size(), timeline.bench().sum_over_sms({"memory", "read_requests"}));
  EXPECT_EQ(file.instants.size(), from.size());
  for (const TimelineFile::Instant& back : file.instants) {
    const Slice& load = *from.at(back.arrow);
    EXPECT_EQ(back.track, load.track);
    EXPECT_GT(back.time, load.begin);
    from.erase(back.arrow);
  }
  EXPECT_TRUE(from.empty());
}

// What runs on lanes that have warps of their own, instruction by instruction. A lane with a register per
// unit shows what its arithmetic register had.
TEST(Timeline, HasTheIssuesOfLanes) {
  const auto lanes = [](const char* kind, const std::string& instruction_register) {
    return apart([&]() -> std::string {
      TimelineOf timeline({}, "stsimt",
                          {"sm.count=1", "datapath.kind=temporal", "sm.observe.lanes=true",
                           "datapath.instruction_register=" + instruction_register,
                           std::string("scalarization.kind=") + kind});
      timeline.run();
      const TimelineFile file = timeline.read();
      const auto sm = timeline.bench().statistics().at("sm0");
      std::map<std::string, std::uint64_t> slices, until;
      for (const Slice& slice : file.slices) {
        if (!slice.is_in("sm0/lanes/")) continue;
        if (slice.begin < until[slice.track]) return "two at once on " + slice.track;
        until[slice.track] = slice.end;
        ++slices[slice.track];
      }
      for (unsigned l = 0; sm.contains("lane" + std::to_string(l)); ++l) {
        const auto issues = sm.at("lane" + std::to_string(l)).at("issues").get<std::uint64_t>();
        const std::uint64_t shown = slices["sm0/lanes/lane " + std::to_string(l)];
        if (instruction_register == "lane" ? shown != issues : shown == 0 || shown >= issues)
          return "lane " + std::to_string(l) + ": " + std::to_string(issues) + " issues";
      }
      return std::to_string(slices.size()) + " lanes";
    });
  };
  for (const char* kind : {"off", "full"}) {
    for (const char* instruction_register : {"lane", "unit"})
      EXPECT_EQ(lanes(kind, instruction_register), "8 lanes") << kind << " " << instruction_register;
  }
}

// What is within the window is what the whole timeline has there.
TEST(Timeline, OfAWindowOfCyclesAndOneSm) {
  static constexpr std::uint64_t kFirst = 800, kLast = 1299;
  const auto text = [](const TimelineFile& file) {
    std::vector<std::string> lines;
    std::map<std::string, std::uint64_t> known;  // slots: from their first issue on
    for (const Slice& slice : file.slices) {
      if (slice.category == "issue" && slice.begin >= kFirst) known.emplace(slice.track, slice.begin);
    }
    for (const Slice& slice : file.slices) {
      const bool of_slot = slice.track.find("/warp slots/") != std::string::npos;
      if (of_slot && (known.count(slice.track) == 0 || slice.begin < known[slice.track])) continue;
      const std::uint64_t begin = std::max(slice.begin, kFirst + 0), end = std::min(slice.end, kLast + 1);
      if (begin >= end || !slice.is_in("sm1/")) continue;
      lines.push_back(slice.track + " " + std::to_string(begin) + " " + std::to_string(end) + " " +
                      slice.name);
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
  };
  TimelineSelection window;
  window.sms = {{1, 1}};
  window.first_cycle = kFirst;
  window.last_cycle = kLast;
  const auto with = [&](const TimelineSelection& selection) {
    return apart([&] {
      TimelineOf timeline(selection);
      timeline.run();
      const TimelineFile file = timeline.read();
      std::string outside;
      for (const Slice& slice : file.slices) {
        if (selection.sms.empty()) continue;
        if (slice.is_in("sm0/") || slice.begin < kFirst || slice.end > kLast + 1)
          outside += slice.track + " at " + std::to_string(slice.begin) + "\n";
      }
      return outside + text(file);
    });
  };
  const std::string chosen = with(window);
  EXPECT_GT(std::count(chosen.begin(), chosen.end(), '\n'), 100);
  EXPECT_EQ(chosen, with({}));
}

TEST(Timeline, OfSomeLaunches) {
  TimelineSelection second;
  second.first_launch = second.last_launch = 2;
  TimelineOf timeline(second);
  timeline.run(3);
  const CsvTable launches(timeline.gpu().recordings().launches());
  const TimelineFile file = timeline.read();
  const std::uint64_t first = std::stoull(launches.rows()[1].at("first_cycle")),
                      next = std::stoull(launches.rows()[2].at("first_cycle"));
  std::uint64_t issues = 0;
  for (const Slice& slice : file.slices) {
    EXPECT_GE(slice.begin, first);
    EXPECT_LE(slice.end, next);
    issues += slice.track.find("/warp slots/") != std::string::npos && slice.category == "issue" ? 1 : 0;
  }
  EXPECT_EQ(issues, timeline.bench().sum_over_sms("warp_instructions") / 3);
}

// Cycles, statistics and memory are those of a run without it, with sleeping modules and without.
TEST(Timeline, ChangesNothing) {
  const auto statistics = [](bool watched, bool sleeping) {
    return apart([&] {
      runtime::DeviceOptions options;
      options.sleeping = sleeping;
      GpuBench bench({"sm.count=2"}, "harp-fermi", options);
      const Folder folder;
      if (watched) bench.device.gpu().recordings().write_timeline(folder.path("t"));
      const auto out = bench.zeros(4 * 1024), data = bench.zeros(1 << 16);
      bench.load(looped_kernel(kBody, "  mov.u32 %r5, %r2;\n"));
      const std::uint64_t cycles =
          bench.run({6, 1, 1}, {96, 1, 1}, Arguments().add(out).add(kTurns).add(data));
      bench.device.gpu().recordings().close_timeline();
      return std::to_string(cycles) + bench.statistics().dump() +
             ::testing::PrintToString(bench.read(out, 1024));
    });
  };
  const std::string without = statistics(false, true);
  EXPECT_EQ(statistics(true, true), without);
  EXPECT_EQ(statistics(true, false), without);
}

// What sleeps shows as what it last was: the file is the same.
TEST(Timeline, DoesNotDependOnSleep) {
  const auto file = [](bool sleeping) {
    return apart([&] {
      runtime::DeviceOptions options;
      options.sleeping = sleeping;
      GpuBench bench({"sm.count=2"}, "gtx480", options);
      const Folder folder;
      bench.device.gpu().recordings().write_timeline(folder.path("t"));
      const auto out = bench.zeros(4 * 1024), data = bench.zeros(1 << 16);
      bench.load(looped_kernel(kBody, "  mov.u32 %r5, %r2;\n"));
      bench.run({6, 1, 1}, {96, 1, 1}, Arguments().add(out).add(kTurns).add(data));
      bench.device.gpu().recordings().close_timeline();
      std::string text;
      for (const Slice& slice : TimelineFile(folder.path("t")).slices)
        text += slice.track + " " + slice.name + " " + std::to_string(slice.begin) + " " +
                std::to_string(slice.end) + "\n";
      return text;
    });
  };
  EXPECT_EQ(file(true), file(false));
}

TEST(Timeline, EndsAtItsSizeWhileTheRunGoesOn) {
  TimelineSelection small;
  small.most_bytes = 100'000;
  TimelineOf timeline(small);
  timeline.run(2);
  const TimelineFile file = timeline.read();
  EXPECT_THAT(timeline.said(), HasSubstr("because it has reached its limit of 100000 bytes"));
  ASSERT_FALSE(file.instants.empty());
  EXPECT_EQ(file.instants.back().track, "end of the timeline");
  EXPECT_THAT(timeline.said(),
              HasSubstr("ends at core cycle " + std::to_string(file.instants.back().time) + ","));
  EXPECT_EQ(timeline.bench().statistics().at("gpu").at("launches"), 2);
}

// A reset ends what is open; the timeline goes on.
TEST(Timeline, GoesOnAfterAReset) {
  TimelineOf timeline;
  timeline.run();
  timeline.bench().reset();
  timeline.run();
  const TimelineFile file = timeline.read();
  EXPECT_EQ(std::count_if(file.slices.begin(), file.slices.end(),
                          [](const Slice& slice) { return slice.category == "launch"; }),
            2);
  const auto issues = std::count_if(file.slices.begin(), file.slices.end(), [](const Slice& slice) {
    return slice.category == "issue" && slice.track.find("/warp slots/") != std::string::npos;
  });
  EXPECT_EQ(issues, 2 * timeline.bench().sum_over_sms("warp_instructions")) << "the statistics begin anew";
}

TEST(Timeline, SaysWhatCannotBe) {
  GpuBench bench({"sm.count=2"});
  const Folder folder;
  const auto message = [&](const TimelineSelection& selection, const std::string& file) -> std::string {
    try {
      bench.device.gpu().recordings().write_timeline(file, selection);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  TimelineSelection sms, cycles, launches;
  sms.sms = {{0, 2}};
  cycles.first_cycle = 5;
  cycles.last_cycle = 4;
  launches.first_launch = 2;
  launches.last_launch = 1;
  EXPECT_THAT(message(sms, folder.path("t")),
              HasSubstr("SM 2 in the selection of the timeline; allowed: 0 to 1"));
  EXPECT_THAT(message(cycles, folder.path("t")),
              HasSubstr("core cycles 5 to 4; allowed: an end at or after"));
  EXPECT_THAT(message(launches, folder.path("t")), HasSubstr("launches 2 to 1; allowed: an end at or after"));
  EXPECT_THAT(message({}, folder.path("none/t")), HasSubstr("none/t: cannot be written"));
  EXPECT_THAT(message({}, "/dev/full"), HasSubstr("No space left on device"));
  EXPECT_EQ(message({}, folder.path("t")), "");
  EXPECT_THAT(message({}, folder.path("u")), HasSubstr("duplicate request for a timeline"));
}

}  // namespace
}  // namespace weft::test::timeline_test
