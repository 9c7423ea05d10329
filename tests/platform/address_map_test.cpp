// The map of a kernel's generic addresses is the configuration's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <string>

#include "platform/gpu_bench.h"
#include "weft/common/error.h"
#include "weft/runtime/arguments.h"

namespace weft::test::address_map_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// System memory of any size, of which only the pages that are used take memory of the host.
class LargeRam : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<LargeRam> socket;

  LargeRam(sc_core::sc_module_name name, std::uint64_t base, std::uint64_t bytes)
      : sc_module(name), socket("socket"), base_(base), bytes_(bytes) {
    void* const pages =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    data = static_cast<unsigned char*>(pages);
    socket.register_b_transport(this, &LargeRam::transport);
    socket.register_transport_dbg(this, &LargeRam::debug);
  }
  ~LargeRam() override { munmap(data, bytes_); }

  unsigned char* data = nullptr;

 private:
  unsigned debug(tlm::tlm_generic_payload& payload) {
    const std::uint64_t offset = payload.get_address() - base_;
    const unsigned length = payload.get_data_length();
    if (payload.get_address() < base_ || offset + length > bytes_) return 0;
    if (payload.is_write()) std::memcpy(data + offset, payload.get_data_ptr(), length);
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), data + offset, length);
    return length;
  }
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    const bool done = debug(payload) != 0;
    payload.set_response_status(done ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }

  const std::uint64_t base_, bytes_;
};

std::string text_of(const InputError& error) {
  return error.what();
}

std::vector<std::string> with_system(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), {"sm.count=2", "system.enabled=true"});
  return overrides;
}

runtime::DeviceOptions untimed(bool functional) {
  runtime::DeviceOptions options;
  options.functional.all = functional;
  options.monitors = true;
  return options;
}

class OnBothEngines : public ::testing::TestWithParam<bool> {};

// 0x8000'0000 to 0x1'8000'0000 is one window; device memory lies behind it.
TEST_P(OnBothEngines, FourGibibytesAreOneWindow) {
  constexpr std::uint64_t kRam = 0x8000'0000, kBytes = 4 * kGiB, kDevice = 0x1'8000'0000;
  GpuBench bench(with_system({"addresses.device_base=" + std::to_string(kDevice)}), "gtx480",
                 untimed(GetParam()));
  LargeRam ram("ram", kRam, kBytes);
  Gpu& gpu = bench.device.gpu();
  gpu.dma_socket.bind(ram.socket);
  gpu.add_system_window(kRam, kBytes);
  EXPECT_EQ(gpu.device_base(), kDevice);
  ram.data[0] = 17;
  ram.data[kBytes - 1] = 130;
  const runtime::Address out = bench.zeros(8);
  EXPECT_GE(out, kDevice);
  EXPECT_LT(out, kDevice + kGiB);
  bench.load(kernel_text(".param .u64 first, .param .u64 last, .param .u64 out", R"(
  ld.param.u64 %rd1, [first];
  ld.param.u64 %rd2, [last];
  ld.param.u64 %rd3, [out];
  ld.global.u8 %r1, [%rd1];
  ld.u8 %r2, [%rd2];
  add.u32 %r3, %r1, 1;
  st.global.u8 [%rd2], %r3;
  st.global.u32 [%rd3], %r1;
  st.global.u32 [%rd3+4], %r2;
  ret;)"));
  bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kRam).add(kRam + kBytes - 1).add(out));
  EXPECT_THAT(bench.read(out, 2), ::testing::ElementsAre(17u, 130u));
  EXPECT_EQ(ram.data[kBytes - 1], 18);
  EXPECT_EQ(gpu.violations(), "");
}

// cvta, isspacep and generic accesses follow the windows; where these lie by default is system memory now.
TEST_P(OnBothEngines, SharedAndLocalWindowsMove) {
  constexpr std::uint64_t kShared = 3 * kGiB, kLocal = 5 * kGiB, kRam = 0x0100'0000, kBytes = 0x0200'0000;
  GpuBench bench(
      with_system({"addresses.device_base=1073741824", "dram.bytes=16777216",
                   "addresses.shared_base=" + std::to_string(kShared),
                   "addresses.local_base=" + std::to_string(kLocal), "addresses.window_bytes=2147483648"}),
      "gtx480", untimed(GetParam()));
  LargeRam ram("ram", kRam, kBytes);
  bench.device.gpu().dma_socket.bind(ram.socket);
  bench.device.gpu().add_system_window(kRam, kBytes);
  ram.data[0] = 5;
  ram.data[0x0100'0000] = 6;
  const runtime::Address out = bench.zeros(64);
  bench.load(kernel_text(".param .u64 ram, .param .u64 out", R"(
  .shared .align 8 .b8 held[64];
  .local .align 8 .b8 own[64];
  ld.param.u64 %rd1, [ram];
  ld.param.u64 %rd2, [out];
  ld.u8 %r1, [%rd1];
  ld.u8 %r2, [%rd1+16777216];
  add.u32 %r3, %r1, %r2;
  mov.u64 %rd3, held;
  cvta.shared.u64 %rd4, %rd3;
  mov.u64 %rd5, own;
  cvta.local.u64 %rd6, %rd5;
  st.u32 [%rd4+8], %r3;
  ld.shared.u32 %r4, [held+8];
  add.u32 %r4, %r4, 100;
  st.u32 [%rd6+12], %r4;
  ld.local.u32 %r5, [own+12];
  cvta.to.shared.u64 %rd7, %rd4;
  sub.u64 %rd7, %rd7, %rd3;
  isspacep.shared %p1, %rd4;
  isspacep.local %p2, %rd6;
  isspacep.shared %p3, %rd1;
  isspacep.global %p4, %rd1;
  selp.u32 %r6, 1, 0, %p1;
  selp.u32 %r7, 2, 0, %p2;
  selp.u32 %r8, 4, 0, %p3;
  selp.u32 %r9, 8, 0, %p4;
  add.u32 %r6, %r6, %r7;
  add.u32 %r6, %r6, %r8;
  add.u32 %r6, %r6, %r9;
  st.global.u64 [%rd2], %rd4;
  st.global.u64 [%rd2+8], %rd6;
  st.global.u64 [%rd2+16], %rd7;
  st.global.u32 [%rd2+24], %r5;
  st.global.u32 [%rd2+28], %r6;
  ret;)"));
  bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(kRam).add(out));
  const auto words = bench.read(out, 8);
  const auto wide = [&](unsigned i) { return words[i] | std::uint64_t{words[i + 1]} << 32; };
  EXPECT_GE(wide(0), kShared);
  EXPECT_LT(wide(0), kShared + 64);
  EXPECT_GE(wide(2), kLocal);
  EXPECT_LT(wide(2), kLocal + 1024);
  EXPECT_EQ(wide(4), 0u);
  EXPECT_EQ(words[6], 111u);
  EXPECT_EQ(words[7], 1u + 2 + 8);
  EXPECT_EQ(bench.device.gpu().violations(), "");
}

INSTANTIATE_TEST_SUITE_P(AddressMap, OnBothEngines, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "functional" : "timed"; });

// Both names and both ranges.
TEST(AddressMap, OverlapsAreRefused) {
  const auto config = [](const std::vector<std::string>& overrides) {
    return [overrides] { load_config("gtx480", overrides); };
  };
  EXPECT_THAT(config({"addresses.local_base=16777216"}),
              Throws<InputError>(Property(
                  &InputError::what,
                  AllOf(HasSubstr("addresses/local_base"), HasSubstr("0x1000000 to 0x1ffffff"),
                        HasSubstr("the window of local memory"), HasSubstr("the window of shared memory"),
                        HasSubstr("addresses.shared_base")))));
  // Device memory of 1.5 GiB.
  EXPECT_THAT(config({"addresses.shared_base=5368709120"}),
              Throws<InputError>(Property(
                  &InputError::what,
                  AllOf(HasSubstr("addresses/shared_base"), HasSubstr("0x140000000 to 0x140ffffff"),
                        HasSubstr("device memory, 0x100000000 to "), HasSubstr("addresses.device_base")))));
  EXPECT_THAT(config({"addresses.device_base=4294967297"}),
              Throws<InputError>(Property(&InputError::what, HasSubstr("a multiple of 4096"))));
  EXPECT_THAT(config({"addresses.device_base=0"}),
              Throws<InputError>(Property(&InputError::what, HasSubstr("4096"))));
  EXPECT_THAT(config({"addresses.window_bytes=4096"}),
              Throws<InputError>(Property(&InputError::what, HasSubstr("16777216"))));
}

TEST(AddressMap, WindowsOfSystemMemoryKeepOffIt) {
  GpuBench bench(with_system({"addresses.device_base=6442450944", "dram.bytes=16777216"}));
  Gpu& gpu = bench.device.gpu();
  const auto refusal = [&](std::uint64_t base, std::uint64_t bytes) {
    try {
      gpu.add_system_window(base, bytes);
    } catch (const InputError& error) {
      return text_of(error);
    }
    return std::string();
  };
  EXPECT_EQ(refusal(0x8000'0000, 4 * kGiB + 4096),
            "system memory window: found 0x80000000 to 0x180000fff, which overlaps device memory, "
            "0x180000000 to 0x180ffffff (addresses.device_base)");
  EXPECT_EQ(refusal(0x00ff'f000, 8192),
            "system memory window: found 0xfff000 to 0x1000fff, which overlaps the window of shared memory, "
            "0x1000000 to 0x1ffffff (addresses.shared_base)");
  EXPECT_EQ(refusal(0x8000'0000, 4 * kGiB), "");
  EXPECT_EQ(refusal(0x1'0000'0000, 4096),
            "system memory window: found 0x100000000 to 0x100000fff, which overlaps another window, "
            "0x80000000 to 0x17fffffff");
}

}  // namespace
}  // namespace weft::test::address_map_test
