// Debian's kernel in QEMU with the GPU, its driver, and CUDA programs in the guest (docs/linux.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::linux_guest_test {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using end_to_end::patient;
using end_to_end::weft;
using testing::AllOf;
using testing::HasSubstr;

class LinuxGuest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("qemu-system-x86_64 -version 2> /dev/null | grep -q 'version [1-7][.]'") != 0)
      GTEST_SKIP() << "no qemu-system-x86_64 whose x-pci-proxy-dev works without KVM";
  }

  // Boots with a program and its arguments. `more` are options of `weft soc`.
  Exit boot(const std::vector<std::string>& program, const std::vector<std::string>& added = {},
            const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{WEFT_BUILD, folder_.path("guest")};
    for (const std::string& file : added) words.insert(words.end(), {"--add", file});
    words.insert(words.end(), program.begin(), program.end());
    const Exit made = end_to_end::run(WEFT_SOURCE "/platform/linux/guest/make_guest", words, patient(300));
    EXPECT_EQ(made.code, 0) << made.err;
    return boot_again(more);
  }
  Exit boot_again(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"soc",
                                   "--config",
                                   "linux",
                                   "--firmware",
                                   folder_.path("guest/vmlinuz"),
                                   "--initrd",
                                   folder_.path("guest/initrd"),
                                   "--out",
                                   folder_.path("results")};
    words.insert(words.end(), more.begin(), more.end());
    return weft(words, patient(300));
  }

  const Folder folder_;
};

TEST_F(LinuxGuest, RunsACudaProgram) {
  const Exit exit = boot({WEFT_DEMO});
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  EXPECT_THAT(exit.out, AllOf(HasSubstr("vector_add: 100000 elements, 0 wrong"),
                              HasSubstr("thread 7 of block 0 was here"), HasSubstr("all results are right"),
                              HasSubstr("the guest's clock")));
  const auto stats = folder_.json("results/stats.json");
  EXPECT_EQ(stats["statistics"]["gpu"]["launches"], 3);  // one of the library
  EXPECT_GT(stats["soc"]["cpu"]["interrupts"], 0);
  EXPECT_GT(stats["guest_seconds"], 1);
}

// With interrupts, and by polls.
TEST_F(LinuxGuest, ProcessesShareTheGpuAndOneIsKilled) {
  const Exit exit = boot({WEFT_PROCESSES});
  EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
  EXPECT_THAT(exit.out, AllOf(HasSubstr("interrupts 1"), HasSubstr("all checks passed")));
  const Exit polled = boot_again({"--set", "cpu.qemu.doorbells=false"});
  EXPECT_EQ(polled.code, 0) << polled.out << polled.err;
  EXPECT_THAT(polled.out, AllOf(HasSubstr("interrupts 0"), HasSubstr("all checks passed")));
}

// How the guest ends is the run's exit code.
TEST_F(LinuxGuest, EndsAsItsProgramDoes) {
  EXPECT_EQ(boot({"sh", "-c", "exit 9"}).code, 9);
  EXPECT_EQ(boot({"poweroff", "-f"}).code, 0);
  const Exit panic = boot({"sh", "-c", "echo c > /proc/sysrq-trigger"});
  EXPECT_EQ(panic.code, 3) << panic.out;
  EXPECT_THAT(panic.err, HasSubstr("the guest has restarted, as after a panic of its kernel"));
  const Exit slow = boot_again({"--set", "cpu.qemu.boot_seconds=0.5"});
  EXPECT_EQ(slow.code, 3) << slow.out;
  EXPECT_THAT(slow.err, HasSubstr("the guest did not ask for the GPU's registers within 0.5 s"));
}

// Boots do not hang, whatever the host does meanwhile.
TEST_F(LinuxGuest, BootsTwentyTimes) {
  ASSERT_EQ(boot({"grep", "-c", "weft", "/proc/interrupts"}).code, 0);
  for (int i = 1; i < 20; ++i) {
    const Exit exit = boot_again();
    EXPECT_EQ(exit.code, 0) << exit.out << exit.err;
    EXPECT_THAT(exit.out, HasSubstr("\n32\r\n"));  // an interrupt of each queue
  }
}

}  // namespace
}  // namespace weft::linux_guest_test
