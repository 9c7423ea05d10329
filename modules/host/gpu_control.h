// What the host side asks of the GPU behind it.
#ifndef WEFT_HOST_GPU_CONTROL_H
#define WEFT_HOST_GPU_CONTROL_H

#include <cstddef>
#include <cstdint>
#include <functional>

#include "weft/common/fault.h"
#include "weft/dispatch/launch.h"
#include "weft/ptx/module.h"

namespace weft::host {

// How a launch ended. Times are simulated, in picoseconds.
struct LaunchEnd {
  Fault fault;  // that ended it, or none
  std::uint64_t begin_ps = 0, end_ps = 0;
};

// Called at the instant at which the launch ended.
using LaunchEnded = std::function<void(const LaunchEnd& end)>;

class GpuControl {
 public:
  virtual ~GpuControl() = default;
  // Queues a launch; a fault of it ends no other one. Throws InputError if its grid, block, parameters or
  // resources are impossible. `ended` is called once, not from within this call; not after a reset.
  virtual void launch(dispatch::Launch launch, std::uint32_t queue, LaunchEnded ended) = 0;
  // Runs a launch without timing: simulated time stands still, unless it has to wait for system memory.
  // Throws InputError as `launch` does. `ended` is called once, perhaps from within this call; not after a
  // reset.
  virtual void run_untimed(dispatch::Launch launch, std::uint32_t queue, LaunchEnded ended) = 0;
  // Device memory that the launch needs for local variables. Throws InputError as `launch` does.
  virtual std::uint64_t local_memory_bytes(const dispatch::Launch& launch) const = 0;
  // How programs are decoded for this GPU, and the limit on registers with which one has to be decoded again
  // so that a block of `threads` fits (0: it may stay as it is).
  virtual ptx::DecodeOptions decode_options() const { return {}; }
  virtual std::uint32_t registers_to_fit(const ptx::Program& /*program*/, std::uint64_t /*threads*/) const {
    return 0;
  }
  // Kernels may touch all of device memory: whoever fills the queues divides it up.
  virtual void map_memory() = 0;
  // Window `index` of system memory is to be [base, base + bytes), or off (0 bytes). False: it is refused.
  virtual bool set_window(unsigned index, std::uint64_t base, std::uint64_t bytes) = 0;
  // The whole GPU, the host side with it (HostInterface::reset).
  virtual void reset() = 0;

  // Device memory for direct access; nullptr: there is none at present, since its bytes are carried
  // elsewhere.
  virtual unsigned char* memory() = 0;
  // Writes device memory at once, from this offset on.
  virtual void write_memory(std::uint64_t offset, const unsigned char* data, std::size_t bytes) = 0;
  virtual std::uint64_t cycles() const = 0;  // of the core clock, since time 0
  virtual unsigned sms() const = 0;
  // Why nothing runs any more before a reset; none: it does.
  virtual Fault fault() const = 0;
};

}  // namespace weft::host

#endif
