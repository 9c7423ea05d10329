// Warp-level primitives whose mask names threads that cannot come before those that are there go on: they
// wait at a reconvergence point or a block barrier for these. PTX leaves such programs undefined; machines
// since Volta run them, and published code relies on it. Every scheme, every primitive, and the functional
// engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "platform/gpu_bench.h"
#include "warp_formation/schemes.h"

namespace weft::test::guarded_primitive_test {
namespace {

using runtime::Arguments;
using Words = std::vector<std::uint32_t>;

constexpr unsigned kThreads = 96, kWarp = 32;

// --- what must come out ------------------------------------------------------------------------------------

std::uint32_t operand(unsigned thread) {
  return thread * 3 + 1;
}

// The threads `there` of the warp whose lane 0 is thread `first` execute a primitive.
struct Execution {
  unsigned first = 0;
  std::uint32_t there = 0;

  bool has(unsigned lane) const { return lane < kWarp && (there >> lane & 1) != 0; }
  // A read from a lane that does not take part gives 0.
  std::uint32_t read(unsigned lane) const { return has(lane) ? operand(first + lane) : 0; }
  std::uint32_t count(const std::function<bool(unsigned)>& holds) const {
    std::uint32_t mask = 0;
    for (unsigned lane = 0; lane < kWarp; ++lane) mask |= has(lane) && holds(lane) ? 1u << lane : 0u;
    return mask;
  }
  std::uint32_t reduce(std::uint32_t (*join)(std::uint32_t, std::uint32_t)) const {
    std::uint32_t result = operand(first + static_cast<unsigned>(__builtin_ctz(there)));
    for (std::uint32_t rest = there & (there - 1); rest != 0; rest &= rest - 1)
      result = join(result, operand(first + static_cast<unsigned>(__builtin_ctz(rest))));
    return result;
  }
};

// Leaves its result in %r21. %r20 = operand(thread), %r22 = lane % 4, %p3: lane is odd.
struct Primitive {
  const char* text;
  std::uint32_t (*result)(const Execution& e, unsigned lane);
};

bool odd(unsigned lane) {
  return lane % 2 != 0;
}

const Primitive kPrimitives[] = {
    {"shfl.sync.idx.b32 %r21, %r20, 13, 31, -1;", [](const Execution& e, unsigned) { return e.read(13); }},
    {"shfl.sync.bfly.b32 %r21, %r20, 5, 31, -1;",
     [](const Execution& e, unsigned lane) { return e.read(lane ^ 5); }},
    {"shfl.sync.up.b32 %r21, %r20, 3, 0, -1;",
     [](const Execution& e, unsigned lane) { return e.read(lane < 3 ? lane : lane - 3); }},
    {"shfl.sync.down.b32 %r21, %r20, 7, 31, -1;",
     [](const Execution& e, unsigned lane) { return e.read(lane + 7 > 31 ? lane : lane + 7); }},
    {"vote.sync.ballot.b32 %r21, %p3, -1;", [](const Execution& e, unsigned) { return e.count(odd); }},
    {"vote.sync.any.pred %p4, %p3, -1; selp.u32 %r21, 3, 5, %p4;",
     [](const Execution& e, unsigned) { return e.count(odd) != 0 ? 3u : 5u; }},
    {"vote.sync.all.pred %p4, %p3, -1; selp.u32 %r21, 3, 5, %p4;",
     [](const Execution& e, unsigned) { return e.count(odd) == e.there ? 3u : 5u; }},
    {"vote.sync.uni.pred %p4, %p3, -1; selp.u32 %r21, 3, 5, %p4;",
     [](const Execution& e, unsigned) {
       const std::uint32_t odds = e.count(odd);
       return odds == 0 || odds == e.there ? 3u : 5u;
     }},
    {"match.any.sync.b32 %r21, %r22, -1;",
     [](const Execution& e, unsigned lane) {
       return e.count([lane](unsigned other) { return other % 4 == lane % 4; });
     }},
    {"match.all.sync.b32 %r21, 9, -1;", [](const Execution& e, unsigned) { return e.there; }},
    {"redux.sync.add.u32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return a + b; });
     }},
    {"redux.sync.min.u32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return std::min(a, b); });
     }},
    {"redux.sync.max.u32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
     }},
    {"redux.sync.and.b32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return a & b; });
     }},
    {"redux.sync.or.b32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return a | b; });
     }},
    {"redux.sync.xor.b32 %r21, %r20, -1;",
     [](const Execution& e, unsigned) {
       return e.reduce([](std::uint32_t a, std::uint32_t b) { return a ^ b; });
     }},
    {"elect.sync %r21|%p4, -1;",
     [](const Execution& e, unsigned) { return static_cast<std::uint32_t>(__builtin_ctz(e.there)); }},
    {"bar.warp.sync -1; mov.u32 %r21, 11;", [](const Execution&, unsigned) { return 11u; }},
};

// Which threads of a warp come to the primitives.
bool inner(unsigned warp, unsigned lane) {
  return lane < 12 + 4 * warp;
}
bool outer(unsigned warp, unsigned lane) {
  return lane < 20 + 4 * warp;
}

struct Shape {
  const char* name;
  // BODY: all primitives, one after the other. GUARDED: each under %p1. %p1: inner, %p2: outer.
  const char* text;
  bool (*comes)(unsigned warp, unsigned lane, unsigned turn);
  unsigned turns = 1;
};

bool inner_once(unsigned warp, unsigned lane, unsigned /*turn*/) {
  return inner(warp, lane);
}
bool outer_once(unsigned warp, unsigned lane, unsigned /*turn*/) {
  return outer(warp, lane);
}
bool fewer_each_turn(unsigned /*warp*/, unsigned lane, unsigned turn) {
  return lane % 4 > turn;
}

const Shape kShapes[] = {
    {"OneSided", "@!%p1 bra J; BODY J:", inner_once},
    {"Nested", "@!%p2 bra J; add.u32 %r9, %r9, 2; @!%p1 bra I; BODY I: add.u32 %r9, %r9, 3; J:", inner_once},
    {"TwoSided", "@!%p1 bra E; BODY bra J; E: add.u32 %r9, %r9, 5; J:", inner_once},
    {"ArmsMeet", "@!%p2 bra J; @!%p1 bra E; BODY bra I; E: BODY I: J:", outer_once},
    {"Loop", "mov.u32 %r5, 0; T: setp.ge.u32 %p5, %r5, %r22; @%p5 bra J; BODY add.u32 %r5, %r5, 1; bra T; J:",
     fewer_each_turn, 3},
    {"OneSidedBeforeABarrier", "@!%p1 bra J; BODY J: bar.sync 0;", inner_once},
    {"NestedBeforeABarrier", "@!%p2 bra J; @!%p1 bra I; BODY I: add.u32 %r9, %r9, 3; J: bar.sync 0;",
     inner_once},
    {"LoopBeforeABarrier",
     "mov.u32 %r5, 0; T: setp.ge.u32 %p5, %r5, %r22; @%p5 bra J; BODY add.u32 %r5, %r5, 1; bra T; J: "
     "bar.sync "
     "0;",
     fewer_each_turn, 3},
    {"Guarded", "GUARDED", inner_once},
    {"GuardedInAnArm", "@!%p2 bra J; GUARDED add.u32 %r9, %r9, 3; J:", inner_once},
    {"GuardedBeforeABarrier", "GUARDED bar.sync 0;", inner_once},
};

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), with);
  return text;
}

std::string kernel_of(const Shape& shape) {
  std::string body, guarded;
  for (const Primitive& primitive : kPrimitives) {
    const std::string text = std::string(primitive.text) + " mad.lo.u32 %r10, %r10, 31, %r21;";
    body += text + "\n";
    guarded += "@%p1 " + replaced(text, "; ", ";\n\1 ") + "\n";
  }
  guarded = replaced(guarded, "\1", "@%p1");
  return kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %laneid;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
  shr.u32 %r4, %r2, 5; mad.lo.u32 %r4, %r4, 4, 12; setp.lt.u32 %p1, %r3, %r4;
  add.u32 %r4, %r4, 8; setp.lt.u32 %p2, %r3, %r4;
  mad.lo.u32 %r20, %r2, 3, 1;
  and.b32 %r22, %r3, 3;
  and.b32 %r4, %r3, 1; setp.ne.u32 %p3, %r4, 0;
  mov.u32 %r9, 0; mov.u32 %r10, 7;
)" + replaced(replaced(shape.text, "BODY", body), "GUARDED", guarded) +
                                            "\n  st.global.u32 [%rd2], %r10;\n  ret;");
}

Words expected(const Shape& shape) {
  Words words(kThreads, 7);
  for (unsigned turn = 0; turn < shape.turns; ++turn) {
    for (unsigned thread = 0; thread < kThreads; ++thread) {
      const unsigned warp = thread / kWarp, lane = thread % kWarp;
      if (!shape.comes(warp, lane, turn)) continue;
      Execution e;
      e.first = warp * kWarp;
      for (unsigned other = 0; other < kWarp; ++other)
        e.there |= shape.comes(warp, other, turn) ? 1u << other : 0u;
      for (const Primitive& primitive : kPrimitives)
        words[thread] = words[thread] * 31 + primitive.result(e, lane);
    }
  }
  return words;
}

// --- machines ----------------------------------------------------------------------------------------------

struct Machine {
  std::string scheme;  // empty: without timing
  std::string dependence = "scoreboard";
  unsigned warp_size = 32;
};

std::string name_of(const Machine& m) {
  return m.scheme.empty() ? "functional" : m.scheme + "_" + m.dependence + std::to_string(m.warp_size);
}
void PrintTo(const Machine& m, std::ostream* out) {
  *out << name_of(m);
}

std::vector<Machine> machines() {
  std::vector<Machine> list = {{}};
  for (const std::string& scheme : warp_formation::scheme_names()) {
    list.push_back({scheme, "scoreboard", 32});
    list.push_back({scheme, "barrel", 8});
    list.push_back({scheme, "scoreboard", 64});
  }
  return list;
}

// Runs `work` on the machine in a process of its own.
std::string on(const Machine& m, const std::function<std::string(GpuBench&)>& work,
               runtime::DeviceOptions options = {}) {
  return apart([&] {
    std::vector<std::string> overrides = {"sm.count=1",
                                          "dram.bytes=67108864",
                                          "watchdog.cycles=20000",
                                          "warp_formation.dwr.lat_timeout=4000",
                                          "warp_formation.warp_size=" + std::to_string(m.warp_size),
                                          "sm.dependence=" + m.dependence};
    if (m.scheme.empty()) {
      options.functional.all = true;
    } else {
      overrides.push_back("warp_formation.scheme=" + m.scheme);
    }
    GpuBench bench(overrides, "gtx480", options);
    try {
      return work(bench);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  });
}

Words run(GpuBench& bench, const std::string& kernel, unsigned threads = kThreads) {
  const auto out = bench.zeros(std::uint64_t{threads} * 4);
  bench.load(kernel);
  bench.run({1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
  return bench.read(out, threads);
}

std::string difference(const Words& found, const Words& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (found[i] != wanted[i])
      return "thread " + std::to_string(i) + ": found " + std::to_string(found[i]) + ", wanted " +
             std::to_string(wanted[i]) + "\n";
  }
  return "";
}

class GuardedPrimitive : public ::testing::TestWithParam<Machine> {};

TEST_P(GuardedPrimitive, ExecutesWithTheThreadsThatAreThere) {
  for (const Shape& shape : kShapes) {
    EXPECT_EQ(on(GetParam(),
                 [&](GpuBench& bench) { return difference(run(bench, kernel_of(shape)), expected(shape)); }),
              "")
        << shape.name;
  }
}

// Members that are late, behind a loop of loads, are waited for: also where the only one that they wait for
// waits at another primitive, which somebody will still come to.
TEST_P(GuardedPrimitive, NobodyIsLeftBehindWhoMayStillCome) {
  const std::string start = R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %laneid;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r10, 0; mov.u32 %r5, 0;
  setp.lt.u32 %p1, %r3, 16; setp.ge.u32 %p2, %r3, 8;
  and.b32 %r4, %r3, 4; setp.ne.u32 %p3, %r4, 0;
)";
  const std::string late =
      "L: ld.global.u32 %r6, [%rd2]; add.u32 %r5, %r5, 1; add.u32 %r5, %r5, %r6; setp.lt.u32 %p4, %r5, 9;\n"
      "@%p4 bra L;\n";
  const std::string end = "\nst.global.u32 [%rd2], %r10;\nret;";
  // Lanes 8 to 15 wait for 0 to 7 where they meet, and these are in the loop.
  const std::string held_by_a_loop =
      "@%p1 bra LOW; redux.sync.add.u32 %r10, %r3, -1; bra J;\nLOW: @%p2 bra M;\n" + late +
      "M: redux.sync.add.u32 %r10, %r3, -1;\nJ:";
  // Lanes 4 to 7 wait for 0 to 3, which wait at a barrier for 8 to 11, which are in the loop.
  const std::string held_by_a_primitive =
      "@%p1 bra LOW; redux.sync.add.u32 %r10, %r3, 0xffff00f0; bra J;\nLOW: @%p2 bra C; @%p3 bra I;\n"
      "bar.warp.sync 0x0f0f;\nI: add.u32 %r5, %r5, 1; bra M;\nC:\n" +
      late +
      "@%p3 bra M; bar.warp.sync 0x0f0f;\nM: setp.ge.u32 %p5, %r3, 8;\n"
      "not.pred %p6, %p3; or.pred %p5, %p5, %p6; @%p5 bra J; redux.sync.add.u32 %r10, %r3, 0xffff00f0;\nJ:";
  const std::string found = on(GetParam(), [&](GpuBench& bench) {
    Words all(kWarp, 496), some(kWarp, 0);
    for (unsigned lane = 0; lane < kWarp; ++lane)
      some[lane] = lane >= 16 || (lane >= 4 && lane < 8) ? 376 + 22 : 0;
    return difference(run(bench, kernel_text(".param .u64 out", start + held_by_a_loop + end), kWarp), all) +
           difference(run(bench, kernel_text(".param .u64 out", start + held_by_a_primitive + end), kWarp),
                      some);
  });
  EXPECT_EQ(found, "");
}

TEST_P(GuardedPrimitive, TakesTheSameTimeWithoutSleep) {
  const auto statistics = [](GpuBench& bench) {
    for (const Shape& shape : kShapes) run(bench, kernel_of(shape));
    return bench.statistics().dump();
  };
  runtime::DeviceOptions awake;
  awake.sleeping = false;
  EXPECT_TRUE(on(GetParam(), statistics) == on(GetParam(), statistics, awake));
}

TEST_P(GuardedPrimitive, RunsACompiledKernel) {
  const std::string found = on(GetParam(), [](GpuBench& bench) {
    bench.load(runtime::read_text(WEFT_SM_TESTS_FOLDER "/guarded_shuffle.ptx"));
    const auto out = bench.zeros(256), sizes = bench.words({3, 2, 5});
    bench.run({1, 1, 1}, {32, 1, 1}, Arguments().add(out).add(sizes));
    Words wanted(64, 0);
    for (unsigned t = 0; t < 32; ++t) {
      const bool shuffles = t / 4 < 3;
      if (shuffles) wanted[t] = 2 * (t + (t ^ 1));
      wanted[32 + t] = (shuffles ? wanted[t] : t) + 5;
    }
    return difference(bench.read(out, 64), wanted);
  });
  EXPECT_EQ(found, "");
}

INSTANTIATE_TEST_SUITE_P(Machines, GuardedPrimitive, ::testing::ValuesIn(machines()),
                         [](const auto& info) { return name_of(info.param); });

// Schemes whose threads wait for others after each branch: those left out wait until the others are with them
// again.
TEST(GuardedPrimitiveOfAStack, TheOthersGoOnTogetherWithThose) {
  const std::string kernel = kernel_text(".param .u64 out", R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r10, 0;
  setp.ge.u32 %p1, %r2, 12;
  @%p1 bra J;
  redux.sync.add.u32 %r10, 1, -1;
  add.u32 %r10, %r10, 1;
J:
  redux.sync.add.u32 %r11, 100, -1;
  add.u32 %r10, %r10, %r11;
  st.global.u32 [%rd2], %r10;
  ret;)");
  Words wanted(kWarp, 3200);
  for (unsigned t = 0; t < 12; ++t) wanted[t] += 13;
  for (const std::string& scheme : scheme_classes::all()) {
    if (!scheme_classes::waits_after_each_branch(scheme)) continue;
    EXPECT_EQ(on({scheme}, [&](GpuBench& bench) { return difference(run(bench, kernel, kWarp), wanted); }),
              "")
        << scheme;
  }
}

}  // namespace
}  // namespace weft::test::guarded_primitive_test
