// Each mistake that --check memory knows, seeded once: reported with thread, PC, line and allocation;
// corrected: not a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "check/check_bench.h"
#include "default_addresses.h"
#include "weft/common/error.h"
#include "weft/memory/memory_image.h"

namespace weft::test::memory_check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const check::Options kMemory{true, false, 16};

class MemoryCheck : public ::testing::TestWithParam<Mode> {
 protected:
  static std::string run(const std::function<void(GpuBench&)>& work, const check::Options& check = kMemory) {
    return reports_of(GetParam(), check, work);
  }
  // One block of 32 threads; %r1 = thread, %rd1 = the argument.
  static std::string kernel(const std::string& body, const std::string& variables = "") {
    return kernel_text(".param .u64 data",
                       variables + "ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x;\n" + body + "\nret;");
  }
  static std::string once(const std::string& text, std::uint64_t bytes, bool written) {
    return run([&](GpuBench& bench) {
      bench.load(text);
      const auto data = bench.device.allocate(bytes);
      if (written) bench.device.fill(data, 1, bytes);
      bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(data));
    });
  }
  static std::string at(const std::string& text, ptx::Opcode op, unsigned n = 0) {
    return ", pc " + std::to_string(pc_of(text, op, n)) + ", k.ptx:";
  }
};

TEST_P(MemoryCheck, OutOfBoundsOfAnAllocation) {
  const std::string address = "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n";
  const std::string text = kernel(address + "st.global.u32 [%rd1], %r1;");
  EXPECT_THAT(once(text, 40, true),
              AllOf(StartsWith("out of bounds | 22 | k: thread (10,0,0) of block (0,0,0)"),
                    HasSubstr(at(text, ptx::Opcode::kSt)), HasSubstr("store of 4 bytes"),
                    HasSubstr("0 bytes after the end of allocation 1 (40 bytes at 0x"),
                    HasSubstr("allocated before launch 1")));
  EXPECT_EQ(once(kernel(address + "setp.lt.u32 %p1, %r1, 10; @%p1 st.global.u32 [%rd1], %r1;"), 40, true),
            "");
}

TEST_P(MemoryCheck, RefusedAccessesDoNotHappen) {
  // The load keeps %r2 as it was; the store does not reach what lies behind the allocation.
  const std::string text = kernel(R"(
  mov.u32 %r2, 77; add.u32 %r1, %r1, 9;
  ld.global.u32 %r2, [%rd1+40];
  st.global.u32 [%rd1+44], %r1;
  st.global.u32 [%rd1], %r2;)");
  const std::string got = run([&](GpuBench& bench) {
    bench.load(text);
    const auto data = bench.device.allocate(40);
    bench.device.fill(data, 0, 40);
    bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(data));
    std::uint32_t value = 0, behind = 0;
    bench.device.copy_from(&value, data, 4);
    std::memcpy(&behind, bench.device.gpu().memory().data() + (data - kDeviceBase) + 44, 4);
    throw SimulatedFault(std::to_string(value) + " " + std::to_string(behind));
  });
  EXPECT_THAT(got,
              AllOf(StartsWith("fault: 77 0\nout of bounds | 1 | "), HasSubstr("\nout of bounds | 1 | ")));
}

TEST_P(MemoryCheck, UseAfterFree) {
  const std::string text = kernel("ld.global.u32 %r2, [%rd1+8]; st.global.u32 [%rd1], %r2;");
  const auto work = [&](bool freed) {
    return run([&, freed](GpuBench& bench) {
      bench.load(text);
      const auto data = bench.zeros(64);
      const auto other = bench.zeros(64);  // keeps the page mapped
      bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(other));
      if (freed) bench.device.free(data);
      bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(data));
    });
  };
  EXPECT_THAT(work(true), AllOf(StartsWith("use after free | 1 | k: thread (0,0,0) of block (0,0,0)"),
                                HasSubstr("load of 4 bytes"), HasSubstr("byte 8 of allocation 1 (64 bytes"),
                                HasSubstr("allocated before launch 1, freed after launch 1)")));
  EXPECT_EQ(work(false), "");
}

TEST_P(MemoryCheck, Misaligned) {
  const std::string text = kernel("add.u64 %rd1, %rd1, 2; ld.global.u32 %r2, [%rd1];");
  EXPECT_THAT(once(text, 64, true),
              AllOf(StartsWith("misaligned | 32 | "), HasSubstr("byte 2 of allocation 1")));
  EXPECT_EQ(once(kernel("add.u64 %rd1, %rd1, 4; ld.global.u32 %r2, [%rd1];"), 64, true), "");
}

TEST_P(MemoryCheck, UninitialisedGlobalMemory) {
  const std::string text = kernel("ld.global.u32 %r2, [%rd1];");
  EXPECT_THAT(once(text, 64, false), StartsWith("uninitialised read | 32 | "));
  EXPECT_EQ(once(text, 64, true), "") << "the host wrote it";
  EXPECT_EQ(once(kernel("st.global.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1];"), 64, false), "");
  // A part of what is read is not enough.
  EXPECT_THAT(once(kernel("st.global.u8 [%rd1], %r1; ld.global.u16 %r2, [%rd1];"), 64, false),
              StartsWith("uninitialised read | 32 | "));
}

TEST_P(MemoryCheck, AtomicsReadAndWrite) {
  const std::string text = kernel("red.global.add.u32 [%rd1], %r1; ld.global.u32 %r2, [%rd1];");
  EXPECT_THAT(once(text, 4, false),
              AllOf(StartsWith("uninitialised read | 1 | k: thread (0,0,0)"), HasSubstr("atomic")));
  EXPECT_EQ(once(text, 4, true), "");
}

TEST_P(MemoryCheck, UninitialisedAndOutOfBoundsSharedMemory) {
  const std::string box = ".shared .align 4 .b8 box[128];\n";
  const std::string address = "shl.b32 %r2, %r1, 2; mov.u32 %r3, box; add.u32 %r3, %r3, %r2;\n";
  EXPECT_THAT(once(kernel(address + "ld.shared.u32 %r4, [%r3];", box), 4, true),
              AllOf(StartsWith("uninitialised read | 32 | "),
                    HasSubstr("0x0 in the block's shared memory of 128 bytes")));
  EXPECT_EQ(once(kernel(address + "st.shared.u32 [%r3], %r1; ld.shared.u32 %r4, [%r3];", box), 4, true), "");
  EXPECT_THAT(once(kernel(address + "st.shared.u32 [%r3+4], %r1;", box), 4, true),
              AllOf(StartsWith("out of bounds | 1 | k: thread (31,0,0)"),
                    HasSubstr("0x80 in the block's shared memory of 128 bytes")));
}

TEST_P(MemoryCheck, SharedMemoryOfANewBlockIsUninitialised) {
  const std::string text = kernel(R"(
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 st.shared.u32 [box], %r1;
  ld.shared.u32 %r3, [box];)",
                                  ".shared .align 4 .b8 box[4];\n");
  EXPECT_THAT(run([&](GpuBench& bench) {
                bench.load(text);
                bench.run({40, 1, 1}, {1, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
              }),
              StartsWith("uninitialised read | 39 | "));
}

TEST_P(MemoryCheck, UninitialisedLocalMemory) {
  const std::string mine = ".local .align 4 .b8 mine[16];\n";
  const std::string odd = "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;\n";
  EXPECT_THAT(
      once(kernel(odd + "@%p1 st.local.u32 [mine+8], %r1; ld.local.u32 %r3, [mine+8];", mine), 4, true),
      AllOf(StartsWith("uninitialised read | 16 | k: thread (0,0,0)"),
            HasSubstr("local memory of 16 bytes")));
  EXPECT_EQ(once(kernel("st.local.u32 [mine+8], %r1; ld.local.u32 %r3, [mine+8];", mine), 4, true), "");
}

TEST_P(MemoryCheck, OneVariableDoesNotReachIntoTheNext) {
  const std::string header = ".version 7.0\n.target sm_70\n.address_size 64\n";
  const std::string text = header + R"(
.visible .global .align 4 .b8 first[4];
.visible .global .align 4 .u32 second = 5;
.visible .entry k() {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u64 %rd1, first;
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r1, [second];
  ld.global.u32 %r1, [%rd1+4];
  ret;
})";
  EXPECT_THAT(run([&](GpuBench& bench) {
                bench.load(text);
                bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments());
              }),
              AllOf(StartsWith("out of bounds | 1 | "),
                    HasSubstr("0 bytes after the end of variable first (4 bytes")));
}

TEST_P(MemoryCheck, EndsTheLaunchAfterEnoughReports) {
  const std::string text = kernel(
      "ld.global.u32 %r2, [%rd1+64]; ld.global.u32 %r2, [%rd1+68]; st.global.u32 [%rd1], %r1; "
      "ld.global.u32 %r2, [%rd1+72];");
  const std::string got = run(
      [&](GpuBench& bench) {
        bench.load(text);
        bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(bench.zeros(64)));
      },
      {true, false, 2});
  EXPECT_THAT(got,
              AllOf(StartsWith("fault: stopped by --check after 2 reports"),
                    HasSubstr(at(text, ptx::Opcode::kLd, 2)), Not(HasSubstr(at(text, ptx::Opcode::kLd, 3)))));
}

// Allocations and variables of round sizes, by one behind each end, in each width.
TEST_P(MemoryCheck, ByOneBehindARoundSize) {
  for (const unsigned size : {16u, 64u, 256u, 512u, 4096u, 65536u}) {
    for (const char* type : {"u8", "u16", "u32", "u64", "v2.u64"}) {
      const bool vector = type[0] == 'v';
      const unsigned bytes = vector ? 16 : static_cast<unsigned>(std::stoi(type + 1)) / 8;
      for (const bool stores : {false, true}) {
        const std::string value = vector ? "{%rd4, %rd5}" : bytes == 8 ? "%rd4" : bytes == 4 ? "%r2" : "%rs1";
        const std::string place = "[%rd1+" + std::to_string(size) + "]";
        const std::string text =
            kernel("mov.u16 %rs1, 1;\n" +
                   (stores ? "st.global." + std::string(type) + " " + place + ", " + value
                           : "ld.global." + std::string(type) + " " + value + ", " + place) +
                   ";");
        const std::string found = run([&](GpuBench& bench) {
          bench.load(text);
          const auto data = bench.zeros(size);
          bench.zeros(size);  // the next one
          bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(data));
        });
        EXPECT_THAT(found, AllOf(StartsWith("out of bounds | 1 | "),
                                 HasSubstr("0 bytes after the end of allocation 1 (" + std::to_string(size))))
            << type << (stores ? " stored" : " loaded") << ", " << size << " bytes";
      }
    }
  }
}

TEST_P(MemoryCheck, ByOneBehindAVariableOfARoundSize) {
  const std::string text = kernel("mov.u64 %rd3, first;\nld.global.u32 %r2, [%rd3+256];");
  const std::size_t entry = text.find(".visible .entry");
  const std::string with_variables = text.substr(0, entry) +
                                     ".visible .global .align 4 .b8 first[256];\n"
                                     ".visible .global .align 4 .b8 second[256];\n" +
                                     text.substr(entry);
  EXPECT_THAT(
      run([&](GpuBench& bench) {
        bench.load(with_variables);
        bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
      }),
      AllOf(StartsWith("out of bounds | 1 | "), HasSubstr("0 bytes after the end of variable first")));
}

// --- asynchronous copies ---

class CopyCheck : public MemoryCheck {
 protected:
  // %r3: 16 bytes of shared memory for each thread, %rd2: 16 bytes of the argument.
  static std::string copies(const std::string& body) {
    const std::string text = kernel(R"(
  shl.b32 %r2, %r1, 4; mov.u32 %r3, box; add.u32 %r3, %r3, %r2;
  mul.wide.u32 %rd2, %r1, 16; add.u64 %rd2, %rd1, %rd2;
)" + body,
                                    ".shared .align 16 .b8 box[512];\n");
    return replace_target(text);
  }
  static std::string replace_target(std::string text) {
    const std::string old = ".target sm_70";
    return text.replace(text.find(old), old.size(), ".target sm_80");
  }
  static std::string found(const std::string& body) { return once(copies(body), 512, true); }
};

TEST_P(CopyCheck, ReadsBeforeTheirCopysWait) {
  const std::string wait_all = "cp.async.wait_all;\n", commit = "cp.async.commit_group;\n";
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (const char* cache : {"ca", "cg"}) {
      if (std::string(cache) == "cg" && bytes != 16) continue;
      const std::string copy =
          "cp.async." + std::string(cache) + ".shared.global [%r3], [%rd2], " + std::to_string(bytes) + ";\n";
      for (const char* use : {"ld.shared.u32 %r4, [%r3];", "st.shared.u32 [%r3], %r1;",
                              "atom.shared.add.u32 %r4, [%r3], 1;", "ld.shared.u8 %r4, [%r3+3];"}) {
        const std::string name = copy + use;
        const auto is_found = AllOf(StartsWith("copy under way | 32 | k: thread (0,0,0)"),
                                    HasSubstr("before the thread has waited for an asynchronous copy"));
        EXPECT_THAT(found(copy + use), is_found) << name;
        EXPECT_THAT(found(copy + commit + use), is_found) << name;
        EXPECT_THAT(found(copy + commit + "cp.async.wait_group 1;\n" + use), is_found) << name;
        // What is not in a group yet, wait_group does not wait for.
        EXPECT_THAT(found(copy + "cp.async.wait_group 0;\n" + use), is_found) << name;
        EXPECT_EQ(found(copy + wait_all + use), "") << name;
        EXPECT_EQ(found(copy + commit + "cp.async.wait_group 0;\n" + use), "") << name;
        // An older group, and the last one goes on.
        EXPECT_EQ(found(copy + commit + commit + "cp.async.wait_group 1;\n" + use), "") << name;
      }
    }
  }
}

// A buffer is read while the next one is copied.
TEST_P(CopyCheck, TwoBuffers) {
  const std::string body =
      "cp.async.ca.shared.global [%r3], [%rd2], 8;\ncp.async.commit_group;\n"
      "cp.async.ca.shared.global [%r3+8], [%rd2+8], 8;\ncp.async.commit_group;\n"
      "cp.async.wait_group 1;\nld.shared.u64 %rd4, [%r3];\n";
  EXPECT_EQ(found(body + "cp.async.wait_group 0;\nld.shared.u64 %rd4, [%r3+8];"), "");
  EXPECT_THAT(found(body + "ld.shared.u64 %rd4, [%r3+8];"), StartsWith("copy under way | 32 | "));
}

INSTANTIATE_TEST_SUITE_P(Modes, CopyCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Modes, MemoryCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test::memory_check_test
