// The GPU as its host side drives it.
#ifndef WEFT_PLATFORM_HOST_CONTROL_H
#define WEFT_PLATFORM_HOST_CONTROL_H

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "bus/clock_domain.h"
#include "host/gpu_control.h"
#include "platform/system_side.h"
#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"

namespace weft {

class HostControl final : public host::GpuControl {
 public:
  // Uses `gpu` when the simulation runs, and nothing of it before.
  HostControl(Gpu& gpu, memory::MemoryImage& image, const SystemSide& system, const ClockDomain& core)
      : gpu_(gpu), image_(image), system_(system), core_(core) {}

  // Of the command processor that the launch is from; none: it is not from there.
  static std::optional<unsigned> queue_of(const dispatch::Launch& launch) {
    if (launch.queue < kFirstQueue) return {};
    return launch.queue - kFirstQueue;
  }

  void launch(dispatch::Launch launch, std::uint32_t queue, host::LaunchEnded ended) override;
  void run_untimed(dispatch::Launch launch, std::uint32_t queue, host::LaunchEnded ended) override;
  std::uint64_t local_memory_bytes(const dispatch::Launch& launch) const override;
  ptx::DecodeOptions decode_options() const override { return gpu_.decode_options(); }
  std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads) const override {
    return gpu_.registers_to_fit(program, threads);
  }
  void map_memory() override;
  // Where kernels can reach system memory (GpuConfig::system), they reach it in the same windows.
  bool set_window(unsigned index, std::uint64_t base, std::uint64_t bytes) override;
  void reset() override { gpu_.reset(); }

  unsigned char* memory() override { return system_.memory_is_direct() ? image_.data() : nullptr; }
  // Where there is no direct access, the launch that follows carries it out.
  void write_memory(std::uint64_t offset, const unsigned char* data, std::size_t bytes) override {
    std::memcpy(image_.data() + offset, data, bytes);
  }
  std::uint64_t cycles() const override { return core_.current_edge(); }
  unsigned sms() const override;
  Fault fault() const override { return {gpu_.fault_kind(), gpu_.fault()}; }

 private:
  // Queues of the command processor are none of the runtime's.
  static constexpr std::uint32_t kFirstQueue = 0x8000'0000;

  Gpu& gpu_;
  memory::MemoryImage& image_;
  const SystemSide& system_;
  const ClockDomain& core_;
  std::map<unsigned, std::uint64_t> windows_;  // their bases
};

}  // namespace weft

#endif
