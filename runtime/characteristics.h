// What the kernels of a program do, as the papers' tables of benchmarks say it: for `weft characterize`.
//
//   Characteristics characteristics(config);
//   options.observer = &characteristics;  // DeviceOptions
//   options.profile = &characteristics.profile();
//   ... launches ...
//   characteristics.json(device)
#ifndef WEFT_RUNTIME_CHARACTERISTICS_H
#define WEFT_RUNTIME_CHARACTERISTICS_H

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sm/instruction_profile.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::runtime {

class Characteristics : public LaunchObserver {
 public:
  explicit Characteristics(const GpuConfig& config);

  sm::InstructionProfile& profile() { return profile_; }
  void launching(const dispatch::Launch& launch, const LoadedModule& module) override;
  void synchronised() override {}

  // {"config", "scheme", "kernels": [{"kernel": NAME, ...}, ...], "ignored_lats"}, the kernels in the order
  // of their first launches.
  nlohmann::ordered_json json(Device& device) const;

 private:
  // The launches of one kernel: which grids and blocks, and what an SM holds of the largest.
  struct Launches {
    std::uint64_t count = 0;
    std::map<std::string, std::uint64_t> shapes;  // "(16,16) x (256)" -> how often
    std::uint64_t blocks = 0, threads = 0;        // over all of them
    std::uint32_t threads_per_block = 0;          // of the largest launch, as all below
    std::uint64_t most_blocks = 0;
    execute::Occupancy occupancy;
    std::uint64_t resident_blocks = 0;  // of an SM: its share of the grid, or what fits
  };

  nlohmann::ordered_json kernel_json(const sm::InstructionProfile::OfKernel& kernel) const;

  const GpuConfig config_;
  sm::InstructionProfile profile_;
  std::map<std::shared_ptr<const ptx::Program>, Launches> launches_;
};

}  // namespace weft::runtime

#endif
