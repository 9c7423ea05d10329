// What `weft cuda` says when something goes wrong: once, and with what helps; and where it finds the program
// among its words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "end_to_end/process.h"
#include "folder.h"

namespace weft::messages_test {
namespace {

using end_to_end::Exit;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

Exit run(const Words& options, const char* what) {
  Words words{"cuda", "--quiet", "--set", "sm.count=1"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", DRIVER_MESSAGES, what});
  return end_to_end::weft(words);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}
std::size_t lines(const Exit& exit) {
  return count(exit.err, "\n");
}

TEST(CudaMessages, WhatCannotRunIsSaidOnceForEachKernel) {
  const Exit instruction = run({}, "instruction");  // five launches of each of two kernels
  EXPECT_EQ(instruction.code, 0) << instruction.err;
  EXPECT_EQ(lines(instruction), 2u) << instruction.err;
  EXPECT_THAT(instruction.err, HasSubstr("wmma"));
  const Exit module = run({}, "module");  // loaded five times
  EXPECT_EQ(module.code, 0) << module.err;
  EXPECT_EQ(count(module.err, "weft: cuModuleLoadData: module "), 1u) << module.err;
}

// However many kernels a program has for newer GPUs, each is named, and what helps is said with the first.
TEST(CudaMessages, WhatHelpsAgainstNewerInstructionsIsSaidOnce) {
  const Exit newer = run({}, "newer instructions");  // five kernels, each launched twice
  EXPECT_EQ(newer.code, 0) << newer.err;
  EXPECT_THAT(newer.out, HasSubstr("5 kernels\n"));
  EXPECT_EQ(lines(newer), 5u) << newer.err;
  EXPECT_EQ(count(newer.err, "-arch=compute_75"), 1u) << newer.err;
  EXPECT_LT(newer.err.find("-arch=compute_75"), newer.err.find('\n')) << newer.err;
  for (const char* what :
       {"wgmma.fence", "wgmma.commit_group", "mbarrier", "cvt with .rs", ".reqnctapercluster"})
    EXPECT_THAT(newer.err, HasSubstr(what));
}

// The setting that the message names is the one with which it works.
TEST(CudaMessages, OfDeviceMemoryNameTheSettingThatHelps) {
  const Exit memory = run({}, "memory");  // 8, 4 and 2 GiB do not fit
  EXPECT_EQ(memory.code, 0) << memory.err;
  EXPECT_EQ(lines(memory), 1u) << memory.err;
  EXPECT_THAT(memory.err, HasSubstr("weft: cuMemAlloc: device memory: asked for 8589934592 bytes; free: "));
  EXPECT_THAT(memory.err, HasSubstr("allowed with --set dram.bytes=8657043456"));
  EXPECT_THAT(run({}, "too much memory").err, HasSubstr("no value of dram.bytes is large enough"));
  const Exit variable = run({"--set", "dram.bytes=67108864"}, "variable");
  EXPECT_THAT(variable.out, HasSubstr("error 2\n"));
  EXPECT_THAT(variable.err, HasSubstr("allowed with --set dram.bytes=134217728"));
  EXPECT_THAT(run({"--set", "dram.bytes=134217728"}, "variable").out, HasSubstr("error 0\n"));
}

TEST(CudaMessages, OfSharedMemoryNameTheSettingThatHelps) {
  const Exit shared = run({}, "shared memory");
  EXPECT_EQ(shared.out, "error 1\nerror 1\nerror 1\nall as expected\n");
  EXPECT_EQ(lines(shared), 1u) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("allowed with --set sm.shared_bytes=98304"));
  const Exit enough = run({"--set", "sm.shared_bytes=98304"}, "shared memory");
  EXPECT_EQ(enough.out, "error 0\nerror 0\nerror 0\nall as expected\n") << enough.err;
  EXPECT_EQ(enough.err, "");
  const Exit attribute = run({}, "attribute");
  EXPECT_EQ(attribute.code, 0) << attribute.err;
  EXPECT_EQ(lines(attribute), 1u) << attribute.err;
  EXPECT_THAT(attribute.err, HasSubstr("found 1001 bytes of dynamic shared memory; allowed: 1000"));
}

TEST(CudaMessages, OfSharedMemoryBeyondTheDefaultNameTheAttributeThatHelps) {
  const test::Folder folder;
  const Exit shared = run({"--set", "sm.shared_bytes=102400", "--set", "sm.default_block_shared_bytes=49152",
                           "--set", "sm.reserved_shared_bytes=1024", "--set", "sm.unified_l1.bytes=131072",
                           "--set", "sm.unified_l1.shared_options_kb=0,8,16,32,64,100", "--set",
                           "sm.l1d.ways=32", "--out", folder.path("run")},
                          "carve-out");
  EXPECT_EQ(shared.code, 0) << shared.err;
  EXPECT_THAT(shared.err, HasSubstr("found 49153 bytes of dynamic shared memory; allowed: 49152, or what the "
                                    "program sets before (cudaFuncAttributeMaxDynamicSharedMemorySize)"));
  // Of four kernels two have large blocks, one prefers half of 100 KB, one has eight blocks of 1 KB.
  const auto statistics = folder.json("run/stats.json").at("devices").at(0).at("statistics");
  EXPECT_EQ(statistics.at("sm0").at("memory").at("shared_options").get<std::vector<unsigned>>(),
            std::vector<unsigned>({0, 1, 0, 0, 1, 2}));
}

// Capability, SMs, clock in kHz, registers, threads of a warp; shared memory of a block, with opt-in, of an
// SM; L2, memory clock in kHz, bus, device memory. NVIDIA's products report these of them: 8.6, 7.0, 9.0;
// 49152; 101376, 98304, 232448; 102400, 98304, 233472; 7001000 and 256 bits; 4096 bits.
TEST(CudaDevice, IsTheMachine) {
  const auto device = [](const Words& options) {
    Words words{"cuda", "--quiet"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", DRIVER_MESSAGES, "device"});
    const Exit exit = end_to_end::weft(words);
    EXPECT_EQ(exit.code, 0) << exit.err;
    return exit.out.substr(0, exit.out.find('\n'));
  };
  EXPECT_EQ(device({"--config", "gtx480"}),
            "7 5 15 700000 32768 32 49152 49152 49152 786432 1848000 384 1610612736");
  EXPECT_EQ(device({"--config", "rtx3070"}),
            "8 6 46 1725000 65536 32 49152 101376 102400 4194304 7000000 256 8589934592");
  EXPECT_EQ(device({"--config", "gv100"}),
            "7 0 80 1380000 65536 32 49152 98304 98304 6291456 877000 4096 17179869184");
  EXPECT_EQ(device({"--config", "h200", "--capability", "8.0"}),
            "8 0 132 1980000 65536 32 49152 232448 233472 61603840 3201000 6016 17179869184")
      << "the option overrides 9.0";
}

TEST(CudaMessages, ACompilerThatDoesWithoutATableIsNoneOfThem) {
  const Exit compiler = run({}, "compiler");
  EXPECT_EQ(compiler.code, 0);
  EXPECT_EQ(compiler.err, "");
}

TEST(CudaMessages, OfWhatTakesTooLongNameTheOptionsThatHelp) {
  for (const Words& options : {Words{"--max-cycles", "20000"}, Words{"--set", "watchdog.cycles=5000"}}) {
    const Exit endless = run(options, "endless");
    EXPECT_EQ(endless.code, 0) << endless.err;
    EXPECT_THAT(endless.err, HasSubstr("weft: --functional runs kernels without timing; --launches N-M and "
                                       "--region profiler time only some of them\n"));
  }
}

// The texts of messages, the README and the handbook name one architecture.
TEST(CudaMessages, NameTheArchitectureOfTheHandbook) {
  unsigned named = 0;
  for (const char* file :
       {"README.md", "docs/your-cuda-program.md", "runtime/cuda/README.md", "runtime/cuda/core/modules.cpp",
        "runtime/cuda/fatbin/fatbin.cpp", "modules/ptx/what_helps.h"}) {
    std::ifstream in(std::string(WEFT_SOURCES) + "/" + file);
    ASSERT_TRUE(in) << file;
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const std::string word = "compute_";
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1), ++named)
      EXPECT_EQ(text.substr(at, word.size() + 2), "compute_75") << file;
  }
  EXPECT_GT(named, 5u);
}

// Without "--" the program is the first word that is neither an option nor an option's value.
TEST(CudaProgram, NeedsNoSeparator) {
  const std::vector<Words> words{{},
                                 {"--quiet"},
                                 {"--config", "gtx480"},
                                 {"--config=gtx480"},
                                 {"--set", "sm.count=1"},
                                 {"--set", "sm.count=1", "sm.observe.instructions=true"},
                                 {"--check", "memory", "race"},
                                 {"--max-cycles", "7", "--quiet"},
                                 {"--launches", "1-2"},
                                 {"--quiet", "--"}};
  for (const Words& options : words) {
    Words all{"cuda"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"/bin/echo", "--config", "x"});
    const Exit exit = end_to_end::weft(all);
    EXPECT_EQ(exit.out, "--config x\n") << ::testing::PrintToString(options) << exit.err;
  }
  EXPECT_THAT(end_to_end::weft({"cuda", "--confg", "gtx480", "/bin/true"}).err, HasSubstr("--confg"));
  for (const char* help : {"--help", "-h"}) EXPECT_EQ(end_to_end::weft({"cuda", help}).code, 0);
}

}  // namespace
}  // namespace weft::messages_test
