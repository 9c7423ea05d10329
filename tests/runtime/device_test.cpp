// The device over a whole simulated GPU, with kernels small enough to read.
#include "runtime/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "platform/gpu_config.h"

namespace weft::runtime {
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
  EXPECT_THAT([&] { device.launch(module, "scale", {1, 1, 1}, {1, 1, 1}, Arguments().add(out)); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("got 1 arguments; it takes 2"))));
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

TEST(ReadText, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT([] { read_text("/nowhere/k.ptx"); },
              Throws<InputError>(Property(&InputError::what,
                                          AllOf(HasSubstr("/nowhere/k.ptx"), HasSubstr("No such file")))));
  EXPECT_THROW(read_text("/"), InputError);
}

}  // namespace
}  // namespace weft::runtime
