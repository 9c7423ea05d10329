// ld.global.nc: which first-level cache it goes through, by `sm.nc_loads` and by the caches that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "platform/gpu_bench.h"
#include "weft/common/error.h"

namespace weft::test::nc_loads_test {
namespace {

using ::testing::HasSubstr;

struct Element {
  unsigned bytes;
  const char* type_and_registers;
};
const std::vector<Element> kElements = {
    {1, ".u8 %r8,"},
    {1, ".s8 %r8,"},
    {2, ".u16 %rs1,"},
    {4, ".u32 %r8,"},
    {4, ".f32 %f1,"},
    {8, ".u64 %rd6,"},
    {8, ".f64 %fd1,"},
    {4, ".v4.u8 {%r8, %r9, %r10, %r11},"},
    {8, ".v2.f32 {%f1, %f2},"},
    {16, ".v2.u64 {%rd6, %rd7},"},
    {16, ".v4.b32 {%r8, %r9, %r10, %r11},"},
};
const std::vector<std::string> kOperators = {"", ".ca", ".cg", ".cs", ".cv"};

// Thread t loads the t-th element, three times.
std::string kernel(const Element& element, const std::string& modifiers) {
  return kernel_text(".param .u64 data", R"(
  ld.param.u64 %rd3, [data];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd4, %r2, )" + std::to_string(element.bytes) +
                                             R"(;
  add.u64 %rd5, %rd3, %rd4;
)" + repeated(3, "ld.global" + modifiers + element.type_and_registers + " [%rd5];") +
                                             "ret;\n");
}

struct Seen {
  double cycles, l1d, l1t, reads;
};

class Machine {
 public:
  explicit Machine(const std::vector<std::string>& overrides)
      : bench_(overrides), data_(bench_.zeros(4096)) {}
  const machine::SmConfig& sm() { return bench_.device.gpu().config().sm; }
  Seen run(const std::string& text) {
    bench_.load(text);
    once();  // fills the L2
    const Seen before = now();
    const double cycles = once();
    const Seen after = now();
    return {cycles, after.l1d - before.l1d, after.l1t - before.l1t, after.reads - before.reads};
  }

 private:
  double once() {
    return static_cast<double>(
        bench_.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(std::uint64_t{data_})));
  }
  Seen now() {
    const auto memory = [this](statistics::Path path) { return bench_.sum_over_sms(path); };
    return {0, memory({"memory", "l1d", "accesses"}), memory({"memory", "l1t", "accesses"}),
            memory({"memory", "read_requests"})};
  }
  GpuBench bench_;
  const runtime::Address data_;
};

// A warp's requests: aligned blocks from the first byte to the last.
double blocks(const Element& element, std::uint64_t block_bytes) {
  const std::uint64_t whole = (32 * element.bytes + block_bytes - 1) / block_bytes;
  return static_cast<double>(whole);
}

std::string told(const Seen& seen) {
  std::ostringstream text;
  text << "l1d " << seen.l1d << ", l1t " << seen.l1t << ", reads " << seen.reads << ", cycles "
       << seen.cycles;
  return text.str();
}

// nc_loads, with an L1D, with an L1T.
using Setting = std::tuple<const char*, bool, bool>;

class NcLoads : public ::testing::TestWithParam<Setting> {};

TEST_P(NcLoads, GoWhereTheMachineSendsThem) {
  const auto [where, l1d, l1t] = GetParam();
  Machine machine({"sm.count=1", std::string("sm.nc_loads=") + where,
                   std::string("sm.l1d.enabled=") + (l1d ? "true" : "false"),
                   std::string("sm.l1t.enabled=") + (l1t ? "true" : "false")});
  const bool texture = std::string(where) == "l1t";
  const std::uint64_t block = machine.sm().coalescer.block_bytes;
  for (const Element& element : kElements) {
    for (const std::string& op : kOperators) {
      const Seen plain = machine.run(kernel(element, op)), nc = machine.run(kernel(element, op + ".nc"));
      const std::string name =
          op + ".nc" + element.type_and_registers + ": " + told(nc) + "; plain: " + told(plain);
      if (!texture) {
        EXPECT_EQ(told(nc), told(plain)) << name;
        EXPECT_EQ(nc.l1t, 0) << name;
        const bool past_l1 = op == ".cg" || op == ".cv";
        EXPECT_EQ(nc.l1d, l1d && !past_l1 ? 3 * blocks(element, block) : 0) << name;
        if (past_l1) {
          EXPECT_EQ(nc.reads, 3 * blocks(element, block)) << name;
        }
      } else {
        EXPECT_EQ(nc.l1d, 0) << name;
        EXPECT_EQ(nc.l1t, 3 * blocks(element, block)) << name;
        EXPECT_EQ(nc.reads, blocks(element, machine.sm().l1t.tags.line_bytes)) << name;
      }
      EXPECT_EQ(plain.l1t, 0) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, NcLoads,
                         ::testing::Values(Setting{"l1d", true, true}, Setting{"l1d", true, false},
                                           Setting{"l1d", false, true}, Setting{"l1d", false, false},
                                           Setting{"l1t", true, true}, Setting{"l1t", false, true}),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_with_l1d" : "") +
                                  (std::get<2>(info.param) ? "_with_l1t" : "");
                         });

// A request is never larger than what it fetches.
TEST(NcLoadsThroughTexture, ATextureCacheOfShorterLinesFetchesAllThatIsRead) {
  for (const unsigned line : {32u, 64u, 128u}) {
    const std::string reads = apart([line] {
      Machine machine({"sm.count=1", "sm.nc_loads=l1t", "sm.l1t.line_bytes=" + std::to_string(line)});
      std::ostringstream text;
      for (const Element& element : kElements)
        text << machine.run(kernel(element, ".nc")).reads - blocks(element, line);
      return text.str();
    });
    EXPECT_EQ(reads, std::string(kElements.size(), '0')) << line;
  }
}

TEST(NcLoadsThroughTexture, AMachineWithoutATextureCacheMayNotSendThemThere) {
  try {
    load_config("gtx480", {"sm.nc_loads=l1t", "sm.l1t.enabled=false"});
    FAIL() << "not refused";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/sm/nc_loads: found l1t with l1t.enabled = false; allowed: l1d"));
  }
}

}  // namespace
}  // namespace weft::test::nc_loads_test
