// Workloads on a real GPU: the host side runs here, each launch there.
//
// The device of Weft that the workload asks has its memory at the addresses of an allocation on the GPU, so
// pointers mean the same on both. Before a launch the GPU gets that memory and the module's variables, after
// it Weft's memory gets what the GPU wrote. So the workload's own check is one of the GPU's results. Weft
// runs each launch without timing, too, but what it computes is overwritten.
#ifndef WEFT_TESTS_SILICON_REPLAY_H
#define WEFT_TESTS_SILICON_REPLAY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "silicon/cuda_machine.h"
#include "weft/runtime/device.h"

namespace weft::test::silicon {

class Replay final : public runtime::LaunchObserver {
 public:
  struct Time {
    std::string kernel;
    std::uint64_t blocks = 0, threads = 0;  // of a block
    double microseconds = 0;                // between two events around the launch
  };

  // `bytes`: of device memory. Throws std::runtime_error, naming the function of the driver that failed.
  Replay(const Symbols& symbols, std::uint64_t bytes);
  ~Replay() override;

  // The settings that a device needs whose launches come here, and the device.
  std::vector<std::string> settings() const;
  void observe(runtime::Device& device);
  // Of the workload whose launches come from now on.
  void begin(const std::string& ptx);
  // The launches since `begin`.
  const std::vector<Time>& times() const;
  // The GPU, as it calls itself; its SMs and its driver's version.
  std::string gpu() const;
  int multiprocessors() const;
  int driver() const;

  void launching(const dispatch::Launch& launch, const runtime::LoadedModule& module) override;
  void synchronised() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft::test::silicon

#endif
