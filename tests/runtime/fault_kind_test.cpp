// What kind a fault is, by the SMs and by the engine without timing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/programs/fault_kernels.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::runtime::fault_kind_test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kAllocated = 0x1'0000'0000;  // the first allocation

struct Case {
  const char* kernel;
  std::uint64_t at;
  FaultKind kind;
  const char* text;
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.kernel << " at " << one.at;
}

const Case kCases[] = {
    {"store_at", 0, FaultKind::kIllegalAddress, "is not in global memory"},
    {"store_at", kAllocated + 0x1000'0000, FaultKind::kIllegalAddress, "any allocation of global memory"},
    {"store_at", kAllocated + 2, FaultKind::kMisalignedAddress, "is not aligned to 4 bytes"},
    {"store_local", 8, FaultKind::kIllegalAddress, "the thread's local memory (8 bytes)"},
    {"store_local", 2, FaultKind::kMisalignedAddress, "is not aligned to 4 bytes"},
    {"store_shared", 8, FaultKind::kIllegalAddress, "shared memory (8 bytes)"},
    {"store_shared", 2, FaultKind::kMisalignedAddress, "is not aligned to 4 bytes"},
    {"atomic_on_local", 0, FaultKind::kIllegalAddressSpace, "allowed: global and shared memory"},
    {"reduce_on_local", 0, FaultKind::kIllegalAddressSpace, "allowed: global and shared memory"},
    {"load_texture", 77, FaultKind::kIllegalInstruction, "0x4d is no texture object"},
    {"no_barrier", 0, FaultKind::kIllegalInstruction, "barrier"},
    {"wrong_mask", 0, FaultKind::kIllegalInstruction, "not in its own member mask"},
    {"wild_call", 0x1004, FaultKind::kInvalidPc, "is not the address of a function"},
    {"wild_branch", 0, FaultKind::kInvalidPc, "the list has 2 targets"},
    {"too_deep", 0, FaultKind::kStackOverflow, "overflow the thread's stack"},
    {"wild_and_recursive", 0, FaultKind::kStackOverflow, "overflow the thread's stack"},
    {"wild_and_recursive", 1 << 20, FaultKind::kIllegalAddress, "is not in the thread's local memory"},
    {"trapped", 0, FaultKind::kTrap, "trap"},
    {"breakpoint", 0, FaultKind::kTrap, "brkpt"},
    {"asserted", 0, FaultKind::kAssert, "x==:7: x==: assertion `x==` failed"},
    {"wild_free", kAllocated, FaultKind::kInvalidFree, "no allocation of the device heap"},
    {"deadlock", 0, FaultKind::kHang, "hangs"},
};

class FaultKinds : public ::testing::TestWithParam<std::tuple<Case, bool>> {};

TEST_P(FaultKinds, OfEachKernel) {
  const auto& [expected, functional] = GetParam();
  DeviceOptions options;
  options.functional.all = functional;
  Device device(load_config("gtx480", {"sm.count=1", "watchdog.cycles=20000"}), options);
  ASSERT_EQ(device.allocate(4096), kAllocated);
  LoadedModule& module = device.load_module(kFaultKernels, "faults.ptx");
  device.launch(module, expected.kernel, {1, 1, 1}, {32, 1, 1}, Arguments().add(expected.at));
  EXPECT_EQ(device.gpu().fault_kind(), FaultKind::kNone);
  try {
    device.synchronise();
    ADD_FAILURE() << "no fault";
  } catch (const SimulatedFault& fault) {
    EXPECT_THAT(fault.what(), HasSubstr(expected.text));
  }
  EXPECT_EQ(device.gpu().fault_kind(), expected.kind);
  device.reset();
  EXPECT_EQ(device.gpu().fault_kind(), FaultKind::kNone);
}

INSTANTIATE_TEST_SUITE_P(All, FaultKinds, ::testing::Combine(::testing::ValuesIn(kCases), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).kernel) + "_" +
                                  std::to_string(info.index / 2) +
                                  (std::get<1>(info.param) ? "_functional" : "_timed");
                         });

TEST(FaultKind, OfALaunchThatIsStopped) {
  DeviceOptions options;
  options.max_cycles = 1000;
  Device device(load_config("gtx480", {"sm.count=1"}), options);
  LoadedModule& module = device.load_module(kFaultKernels, "faults.ptx");
  device.launch(module, "forever", {1, 1, 1}, {32, 1, 1}, Arguments().add(std::uint64_t{0}));
  EXPECT_THROW(device.synchronise(), LaunchAbandoned);
  EXPECT_EQ(device.gpu().fault_kind(), FaultKind::kStopped);
}

}  // namespace
}  // namespace weft::runtime::fault_kind_test
