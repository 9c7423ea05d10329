// One value per warp that is not what each thread would have: where it is found, and where there is nothing
// to find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <stdexcept>

#include "check/check_bench.h"
#include "platform/marked_kernel.h"
#include "weft/common/error.h"

namespace weft::test::scalar_check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

check::Options scalar_check() {
  check::Options options;
  options.scalar = true;
  return options;
}

class ScalarCheck : public ::testing::TestWithParam<std::vector<std::string>> {
 protected:
  static std::string run(const std::string& body) {
    return apart([&] {
      runtime::DeviceOptions options;
      options.check = scalar_check();
      std::vector<std::string> overrides = GetParam();
      overrides.insert(overrides.end(), {"sm.count=1", "dram.bytes=67108864", "scalarization.kind=full"});
      GpuBench bench(overrides, "stsimt", options);
      MarkedKernel kernel(bench, kernel_text(".param .u64 data", R"(ld.param.u64 %rd1, [data]; //scalar
        mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd2, %r2, 4;
        add.u64 %rd2, %rd1, %rd2;
)" + body + "\nret;"));
      kernel.run({2, 1, 1}, {64, 1, 1}, runtime::Arguments().add(bench.zeros(1024)));
      std::string text;
      for (const check::Report& report : bench.device.reports())
        text += report.kind + " | " + std::to_string(report.count) + " | " + report.text + "\n";
      return text;
    });
  }
};

TEST_P(ScalarCheck, RightMarksAreSilent) {
  EXPECT_EQ(run(R"(
      mov.u32 %r10, 5; //scalar
      setp.lt.u32 %p1, %r2, 40;
      @%p1 bra JOIN;
      ld.global.u32 %r11, [%rd1]; //scalar
      add.u32 %r11, %r11, %r10; //scalar
      st.global.u32 [%rd2], %r11;
JOIN: add.u32 %r12, %r10, %r2;
      setp.eq.u32 %p2, %r10, 5; //scalar
      @%p2 bra END; //scalar
      trap;
END:  st.global.u32 [%rd2+512], %r12;)"),
            "");
}

TEST_P(ScalarCheck, OperandsThatDiffer) {
  EXPECT_THAT(run("add.u32 %r10, %r2, 1; //scalar\n"),
              AllOf(StartsWith("scalar | 4 | k: thread (1,0,0) of block (0,0,0), pc 4, k.ptx:"),
                    HasSubstr("executes once for its warp, but operand 1 is 0x1 for this thread, 0x0 for the "
                              "first that executes")));
}

TEST_P(ScalarCheck, AddressesThatDiffer) {
  EXPECT_THAT(run("st.global.u32 [%rd2], 5; //scalar\n"), HasSubstr("but the address is 0x"));
  EXPECT_THAT(run("ld.global.u32 %r10, [%rd2]; //scalar\n"), HasSubstr("but the address is 0x"));
}

TEST_P(ScalarCheck, GuardsThatDiffer) {
  EXPECT_THAT(run("setp.lt.u32 %p1, %r2, 8;\n@%p1 mov.u32 %r10, 5; //scalar\n"),
              HasSubstr("thread (8,0,0) of block (0,0,0), pc 5"));
}

// The value of one way of a branch reaches those that went the other.
TEST_P(ScalarCheck, AnotherThreadsValue) {
  EXPECT_THAT(run(R"(
      mov.u32 %r10, 5; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra JOIN;
      mov.u32 %r10, 7; //scalar
JOIN: st.global.u32 [%rd2], %r10;)"),
              AllOf(StartsWith("scalar | 16 | k: thread (0,0,0) of block ("),
                    HasSubstr("operand 2 is 0x7, the value of the warp, where the thread's own is 0x5")));
}

// The hazard of old values: the way that runs second finds what the first has written, although nobody reads
// it after they have met.
TEST_P(ScalarCheck, AnOldValueThatIsGone) {
  EXPECT_THAT(run(R"(
      mov.u32 %r10, 5; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra OTHER;
      mov.u32 %r10, 7; //scalar
      st.global.u32 [%rd2], %r10;
      bra JOIN;
OTHER:
      st.global.u32 [%rd2], %r10;
JOIN:)"),
              HasSubstr("operand 2 is 0x7, the value of the warp, where the thread's own is 0x5"));
}

TEST_P(ScalarCheck, AGuardThatIsAnothers) {
  EXPECT_THAT(run(R"(
      setp.eq.u32 %p2, 1, 1; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra JOIN;
      setp.eq.u32 %p2, 1, 2; //scalar
JOIN: @%p2 st.global.u32 [%rd2], 1;)"),
              HasSubstr("the guard is 0x0, the value of the warp, where the thread's own is 0x1"));
}

TEST_P(ScalarCheck, ThreadsOwnMemory) {
  EXPECT_THAT(run(".local .align 4 .b8 own[16];\nmov.u64 %rd5, own; //scalar\n"
                  "cvta.local.u64 %rd5, %rd5; //scalar\nst.u32 [%rd5], 5; //scalar\n"),
              HasSubstr("is in each thread's own local memory"));
}

INSTANTIATE_TEST_SUITE_P(Machines, ScalarCheck,
                         ::testing::Values(std::vector<std::string>{},
                                           std::vector<std::string>{"scalarization.unit=separate"},
                                           std::vector<std::string>{"datapath.kind=temporal"},
                                           std::vector<std::string>{"sm.dependence=barrel"}),
                         [](const auto& info) { return "N" + std::to_string(info.index); });

// A run without scalarization, then one with it that is compared with the first.
class ScalarComparison : public ::testing::Test {
 public:
  ScalarComparison() : file_(std::tmpfile()) {}
  ~ScalarComparison() override { std::fclose(file_); }

 protected:
  using Work = std::function<void(GpuBench&)>;
  // One line per report, and per launch that is not compared.
  std::string compare(const std::string& text, const std::vector<std::string>& machine, const Work& without,
                      const Work& with) {
    begin();
    if (ftruncate(fileno(file_), 0) != 0) throw std::runtime_error("the file cannot be emptied");
    apart([&] {
      runtime::DeviceOptions options;
      options.check.race = true;
      options.check.reports = 1000;
      options.check.records_writes = file_;
      GpuBench bench(overrides(machine, "off"), "stsimt", options);
      without(bench);
      return std::string();
    });
    begin();
    return apart([&] {
      runtime::DeviceOptions options;
      options.check = scalar_check();
      options.check.compares_writes = file_;
      options.check.ptx = text;
      GpuBench bench(overrides(machine, "full"), "stsimt", options);
      with(bench);
      std::string all;
      for (const check::Report& report : bench.device.reports()) all += report.text + "\n";
      for (const std::string& what : bench.device.not_compared()) all += "left out: " + what + "\n";
      return all;
    });
  }
  // A kernel with marks, which without scalarization it does not have.
  std::string compare_marked(const std::string& body) {
    const std::string text = kernel_text(".param .u64 data",
                                         "ld.param.u64 %rd1, [data]; //scalar\n"
                                         "mov.u32 %r2, %tid.x;\n"
                                         "mul.wide.u32 %rd2, %r2, 4;\n"
                                         "add.u64 %rd2, %rd1, %rd2;\n" +
                                             body + "\nret;");
    const auto run = [&](GpuBench& bench, bool marks) {
      MarkedKernel kernel(bench, text, marks);
      kernel.run({1, 1, 1}, {64, 1, 1}, runtime::Arguments().add(bench.zeros(1024)));
    };
    return compare(
        text, {}, [&](GpuBench& bench) { run(bench, false); }, [&](GpuBench& bench) { run(bench, true); });
  }

 private:
  void begin() const {
    if (std::fseek(file_, 0, SEEK_SET) != 0) throw std::runtime_error("the file has no beginning");
  }
  static std::vector<std::string> overrides(std::vector<std::string> machine, const std::string& kind) {
    machine.insert(machine.end(), {"sm.count=1", "dram.bytes=67108864", "scalarization.kind=" + kind});
    return machine;
  }
  std::FILE* const file_;
};

TEST_F(ScalarComparison, NamesThreadRegisterAndLineOfTheFirstDifference) {
  const std::string found = compare_marked(R"(mov.u32 %r10, 5; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra JOIN;
      mov.u32 %r10, 7; //scalar
JOIN: @!%p15 add.u32 %r11, %r10, 1;
      add.u32 %r12, %r11, 1;
      st.global.u32 [%rd2], %r12;)");
  EXPECT_THAT(found, HasSubstr("operand 1 is 0x7, the value of the warp"));
  EXPECT_THAT(found, HasSubstr("k: thread (0,0,0) of block (0,0,0), pc 8, k.ptx:"));
  EXPECT_THAT(found, HasSubstr("write 7 of this thread is of %r11, 0x8; without scalarization it is 0x6\n"));
  EXPECT_THAT(found, Not(HasSubstr("is of %r12")));  // the first difference of a thread alone
  EXPECT_THAT(found, HasSubstr("k: after the launch, the content of allocation 1"));
}

TEST_F(ScalarComparison, WritesThatAreMissing) {
  const std::string body = R"(setp.eq.u32 %p2, 1, 1; //scalar
      setp.lt.u32 %p1, %r2, 8;
      @%p1 bra JOIN;
      setp.eq.u32 %p2, 1, 2; //scalar
JOIN: @%p2 mov.u32 %r11, 1;)";
  EXPECT_THAT(compare_marked(body), HasSubstr("thread (0,0,0) of block (0,0,0) writes nothing after write 6; "
                                              "without scalarization it goes on in line "));
  EXPECT_THAT(compare_marked(body + "\nmov.u64 %rd5, %rd2;"),
              HasSubstr("write 7 of this thread is of %rd5; without scalarization it is in line "));
}

// What another order of threads changes is not compared, and what comes behind it only if memory is the same.
TEST_F(ScalarComparison, SaysWhatCannotBeCompared) {
  const auto left_out = [&](const std::string& body) {
    const std::string text =
        kernel_text(".param .u64 data", "ld.param.u64 %rd1, [data];\n" + body + "\nret;");
    const Work work = [&](GpuBench& bench) {
      bench.load(text);
      bench.run({2, 1, 1}, {64, 1, 1}, runtime::Arguments().add(bench.zeros(1024)));
    };
    return compare(text, {}, work, work);
  };
  EXPECT_EQ(left_out("mov.u32 %r1, %ctaid.x;"), "");
  EXPECT_EQ(left_out("red.global.add.u32 [%rd1], 1;"), "");
  EXPECT_THAT(left_out("atom.global.add.u32 %r1, [%rd1], 1;"),
              StartsWith("left out: k: an atomic returns what it found, k.ptx:"));
  EXPECT_THAT(left_out("red.global.add.f32 [%rd1], 0f3F800000;"),
              StartsWith("left out: k: an atomic adds in floating point, "));
  EXPECT_THAT(left_out("mov.u32 %r1, %clock;"), StartsWith("left out: k: the time is read, "));
  EXPECT_THAT(left_out("mov.u32 %r1, %smid;"), StartsWith("left out: k: the number of the SM is read, "));
  EXPECT_THAT(left_out("activemask.b32 %r1;"),
              StartsWith("left out: k: activemask is among the threads that execute together, "));
  EXPECT_THAT(left_out("mov.u32 %r1, %tid.x;\nst.global.u32 [%rd1], %r1;"),
              StartsWith("left out: k: race, k.ptx:"));
}

TEST_F(ScalarComparison, ARunThatEndsEarlierLeavesTheRestOut) {
  const std::string text = kernel_text(".param .u64 data", "mov.u32 %r1, %tid.x;\nret;");
  const auto times = [&](int launches) {
    return [&text, launches](GpuBench& bench) {
      bench.load(text);
      const runtime::Address data = bench.zeros(64);
      for (int i = 0; i < launches; ++i) bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(data));
    };
  };
  EXPECT_EQ(compare(text, {}, times(2), times(2)), "");
  EXPECT_EQ(compare(text, {}, times(1), times(3)),
            "left out: k: the run without scalarization ended before this launch (2 launches)\n");
}

// What each thread writes, where the decoder says what is scalar: a loop that threads leave at different
// turns, ways with values of their own, loads, and a barrier.
TEST_F(ScalarComparison, EveryThreadWritesTheSequenceThatItWritesWithoutScalarization) {
  const std::string text = kernel_text(".param .u64 data, .param .u32 n", R"(
      ld.param.u64 %rd1, [data];
      ld.param.u32 %r1, [n];
      mov.u32 %r2, %tid.x;
      mov.u32 %r3, %ctaid.x;
      mul.wide.u32 %rd2, %r2, 4;
      add.u64 %rd2, %rd1, %rd2;
      mov.u32 %r4, 0;
      mov.u32 %r5, 3;
LOOP: add.u32 %r4, %r4, 1;
      mad.lo.u32 %r5, %r5, %r4, %r3;
      and.b32 %r6, %r2, 7;
      setp.lt.u32 %p1, %r4, %r6;
      @%p1 bra LOOP;
      mov.u32 %r7, 5;
      setp.lt.u32 %p2, %r2, 11;
      @%p2 bra OTHER;
      mul.lo.u32 %r7, %r7, %r1;
      mov.u32 %r8, %r7;
      add.u32 %r9, %r8, %r2;
      bra JOIN;
OTHER: ld.global.u32 %r8, [%rd1];
      add.u32 %r8, %r8, %r7;
      add.u32 %r9, %r8, %r2;
JOIN: bar.sync 0;
      mul.lo.u32 %r10, %r1, 3;
      setp.gt.u32 %p3, %r10, 5;
      @%p3 add.u32 %r10, %r10, %r1;
      add.u32 %r9, %r9, %r10;
      add.u32 %r9, %r9, %r5;
      st.global.u32 [%rd2+4], %r9;
      ret;)");
  for (const char* machine : {"spatial", "temporal"}) {
    const Work work = [&](GpuBench& bench) {
      bench.load(text);
      bench.run({1, 1, 1}, {70, 1, 1}, runtime::Arguments().add(bench.zeros(1024)).add(4u));
    };
    const Work with = [&](GpuBench& bench) {
      work(bench);
      if (bench.sum_over_sms({"scalar", "instructions"}) == 0) throw std::runtime_error("nothing is scalar");
    };
    EXPECT_EQ(compare(text, {std::string("datapath.kind=") + machine}, work, with), "") << machine;
  }
}

TEST(ScalarCheck, IsRefusedWhereThereIsNothingToLookAt) {
  const auto said = [](const char* kind, bool functional) {
    return apart([&]() -> std::string {
      runtime::DeviceOptions options;
      options.check = scalar_check();
      options.functional.all = functional;
      try {
        const GpuBench bench({std::string("scalarization.kind=") + kind}, "gtx480", options);
      } catch (const InputError& error) {
        return error.what();
      }
      return "";
    });
  };
  EXPECT_THAT(said("off", false),
              HasSubstr("found scalar with scalarization.kind = off; allowed: restricted, full"));
  EXPECT_THAT(said("full", true), HasSubstr("found scalar for a run without timing"));
  EXPECT_EQ(said("full", false), "");
}

}  // namespace
}  // namespace weft::test::scalar_check_test
