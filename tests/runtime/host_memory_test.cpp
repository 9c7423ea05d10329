// The host's own memory as system memory: kernels use the host's pointers.
#include "runtime/host_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::runtime::host_memory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

// out[i] = 2 * in[i] + 5
const std::string kKernel = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd1, %rd1, %rd3;
  add.u64 %rd2, %rd2, %rd3;
  ld.global.u32 %r5, [%rd1];
  mad.lo.u32 %r5, %r5, 2, 5;
  st.global.u32 [%rd2], %r5;
  ret;
})";

struct Bench {
  explicit Bench(const HostLink& host = {}, bool functional = false)
      : device(load_config("gtx480", {"sm.count=4", "system.enabled=true"}),
               [&] {
                 DeviceOptions options;
                 options.host_memory = host;
                 options.functional.all = functional;
                 options.monitors = true;
                 return options;
               }()),
        module(device.load_module(kKernel, "k.ptx")) {}
  std::uint64_t run(std::uint64_t in, std::uint64_t out, std::uint32_t blocks, std::uint32_t threads) {
    const std::uint64_t before = device.gpu().totals().cycles;
    device.launch(module, "k", {blocks, 1, 1}, {threads, 1, 1}, Arguments().add(in).add(out));
    device.synchronise();
    return device.gpu().totals().cycles - before;
  }
  static std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

  Device device;
  LoadedModule& module;
};

TEST(HostMemory, KernelsUseTheHostsPointers) {
  Bench bench;
  std::vector<std::uint32_t> in(1000), out(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) in[i] = i;
  bench.device.share(in.data(), 4 * in.size());
  bench.device.share(out.data(), 4 * out.size());
  bench.run(Bench::address(in.data()), Bench::address(out.data()), 10, 100);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(out[i], 2 * i + 5);
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

TEST(HostMemory, AlsoWithoutTiming) {
  Bench bench({}, true);
  std::vector<std::uint32_t> in(64, 4), out(64);
  bench.device.share(in.data(), 256);
  bench.device.share(out.data(), 256);
  bench.run(Bench::address(in.data()), Bench::address(out.data()), 1, 64);
  EXPECT_EQ(out, std::vector<std::uint32_t>(64, 13));
}

// One thread loads and then stores: twice the latency. 1000 ns are 700 cycles.
TEST(HostMemory, HasALatency) {
  HostLink options;
  options.latency_ns = 500;
  Bench bench(options);
  std::vector<std::uint32_t> host(64);
  bench.device.share(host.data(), 256);
  const std::uint64_t device = bench.device.allocate(256);
  const std::uint64_t place = Bench::address(host.data());
  bench.run(device, device, 1, 1);
  const auto in_device = static_cast<double>(bench.run(device, device, 1, 1));
  const auto in_system = static_cast<double>(bench.run(place, place, 1, 1));
  EXPECT_GT(in_system, 2 * 0.7 * 500);
  EXPECT_LT(in_system, in_device + 2 * 0.7 * 500);
}

// 64 KB over a link of 0.25 bytes per ns are 262,144 ns, or 183,501 cycles at 700 MHz.
TEST(HostMemory, HasABandwidth) {
  HostLink options;
  options.latency_ns = 1;
  options.bytes_per_ns = 0.25;
  Bench bench(options);
  std::vector<std::uint32_t> host(16384 + 32);
  // From a block's boundary on, so that no block is read twice.
  const std::uint64_t place = (Bench::address(host.data()) + 127) / 128 * 128;
  bench.device.share(host.data(), 4 * host.size());
  const std::uint64_t device = bench.device.allocate(65536);
  EXPECT_NEAR(static_cast<double>(bench.run(place, device, 64, 256)), 183'501, 2000);
}

TEST(HostMemory, WhatIsTakenBackIsAFault) {
  Bench bench;
  std::vector<std::uint32_t> host(64);
  const std::uint64_t place = Bench::address(host.data());
  EXPECT_THROW(bench.device.unshare(host.data()), InputError);
  bench.device.share(host.data(), 256);
  EXPECT_THAT([&] { bench.device.share(host.data() + 8, 16); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("overlaps"))));
  bench.run(place, place, 1, 64);
  EXPECT_EQ(host[7], 5u);
  bench.device.unshare(host.data());
  EXPECT_THROW(bench.run(place, place, 1, 64), SimulatedFault);
  bench.device.reset();
  bench.device.share(host.data() + 8, 16);
}

TEST(HostMemory, NeedsTheConfiguration) {
  DeviceOptions options;
  options.host_memory = HostLink();
  EXPECT_THAT([&] { Device device(load_config("gtx480"), options); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("system.enabled"))));
}

TEST(HostMemory, NothingIsSharedWithoutIt) {
  Device device(load_config("gtx480"), {});
  std::uint32_t word = 0;
  EXPECT_THROW(device.share(&word, 4), InputError);
}

}  // namespace
}  // namespace weft::runtime::host_memory_test
