#include "bus/clock_domain.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "weft/common/error.h"

namespace weft {
namespace {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

sc_time picoseconds(std::uint64_t ps) {
  return sc_time::from_value(ps);
}

// Logs each step and asks for the next one after `stride` edges.
struct Ticker : Clocked {
  Ticker(std::string n, Cycle s, std::vector<std::string>* l = nullptr)
      : name(std::move(n)), stride(s), log(l) {}
  Cycle step(Cycle now) override {
    edges.push_back(now);
    times.push_back(sc_time_stamp());
    if (log != nullptr) log->push_back(name + "@" + std::to_string(sc_time_stamp().value()));
    return stride == 0 ? kNever : now + stride;
  }
  std::string name;
  Cycle stride;
  std::vector<std::string>* log;
  std::vector<Cycle> edges;
  std::vector<sc_time> times;
};

// round(edge / f) in 128 bits: edge * 1e9 / kHz picoseconds, halves up.
std::uint64_t exact_edge(std::uint64_t edge, std::uint64_t kilohertz) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(edge) * 1'000'000'000u + kilohertz / 2) / kilohertz);
}

TEST(ClockDomain, EdgesNeverDrift) {
  for (double megahertz : {700.0, 924.0, 1150.0, 650.0, 1500.0, 1301.5}) {
    ClockDomain domain(sc_core::sc_gen_unique_name("domain"), megahertz);
    const auto kilohertz = static_cast<std::uint64_t>(megahertz * 1e3);
    for (Cycle edge : {Cycle{0}, Cycle{1}, Cycle{2}, Cycle{699'999}, Cycle{700'001}, Cycle{123'456'789},
                       Cycle{3'600} * 1'500'000'000 + 17}) {
      EXPECT_EQ(domain.time_of(edge).value(), exact_edge(edge, kilohertz))
          << megahertz << " MHz, edge " << edge;
      EXPECT_EQ(domain.first_edge_after(domain.time_of(edge)), edge + 1);
      EXPECT_EQ(domain.first_edge_after(domain.time_of(edge + 1) - picoseconds(1)), edge + 1);
    }
  }
}

TEST(ClockDomain, StepsLieOnTheEdges) {
  ClockDomain domain("domain", 700);
  Ticker ticker("t", 3);
  domain.add(ticker);
  sc_core::sc_start(1, sc_core::SC_MS);
  ASSERT_GT(ticker.edges.size(), 233'000u);
  EXPECT_EQ(ticker.edges.front(), 1u);
  for (std::size_t i = 0; i < ticker.edges.size(); ++i) {
    ASSERT_EQ(ticker.edges[i], 1 + 3 * i);
    ASSERT_EQ(ticker.times[i].value(), exact_edge(ticker.edges[i], 700'000));
  }
}

TEST(ClockDomain, OrderAtEqualTimesIsFixed) {
  std::vector<std::string> log;
  ClockDomain core("core", 500);
  ClockDomain interconnect("interconnect", 500);
  ClockDomain memory("memory", 1000);
  core.runs_after(interconnect);
  interconnect.runs_after(memory);
  Ticker a("core0", 1, &log);
  Ticker b("core1", 1, &log);
  Ticker c("net", 1, &log);
  Ticker d("mem", 1, &log);
  core.add(a);
  core.add(b);
  interconnect.add(c);
  memory.add(d);
  sc_core::sc_start(picoseconds(4500));
  EXPECT_EQ(log, (std::vector<std::string>{"mem@1000", "mem@2000", "net@2000", "core0@2000", "core1@2000",
                                           "mem@3000", "mem@4000", "net@4000", "core0@4000", "core1@4000"}));
}

// A wake at an edge means the next one, wherever it comes from.
struct Waker : Clocked {
  explicit Waker(ClockDomain& t) : target(t) {}
  Cycle step(Cycle now) override {
    if (now == 3) {
      target.wake(0);
      target.wake(1);
      seen = target.next_edge();
      current = target.current_edge();
    }
    return now < 5 ? now + 1 : kNever;
  }
  ClockDomain& target;
  Cycle seen = 0;
  Cycle current = 0;
};

TEST(ClockDomain, AWakeInsideAStepMeansTheNextEdge) {
  ClockDomain domain("domain", 1000);
  Ticker before("before", 0);
  domain.add(before);
  Ticker after("after", 0);
  Waker waker(domain);
  domain.add(after);
  domain.add(waker);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(before.edges, (std::vector<Cycle>{1, 4}));
  EXPECT_EQ(after.edges, (std::vector<Cycle>{1, 4}));
  EXPECT_EQ(waker.seen, 4u);
  EXPECT_EQ(waker.current, 3u);
}

TEST(ClockDomain, AWakeFromAnotherDomainMeansStrictlyAfter) {
  ClockDomain slow("slow", 500);  // edges at 2 ns, 4 ns, ...
  ClockDomain fast("fast", 1000);
  slow.runs_after(fast);
  Ticker sleeper("a", 0);
  Ticker sleeper2("b", 0);
  slow.add(sleeper);
  slow.add(sleeper2);
  Waker waker(slow);
  fast.add(waker);
  sc_core::sc_start(picoseconds(2999));
  EXPECT_EQ(sleeper.edges, (std::vector<Cycle>{1}));
  sc_core::sc_start(1, sc_core::SC_US);
  // Woken at 3 ns, the next edge of the slow domain is number 2 at 4 ns.
  EXPECT_EQ(sleeper.edges, (std::vector<Cycle>{1, 2}));
  EXPECT_EQ(waker.seen, 2u);
  EXPECT_EQ(waker.current, 1u);
}

TEST(ClockDomain, WakeAtTakesTheEarlierAskedEdge) {
  ClockDomain domain("domain", 1000);
  Ticker ticker("t", 100);
  const std::size_t index = domain.add(ticker);
  sc_core::sc_start(picoseconds(5500));
  domain.wake_at(index, 50);
  domain.wake_at(index, 70);
  domain.wake_at(index, 2);  // already past: the next edge
  sc_core::sc_start(picoseconds(200'000));
  EXPECT_EQ(ticker.edges, (std::vector<Cycle>{1, 6, 106}));
}

TEST(ClockDomain, ActivityChangesWithStepsWakesAndResets) {
  ClockDomain domain("domain", 1000);
  Ticker sleeper("s", 0);
  Ticker ticker("t", 1);
  const std::size_t index = domain.add(sleeper);
  domain.add(ticker);
  sc_core::sc_start(picoseconds(1500));
  const std::uint64_t stepped = domain.activity(index);
  EXPECT_GT(stepped, 0u);
  sc_core::sc_start(picoseconds(10'000));
  EXPECT_EQ(domain.activity(index), stepped) << "it sleeps";
  domain.wake_at(index, 100);
  const std::uint64_t woken = domain.activity(index);
  EXPECT_GT(woken, stepped) << "its queues may have grown, although its step comes later";
  domain.reset();
  EXPECT_GT(domain.activity(index), woken);
}

TEST(ClockDomain, WithoutSleepingEveryEdgeIsStepped) {
  ClockDomain domain("domain", 1000);
  Ticker ticker("t", 0);
  domain.add(ticker);
  domain.set_sleeping(false);
  sc_core::sc_start(picoseconds(100'500));
  EXPECT_EQ(ticker.edges.size(), 100u);
}

TEST(ClockDomain, ASleepingDomainLetsTheSimulationEnd) {
  ClockDomain domain("domain", 1000);
  Ticker ticker("t", 0);
  domain.add(ticker);
  sc_core::sc_start();
  EXPECT_EQ(ticker.edges, (std::vector<Cycle>{1}));
}

TEST(ClockDomain, ResetStepsEveryModuleAtTheNextEdge) {
  ClockDomain domain("domain", 1000);
  Ticker sleeper("s", 0);
  Ticker ticker("t", 1000);
  domain.add(sleeper);
  domain.add(ticker);
  sc_core::sc_start(picoseconds(10'200));
  domain.reset();
  sc_core::sc_start(picoseconds(20'000));
  EXPECT_EQ(sleeper.edges, (std::vector<Cycle>{1, 11}));
  EXPECT_EQ(ticker.edges, (std::vector<Cycle>{1, 11}));
}

TEST(ClockDomain, RefusesImpossibleFrequencies) {
  EXPECT_THROW(ClockDomain("zero", 0), InputError);
  EXPECT_THROW(ClockDomain("negative", -700), InputError);
  EXPECT_THROW(ClockDomain("huge", 1e6), InputError);
}

TEST(ClockDomain, RefusesACoarseTimeResolution) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_NS);
  EXPECT_THROW(ClockDomain("domain", 700), InputError);
}

TEST(ClockDomain, AFinerTimeResolutionChangesNothing) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  ClockDomain domain("domain", 700);
  Ticker ticker("t", 1);
  domain.add(ticker);
  sc_core::sc_start(picoseconds(10'000'999));  // in femtoseconds here
  EXPECT_EQ(ticker.edges, (std::vector<Cycle>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(ticker.times[0], sc_time(1429, sc_core::SC_PS));
}

}  // namespace
}  // namespace weft
