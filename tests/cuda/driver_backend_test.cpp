// CUDA programs over the kernel's driver: unmodified programs do the same there as over the simulator. The
// driver and the GPU behind it are in the process (device_stand_in.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/process.h"

namespace weft::driver_backend_test {
namespace {

using end_to_end::Exit;
using end_to_end::Folder;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// Leaves the effective configuration of the GPU in r/config.json.
Exit simulated(const Folder& folder, const std::string& program) {
  return end_to_end::weft({"cuda", "--quiet", "--out", folder.path("r"), "--set", "sm.count=2", "--set",
                           "watchdog.cycles=100000", "--", program});
}

// `more`: further settings.
Exit behind_driver(const Folder& folder, const std::string& program, const nlohmann::json& more = {}) {
  nlohmann::json settings{{"backend", "driver"},
                          {"device", folder.path("r/config.json")},
                          {"config", folder.path("r/config.json")}};
  if (!more.is_null()) settings.update(more);
  return end_to_end::run("/usr/bin/env",
                         {std::string("LD_PRELOAD=") + DEVICE_STAND_IN, "WEFT_TEST_BEHIND_DRIVER=1",
                          "WEFT_CUDA=" + settings.dump(), program});
}

struct Program {
  const char* path;
  bool prints_times = false;
};

class Programs : public ::testing::TestWithParam<Program> {};

TEST_P(Programs, DoTheSameAsOverTheSimulator) {
  const Folder folder;
  const Exit expected = simulated(folder, GetParam().path);
  ASSERT_EQ(expected.code, 0) << expected.err;
  const Exit found = behind_driver(folder, GetParam().path);
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("all as expected"));
  if (GetParam().prints_times) return;
  EXPECT_EQ(found.out, expected.out);
}

INSTANTIATE_TEST_SUITE_P(Cuda, Programs,
                         ::testing::Values(Program{DRIVER_BASICS}, Program{DRIVER_FAULTS},
                                           Program{DRIVER_PER_THREAD}, Program{DRIVER_THREADS, true},
                                           Program{DRIVER_WORK}, Program{RUNTIME_BASICS},
                                           Program{RUNTIME_STREAMS}, Program{RUNTIME_UNIFIED, true},
                                           Program{RUNTIME_VERSION12}),
                         [](const auto& program) {
                           const std::string path = program.param.path;
                           return path.substr(path.rfind('/') + 1);
                         });

TEST(DriverBackend, NamesTheThreadThatFaulted) {
  const Folder folder;
  ASSERT_EQ(simulated(folder, DRIVER_FAULTS).code, 0);
  const Exit exit = behind_driver(folder, DRIVER_FAULTS);
  EXPECT_THAT(exit.err,
              HasSubstr("weft: a kernel faulted: store_at: thread (0,0,0) of block (0,0,0), pc 2, module "
                        "1:14:3: there is no memory at this address; the access is to 0x0\n"));
  EXPECT_THAT(exit.err, HasSubstr("a kernel faulted: deadlock: hangs"));
}

// Kernels, copies and fills have times of the GPU, near those of the simulator.
TEST(DriverBackend, KeepsTimes) {
  const Folder folder;
  ASSERT_EQ(simulated(folder, RUNTIME_BASICS).code, 0);
  const auto expected = folder.json("r/stats.json")["by_name"];
  const Exit exit = behind_driver(folder, RUNTIME_BASICS, {{"out", folder.path("d")}});
  ASSERT_EQ(exit.code, 0) << exit.err;
  const auto found = folder.json("d/stats.json")["by_name"];
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, entry] : expected.items()) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_EQ(found[name]["calls"], entry["calls"]) << name;
    const double ratio = found[name]["total_ns"].get<double>() / entry["total_ns"].get<double>();
    EXPECT_GT(ratio, 0.5) << name;
    EXPECT_LT(ratio, 2) << name;
  }
  EXPECT_EQ(folder.text("d/config.json"), folder.text("r/config.json"));
  EXPECT_FALSE(folder.has("d/launches.csv"));  // of the simulator only
}

TEST(DriverBackend, RefusesWhatOnlyTheSimulatorHas) {
  const Folder folder;
  ASSERT_EQ(simulated(folder, RUNTIME_BASICS).code, 0);
  const Exit checks = behind_driver(folder, RUNTIME_BASICS, {{"check", {"memory"}}});
  EXPECT_NE(checks.code, 0);
  EXPECT_THAT(checks.err, HasSubstr("WEFT_CUDA: check: cannot be used with the GPU's driver; allowed with "
                                    "\"backend\": \"simulator\""));
  const Exit images = behind_driver(folder, DRIVER_IMAGES);
  EXPECT_NE(images.code, 0);
  EXPECT_THAT(images.err, HasSubstr("arrays, textures and surfaces are provided by the simulator in the "
                                    "program's own process only"));
  const Exit other = behind_driver(folder, RUNTIME_BASICS, {{"set", {"sm.count=3"}}});
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.err, HasSubstr("the GPU has sm.count 2, the configuration 3; needed: the GPU's effective "
                                   "configuration"));
}

}  // namespace
}  // namespace weft::driver_backend_test
