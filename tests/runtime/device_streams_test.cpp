// Streams of a device: order, overlap and times in simulated time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <systemc>

#include "default_addresses.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::runtime::device_streams_test {
namespace {

// k(data, turns): each thread of a block turns its word over and over, then writes it back plus 1.
const std::string kKernel = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 turns) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r3, [%rd1];
  mov.u32 %r4, 0;
TURN:
  add.u32 %r3, %r3, 3;
  sub.u32 %r3, %r3, 3;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r1;
  @%p1 bra TURN;
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1], %r3;
  ret;
})";

constexpr std::uint32_t kThreads = 64;
constexpr std::uint64_t kBytes = kThreads * 4;

struct Bench {
  explicit Bench(DeviceOptions options = {})
      : device(load_config("gtx480", {"sm.count=4"}), std::move(options)),
        module(device.load_module(kKernel, "k.ptx")),
        data(device.allocate(4 * kBytes)) {
    device.fill(data, 0, 4 * kBytes);
  }
  void launch(StreamId stream, unsigned part, std::uint32_t turns) {
    device.launch(stream, module, "k", {1, 1, 1}, {kThreads, 1, 1},
                  Arguments().add(data + part * kBytes).add(turns));
  }
  std::uint32_t word(unsigned part) const {
    std::uint32_t value = 0;
    device.copy_from(&value, data + part * kBytes + 4, 4);
    return value;
  }
  // Nanoseconds that one launch takes on an idle device.
  double alone(std::uint32_t turns) {
    const EventId begin = device.streams().create_event(), end = device.streams().create_event();
    device.streams().record(0, begin);
    launch(0, 3, turns);
    device.streams().record(0, end);
    device.synchronise();
    return nanoseconds(begin, end);
  }
  double nanoseconds(EventId from, EventId to) {
    return static_cast<double>(device.streams().time_of(to) - device.streams().time_of(from)) / 1e3;
  }

  Device device;
  LoadedModule& module;
  Address data;
};

// Takes 1 ns per byte and 100 ns before, one copy after the other.
class SlowEngine final : public sc_core::sc_module, public CopyEngine {
 public:
  SC_HAS_PROCESS(SlowEngine);
  SlowEngine(sc_core::sc_module_name name, Gpu& gpu) : sc_module(name), gpu_(gpu) { SC_THREAD(work); }
  void copy(const Area& to, const Area& from, const Box& box, std::function<void()> done) override {
    jobs_.push_back({to.address, from.address, box.bytes(), std::move(done)});
    more_.notify(sc_core::SC_ZERO_TIME);
  }
  void fill(const Area&, const Box&, std::uint32_t, std::function<void()>) override {
    ADD_FAILURE() << "nothing is filled here";
  }

 private:
  struct Job {
    std::uint64_t to, from, bytes;
    std::function<void()> done;
  };
  unsigned char* at(std::uint64_t address) {
    const bool device = address - kDeviceBase < gpu_.memory().bytes();
    return device ? gpu_.memory().data() + (address - kDeviceBase)
                  : reinterpret_cast<unsigned char*>(  // NOLINT(performance-no-int-to-ptr)
                        static_cast<std::uintptr_t>(address));
  }
  void work() {
    for (;;) {
      while (jobs_.empty()) wait(more_);
      const Job job = jobs_.front();
      jobs_.pop_front();
      wait(100 + static_cast<double>(job.bytes), sc_core::SC_NS);
      std::memmove(at(job.to), at(job.from), job.bytes);
      job.done();
    }
  }
  Gpu& gpu_;
  std::deque<Job> jobs_;
  sc_core::sc_event more_;
};

TEST(DeviceStreams, KernelsOfDifferentStreamsOverlapAndOfOneDoNot) {
  Bench bench;
  Streams& streams = bench.device.streams();
  bench.alone(10);
  const double one = bench.alone(2000);
  const StreamId a = streams.create(), b = streams.create();
  const EventId begin = streams.create_event(), end_a = streams.create_event(),
                end_b = streams.create_event();
  streams.record(a, begin);
  bench.launch(a, 0, 2000);
  bench.launch(b, 1, 2000);
  streams.record(a, end_a);
  streams.record(b, end_b);
  bench.device.synchronise();
  EXPECT_NEAR(bench.nanoseconds(begin, end_a), one, 0.02 * one);
  EXPECT_NEAR(bench.nanoseconds(begin, end_b), one, 0.02 * one);

  streams.record(a, begin);
  bench.launch(a, 0, 2000);
  bench.launch(a, 0, 2000);
  streams.record(a, end_a);
  bench.device.synchronise(a);
  EXPECT_NEAR(bench.nanoseconds(begin, end_a), 2 * one, 0.02 * one);
  EXPECT_EQ(bench.word(0), 3u);
  EXPECT_EQ(bench.word(1), 1u);
}

TEST(DeviceStreams, AStreamWaitsForTheEventOfAnother) {
  Bench bench;
  Streams& streams = bench.device.streams();
  const StreamId a = streams.create(), b = streams.create();
  const EventId ready = streams.create_event(), end = streams.create_event();
  std::vector<std::uint32_t> result(kThreads);
  bench.launch(a, 0, 1000);
  streams.record(a, ready);
  streams.wait(b, ready);
  bench.device.copy(b, bench.data + kBytes, bench.data, kBytes);
  bench.launch(b, 1, 10);
  bench.device.copy_from(b, result.data(), bench.data + kBytes, kBytes);
  streams.record(b, end);
  EXPECT_EQ(result[5], 0u) << "nothing happens before the simulation runs";
  bench.device.wait_for(end);
  EXPECT_EQ(result, std::vector<std::uint32_t>(kThreads, 2));
  EXPECT_LT(streams.time_of(ready), streams.time_of(end));
}

TEST(DeviceStreams, SynchronisingOneStreamLeavesTheOthersRunning) {
  Bench bench;
  Streams& streams = bench.device.streams();
  const StreamId a = streams.create(), b = streams.create();
  bench.launch(a, 0, 50);
  bench.launch(b, 1, 20'000);
  bench.device.synchronise(a);
  const std::uint64_t then = sc_core::sc_time_stamp().value();
  EXPECT_EQ(bench.word(0), 1u);
  EXPECT_FALSE(streams.idle(b));
  EXPECT_EQ(bench.word(1), 0u);
  bench.device.synchronise(a);
  EXPECT_EQ(sc_core::sc_time_stamp().value(), then) << "it was done";
  bench.device.synchronise(b);
  EXPECT_EQ(bench.word(1), 1u);
  EXPECT_GT(sc_core::sc_time_stamp().value(), then);
}

TEST(DeviceStreams, HostFunctionsAreCalledInOrder) {
  Bench bench;
  const StreamId a = bench.device.streams().create();
  std::vector<std::uint32_t> seen;
  for (int i = 0; i < 3; ++i) {
    bench.launch(a, 0, 20);
    bench.device.call(a, [&] { seen.push_back(bench.word(0)); });
  }
  bench.device.fill(a, bench.data, 9, kBytes);
  bench.device.call(a, [&] { seen.push_back(bench.word(0)); });
  EXPECT_TRUE(seen.empty());
  bench.device.synchronise();
  EXPECT_THAT(seen, ::testing::ElementsAre(1, 2, 3, 0x09090909));
}

// Simulated time stands still, but other threads of the host's may add to streams.
TEST(DeviceStreams, FunctionsOutsideOfTheSimulation) {
  Bench bench;
  Streams& streams = bench.device.streams();
  const StreamId a = streams.create();
  const EventId before = streams.create_event(), after = streams.create_event();
  std::vector<std::uint32_t> seen;
  bench.launch(a, 0, 20);
  streams.record(a, before);
  bench.device.call_outside(a, [&] {
    EXPECT_NE(sc_core::sc_get_status(), sc_core::SC_RUNNING);
    seen.push_back(bench.word(0));
    bench.launch(a, 0, 20);
  });
  streams.record(a, after);
  bench.device.call_outside(0, [&] { seen.push_back(bench.word(0)); });  // an idle stream: not at once
  EXPECT_TRUE(seen.empty());
  bench.device.synchronise();
  EXPECT_THAT(seen, ::testing::ElementsAre(0, 1));
  EXPECT_EQ(bench.word(0), 2u);
  EXPECT_EQ(streams.time_of(before), streams.time_of(after));
}

// wait(flag): until the word is not 0.
const std::string kWaiting = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry wait(.param .u64 flag) {
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
})";

TEST(DeviceStreams, AKernelMayWaitForTheHostWhileItDoesNotWaitForTheKernel) {
  Device device(load_config("gtx480", {"sm.count=1", "watchdog.cycles=1000"}), {});
  LoadedModule& module = device.load_module(kWaiting, "wait.ptx");
  const Address flag = device.allocate(4);
  device.fill(flag, 0, 4);
  const auto never = [] { return false; };
  device.launch(0, module, "wait", {1, 1, 1}, {32, 1, 1}, Arguments().add(flag));
  EXPECT_EQ(device.advance(never), Device::Advance::kKernelsWait);
  EXPECT_EQ(device.advance(never), Device::Advance::kKernelsWait);  // as often as one likes
  EXPECT_EQ(device.advance([] { return true; }), Device::Advance::kStopped);
  device.fill(flag, 1, 4);
  EXPECT_EQ(device.advance(never), Device::Advance::kDone);
  // Who waits for the kernel cannot help it.
  device.fill(flag, 0, 4);
  device.launch(0, module, "wait", {1, 1, 1}, {32, 1, 1}, Arguments().add(flag));
  EXPECT_THROW(device.synchronise(), SimulatedFault);
  EXPECT_EQ(device.gpu().fault_kind(), FaultKind::kHang);
}

// 100 + 256 ns per copy: a copy engine works beside the kernels of another stream.
TEST(DeviceStreams, CopiesThroughAnEngineTakeTimeAndOverlapWithKernels) {
  Bench bench;
  SlowEngine engine("engine", bench.device.gpu());
  bench.device.use(&engine);
  Streams& streams = bench.device.streams();
  const double kernel = bench.alone(20'000);
  ASSERT_GT(kernel, 10'000);
  const StreamId a = streams.create(), b = streams.create();
  const EventId begin = streams.create_event(), copied = streams.create_event(), end = streams.create_event();
  std::vector<std::uint32_t> host(kThreads, 41), back(kThreads);
  streams.record(a, begin);
  bench.launch(b, 1, 20'000);
  bench.device.copy_to(a, bench.data, host.data(), kBytes);
  bench.device.copy_from(a, back.data(), bench.data, kBytes);
  streams.record(a, copied);
  streams.record(b, end);
  bench.device.synchronise();
  EXPECT_EQ(back, host);
  EXPECT_DOUBLE_EQ(bench.nanoseconds(begin, copied), 2 * (100 + 256));
  EXPECT_NEAR(bench.nanoseconds(begin, end), kernel, 0.02 * kernel);
  bench.device.use(nullptr);
}

TEST(DeviceStreams, WorkWithoutTiming) {
  DeviceOptions options;
  options.functional.all = true;
  Bench bench(std::move(options));
  Streams& streams = bench.device.streams();
  const StreamId a = streams.create(), b = streams.create();
  const EventId ready = streams.create_event();
  std::vector<std::uint32_t> seen;
  bench.launch(a, 0, 10);
  bench.device.call(a, [&] { seen.push_back(bench.word(0)); });
  bench.launch(a, 0, 10);
  streams.record(a, ready);
  streams.wait(b, ready);
  bench.device.copy(b, bench.data + kBytes, bench.data, kBytes);
  bench.launch(b, 1, 10);
  bench.device.synchronise(b);
  EXPECT_THAT(seen, ::testing::ElementsAre(1));
  EXPECT_EQ(bench.word(0), 2u);
  EXPECT_EQ(bench.word(1), 3u);
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::SC_ZERO_TIME);
}

TEST(DeviceStreams, MixFunctionalAndTimedLaunches) {
  DeviceOptions options;
  options.functional.launches = 2;
  Bench bench(std::move(options));
  const StreamId a = bench.device.streams().create();
  bench.launch(a, 0, 10);
  bench.launch(0, 1, 10);
  bench.launch(a, 0, 10);  // timed, behind the first
  bench.device.synchronise();
  EXPECT_EQ(bench.word(0), 2u);
  EXPECT_EQ(bench.word(1), 1u);
  EXPECT_EQ(bench.device.functional_counters().launches, 2u);
  EXPECT_GT(bench.device.gpu().totals().cycles, 0u);
}

TEST(DeviceStreams, ALaunchTellsWhenItBeganAndEnded) {
  Bench bench;
  const StreamId a = bench.device.streams().create();
  const EventId end = bench.device.streams().create_event();
  std::vector<dispatch::LaunchOutcome> ended;
  for (int i = 0; i < 2; ++i) {
    bench.device.launch(a, bench.module, "k", {1, 1, 1}, {kThreads, 1, 1},
                        Arguments().add(bench.data).add(100u), 0,
                        [&](const dispatch::LaunchOutcome& how) { ended.push_back(how); });
  }
  bench.device.streams().record(a, end);
  bench.device.synchronise(a);
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].cycles() + ended[1].cycles(), bench.device.gpu().totals().cycles);
  EXPECT_LT(ended[0].end_ps, ended[1].begin_ps);
  EXPECT_EQ(ended[1].end_ps, bench.device.streams().time_of(end));
}

TEST(DeviceStreams, AFaultEndsAllStreams) {
  Bench bench;
  const StreamId a = bench.device.streams().create(), b = bench.device.streams().create();
  bool called = false;
  bench.launch(a, 0, 20'000);
  bench.device.launch(b, bench.module, "k", {1, 1, 1}, {kThreads, 1, 1},
                      Arguments().add(std::uint64_t{0x1'3000'0000}).add(1u));
  bench.device.call(b, [&] { called = true; });
  EXPECT_THROW(bench.device.synchronise(a), SimulatedFault);
  EXPECT_THROW(bench.device.synchronise(b), SimulatedFault);
  EXPECT_FALSE(called);
  bench.device.reset();
  auto& module = bench.device.load_module(kKernel, "k.ptx");
  const Address data = bench.device.allocate(kBytes);
  const StreamId c = bench.device.streams().create();
  bench.device.launch(c, module, "k", {1, 1, 1}, {kThreads, 1, 1}, Arguments().add(data).add(1u));
  bench.device.synchronise(c);
  std::uint32_t word = 0;
  bench.device.copy_from(&word, data, 4);
  EXPECT_EQ(word, 1u);
}

// Each thread keeps its number plus `added` in all `words` words of its local memory while it spins, then
// writes it plus the bits in which any of them differs. In one area for both, small words on SM 2 would lie
// among the words of a larger kernel on SM 0: 2 SMs x 4 words x positions < 64 words x positions.
std::string local_kernel(const std::string& name, unsigned words, unsigned added) {
  std::string stores, loads;
  for (unsigned word = 0; word < words; ++word) {
    const std::string place = "[%rd3+" + std::to_string(4 * word) + "]";
    stores += "  st.local.u32 " + place + ", %r3;\n";
    loads += "  ld.local.u32 %r5, " + place + ";\n  xor.b32 %r5, %r5, %r3;\n  or.b32 %r4, %r4, %r5;\n";
  }
  return ".visible .entry " + name + "(.param .u64 out, .param .u32 turns) {\n  .local .align 4 .b8 box[" +
         std::to_string(4 * words) + R"(];
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [turns];
  mov.u32 %r2, %tid.x;
  add.u32 %r3, %r2, )" +
         std::to_string(added) + ";\n  mov.u64 %rd3, box;\n" + stores + R"(
  mov.u32 %r4, 0;
TURN:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, %r1;
  @%p1 bra TURN;
  mov.u32 %r4, 0;
)" + loads +
         R"(
  add.u32 %r3, %r3, %r4;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
}

TEST(DeviceStreams, LaunchesThatOverlapHaveLocalMemoryOfTheirOwn) {
  Bench bench;
  auto& module = bench.device.load_module(".version 7.0\n.target sm_70\n.address_size 64\n" +
                                              local_kernel("big", 64, 2000) + local_kernel("small", 4, 1000),
                                          "local.ptx");
  const StreamId a = bench.device.streams().create(), b = bench.device.streams().create();
  std::vector<dispatch::LaunchOutcome> ended;
  const auto launch = [&](StreamId stream, const char* kernel, Address out, std::uint32_t turns) {
    bench.device.launch(stream, module, kernel, {2, 1, 1}, {kThreads, 1, 1}, Arguments().add(out).add(turns),
                        0, [&](const dispatch::LaunchOutcome& how) { ended.push_back(how); });
  };
  launch(a, "big", bench.data, 3000);
  launch(b, "small", bench.data + kBytes, 200);
  bench.device.synchronise();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_EQ(ended[0].first_cycle, ended[1].first_cycle) << "they did not overlap";
  std::vector<std::uint32_t> big(kThreads), small(kThreads);
  bench.device.copy_from(big.data(), bench.data, kBytes);
  bench.device.copy_from(small.data(), bench.data + kBytes, kBytes);
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(big[i], 2000 + i);
    EXPECT_EQ(small[i], 1000 + i);
  }
}

// Parameter blocks go when their launch is done.
TEST(DeviceStreams, DeviceMemoryIsGivenBack) {
  Bench bench;
  const StreamId a = bench.device.streams().create();
  for (int i = 0; i < 50; ++i) {
    bench.launch(a, 0, 1);
    if (i % 10 == 9) bench.device.synchronise(a);
  }
  bench.device.synchronise();
  const Address next = bench.device.allocate(256);
  EXPECT_LT(next, bench.data + 16 * 1024) << "parameter blocks of 50 launches are still there";
  EXPECT_EQ(bench.word(0), 50u);
}

}  // namespace
}  // namespace weft::runtime::device_streams_test
