// What launches and configurations may be, whoever makes them: by hand, through the device, with and without
// timing, from a struct, from JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/config_reader.h"
#include "default_addresses.h"
#include "functional/engine.h"
#include "platform/gpu_bench.h"
#include "weft/common/error.h"
#include "weft/platform/gpu.h"

namespace weft::test::ranges_test {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Launches by hand: whoever makes one gets the same checks.
class BadLaunch : public ::testing::TestWithParam<bool> {
 protected:
  BadLaunch() : bench_({"sm.count=2"}, "gtx480", options()) {}
  static runtime::DeviceOptions options() {
    runtime::DeviceOptions options;
    options.functional.all = GetParam();
    return options;
  }
  // Of the kernel that has these directives and this body.
  dispatch::Launch launch(const std::string& directives, const std::string& body) {
    std::string text = kernel_text(".param .u64 out", body);
    text.replace(text.find(") {"), 3, ") " + directives + " {");
    module_ = &bench_.device.load_module(text, "k.ptx");
    dispatch::Launch launch;
    launch.program = module_->program("k");
    launch.parameters.resize(8);
    return launch;
  }
  // What refuses it.
  std::string run(const dispatch::Launch& launch) {
    return refusal([&] {
      Gpu& gpu = bench_.device.gpu();
      if (!GetParam()) {
        gpu.prepare(launch);
        return;
      }
      functional::Engine engine(gpu.config().sm, 1400);
      execute::Kernel kernel(launch, gpu.config().sm, 32);
      const Fault fault = engine.run(kernel, gpu.memory_view(), [] { return false; });
      EXPECT_FALSE(fault) << fault.text;
    });
  }
  GpuBench bench_;
  runtime::LoadedModule* module_ = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Engines, BadLaunch, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Functional" : "Timed"; });

TEST_P(BadLaunch, OfABlockThatReqntidForbids) {
  dispatch::Launch given = launch(".reqntid 32, 2", "ret;");
  given.block = {32, 2, 1};
  EXPECT_EQ(run(given), "");
  for (const dispatch::Dim3& block :
       {dispatch::Dim3{32, 1, 1}, {64, 1, 1}, {2, 32, 1}, {32, 2, 2}, {16, 2, 1}}) {
    given.block = block;
    EXPECT_THAT(run(given), HasSubstr("allowed by its .reqntid: 32 x 2 x 1"));
  }
}

TEST_P(BadLaunch, OfMoreThreadsThanMaxntidAllowsInAll) {
  dispatch::Launch given = launch(".maxntid 64, 1, 1", "ret;");
  for (const dispatch::Dim3& block : {dispatch::Dim3{64, 1, 1}, {8, 8, 1}, {1, 1, 64}, {3, 1, 1}}) {
    given.block = block;
    EXPECT_EQ(run(given), "");
  }
  for (const dispatch::Dim3& block : {dispatch::Dim3{65, 1, 1}, {8, 9, 1}, {2, 1, 33}}) {
    given.block = block;
    EXPECT_THAT(run(given), HasSubstr("allowed by its .maxntid: 64"));
  }
  EXPECT_EQ(run(launch(".maxntid 4294967295, 4294967295, 4294967295", "ret;")), "")
      << "no product wraps around";
}

TEST_P(BadLaunch, OfNumbersOutOfRange) {
  const dispatch::Launch good = launch("", "ret;");
  EXPECT_EQ(run(good), "");
  const auto with = [&](const std::function<void(dispatch::Launch&)>& change) {
    dispatch::Launch bad = good;
    change(bad);
    return run(bad);
  };
  EXPECT_THAT(with([](auto& l) { l.grid = {0, 1, 1}; }), HasSubstr("grid.x is 0"));
  EXPECT_THAT(with([](auto& l) { l.grid = {0x80000000, 1, 1}; }), HasSubstr("grid.x is 2147483648"));
  EXPECT_THAT(with([](auto& l) { l.grid = {1, 65536, 1}; }), HasSubstr("grid.y is 65536"));
  EXPECT_THAT(with([](auto& l) { l.block = {1, 1, 65}; }), HasSubstr("block.z is 65"));
  EXPECT_THAT(with([](auto& l) { l.dynamic_shared = UINT64_MAX; }), HasSubstr("dynamic shared memory"));
  EXPECT_THAT(with([](auto& l) { l.stack_bytes = UINT64_MAX; }),
              HasSubstr("a stack of 18446744073709551615"));
  EXPECT_THAT(with([](auto& l) { l.parameters.clear(); }),
              HasSubstr("parameters of 0 bytes; the kernel takes 8"));
}

TEST_P(BadLaunch, OfAddressesOutsideDeviceMemory) {
  dispatch::Launch given =
      launch("", ".local .align 4 .b8 box[64];\nmov.u32 %r1, 1; st.local.u32 [box], %r1; ret;");
  EXPECT_THAT(run(given), HasSubstr("gives no device memory"));
  const std::uint64_t end = kDeviceBase + bench_.device.gpu().config().dram.bytes;
  given.local_address = bench_.device.allocate(bench_.device.gpu().local_memory_bytes(given));
  EXPECT_EQ(run(given), "");
  for (const std::uint64_t address :
       {std::uint64_t{4}, kDeviceBase - 4, kDeviceBase + 2, end - 64, end, UINT64_MAX - 3}) {
    dispatch::Launch bad = given;
    bad.local_address = address;
    EXPECT_THAT(run(bad), HasSubstr("local_address is 0x")) << address;
    bad = given;
    bad.parameter_address = address == end - 64 ? end - 4 : address;
    EXPECT_THAT(run(bad), HasSubstr("parameter_address is 0x")) << address;
    bad = given;
    bad.code_address = address == end - 64 ? end - 4 : address;
    EXPECT_THAT(run(bad), HasSubstr("code_address is 0x")) << address;
  }
}

// What was the hole: a window of 2^64 - 1 bytes over an empty vector.
TEST_P(BadLaunch, ThroughTheDeviceReadsNothingOfTheProcess) {
  auto& module = bench_.device.load_module(kernel_text(".param .u64 out", "ret;"), "k.ptx");
  const auto out = bench_.zeros(4);
  for (const std::uint64_t bytes : {UINT64_MAX, UINT64_MAX - 15, UINT64_MAX - 127, std::uint64_t{49153}}) {
    EXPECT_THAT(refusal([&] {
                  bench_.device.launch(module, "k", {1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(out),
                                       bytes);
                }),
                HasSubstr("bytes of dynamic shared memory, the SM has 49152"));
  }
}

TEST(DeviceOptionsRanges, HoldForWhatAProgramAsksOf) {
  const auto refused = [](const std::function<void(runtime::DeviceOptions&)>& change) {
    runtime::DeviceOptions options;
    change(options);
    return refusal(
        [&] { const runtime::Device device(load_config("gtx480", {"system.enabled=true"}), options); });
  };
  using runtime::DeviceLimits;
  EXPECT_THAT(
      refused([](auto& o) { o.limits.stack_bytes = DeviceLimits::kMostStack + 1; }),
      HasSubstr("stack of a thread: found '524289'; allowed: a whole number from 0 to 524288 (bytes)"));
  for (const std::uint64_t bytes : {DeviceLimits::kMostPrintf + 1, UINT64_MAX})
    EXPECT_THAT(refused([&](auto& o) { o.limits.printf_bytes = bytes; }),
                HasSubstr("output of printf: found"));
  for (const std::uint64_t bytes : {DeviceLimits::kMostHeap + 1, UINT64_MAX})
    EXPECT_THAT(refused([&](auto& o) { o.limits.heap_bytes = bytes; }), HasSubstr("device heap: found"));
  EXPECT_THAT(refused([](auto& o) { o.check.race = true, o.check.reports = 0; }),
              HasSubstr("reports of checks: found '0'"));
  for (const double latency : {-1.0, 1e7, std::nan("")}) {
    EXPECT_THAT(refused([&](auto& o) { o.host_memory.emplace().latency_ns = latency; }),
                HasSubstr("host memory: found"));
  }
  for (const double rate : {0.0, -1.0, 1e7, std::nan("")}) {
    EXPECT_THAT(refused([&](auto& o) { o.host_memory.emplace().bytes_per_ns = rate; }),
                HasSubstr("host memory: found"));
  }
}

TEST(GpuFromAStruct, IsCheckedAsOneFromAFile) {
  const auto refused = [](const std::function<void(GpuConfig&)>& change) {
    GpuConfig config = load_config("gtx480");
    change(config);
    return refusal([&] { const Gpu gpu("gpu", config, {}); });
  };
  EXPECT_EQ(refused([](GpuConfig& c) { c.sm.simd_width = 7; }),
            "gpu: /sm/simd_width: found 7; allowed: 4, 8, 16 and 32");
  EXPECT_EQ(refused([](GpuConfig& c) { c.sm.count = 0; }),
            "gpu: /sm/count: is 0; allowed: an integer from 1 to 256 (SMs)");
  EXPECT_THAT(refused([](GpuConfig& c) { c.clocks.core_mhz = std::nan(""); }),
              HasSubstr("gpu: /clocks/core_mhz: is nan"));
  EXPECT_THAT(refused([](GpuConfig& c) { c.warp_formation.scheme = "magic"; }),
              HasSubstr("/warp_formation/scheme"));
  EXPECT_THAT(refused([](GpuConfig& c) { c.dram.map.channels = 64, c.l2.banks_per_channel = 3; }),
              HasSubstr("L2 banks in total"));
  EXPECT_EQ(refused([](GpuConfig& c) { c.l2.bank.partitions = 2, c.sm.count = 1; }).substr(0, 21),
            "gpu: /l2/partitions: ");
  EXPECT_EQ(refused([](GpuConfig& c) { c.dram.channel.scheduler.pseudo_channels = 3; }),
            "gpu: /dram/pseudo_channels: found 3; allowed: divisors of banks = 16");
}

TEST(Caches, HaveJointLimits) {
  const auto refused = [](const std::vector<std::string>& overrides) {
    return refusal([&] { load_config("gtx480", overrides); });
  };
  EXPECT_EQ(refused({"sm.l1d.sets=64", "sm.l1d.ways=1024"}), "");
  EXPECT_THAT(refused({"sm.l1d.sets=65", "sm.l1d.ways=1024"}),
              AllOf(HasSubstr("--set sm.l1d.sets=65, --set sm.l1d.ways=1024: /sm/l1d/sets: "),
                    HasSubstr("66560 lines")));
  EXPECT_THAT(refused({"sm.l1t.mshr_entries=4096", "sm.l1t.mshr_merges=4096"}),
              HasSubstr("/sm/l1t/mshr_entries"));
  EXPECT_THAT(refused({"l2.sets=1048576", "l2.ways=2", "l2.line_bytes=128"}), HasSubstr("2097152 lines"));
  EXPECT_THAT(refused({"l2.mshr_entries=65536", "l2.mshr_merges=1024"}), HasSubstr("/l2/mshr_entries"));
}

TEST(LoadStoreRules, JoinTheirKeys) {
  const auto refused = [](const std::vector<std::string>& overrides) {
    return refusal([&] { load_config("gtx480", overrides); });
  };
  EXPECT_EQ(refused({"sm.coalescer.scope=beat"}), "");
  EXPECT_THAT(refused({"sm.coalescer.scope=beat", "sm.coalescer.width_threads=8"}),
              AllOf(HasSubstr("/sm/coalescer/width_threads: found 8"), HasSubstr("allowed: 0")));
  EXPECT_EQ(refused({"sm.miss_queue=1"}), "");
  EXPECT_THAT(refused({"sm.miss_queue=1", "sm.l1d.write_policy=back"}),
              AllOf(HasSubstr("/sm/miss_queue: found 1"), HasSubstr("at least 2")));
  EXPECT_EQ(refused({"sm.miss_queue=1", "sm.l1d.write_policy=back", "sm.l1d.enabled=false"}), "");
  EXPECT_THAT(refused({"sm.l1d.write_policy=around"}), AllOf(HasSubstr("through"), HasSubstr("back")));
  EXPECT_THAT(refused({"sm.miss_queue=1", "sm.l1d.write_miss=fetch"}), HasSubstr("at least 2"));
  const std::string block = "sm.coalescer.block_bytes=32", sectors = "sm.l1d.sector_bytes=32";
  EXPECT_EQ(refused({block, sectors}), "");
  EXPECT_THAT(refused({sectors}),
              AllOf(HasSubstr("/sm/l1d/sector_bytes: found 32"), HasSubstr("block_bytes = 128")));
  EXPECT_THAT(refused({block, "sm.l1d.sector_bytes=48"}), HasSubstr("powers of two from 4 to 128"));
  EXPECT_THAT(refused({block, sectors, "sm.l1d.write_policy=back", "sm.miss_queue=2"}),
              HasSubstr("at least 3"));
  EXPECT_THAT(refused({block, sectors, "sm.system_cached=true"}), HasSubstr("/sm/l1d/sector_bytes"));
  EXPECT_THAT(refused({"sm.l1d.merge_loads=false", "sm.l1d.write_miss=fetch"}),
              AllOf(HasSubstr("/sm/l1d/write_miss"), HasSubstr("allowed: around, no_fetch")));
}

// Every integer and real number that a schema has, by its path.
void for_each_number(const nlohmann::ordered_json& schema, const std::string& path,
                     const std::function<void(const std::string&, const nlohmann::ordered_json&)>& visit) {
  for (const auto& [key, entry] : schema.at("properties").items()) {
    const std::string here = path.empty() ? key : path + "." + key;
    if (entry.at("type") == "object") {
      for_each_number(entry, here, visit);
    } else if (entry.at("type") == "integer" || entry.at("type") == "number") {
      visit(here, entry);
    }
  }
}

// Below, at and above its range, negative, huge, and no number: every number of a GPU's configuration.
TEST(ConfigRanges, HoldForEveryNumber) {
  unsigned tried = 0;
  for_each_number(config_schema(), "", [&](const std::string& path, const nlohmann::ordered_json& entry) {
    ++tried;
    const auto set = [&](const std::string& value) {
      return refusal([&] {
        nlohmann::json document = nlohmann::json::object();
        const std::string file = "x.json";
        const std::vector<config::Override> given{config::apply_override(document, path + "=" + value)};
        GpuConfig config;
        config::load(config, document, file, given);
        config.check("");
      });
    };
    ASSERT_TRUE(entry.contains("minimum") && entry.contains("maximum")) << path << " has no bounds";
    const auto low = entry.at("minimum").get<double>(), high = entry.at("maximum").get<double>();
    std::vector<std::string> bad{"-1",   "1e30", "nan", "\"1\"",
                                 "null", "true", "[1]", "99999999999999999999999"};
    if (low < 0) bad.erase(bad.begin());
    if (entry.at("type") == "integer") {
      bad.emplace_back("1.5");
      bad.push_back(std::to_string(entry.at("maximum").get<std::uint64_t>() + 1));
      if (low > 0) bad.push_back(std::to_string(entry.at("minimum").get<std::uint64_t>() - 1));
    } else {
      bad.push_back(nlohmann::json(high * 1.001).dump());
      if (low > 0) bad.push_back(nlohmann::json(low / 2).dump());
    }
    for (const std::string& value : bad) {
      EXPECT_THAT(set(value), AllOf(HasSubstr("--set " + path + "=" + value), HasSubstr("allowed: a")))
          << path << "=" << value;
    }
    // The bounds themselves are in; a rule that joins several values may still refuse them.
    for (const char* bound : {"minimum", "maximum"}) {
      const std::string message = set(entry.at(bound).dump());
      EXPECT_THAT(message,
                  ::testing::Not(AnyOf(HasSubstr("allowed: an integer"), HasSubstr("allowed: a number"))))
          << path << " at its " << bound;
    }
  });
  EXPECT_GT(tried, 100u);
}

}  // namespace
}  // namespace weft::test::ranges_test
