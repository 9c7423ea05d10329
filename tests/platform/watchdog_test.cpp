// What hangs is found, and named by its cause; what only takes long is left alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"
#include "weft/warp_formation/scheme.h"

namespace weft::test::watchdog_test {
namespace {

using runtime::Arguments;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Why the launch of one block was stopped; empty if it ended.
std::string fault_of(const std::string& body, unsigned threads, std::vector<std::string> overrides) {
  overrides.insert(overrides.end(), {"sm.count=1", "watchdog.cycles=3000"});
  GpuBench bench(overrides);
  const auto out = bench.zeros(4096);
  bench.load(kernel_text(".param .u64 out", "  ld.param.u64 %rd1, [out];\n  mov.u32 %r2, %tid.x;\n" + body));
  try {
    bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  } catch (const std::exception& error) {
    return error.what();
  }
  return bench.device.gpu().fault();
}

// A lock that every thread takes once. The thread that holds it waits at the reconvergence point of the loop.
const std::string kSpinLock = R"(
SPIN:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra SPIN;
  ld.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.global.u32 [%rd1+4], %r11;
  atom.global.exch.b32 %r12, [%rd1], 0;
  ret;)";

TEST(Watchdog, ASpinLockUnderAStackIsASimtDeadlock) {
  const std::string fault = fault_of(kSpinLock, 32, {});
  EXPECT_THAT(fault, AllOf(HasSubstr("SIMT deadlock"), HasSubstr("31 threads only repeated a loop"),
                           HasSubstr("held back 1 thread "), HasSubstr("of block (0,0,0)"),
                           HasSubstr("reconverges at pc")));
}

TEST(Watchdog, ASpinLockUnderBlockCompactionIsASimtDeadlock) {
  EXPECT_THAT(fault_of(kSpinLock, 64, {"warp_formation.scheme=tbc"}),
              AllOf(HasSubstr("SIMT deadlock"), HasSubstr("63 threads"), HasSubstr("entry that waits")));
}

TEST(Watchdog, TheSameLockEndsUnderDynamicWarpFormation) {
  EXPECT_EQ(fault_of(kSpinLock, 64, {"warp_formation.scheme=dwf"}), "");
}

// All threads wait for a flag that nobody sets.
TEST(Watchdog, AFlagThatNobodySetsIsALivelock) {
  for (const std::string& scheme : scheme_classes::all()) {
    const std::string fault = apart([&scheme] {
      return fault_of(
          "SPIN:\n  ld.volatile.global.u32 %r10, [%rd1];\n  setp.eq.u32 %p1, %r10, 0;\n"
          "  @%p1 bra SPIN;\n  ret;",
          64, {"warp_formation.scheme=" + scheme, "warp_formation.dwr.lat_timeout=1000"});
    });
    EXPECT_THAT(fault, AllOf(HasSubstr("livelock: "), HasSubstr("64 threads only repeated a loop"),
                             HasSubstr("no other thread is live")))
        << scheme;
  }
}

TEST(Watchdog, BarriersThatNeverOpenAreADeadlock) {
  EXPECT_THAT(
      fault_of("  setp.lt.u32 %p1, %r2, 32;\n  @%p1 bra A;\n  bar.sync 1;\n  ret;\nA:\n  bar.sync 0;\n  ret;",
               64, {}),
      AllOf(HasSubstr("deadlock: no instruction was issued for 3000 core cycles, 64 threads are live"),
            ::testing::Not(HasSubstr("SIMT"))));
}

// A fault stops everything: instructions in flight never end, and the reset forgets them. What hangs
// afterwards is found as before, though its threads are other ones.
TEST(Watchdog, FindsALivelockAfterAFaultAndAReset) {
  GpuBench bench({"sm.count=1", "watchdog.cycles=3000"});
  const auto fault_of_launch = [&](const std::string& body, unsigned blocks, unsigned threads) {
    const auto out = bench.zeros(4096);
    bench.load(
        kernel_text(".param .u64 out", "  ld.param.u64 %rd1, [out];\n  mov.u32 %r2, %tid.x;\n" + body));
    try {
      bench.run({blocks, 1, 1}, {threads, 1, 1}, Arguments().add(out));
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return bench.device.gpu().fault();
  };
  // Loads of all warps are under way when the last one stores to nowhere.
  EXPECT_THAT(fault_of_launch("  ld.volatile.global.u32 %r10, [%rd1];\n  mov.u32 %r11, %ctaid.x;\n"
                              "  setp.ne.u32 %p1, %r11, 5;\n  setp.lt.u32 %p2, %r2, 224;\n"
                              "  or.pred %p1, %p1, %p2;\n  @%p1 bra END;\n  mov.u64 %rd2, 16;\n"
                              "  st.global.u32 [%rd2], %r2;\nEND:\n  st.global.u32 [%rd1], %r10;\n  ret;",
                              6, 256),
              HasSubstr("0x10"));
  bench.reset();
  EXPECT_THAT(fault_of_launch("SPIN:\n  ld.volatile.global.u32 %r10, [%rd1];\n  setp.eq.u32 %p1, %r10, 0;\n"
                              "  @%p1 bra SPIN;\n  ret;",
                              1, 32),
              AllOf(HasSubstr("livelock: "), HasSubstr("32 threads only repeated a loop")));
}

// One packet of 136 flits takes 136 microseconds, of which the watchdog's span is a part; the last stores are
// on their way long after the last thread has exited.
TEST(Watchdog, ACrawlingInterconnectIsNoDeadlock) {
  EXPECT_EQ(fault_of("  shl.b32 %r3, %r2, 2;\n  cvt.u64.u32 %rd2, %r3;\n  add.u64 %rd1, %rd1, %rd2;\n"
                     "  ld.global.u32 %r10, [%rd1];\n  add.u32 %r10, %r10, 1;\n"
                     "  st.global.u32 [%rd1], %r10;\n  st.global.u32 [%rd1+1024], %r10;\n  ret;",
                     128, {"clocks.interconnect_mhz=1", "crossbar.flit_bytes=1", "l2.enabled=false"}),
            "");
}

// 40,000 turns: many spans without an exit, but the counter moves.
TEST(Watchdog, ALongLoopIsNoLivelock) {
  EXPECT_EQ(fault_of("  mov.u32 %r10, 0;\nAGAIN:\n  add.u32 %r10, %r10, 1;\n  setp.lt.u32 %p1, %r10, 40000;\n"
                     "  @%p1 bra AGAIN;\n  ret;",
                     32, {}),
            "");
}

// Warp 0 waits for a flag, which warp 1 sets after 4,000 turns of work: nothing hangs while it works.
TEST(Watchdog, WaitingForAThreadThatWorksIsNoLivelock) {
  EXPECT_EQ(
      fault_of(
          "  setp.lt.u32 %p1, %r2, 32;\n  @%p1 bra SPIN;\n  mov.u32 %r10, 0;\nAGAIN:\n"
          "  add.u32 %r10, %r10, 1;\n  setp.lt.u32 %p2, %r10, 4000;\n  @%p2 bra AGAIN;\n"
          "  st.volatile.global.u32 [%rd1], %r10;\n  ret;\nSPIN:\n  ld.volatile.global.u32 %r11, [%rd1];\n"
          "  setp.eq.u32 %p3, %r11, 0;\n  @%p3 bra SPIN;\n  ret;",
          64, {}),
      "");
}

// A scheme that never issues the second warp, and is sbr otherwise.
class Unfair final : public warp_formation::WarpFormation {
 public:
  Unfair(warp_formation::Config config, const warp_formation::Geometry& geometry) : eyes_(*this) {
    config.scheme = "sbr";
    unit_ = warp_formation::create(config, geometry);
  }
  void attach(const ptx::Program& program, const warp_formation::SmView& sm) override {
    sm_ = &sm;
    unit_->attach(program, eyes_);
  }
  bool can_launch(const warp_formation::Block& b) const override { return unit_->can_launch(b); }
  void launch(const warp_formation::Block& b) override { unit_->launch(b); }
  void retire(const warp_formation::Block& b) override { unit_->retire(b); }
  void reset() override { unit_->reset(); }
  void advance(warp_formation::Cycle now) override { unit_->advance(now); }
  warp_formation::Stall pick(unsigned s, warp_formation::Issue& issue) override {
    return unit_->pick(s, issue);
  }
  void issued(warp_formation::IssueId id, const warp_formation::Issue& i) override { unit_->issued(id, i); }
  void memory_issued(warp_formation::IssueId id) override { unit_->memory_issued(id); }
  void resolved(warp_formation::IssueId id, warp_formation::Outcomes o) override { unit_->resolved(id, o); }
  void barrier_released(std::uint16_t slot, unsigned b) override { unit_->barrier_released(slot, b); }
  void warp_sync_released(warp_formation::Groups g) override { unit_->warp_sync_released(g); }
  warp_formation::Census census() const override { return unit_->census(); }
  warp_formation::Cycle next_event(warp_formation::Cycle now) const override {
    return unit_->next_event(now);
  }
  warp_formation::ContextTable& contexts() override { return unit_->contexts(); }
  unsigned ready_warps() const override { return unit_->ready_warps(); }
  void bind(statistics::Group& group) override { unit_->bind(group); }
  std::string dump() const override { return unit_->dump(); }

 private:
  struct Eyes final : warp_formation::SmView {
    explicit Eyes(Unfair& u) : unfair(u) {}
    warp_formation::Stall ready(unsigned s, const warp_formation::Issue& issue) const override {
      return issue.context == 1 ? warp_formation::Stall::kUnitBusy : unfair.sm_->ready(s, issue);
    }
    Unfair& unfair;
  };
  Eyes eyes_;
  const warp_formation::SmView* sm_ = nullptr;
  std::unique_ptr<warp_formation::WarpFormation> unit_;
};

TEST(Watchdog, AWarpThatIsNeverChosenStarves) {
  warp_formation::register_scheme(warp_formation::scheme<Unfair>("unfair"));
  // Warp 0 waits for what warp 1 would write.
  const std::string fault = fault_of(
      "  setp.ge.u32 %p2, %r2, 32;\n  @%p2 bra SET;\nSPIN:\n  ld.volatile.global.u32 %r10, [%rd1];\n"
      "  setp.eq.u32 %p1, %r10, 0;\n  @%p1 bra SPIN;\n  ret;\nSET:\n  mov.u32 %r11, 1;\n"
      "  st.volatile.global.u32 [%rd1], %r11;\n  ret;",
      64, {"warp_formation.scheme=unfair"});
  EXPECT_THAT(fault, AllOf(HasSubstr("starvation: "), HasSubstr("32 threads only repeated a loop"),
                           HasSubstr("32 threads that could run were never chosen")));
}

}  // namespace
}  // namespace weft::test::watchdog_test
