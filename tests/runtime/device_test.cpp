// The device over a whole simulated GPU, with kernels small enough to read.
#include "weft/runtime/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <random>

#include "default_addresses.h"
#include "execute/device_memory_view.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"

namespace weft::runtime::device_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr const char* kHeader = ".version 6.0\n.target sm_35\n.address_size 64\n";

// out[global thread] = factor * global thread
const std::string kScale = std::string(kHeader) + R"(
.visible .entry scale(.param .u64 out, .param .u32 factor) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [factor];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  mul.lo.u32 %r5, %r5, %r1;
  st.global.u32 [%rd3], %r5;
  ret;
})";

// Adds %tid to a module variable through an array of local memory, so that every thread needs its own.
const std::string kLocal = std::string(kHeader) + R"(
.visible .global .align 4 .u32 offset = 1000;
.visible .entry spill(.param .u64 out) {
  .local .align 4 .b8 box[16];
  .reg .b32 %r<6>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u64 %rd2, box;
  st.local.u32 [%rd2+8], %r1;
  bar.sync 0;
  ld.local.u32 %r2, [%rd2+8];
  ld.global.u32 %r3, [offset];
  add.u32 %r2, %r2, %r3;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r2;
  ret;
})";

const std::string kForever = std::string(kHeader) + R"(
.visible .entry forever(.param .u64 out) {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
again:
  st.global.u32 [%rd1], %r1;
  bra again;
})";

GpuConfig small_config() {
  return load_config("gtx480", {"sm.count=2"});
}

std::vector<std::uint32_t> read(const Device& device, Address from, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  device.copy_from(words.data(), from, count * 4);
  return words;
}

TEST(Device, RunsLaunchesInOrder) {
  Device device(small_config(), {});
  constexpr std::uint64_t kThreads = 3 * 96;
  const Address out = device.allocate(kThreads * 4);
  auto& module = device.load_module(kScale, "scale.ptx");
  for (const std::uint32_t factor : {7u, 3u}) {
    device.launch(module, "scale", {3, 1, 1}, {96, 1, 1}, Arguments().add(out).add(factor));
  }
  device.synchronise();
  std::vector<std::uint32_t> want(kThreads);
  for (std::uint32_t i = 0; i < kThreads; ++i) want[i] = 3 * i;
  EXPECT_EQ(read(device, out, kThreads), want);
  EXPECT_GT(device.effort().cpu_seconds, 0);
  EXPECT_TRUE(device.gpu().idle());
}

TEST(Device, PlacesVariablesAndLocalMemory) {
  Device device(small_config(), {});
  const Address out = device.allocate(256);
  auto& module = device.load_module(kLocal, "local.ptx");
  std::uint64_t bytes = 0;
  const Address offset = device.symbol(module, "offset", &bytes);
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(read(device, offset, 1).front(), 1000u);
  const std::uint32_t changed = 500;
  device.copy_to(offset, &changed, 4);
  device.launch(module, "spill", {1, 1, 1}, {64, 1, 1}, Arguments().add(out));
  device.synchronise();
  std::vector<std::uint32_t> want(64);
  std::iota(want.begin(), want.end(), 500u);
  EXPECT_EQ(read(device, out, 64), want);
}

TEST(Device, RefusesLaunchesThatTheKernelDoesNotTake) {
  Device device(small_config(), {});
  auto& module = device.load_module(kScale, "scale.ptx");
  const Address out = device.allocate(4);
  EXPECT_THAT(
      [&] { device.launch(module, "shrink", {1, 1, 1}, {1, 1, 1}, {}); },
      Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("shrink"), HasSubstr("scale")))));
  EXPECT_THAT(
      [&] { device.launch(module, "scale", {1, 1, 1}, {1, 1, 1}, Arguments().add(out)); },
      Throws<InputError>(Property(&InputError::what, HasSubstr("got 1 arguments; the kernel takes 2"))));
  const auto arguments = Arguments().add(out).add(std::uint32_t{1});
  EXPECT_THROW(device.launch(module, "scale", {0, 1, 1}, {1, 1, 1}, arguments), InputError);
  EXPECT_THROW(device.launch(module, "scale", {1, 1, 1}, {1u << 16, 1u << 16, 1}, arguments), InputError)
      << "threads per block must not wrap around";
  EXPECT_THROW(device.launch(module, "scale", {1, 1, 1}, {2048, 1, 1}, arguments), InputError);
  device.launch(module, "scale", {1, 1, 1}, {1, 1, 1}, arguments);
  device.synchronise();
}

TEST(Device, ChecksCopiesAgainstAllocations) {
  Device device(small_config(), {});
  const Address a = device.allocate(100);
  std::vector<std::uint8_t> bytes(300, 1);
  EXPECT_THROW(device.copy_to(a, bytes.data(), 101), InputError);
  EXPECT_THROW(device.copy_from(bytes.data(), a - 4, 4), InputError);
  EXPECT_THROW(device.fill(0, 0, 1), InputError);
  device.fill(a, 0x5a, 100);
  device.copy_from(bytes.data(), a, 100);
  EXPECT_EQ(bytes[99], 0x5a);
  EXPECT_EQ(bytes[100], 1);
  device.free(a);
  EXPECT_THROW(device.copy_from(bytes.data(), a, 1), InputError);
}

TEST(Device, RoomBeforeTheFirstAllocation) {
  constexpr std::uint64_t kRoom = 16 * kPageBytes;
  DeviceOptions options;
  options.leading_room = kRoom;
  Device device(load_config("gtx480", {"sm.count=1"}), options);
  const auto load_from = [&](Address address) {
    auto& module = device.load_module(R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry load(.param .u64 from) {
  .reg .b32 %r<1>; .reg .b64 %rd<1>;
  ld.param.u64 %rd0, [from];
  ld.global.u32 %r0, [%rd0];
  ret;
})",
                                      "load.ptx");
    device.launch(module, "load", {1, 1, 1}, {32, 1, 1}, Arguments().add(address));
    device.synchronise();
  };
  for (int life = 0; life < 2; ++life) {
    const Address first = device.allocate(256);
    EXPECT_EQ(first, kDeviceBase + kRoom);
    std::uint32_t word = 0;
    EXPECT_THROW(device.copy_from(&word, first - 512, 4), InputError);  // it is no allocation
    load_from(first - 512);
    load_from(kDeviceBase);
    EXPECT_THROW(load_from(kDeviceBase - 512), SimulatedFault);
    device.reset();
  }
}

// Allocations from 256 bytes to some pages come and go; kernels reach exactly the pages that hold one.
TEST(Device, MapsThePagesOfItsAllocations) {
  Device device(load_config("gtx480", {"sm.count=1"}), DeviceOptions());
  std::map<Address, std::uint64_t> live;
  std::mt19937 random(3);
  for (unsigned turn = 0; turn < 400; ++turn) {
    if (live.empty() || random() % 16 < (turn < 200 ? 9 : 6)) {
      const std::uint64_t bytes = random() % 4 == 0 ? random() % (4 * kPageBytes) + 1 : random() % 512 + 1;
      live[device.allocate(bytes)] = bytes;
    } else {
      const auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      device.free(victim->first);
      live.erase(victim);
    }
    const auto view = device.gpu().memory_view();
    std::vector<std::uint8_t> expected(400);
    for (const auto& [address, bytes] : live) {
      const std::uint64_t first = address - kDeviceBase;
      for (std::uint64_t page = first / kPageBytes; page <= (first + bytes - 1) / kPageBytes; ++page)
        expected.at(page) = 1;
    }
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), view.mapped)) << "turn " << turn;
  }
}

TEST(Device, RefusesRoomThatIsNoPagesOrAllOfMemory) {
  for (const std::uint64_t room : {std::uint64_t{100}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    DeviceOptions options;
    options.leading_room = room;
    EXPECT_THROW(Device(load_config("gtx480", {}), options), InputError) << room;
  }
}

TEST(Device, StopsExactlyAtTheCycleLimit) {
  DeviceOptions options;
  options.max_cycles = 12'345;
  Device device(small_config(), options);
  const Address out = device.allocate(4);
  device.launch(device.load_module(kForever, "forever.ptx"), "forever", {1, 1, 1}, {32, 1, 1},
                Arguments().add(out));
  EXPECT_THAT([&] { device.synchronise(); },
              Throws<LaunchAbandoned>(Property(&LaunchAbandoned::what, HasSubstr("--max-cycles"))));
  EXPECT_GE(device.gpu().totals().cycles, 12'345u);
  EXPECT_LE(device.gpu().totals().cycles, 12'347u);
  EXPECT_THROW(device.synchronise(), LaunchAbandoned) << "a stopped device stays stopped";
}

TEST(Device, AbandonsALaunchWhenInterrupted) {
  DeviceOptions options;
  int polls = 0;
  options.interrupted = [&] { return ++polls > 3; };
  Device device(small_config(), options);
  const Address out = device.allocate(4);
  device.launch(device.load_module(kForever, "forever.ptx"), "forever", {1, 1, 1}, {32, 1, 1},
                Arguments().add(out));
  EXPECT_THROW(device.synchronise(), LaunchAbandoned);
  EXPECT_EQ(polls, 4);
}

TEST(Device, ReportsAFaultAndWorksAgainAfterReset) {
  Device device(small_config(), {});
  const Address out = device.allocate(256);
  auto& module = device.load_module(kScale, "scale.ptx");
  device.launch(module, "scale", {1, 1, 1}, {32, 1, 1}, Arguments().add(out + (1u << 30)).add(1u));
  EXPECT_THAT([&] { device.synchronise(); },
              Throws<SimulatedFault>(Property(&SimulatedFault::what, HasSubstr("scale.ptx"))));
  device.reset();
  const Address again = device.allocate(256);
  EXPECT_EQ(again, out) << "a reset device allocates as a new one";
  device.launch(device.load_module(kScale, "scale.ptx"), "scale", {1, 1, 1}, {32, 1, 1},
                Arguments().add(again).add(5u));
  device.synchronise();
  EXPECT_EQ(read(device, again, 32).back(), 31u * 5);
}

// Each thread has `values` values at once and stores their sum, in an order of its own choosing.
std::string sums(const std::string& name, unsigned values, const std::string& directives = "",
                 const std::string& variables = "") {
  std::string text = ".visible .entry " + name + "(.param .u64 out)\n" + directives + "{\n" + variables +
                     ".reg .b32 %r<200>; .reg .b64 %rd<4>;\n"
                     "ld.param.u64 %rd1, [out]; mov.u32 %r199, %tid.x; mul.wide.u32 %rd2, %r199, 4;\n"
                     "add.u64 %rd3, %rd1, %rd2;\n";
  for (unsigned i = 1; i <= values; ++i)
    text += "mul.lo.u32 %r" + std::to_string(i) + ", %r199, " + std::to_string(i * i) + ";\n";
  for (unsigned i = values; i > 1; --i) text += "sub.u32 %r1, %r" + std::to_string(i) + ", %r1;\n";
  return text + "st.global.u32 [%rd3], %r1;\nret;\n}\n";
}
std::uint32_t sum_of(std::uint32_t thread, std::uint32_t values) {
  std::uint32_t sum = thread;
  for (std::uint32_t i = values; i > 1; --i) sum = thread * i * i - sum;
  return sum;
}

struct SumKernel {
  const char* name;
  unsigned values;
  const char *directives, *variables;
};
constexpr SumKernel kSums[] = {{"few", 4, "", ""},
                               {"some", 30, "", ""},
                               {"many", 60, "", ""},
                               {"very_many", 150, "", ""},
                               {"declared", 30, ".maxntid 20, 10, 1\n", ""},
                               {"asked", 60, ".maxnreg 24\n", ""},
                               {"resident", 60, ".maxntid 256\n.minnctapersm 3\n", ""},
                               {"sharing", 30, "", ".shared .align 4 .b8 table[7000];\n"}};

class Occupancy : public ::testing::TestWithParam<std::string> {};

// What a device says of a kernel is what its launches find; what they keep in local memory changes no result.
TEST_P(Occupancy, ALaunchTakesWhatTheDeviceSaid) {
  Device device(load_config(GetParam(), {"sm.count=2"}), {});
  std::string text = kHeader;
  for (const SumKernel& k : kSums) text += sums(k.name, k.values, k.directives, k.variables);
  auto& module = device.load_module(text, "sums.ptx");
  const Address out = device.allocate(4096);
  for (const SumKernel& k : kSums) {
    const std::uint32_t most = device.most_threads(module, k.name);
    ASSERT_GE(most, 32u) << k.name;
    for (const std::uint32_t threads : {32u, most}) {
      EXPECT_GE(device.blocks_per_sm(module, k.name, threads, 0), 1u) << k.name;
      device.fill(out, 0, 4096);
      device.launch(module, k.name, {1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
      device.synchronise();
      std::vector<std::uint32_t> want(threads);
      for (std::uint32_t i = 0; i < threads; ++i) want[i] = sum_of(i, k.values);
      EXPECT_EQ(read(device, out, threads), want) << k.name;
    }
    EXPECT_EQ(device.blocks_per_sm(module, k.name, most + 1, 0), 0u) << k.name;
    if (most == 1024) continue;
    const bool declared = k.name == std::string("declared") || k.name == std::string("resident");
    EXPECT_THAT(
        [&] { device.launch(module, k.name, {1, 1, 1}, {most + 1, 1, 1}, Arguments().add(out)); },
        Throws<InputError>(Property(&InputError::what, HasSubstr(declared ? ".maxntid" : "--set sm."))))
        << k.name;
  }
  // Only the product counts.
  device.launch(module, "declared", {1, 1, 1}, {8, 25, 1}, Arguments().add(out));
  device.synchronise();
  const machine::SmConfig& sm = device.gpu().config().sm;
  EXPECT_LE(device.program(module, "very_many").registers_per_thread, sm.max_registers_per_thread);
  EXPECT_EQ(device.program(module, "very_many").spill_loads > 0, sm.max_registers_per_thread < 150);
  EXPECT_LE(device.program(module, "asked").registers_per_thread, 24u);
  EXPECT_GE(device.blocks_per_sm(module, "resident", 256, 0), 3u);
}

INSTANTIATE_TEST_SUITE_P(Machines, Occupancy, ::testing::ValuesIn(config_names()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The papers' occupancies are what their compilers made: nothing is spilled, and the limit is the one given.
TEST(Device, SpillsNothingWhereTheRegistersAreGiven) {
  Device device(load_config("stsimt", {"sm.registers_per_thread=20"}), {});
  auto& module = device.load_module(kHeader + sums("many", 200 - 2), "sums.ptx");
  EXPECT_EQ(device.program(module, "many").spill_loads, 0u);
  EXPECT_EQ(device.most_threads(module, "many"), 800u);  // 16384 / (20 x 32) = 25.6 warps
  const Address out = device.allocate(4096);
  EXPECT_THAT([&] { device.launch(module, "many", {1, 1, 1}, {801, 1, 1}, Arguments().add(out)); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("--set sm.registers_per_thread=19"))));
}

// A kernel whose threads need more than the SM has for such a block is decoded once more, and only once.
TEST(Device, DecodesAgainWithFewerRegistersOnce) {
  struct Seen : LaunchObserver {
    std::vector<std::shared_ptr<const ptx::Program>> programs;
    void launching(const dispatch::Launch& launch, const LoadedModule& /*module*/) override {
      programs.push_back(launch.program);
    }
    void synchronised() override {}
  } seen;
  DeviceOptions options;
  options.observer = &seen;
  Device device(load_config("stsimt", {"sm.count=1"}), options);
  auto& module = device.load_module(kHeader + sums("many", 60), "sums.ptx");
  const Address out = device.allocate(4096);
  for (const std::uint32_t threads : {128u, 1024u, 1024u, 256u, 1000u}) {
    device.launch(module, "many", {1, 1, 1}, {threads, 1, 1}, Arguments().add(out));
    device.synchronise();
  }
  ASSERT_EQ(seen.programs.size(), 5u);
  const auto& whole = seen.programs[0];
  EXPECT_EQ(whole.get(), &device.program(module, "many"));
  EXPECT_EQ(whole->spill_loads, 0u);
  EXPECT_GT(whole->registers_per_thread, 60u);
  EXPECT_EQ(seen.programs[3], whole) << "256 threads have 64 registers each";
  EXPECT_LE(seen.programs[1]->registers_per_thread, 16u);
  EXPECT_GT(seen.programs[1]->spill_loads, 0u);
  EXPECT_EQ(seen.programs[2], seen.programs[1]);
  EXPECT_EQ(seen.programs[4], seen.programs[1]) << "1,000 threads are 32 warps, too";
  EXPECT_EQ(read(device, out, 1)[0], sum_of(0, 60));
}

// A register that only some threads have written goes to local memory and comes back for all; that is no read
// of the program's.
TEST(Device, ChecksSayNothingOfSpilledRegisters) {
  DeviceOptions options;
  options.check.memory = true;
  Device device(load_config("gtx480", {"sm.count=1", "sm.max_registers_per_thread=16"}), options);
  std::string text = kHeader;
  text +=
      ".visible .entry k(.param .u64 out) {\n.reg .pred %p<2>; .reg .b32 %r<64>; .reg .b64 %rd<4>;\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 7;\n@%p1 mov.u32 %r50, 5;\n";
  for (unsigned times = 0; times < 4; ++times) {
    for (unsigned i = 1; i <= 30; ++i) text += "add.u32 %r" + std::to_string(i) + ", %r0, 1;\n";
    for (unsigned i = 1; i <= 30; ++i) text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
  }
  text +=
      "selp.u32 %r1, %r50, 9, %p1; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4;\n"
      "add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], %r1; ret;\n}\n";
  auto& module = device.load_module(text, "k.ptx");
  EXPECT_GT(device.program(module, "k").spill_loads, 0u);
  const Address out = device.allocate(128);
  device.launch(module, "k", {1, 1, 1}, {32, 1, 1}, Arguments().add(out));
  device.synchronise();
  EXPECT_EQ(device.reports().size(), 0u) << (device.reports().empty() ? "" : device.reports()[0].text);
  EXPECT_EQ(read(device, out, 8), (std::vector<std::uint32_t>{5, 5, 5, 5, 5, 5, 5, 9}));
}

TEST(ReadText, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT([] { read_text("/nowhere/k.ptx"); },
              Throws<InputError>(Property(&InputError::what,
                                          AllOf(HasSubstr("/nowhere/k.ptx"), HasSubstr("No such file")))));
  EXPECT_THROW(read_text("/"), InputError);
}

}  // namespace
}  // namespace weft::runtime::device_test
