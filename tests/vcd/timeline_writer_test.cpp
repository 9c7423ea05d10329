// The writer of timelines by itself: what protoc finds in its files.
#include "vcd/timeline_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "folder.h"
#include "platform/gpu_bench.h"
#include "vcd/timeline_reader.h"
#include "weft/common/error.h"

namespace weft::test::timeline_writer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using vcd::TimelineWriter;

TEST(TimelineWriter, WritesWhatIsAsked) {
  const Folder folder;
  {
    TimelineWriter writer(folder.path("t"), 1'000'000);
    const auto sm = writer.group("sm0");
    const auto slot = writer.track("slot \"3\"", sm);
    const auto unused = writer.track("unused", sm);
    const auto busy = writer.counter("busy", "lines", sm);
    const auto name = writer.name("add"), inner = writer.name("inner");
    const auto category = writer.category("issue");
    TimelineWriter::Details details;
    details.place = writer.place("a.cu", 12);
    details.arrow_from = 7;
    writer.begin(100, slot, name, category, details,
                 {{writer.key("pc"), 5}, {writer.key("grid"), 0, "2 x 1"}});
    writer.begin(110, slot, inner, category);
    writer.count(112, busy, 3);
    writer.end(115, slot);
    TimelineWriter::Details back;
    back.arrow_to = 7;
    writer.instant(120, slot, inner, category, back);
    writer.count(105, busy, 4);  // earlier than what is written
    writer.end(130, slot, {{writer.key("bytes"), 77}});
    writer.count(131, busy, 0);
    EXPECT_NE(unused, slot);
    writer.close(140);
  }
  const TimelineFile file(folder.path("t"));
  EXPECT_THAT(file.tracks, ElementsAre("sm0", "sm0/slot \"3\"", "sm0/busy")) << "and no track without events";
  ASSERT_EQ(file.slices.size(), 2U);
  const TimelineFile::Slice &outer = file.slices[0], &within = file.slices[1];
  EXPECT_EQ(outer.track, "sm0/slot \"3\"");
  EXPECT_EQ(outer.name, "add");
  EXPECT_EQ(outer.category, "issue");
  EXPECT_EQ(outer.begin, 100U);
  EXPECT_EQ(outer.end, 130U);
  EXPECT_EQ(outer.file, "a.cu");
  EXPECT_EQ(outer.line, 12U);
  EXPECT_THAT(outer.arguments, ElementsAre(Pair("bytes", "77"), Pair("grid", "2 x 1"), Pair("pc", "5")));
  EXPECT_EQ(within.depth, 1U);
  EXPECT_EQ(within.length(), 5U);
  ASSERT_EQ(file.instants.size(), 1U);
  EXPECT_EQ(file.instants[0].time, 120U);
  EXPECT_EQ(outer.arrow, "7");
  EXPECT_EQ(file.instants[0].arrow, "7");
  EXPECT_THAT(file.counters.at("sm0/busy"), ElementsAre(Pair(112, 3), Pair(105, 4), Pair(131, 0)));
}

TEST(TimelineWriter, EndsOpenSlices) {
  const Folder folder;
  {
    TimelineWriter writer(folder.path("t"), 1'000'000);
    const auto track = writer.track("a");
    writer.begin(5, track, writer.name("x"), writer.category("c"));
    writer.begin(6, track, writer.name("y"), writer.category("c"));
    writer.close(9);
    EXPECT_FALSE(writer.open());
    writer.begin(10, track, writer.name("z"), writer.category("c"));  // comes to nothing
  }
  const TimelineFile file(folder.path("t"));
  ASSERT_EQ(file.slices.size(), 2U);
  EXPECT_EQ(file.slices[0].end, 9U);
  EXPECT_EQ(file.slices[1].end, 9U);
}

// Whatever fills it: events, texts or tracks.
TEST(TimelineWriter, EndsCleanlyAtItsSize) {
  for (const char* what : {"slices", "texts", "tracks"}) {
    const Folder folder;
    constexpr std::uint64_t kMost = 20'000;
    TimelineWriter writer(folder.path("t"), kMost);
    std::vector<TimelineWriter::Track> tracks;
    tracks.reserve(100);
    for (int i = 0; i < 100; ++i) tracks.push_back(writer.track("track " + std::to_string(i)));
    std::uint64_t time = 1;
    for (; writer.open(); ++time) {
      ASSERT_LT(time, 100'000U);
      const bool texts = what == std::string("texts"), many = what == std::string("tracks");
      if (many) tracks.push_back(writer.track(std::string(time % 7 * 100, 'x') + std::to_string(time)));
      const auto name = writer.name(texts ? std::string(500, 'x') + std::to_string(time) : "x");
      const auto track = many ? tracks.back() : tracks[time % tracks.size()];
      if (!many && time > 200) writer.end(time, track);
      writer.begin(time, track, name, writer.category("c"), {},
                   {{writer.key("grid"), 0, std::string(50, 'y')}});
    }
    EXPECT_TRUE(writer.is_full()) << what;
    EXPECT_EQ(writer.error(), "");
    EXPECT_LE(std::filesystem::file_size(folder.path("t")), kMost) << what;
    EXPECT_GT(std::filesystem::file_size(folder.path("t")), kMost / 4) << what;
    const TimelineFile file(folder.path("t"));  // all slices end
    ASSERT_FALSE(file.instants.empty()) << what;
    EXPECT_EQ(file.instants.back().track, "end of the timeline");
    EXPECT_EQ(file.instants.back().name, "the timeline has reached its size");
    EXPECT_EQ(file.instants.back().time, writer.last_time());
  }
}

TEST(TimelineWriter, ThatIsNotFullSaysNothing) {
  const Folder folder;
  TimelineWriter writer(folder.path("t"), 20'000);
  writer.close(1);
  EXPECT_FALSE(writer.is_full());
  EXPECT_TRUE(TimelineFile(folder.path("t")).instants.empty());
}

TEST(TimelineWriter, IsCutBackToWholeEventsOnAFullDisk) {
  const std::string result = apart([]() -> std::string {
    const Folder folder;
    std::signal(SIGXFSZ, SIG_IGN);
    constexpr rlim_t kMost = 1'500'007;
    const rlimit limit{kMost, kMost};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return "no limit";
    TimelineWriter writer(folder.path("t"), 100'000'000);
    const auto counter = writer.counter("c", "lines");
    std::uint64_t time = 1;
    for (; writer.open() && time < 1'000'000; ++time) writer.count(time * 1000, counter, time * 12345);
    if (writer.error().find("File too large; what was written before is kept") == std::string::npos)
      return "said: " + writer.error();
    const std::string copy = folder.path("t");
    const auto bytes = std::filesystem::file_size(copy);
    if (bytes <= kMost - 100 || bytes > kMost) return "bytes: " + std::to_string(bytes);
    const TimelineFile file(copy);
    const auto& values = file.counters.at("c");
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] != std::make_pair((i + 1) * 1000, (i + 1) * 12345)) return "wrong value";
    }
    return "whole";
  });
  EXPECT_EQ(result, "whole");
}

TEST(TimelineWriter, SaysWhatCannotBeWritten) {
  const Folder folder;
  EXPECT_THROW(TimelineWriter(folder.path("none/t"), 1000), InputError);
  try {
    const TimelineWriter writer("/dev/full", 1'000'000);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/dev/full: cannot be written: No space left on device"));
  }
}

}  // namespace
}  // namespace weft::test::timeline_writer_test
