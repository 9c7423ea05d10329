// The way of a launch to a GPU and back, with functions in place of the driver's and host memory in place of
// the GPU's.
#include "silicon/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <map>

#include "weft/platform/gpu_config.h"
#include "workloads/workload.h"

namespace weft::test::replay_test {
namespace {

using Address = unsigned long long;
constexpr std::uint64_t kBytes = 1u << 26;

// What a GPU of this test does wrong, so that one sees whose results are checked.
float error_of_last_sum = 0;
std::array<unsigned, 6> shape{};

int succeed() {
  return 0;
}
int error_string(int, const char** text) {
  *text = "refused";
  return 0;
}
int init(unsigned) {
  return 0;
}
int number(int* value) {
  *value = 13000;
  return 0;
}
int get_device(int* device, int) {
  *device = 0;
  return 0;
}
int get_name(char* name, int bytes, int) {
  std::strncpy(name, "the test's", static_cast<std::size_t>(bytes));
  return 0;
}
int get_attribute(int* value, int, int) {
  *value = 9;
  return 0;
}
int retain_context(void** context, int) {
  *context = context;
  return 0;
}
int allocate(Address* address, std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *address = reinterpret_cast<Address>(memory);
  return memory == MAP_FAILED ? 2 : 0;
}
void* at(Address address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
int copy_to(Address to, const void* from, std::size_t bytes) {
  std::memcpy(at(to), from, bytes);
  return 0;
}
int copy_from(void* to, Address from, std::size_t bytes) {
  std::memcpy(to, at(from), bytes);
  return 0;
}
int load(void** module, const void* image, unsigned, int*, void**) {
  *module = const_cast<void*>(image);
  return 0;
}
int get_function(void** function, void* module, const char* name) {
  *function = module;
  return std::strstr(static_cast<const char*>(module), name) == nullptr ? 500 : 0;
}
int get_global(Address*, std::size_t*, void*, const char*) {
  return 500;
}
// c = a + b, of n floats.
int launch(void*, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned, void*,
           void** arguments, void**) {
  shape = {x, y, z, bx, by, bz};
  std::array<float*, 3> arrays{};
  for (std::size_t i = 0; i < 3; ++i) std::memcpy(static_cast<void*>(&arrays[i]), arguments[i], 8);
  int count = 0;
  std::memcpy(&count, arguments[3], 4);
  for (int i = 0; i < count; ++i) arrays[2][i] = arrays[0][i] + arrays[1][i];
  arrays[2][count - 1] += error_of_last_sum;
  return 0;
}

int set_attribute(void*, int, int) {
  return 0;
}
int unload(void*) {
  return 0;
}
int free_memory(Address) {
  return 0;
}

void* symbol(const char* name) {
  static const std::map<std::string, void*> functions = {
      {"cuGetErrorString", reinterpret_cast<void*>(error_string)},
      {"cuInit", reinterpret_cast<void*>(init)},
      {"cuDriverGetVersion", reinterpret_cast<void*>(number)},
      {"cuDeviceGet", reinterpret_cast<void*>(get_device)},
      {"cuDeviceGetName", reinterpret_cast<void*>(get_name)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(get_attribute)},
      {"cuDevicePrimaryCtxRetain", reinterpret_cast<void*>(retain_context)},
      {"cuDevicePrimaryCtxReset_v2", reinterpret_cast<void*>(init)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(unload)},
      {"cuCtxSynchronize", reinterpret_cast<void*>(succeed)},
      {"cuMemAlloc_v2", reinterpret_cast<void*>(allocate)},
      {"cuMemFree_v2", reinterpret_cast<void*>(free_memory)},
      {"cuMemcpyHtoD_v2", reinterpret_cast<void*>(copy_to)},
      {"cuMemcpyDtoH_v2", reinterpret_cast<void*>(copy_from)},
      {"cuModuleLoadDataEx", reinterpret_cast<void*>(load)},
      {"cuModuleUnload", reinterpret_cast<void*>(unload)},
      {"cuModuleGetFunction", reinterpret_cast<void*>(get_function)},
      {"cuModuleGetGlobal_v2", reinterpret_cast<void*>(get_global)},
      {"cuFuncSetAttribute", reinterpret_cast<void*>(set_attribute)},
      {"cuLaunchKernel", reinterpret_cast<void*>(launch)}};
  const auto found = functions.find(name);
  return found == functions.end() ? nullptr : found->second;
}

workloads::Result vector_add(silicon::Replay& replay) {
  runtime::DeviceOptions options;
  options.functional.all = true;
  options.observer = &replay;
  runtime::Device device(load_config("gtx480", replay.settings()), options);
  replay.observe(device);
  const auto workload = workloads::find("vector_add");
  replay.begin(workload->code().ptx);
  return workloads::run(*workload, device, workloads::values_of(*workload, "n=1000"), workload->code());
}

TEST(Replay, LaunchesWhatTheWorkloadLaunches) {
  silicon::Replay replay(symbol, kBytes);
  EXPECT_TRUE(vector_add(replay).verified);
  EXPECT_THAT(shape, ::testing::ElementsAre(4, 1, 1, 256, 1, 1));
  ASSERT_EQ(replay.launches().size(), 1u);
  EXPECT_THAT(replay.launches()[0].kernel, ::testing::HasSubstr("vector_add"));
  EXPECT_EQ(replay.launches()[0].blocks, 4u);
  EXPECT_EQ(replay.launches()[0].threads, 256u);
}

TEST(Replay, ChecksWhatTheGpuHasComputed) {
  silicon::Replay replay(symbol, kBytes);
  error_of_last_sum = 1;
  const workloads::Result result = vector_add(replay);
  EXPECT_FALSE(result.verified);
  EXPECT_THAT(result.message, ::testing::HasSubstr("differ first at 999"));
}

}  // namespace
}  // namespace weft::test::replay_test
