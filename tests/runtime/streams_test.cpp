// Streams without a device: operations that the test itself declares done.
#include "weft/runtime/streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "weft/common/error.h"

namespace weft::runtime::streams_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

struct Bench {
  Streams streams{[this] { return now; }};
  std::uint64_t now = 0;
  std::vector<std::string> begun;
  std::map<std::string, Streams::Done> done;

  void add(StreamId stream, const std::string& name, std::uint32_t kind = 0) {
    streams.add(stream, {[this, name](const Streams::Done& d) {
                           begun.push_back(name);
                           done[name] = d;
                         },
                         kind});
  }
  void at_once(StreamId stream, const std::string& name) {
    streams.add(stream, {[this, name](const Streams::Done& d) {
                  begun.push_back(name);
                  d();
                }});
  }
};

TEST(Streams, BeginsAnOperationWhenTheOneBeforeIsDone) {
  Bench bench;
  const StreamId other = bench.streams.create();
  bench.add(0, "a");
  bench.add(0, "b");
  bench.at_once(0, "c");
  bench.add(other, "x");
  EXPECT_THAT(bench.begun, ElementsAre("a", "x"));
  bench.done["a"]();
  EXPECT_THAT(bench.begun, ElementsAre("a", "x", "b"));
  EXPECT_FALSE(bench.streams.idle(0));
  bench.done["b"]();
  EXPECT_THAT(bench.begun, ElementsAre("a", "x", "b", "c"));
  EXPECT_TRUE(bench.streams.idle(0));
  EXPECT_FALSE(bench.streams.idle());
  bench.done["x"]();
  EXPECT_TRUE(bench.streams.idle());
}

TEST(Streams, OperationsOfOneKindBeginTogether) {
  Bench bench;
  bench.add(0, "launch 1", 1);
  bench.add(0, "launch 2", 1);
  bench.add(0, "copy");
  bench.add(0, "launch 3", 1);
  EXPECT_THAT(bench.begun, ElementsAre("launch 1", "launch 2"));
  bench.done["launch 1"]();
  EXPECT_EQ(bench.begun.size(), 2u) << "the copy comes after both";
  bench.done["launch 2"]();
  EXPECT_EQ(bench.begun.back(), "copy");
  bench.done["copy"]();
  EXPECT_EQ(bench.begun.back(), "launch 3");
}

TEST(Streams, EventsOrderStreamsAndHaveATime) {
  Bench bench;
  const StreamId a = bench.streams.create(), b = bench.streams.create();
  const EventId event = bench.streams.create_event();
  EXPECT_FALSE(bench.streams.recorded(event));
  bench.streams.wait(b, event);  // never recorded: goes on
  bench.at_once(b, "first");
  bench.add(a, "work");
  bench.streams.record(a, event);
  bench.streams.wait(b, event);
  bench.at_once(b, "second");
  EXPECT_THAT(bench.begun, ElementsAre("first", "work"));
  EXPECT_TRUE(bench.streams.pending(event));
  // Recorded anew, it is another event for who waits from now on; b still waits for the first recording.
  bench.add(a, "more");
  bench.streams.record(a, event);
  bench.now = 500;
  bench.done["work"]();
  EXPECT_THAT(bench.begun, ElementsAre("first", "work", "more", "second"));
  EXPECT_TRUE(bench.streams.pending(event));
  bench.now = 800;
  bench.done["more"]();
  ASSERT_TRUE(bench.streams.recorded(event));
  EXPECT_EQ(bench.streams.time_of(event), 800u);
}

TEST(Streams, PollsWhatWasNotReady) {
  Bench bench;
  bool ready = false;
  int begun = 0;
  Streams::Operation operation;
  operation.begin = [&](const Streams::Done& done) {
    ++begun;
    done();
  };
  operation.ready = [&] { return ready; };
  bench.streams.add(0, operation);
  bench.streams.poll();
  EXPECT_EQ(begun, 0);
  ready = true;
  bench.streams.poll();
  EXPECT_EQ(begun, 1);
  EXPECT_TRUE(bench.streams.idle());
}

TEST(Streams, ADestroyedStreamDoesWhatIsInIt) {
  Bench bench;
  const StreamId stream = bench.streams.create();
  bench.add(stream, "a");
  bench.at_once(stream, "b");
  bench.streams.destroy(stream);
  EXPECT_THAT([&] { bench.at_once(stream, "c"); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("stream 1"))));
  bench.done["a"]();
  EXPECT_THAT(bench.begun, ElementsAre("a", "b"));
  EXPECT_TRUE(bench.streams.idle());
  EXPECT_NE(bench.streams.create(), stream);
  EXPECT_THROW(bench.streams.destroy(0), InputError);
  EXPECT_THROW(bench.streams.destroy_event(3), InputError);
}

TEST(Streams, AResetForgetsWhatHasBegun) {
  Bench bench;
  bench.add(0, "a");
  bench.at_once(0, "b");
  const Streams::Done stale = bench.done["a"];
  bench.streams.reset();
  EXPECT_TRUE(bench.streams.idle());
  bench.add(0, "c");
  stale();
  EXPECT_THAT(bench.begun, ElementsAre("a", "c"));
  EXPECT_FALSE(bench.streams.idle()) << "the old operation's end is not that of the new one";
}

TEST(Streams, TellsWhenAStreamOrAnEventIsDone) {
  Bench bench;
  int told = 0;
  bench.streams.on_progress([&] { ++told; });
  const EventId event = bench.streams.create_event();
  bench.add(0, "a");
  bench.streams.record(0, event);
  bench.add(0, "b");
  EXPECT_EQ(told, 0);
  bench.done["a"]();
  EXPECT_EQ(told, 1) << "the event";
  bench.done["b"]();
  EXPECT_EQ(told, 2) << "the stream";
}

}  // namespace
}  // namespace weft::runtime::streams_test
