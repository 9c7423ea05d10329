// The workloads' CUDA sources, compiled for the host, as an oracle for Weft: each launch runs on both, from
// the same image of device memory with the same arguments, and must leave the same image. The host's copy of
// the image lies at the addresses that the device has, so that pointers mean the same.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "default_addresses.h"
#include "host_cuda/grid.h"
#include "host_cuda/kernels.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "workloads/workload.h"

namespace weft::host_cuda {
namespace {

constexpr std::size_t kImageBytes = std::size_t{16} << 20;

// Memory of the host at fixed addresses.
class FixedMemory {
 public:
  FixedMemory(std::uint64_t address, std::size_t bytes) : bytes_(bytes) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the address is the point.
    data_ = mmap(reinterpret_cast<void*>(address), bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (data_ == MAP_FAILED) throw std::runtime_error("the device's addresses are taken on this host");
  }
  ~FixedMemory() { munmap(data_, bytes_); }
  FixedMemory(const FixedMemory&) = delete;
  FixedMemory& operator=(const FixedMemory&) = delete;
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }

 private:
  void* data_;
  std::size_t bytes_;
};

// Runs what the device is asked to run, and compares when the device is done.
class HostTwin : public runtime::LaunchObserver {
 public:
  // float_tolerance: 32-bit words may differ if both are floats this close. 0: all bytes are equal.
  explicit HostTwin(double float_tolerance)
      : tolerance_(float_tolerance), memory_(kDeviceBase, kImageBytes) {}
  void observe(runtime::Device& device) { device_ = &device; }

  void launching(const dispatch::Launch& launch, const runtime::LoadedModule& module) override {
    const std::uint8_t* image = device_->gpu().memory().data();
    if (synchronised_) {
      std::memcpy(memory_.data(), image, kImageBytes);
    } else {  // what earlier launches write, the host's image has already; this launch brings its parameters
      const std::uint64_t offset = launch.parameter_address - kDeviceBase;
      std::memcpy(memory_.data() + offset, image + offset, launch.parameters.size());
    }
    synchronised_ = false;
    const HostKernel& kernel = host_kernel(launch.program->name);
    for (const auto& [name, variable] : kernel.variables) {
      std::uint64_t bytes = 0;
      const std::uint64_t address = module.address_of(name, &bytes);
      ASSERT_EQ(bytes, variable.bytes) << name;
      std::memcpy(variable.data, memory_.data() + (address - kDeviceBase), bytes);
    }
    kernel.run(launch);
    ++launches_;
  }

  void synchronised() override {
    synchronised_ = true;
    if (!difference_.empty()) return;
    const std::uint8_t* image = device_->gpu().memory().data();
    for (std::size_t at = 0; at < kImageBytes; at += 4) {
      if (std::memcmp(image + at, memory_.data() + at, 4) == 0 || is_close(image + at, memory_.data() + at))
        continue;
      std::uint32_t device = 0, host = 0;
      std::memcpy(&device, image + at, 4);
      std::memcpy(&host, memory_.data() + at, 4);
      difference_ = "after launch " + std::to_string(launches_) + " the images differ first at +" +
                    std::to_string(at) + ": the device has " + std::to_string(device) + ", the host " +
                    std::to_string(host);
      return;
    }
  }

  int launches() const { return launches_; }
  const std::string& difference() const { return difference_; }  // the first one, in words

 private:
  bool is_close(const std::uint8_t* a, const std::uint8_t* b) const {
    if (tolerance_ == 0) return false;
    float device = 0, host = 0;
    std::memcpy(&device, a, 4);
    std::memcpy(&host, b, 4);
    return std::fabs(double{device} - host) <= tolerance_;
  }

  double tolerance_;
  FixedMemory memory_;
  runtime::Device* device_ = nullptr;
  bool synchronised_ = true;
  int launches_ = 0;
  std::string difference_;
};

// Floats in general are contracted to fma in PTX, not on the host. Sums and products of the other workloads
// are exact. coulombic_potential: recursive summation of n terms, each at most 1 since the distance is at
// least 1, errs by up to n u times n (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2; u
// = 2^-24), a term by a few u more; on two machines twice that. n = 50 in the small size.
double tolerance_of(const std::string& workload) {
  return workload == "coulombic_potential" ? 2 * (50 + 16) * 50 * 0x1p-24 : 0;
}

// AddressSanitizer has its shadow where the device has its memory.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kAddressesAreFree = false;
#else
constexpr bool kAddressesAreFree = true;
#endif

struct Outcome {
  workloads::Result result;
  int launches = 0;
  std::string difference;
};

// Runs the small size of a workload on the device and on the host.
Outcome run_both(const std::string& name, const std::function<void(workloads::Code&)>& change) {
  HostTwin twin(tolerance_of(name));
  runtime::DeviceOptions options;
  options.observer = &twin;
  // No register is spilled to memory of the device, which the host does not have.
  runtime::Device device(load_config("gtx480", {"sm.count=4", "dram.bytes=" + std::to_string(kImageBytes),
                                                "sm.max_registers_per_thread=255"}),
                         options);
  twin.observe(device);
  const auto workload = workloads::find(name);
  workloads::Code code = workload->code();
  change(code);
  const auto result = workload->run(device, workloads::values_of(*workload, "small"), code);
  return {result, twin.launches(), twin.difference()};
}

class HostCuda : public ::testing::TestWithParam<std::string> {};

TEST_P(HostCuda, LeavesTheSameImageAsTheDevice) {
  if (!kAddressesAreFree) GTEST_SKIP() << "the device's addresses belong to AddressSanitizer";
  const Outcome outcome = run_both(GetParam(), [](workloads::Code&) {});
  EXPECT_EQ(outcome.difference, "");
  EXPECT_TRUE(outcome.result.verified) << outcome.result.message;
  EXPECT_GT(outcome.launches, 0);
}

TEST(HostCudaTwin, NoticesOneWrongInstruction) {
  if (!kAddressesAreFree) GTEST_SKIP() << "the device's addresses belong to AddressSanitizer";
  const Outcome outcome = run_both("vector_add", [](workloads::Code& code) {
    const std::size_t at = code.ptx.find("add.f32");
    ASSERT_NE(at, std::string::npos);
    code.ptx.replace(at, 3, "sub");
  });
  EXPECT_NE(outcome.difference.find("after launch 1 the images differ first at +"), std::string::npos)
      << outcome.difference;
}

// Those whose kernels are in kernels.cpp.
INSTANTIATE_TEST_SUITE_P(Workloads, HostCuda,
                         ::testing::Values("back_propagation", "bfs", "bfs_warp_centric",
                                           "coulombic_potential", "dyn_proc", "fast_walsh_transform",
                                           "h264_idct", "hotspot", "laplace_3d", "matrix_multiply",
                                           "merge_sort", "n_queens", "nearest_neighbor", "needleman_wunsch",
                                           "particle_filter", "ray_tracing", "reduction", "scan", "srad",
                                           "storegpu", "vector_add", "visibility"),
                         [](const auto& info) { return std::string(info.param); });

// The fibers themselves: each thread once, and nobody passes a barrier before all have come to it.
TEST(Grid, RunsEveryThreadOnceWithItsIndices) {
  std::vector<int> visits(2 * 3 * 2 * 4 * 2 * 3);
  run_grid({2, 3, 2}, {4, 2, 3}, [&] {
    const Current& at = current;
    const unsigned block = (at.block.z * 3 + at.block.y) * 2 + at.block.x;
    const unsigned thread = (at.thread.z * 2 + at.thread.y) * 4 + at.thread.x;
    ++visits[block * 24 + thread];
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST(Grid, BarriersHoldBackWhoComesFirst) {
  constexpr unsigned kThreads = 40;
  std::vector<unsigned> phase(kThreads);
  bool ahead = false;
  run_grid({3, 1, 1}, {kThreads, 1, 1}, [&] {
    const unsigned self = current.thread.x;
    phase[self] = 0;
    barrier();
    // Threads end after different numbers of barriers; the others go on without them.
    for (unsigned step = 1; step <= 1 + self % 3; ++step) {
      phase[self] = step;
      barrier();
      for (unsigned other = 0; other < kThreads; ++other) {
        if (phase[other] < std::min(step, 1 + other % 3)) ahead = true;
      }
      barrier();
    }
  });
  EXPECT_FALSE(ahead);
}

}  // namespace
}  // namespace weft::host_cuda
