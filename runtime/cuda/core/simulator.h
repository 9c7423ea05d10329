// The back-end that simulates a GPU in this process: runtime::Device, and what observes it.
#ifndef WEFT_RUNTIME_CUDA_CORE_SIMULATOR_H
#define WEFT_RUNTIME_CUDA_CORE_SIMULATOR_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_set>

#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/settings.h"

namespace weft {
struct GpuConfig;
namespace debugger {
class Debugger;
}
namespace runtime {
class Characteristics;
class Device;
class DmaCopies;
}  // namespace runtime
}  // namespace weft

namespace weft::cuda {

class Simulator final : public Backend {
 public:
  // One per process, never destroyed. `interrupted` ends the simulation. Throws InputError.
  Simulator(const Settings& settings, const GpuConfig& config, const runtime::DeviceLimits& limits,
            std::function<bool()> interrupted);
  ~Simulator() override;

  runtime::Device& device() { return *device_; }
  // nullptr: they are not asked for.
  const runtime::Characteristics* characteristics() const { return characteristics_.get(); }

  std::uint64_t allocate(std::uint64_t bytes) override;
  void free(std::uint64_t address) override;
  std::uint64_t reserved_bytes() const override;
  void* allocate_shared(std::uint64_t bytes) override;
  void free_shared(void* memory, std::uint64_t bytes) override;
  void share(void* memory, std::uint64_t bytes) override;
  void unshare(void* memory) override;
  loader::LoadedModule& load(const std::string& ptx, const std::string& name,
                             const loader::LoadedModule::Place& place_managed,
                             unsigned max_registers) override;
  runtime::Streams& streams() override;
  void launch(runtime::StreamId stream, const Launch& launch, const Ended& ended) override;
  void copy(runtime::StreamId stream, const runtime::Area& to, const runtime::Area& from,
            const runtime::Box& box, const Ended& ended) override;
  void fill(runtime::StreamId stream, const runtime::Area& to, const runtime::Box& box, std::uint32_t pattern,
            const Ended& ended) override;
  void call(runtime::StreamId stream, std::function<void()> function) override;
  void synchronise() override;
  void synchronise(runtime::StreamId stream) override;
  void wait_for(runtime::EventId event) override;
  Advance advance(const std::function<bool()>& stop) override;
  FaultKind fault_kind() const override;
  std::string take_output() override;
  void set_limits(const runtime::DeviceLimits& limits) override;
  void reset() override;
  void set_timed(bool timed) override;
  void ended(int status) override;
  Simulator* simulator() override { return this; }

 private:
  template <class Add>
  void timed(runtime::StreamId stream, const Ended& ended, Add&& add);

  std::unique_ptr<runtime::Characteristics> characteristics_;  // if they are asked for
  std::unique_ptr<debugger::Debugger> debugger_;               // the same
  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::DmaCopies> copies_;
  std::uint64_t next_shared_;         // where shared memory is looked for: addresses are the same in each run
  std::unordered_set<void*> shared_;  // what kernels see of it
};

}  // namespace weft::cuda

#endif
