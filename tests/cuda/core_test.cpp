#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cuda/core/error.h"
#include "runtime/cuda/core/settings.h"
#include "weft/common/error.h"

namespace weft::cuda {
namespace {

using ::testing::HasSubstr;

TEST(CudaSettings, TextAndBack) {
  Settings settings;
  settings.backend = Settings::Kind::kDriver;
  settings.device = "/dev/weft1";
  settings.config = "dwr";
  settings.overrides = {"sm.count=2", "name=\"a b\""};
  settings.out = "/tmp/x y";
  settings.summary = settings.functional = settings.instant_copies = true;
  settings.first_launch = 3;
  settings.last_launch = 5;
  settings.profiler_region = true;
  settings.max_cycles = 12345678901;
  settings.max_instructions = 23456789012;
  settings.capability = 90;
  settings.checks = {"memory", "race"};
  settings.check_reports = 4;
  settings.host_wait_ms = 250;
  settings.process = 77;
  const Settings read = parse_settings(to_text(settings));
  EXPECT_EQ(read.config, "dwr");
  EXPECT_EQ(read.backend, settings.backend);
  EXPECT_EQ(read.device, settings.device);
  EXPECT_EQ(read.overrides, settings.overrides);
  EXPECT_EQ(read.out, "/tmp/x y");
  EXPECT_TRUE(read.summary && read.functional && read.instant_copies);
  EXPECT_EQ(read.first_launch, 3u);
  EXPECT_EQ(read.last_launch, 5u);
  EXPECT_TRUE(read.profiler_region);
  EXPECT_EQ(read.max_cycles, 12345678901u);
  EXPECT_EQ(read.max_instructions, 23456789012u);
  EXPECT_EQ(read.capability, 90u);
  EXPECT_EQ(read.checks, settings.checks);
  EXPECT_EQ(read.check_reports, 4u);
  EXPECT_EQ(read.host_wait_ms, 250u);
  EXPECT_EQ(read.process, 77);
}

TEST(CudaSettings, MistakesAreNamed) {
  const auto message = [](const char* text) -> std::string {
    try {
      parse_settings(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("{\"confg\": \"x\"}"), HasSubstr("unknown key 'confg'; known: config, set"));
  EXPECT_THAT(message("gtx480"), HasSubstr("WEFT_CUDA: is not a JSON object"));
  EXPECT_THAT(message("{\"set\": 3}"), HasSubstr("WEFT_CUDA: is not a JSON object"));
  for (const char* value : {"-1", "1.5", "1e300", "18446744073709551616", "\"1\"", "null", "true"}) {
    EXPECT_THAT(message(("{\"max_cycles\": " + std::string(value) + "}").c_str()),
                HasSubstr("WEFT_CUDA: max_cycles: found '"))
        << value;
  }
  for (const char* value : {"-1", "0", "1.5", "18446744073709551616", "\"1\""}) {
    EXPECT_THAT(message(("{\"first_launch\": " + std::string(value) + "}").c_str()),
                HasSubstr("WEFT_CUDA: first_launch: found '"))
        << value;
  }
  EXPECT_EQ(message("{\"capability\": 10}"), "");
  EXPECT_EQ(message("{\"capability\": 999}"), "");
  for (const char* value : {"-1", "9", "1000", "4294967296", "7.5"}) {
    EXPECT_THAT(message(("{\"capability\": " + std::string(value) + "}").c_str()),
                HasSubstr("allowed: a whole number from 10 to 999"))
        << value;
  }
}

TEST(CudaError, NamesOfBothInterfaces) {
  EXPECT_STREQ(describe(700)->runtime_name, "cudaErrorIllegalAddress");
  EXPECT_STREQ(describe(700)->driver_name, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_STREQ(describe(700)->text, "an illegal memory access was encountered");
  EXPECT_STREQ(describe(9)->runtime_name, "cudaErrorInvalidConfiguration");
  EXPECT_EQ(describe(9)->driver_name, nullptr);
  EXPECT_EQ(describe(10), nullptr);
}

// CUDA driver API, CUresult. No fault of a kernel is 703 to 709 or 711 to 713: these are of peers, contexts
// and host memory.
TEST(CudaError, OfEachFault) {
  const auto number = [](FaultKind kind) { return static_cast<int>(error_of(kind)); };
  EXPECT_EQ(number(FaultKind::kNone), 0);
  EXPECT_EQ(number(FaultKind::kIllegalAddress), 700);
  EXPECT_EQ(number(FaultKind::kHang), 702);
  EXPECT_EQ(number(FaultKind::kStopped), 702);
  EXPECT_EQ(number(FaultKind::kAssert), 710);
  EXPECT_EQ(number(FaultKind::kStackOverflow), 714);
  EXPECT_EQ(number(FaultKind::kIllegalInstruction), 715);
  EXPECT_EQ(number(FaultKind::kMisalignedAddress), 716);
  EXPECT_EQ(number(FaultKind::kIllegalAddressSpace), 717);
  EXPECT_EQ(number(FaultKind::kInvalidPc), 718);
  EXPECT_EQ(number(FaultKind::kTrap), 719);
  EXPECT_EQ(number(FaultKind::kInvalidFree), 719);
  for (const int code : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
    ASSERT_NE(describe(code), nullptr) << code;
    EXPECT_NE(describe(code)->driver_name, nullptr) << code;
  }
}

}  // namespace
}  // namespace weft::cuda
