// The back-end over the kernel's driver: a process under Linux uses the GPU by /dev/weft0 (platform/linux).
//
// Operations become packets in queues of the GPU. Each stream has one of the process's queues, of which it
// gets a few as streams need them. Packets of a stream follow each other in its queue without the host;
// events, functions and what waits for another stream are done by the host, in the calls that wait.
//
// The process parses PTX by the same code and the same options as the GPU does, from the configuration in a
// file: so it knows the addresses of variables, parameters, registers and occupancy. The GPU reads the text
// itself.
#ifndef WEFT_RUNTIME_CUDA_CORE_LINUX_DRIVER_H
#define WEFT_RUNTIME_CUDA_CORE_LINUX_DRIVER_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/driver_queue.h"
#include "runtime/cuda/core/settings.h"
#include "weft/platform/gpu_config.h"

namespace weft::cuda {

class LinuxDriver final : public Backend {
 public:
  // Throws InputError if the device cannot be opened or is another machine than the configuration says, and
  // for settings that only the simulator has.
  LinuxDriver(const Settings& settings, const GpuConfig& config, const runtime::DeviceLimits& limits,
              std::function<bool()> interrupted);
  ~LinuxDriver() override;

  std::uint64_t allocate(std::uint64_t bytes) override;
  void free(std::uint64_t address) override;
  void* allocate_shared(std::uint64_t bytes) override;
  void free_shared(void* memory, std::uint64_t bytes) override;
  loader::LoadedModule& load(const std::string& ptx, const std::string& name,
                             const loader::LoadedModule::Place& place_managed,
                             unsigned max_registers) override;
  runtime::Streams& streams() override { return streams_; }
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
  FaultKind fault_kind() const override { return fault_.kind; }
  std::string take_output() override;
  void set_limits(const runtime::DeviceLimits& limits) override;
  void reset() override;

 private:
  struct DeviceCloser {
    void operator()(weft_device* device) const { weft_device_close(device); }
  };
  struct Module {
    std::unique_ptr<loader::LoadedModule> loaded;
    std::unique_ptr<DriverBuffer> text, memory;
    std::uint64_t text_bytes = 0;
    std::map<std::string, std::uint64_t> kernels;  // their objects, by name
    std::set<const ptx::Program*> executable;      // that have been looked at
  };
  struct Outside {
    std::function<void()> function;
    runtime::Streams::Done done;
  };

  void open();
  std::uint64_t now() const;
  bool is_device(std::uint64_t address) const;
  void require_inside(const runtime::Area& area, const runtime::Box& box) const;
  std::uint64_t kernel_object(Module& module, const std::string& kernel);
  std::uint64_t module_bytes(const std::vector<ptx::Module>& parsed) const;
  void begin(Module& module);
  DriverWork dispatch(Module& module, const Launch& launch);

  // Queues: the stream's own; one with so much scratch; new ones for all, when printf or heap change.
  DriverQueue& queue_of(runtime::StreamId stream);
  std::unique_ptr<DriverQueue> open_queue(std::uint64_t scratch_bytes);
  void need_scratch(runtime::StreamId stream, std::uint64_t bytes);
  void need_heap();
  void renew_queues();
  void drain(DriverQueue& queue);

  // Puts work into its stream's queue when it is the turn.
  void add(runtime::StreamId stream, DriverWork work, const Ended& ended);
  void act(runtime::StreamId stream, std::function<void()> work, const Ended& ended);
  struct Run {
    std::uint64_t to, from, bytes;
  };
  void copy_overlapping(DriverWork& work, runtime::StreamId stream, const Run& run);
  // Takes what the GPU has done, and gives it more. False: nothing has changed.
  bool progress();
  bool run_outside();
  // Until `reached`, or a fault, which it throws.
  void run(const std::function<bool()>& reached);
  void wait(int milliseconds);
  void stop(const DriverQueue& queue);
  void throw_if_faulted() const;

  const std::string path_;
  const GpuConfig config_;
  runtime::DeviceLimits limits_;
  const std::function<bool()> interrupted_;
  std::unique_ptr<weft_device, DeviceCloser> device_;
  weft_device_info info_{};
  std::uint64_t seen_ = 0;
  runtime::Streams streams_;
  struct Owned {
    std::unique_ptr<DriverBuffer> buffer;
    std::uint64_t bytes = 0;  // as the program asked
  };
  std::map<std::uint64_t, Owned> memory_;  // of the program, by address
  std::unordered_map<const loader::LoadedModule*, std::unique_ptr<Module>> modules_;
  std::uint64_t next_function_ = 0;
  std::vector<std::unique_ptr<DriverQueue>> queues_;
  std::unordered_map<runtime::StreamId, std::size_t> queue_of_stream_;
  std::map<std::size_t, std::unique_ptr<DriverBuffer>> between_;  // by queue: device memory for copies
  std::unique_ptr<DriverBuffer> heap_;
  std::deque<Outside> outside_;
  std::string output_;
  std::uint64_t latest_ps_ = 0;
  std::optional<std::uint64_t> ending_ps_;  // while an operation that has ended is told of
  bool reported_registers_ = false;
  Fault fault_;
};

}  // namespace weft::cuda

#endif
