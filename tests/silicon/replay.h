// Workloads on a real GPU: the host side runs here, each launch there.
//
// The device of Weft that the workload asks has its memory at the addresses of an allocation on the GPU, so
// pointers mean the same on both. Before launches the GPU gets that memory and the module's variables, after
// them Weft's memory gets what the GPU wrote. So the workload's own check is one of the GPU's results. Weft
// runs each launch without timing, too, but what it computes is overwritten.
#ifndef WEFT_TESTS_SILICON_REPLAY_H
#define WEFT_TESTS_SILICON_REPLAY_H

#include <cstdint>
#include <string>
#include <vector>

#include "microbenchmarks/cuda_driver.h"
#include "weft/runtime/device.h"

namespace weft::test::silicon {

class Replay final : public runtime::LaunchObserver {
 public:
  struct Launched {
    std::string kernel;
    std::uint64_t blocks = 0, threads = 0;  // of a block
  };

  // `bytes`: of device memory, on either side. Throws std::runtime_error, naming the function of the driver
  // that failed.
  Replay(const microbenchmarks::Symbols& symbols, std::uint64_t bytes);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() override;

  // The settings of a device whose launches come here, and the device.
  std::vector<std::string> settings() const;
  void observe(runtime::Device& device) { device_ = &device; }
  // The launches from now on are of a workload with this code.
  void begin(const std::string& ptx);
  // Those that have come since.
  const std::vector<Launched>& launches() const { return launches_; }
  const microbenchmarks::CudaDriver& driver() const { return driver_; }

  void launching(const dispatch::Launch& launch, const runtime::LoadedModule& module) override;
  void synchronised() override;

 private:
  std::uint8_t* image() const;
  // Calls copy(address on the GPU, bytes of Weft's memory, how many) for all that launches may touch: the
  // pages that Weft has, and the module's variables, which have places of their own on the GPU.
  template <class Copy>
  void each_range(Copy copy);

  microbenchmarks::CudaDriver driver_;
  const std::uint64_t bytes_, base_;
  microbenchmarks::CudaDriver::Module module_ = nullptr;
  runtime::Device* device_ = nullptr;
  const runtime::LoadedModule* loaded_ = nullptr;
  bool at_rest_ = true;
  std::vector<Launched> launches_;
};

}  // namespace weft::test::silicon

#endif
