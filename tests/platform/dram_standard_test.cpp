// `dram.standard`: a DRAM as data. And the names of the version before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "folder.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft::test::dram_standard_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string message(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A standard of one's own, in a file of its own.
class DramStandard : public ::testing::Test {
 protected:
  std::string write(const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json standard = nlohmann::json::parse(R"({
      "name": "mine", "about": "a test", "banks": 32, "bank_groups": 8, "pseudo_channels": 1,
      "dual_command": false, "activate_cycles": 1, "t_rrdl": 0, "t_faw": 0, "t_rcdwr": 0, "t_wtrl": 0, "t_rfcpb": 0,
      "burst_length": 4, "beats_per_clock": 2,
      "device_bits": 128, "t_rrd": 4, "t_rcd": 14, "t_ras": 34, "t_rp": 15, "t_rc": 49, "t_cl": 16, "t_wl": 3,
      "t_wr": 17, "t_wtr": 9, "t_rtp": 6, "t_ccd": 2, "t_ccdl": 4, "turnaround": 1, "t_refi": 3900, "t_rfc": 260})");
    change(standard);
    const std::string path = folder_.path("mine.json");
    std::ofstream(path) << standard.dump();
    return path;
  }
  std::string write() const {
    return write([](nlohmann::json&) {});
  }

 private:
  Folder folder_;
};

TEST_F(DramStandard, OfOnesOwnIsOneFile) {
  const GpuConfig config = load_config("gtx480", {"dram.standard=" + write()});
  const dram::Timing& timing = config.dram.channel.scheduler.timing;
  EXPECT_EQ(timing.cl, 16u);
  EXPECT_EQ(timing.rfc, 260u);
  EXPECT_EQ(timing.device_bits, 128u);
  EXPECT_EQ(config.dram.map.banks, 32u);
  EXPECT_EQ(config.dram.channel.scheduler.bank_groups, 8u);
  // What is the machine's stays.
  EXPECT_EQ(timing.devices, 2u);
  EXPECT_EQ(config.dram.channel.extra_latency, 132u);
}

// The file's own values before the standard's; a standard of a setting before the file's values; and settings
// before those of earlier ones.
TEST_F(DramStandard, GivesWayToWhatIsSaidLater) {
  const auto latency = [](const std::vector<std::string>& settings) {
    return load_config("harp-fermi", settings).dram.channel.scheduler.timing.cl;
  };
  const std::string standard = "dram.standard=" + write();
  EXPECT_EQ(latency({}), 10u);  // gddr5 has 12
  EXPECT_EQ(latency({standard}), 16u);
  EXPECT_EQ(latency({standard, "dram.t_cl=7"}), 7u);
  EXPECT_EQ(latency({"dram.t_cl=7", standard}), 16u);
  EXPECT_EQ(latency({standard, "dram.standard=gddr5"}), 12u);
  EXPECT_EQ(latency({R"(dram={"standard": "gddr5", "t_cl": 9})"}), 9u);
}

TEST_F(DramStandard, LeavesAConfigurationThatNeedsNoFile) {
  const GpuConfig config = load_config("gtx480", {"dram.standard=" + write()});
  const nlohmann::ordered_json effective = effective_config(config);
  EXPECT_FALSE(effective["dram"].contains("standard"));
  EXPECT_EQ(effective_config(load_config_document(effective, "again")), effective);
  EXPECT_TRUE(config_schema()["properties"]["dram"]["properties"].contains("standard"));
}

TEST_F(DramStandard, IsRefusedWithTheReason) {
  const auto with = [&](const std::function<void(nlohmann::json&)>& change) {
    const std::string path = write(change);
    return message([&] { load_config("gtx480", {"dram.standard=" + path}); });
  };
  EXPECT_THAT(with([](auto& standard) { standard.erase("t_rp"); }),
              HasSubstr("mine.json: /t_rp: is missing"));
  EXPECT_THAT(with([](auto& standard) { standard["t_rpp"] = 1; }),
              HasSubstr("mine.json: /: unknown key \"t_rpp\""));
  EXPECT_THAT(with([](auto& standard) { standard["t_cl"] = 0; }),
              AllOf(HasSubstr("mine.json: /t_cl"), HasSubstr("1 to 10000")));
  EXPECT_THAT(with([](auto& standard) { standard["t_refi"] = 10; }), HasSubstr("mine.json: /t_refi"));
  EXPECT_THAT(message([] { load_config("gtx480", {"dram.standard=ddr9"}); }),
              AllOf(HasSubstr("--set dram.standard=ddr9"),
                    HasSubstr("known: gddr3, gddr5, gddr6, hbm2, hbm2-2400, hbm3")));
  EXPECT_THAT(message([] { load_config("gtx480", {"dram.standard=3"}); }), HasSubstr("3 (an integer)"));
  // A rule that a value of the standard breaks with one of the machine names both.
  EXPECT_THAT(message([] { load_config("gtx480", {"dram.standard=gddr3", "dram.t_refi=9"}); }),
              AllOf(HasSubstr("/dram/t_refi is from --set dram.t_refi=9"),
                    HasSubstr("/dram/t_rp is from --set dram.standard=gddr3")));
}

// Version 0.1 called the group gddr5.
TEST(RenamedKeys, AreAcceptedWithAWarning) {
  ::testing::internal::CaptureStderr();
  const GpuConfig set = load_config("gtx480", {"gddr5.t_cl=9"});
  const GpuConfig read = load_config_document(nlohmann::json::parse(R"({"gddr5": {"t_cl": 8}})"), "old.json");
  load_config_document(nlohmann::json::parse(R"({"gddr5": {"t_cl": 8}})"), "old.json");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "weft: --set gddr5.t_cl=9: \"gddr5\" is called \"dram\" now; Weft 0.3 will refuse the old name\n"
            "weft: old.json: \"gddr5\" is called \"dram\" now; Weft 0.3 will refuse the old name\n");
  EXPECT_EQ(set.dram.channel.scheduler.timing.cl, 9u);
  EXPECT_EQ(read.dram.channel.scheduler.timing.cl, 8u);
  EXPECT_THAT(message([] {
                load_config_document(nlohmann::json::parse(R"({"gddr5": {}, "dram": {}})"), "both.json");
              }),
              AllOf(HasSubstr("both.json: /gddr5"), HasSubstr("old name of \"dram\"")));
  EXPECT_THAT(message([] { load_config("gtx480", {"gddr55.t_cl=9"}); }), HasSubstr("unknown key \"gddr55\""));
}

}  // namespace
}  // namespace weft::test::dram_standard_test
