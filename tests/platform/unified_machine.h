// A GPU of two SMs with a window to a RAM behind dma_socket.
#ifndef WEFT_TESTS_PLATFORM_UNIFIED_MACHINE_H
#define WEFT_TESTS_PLATFORM_UNIFIED_MACHINE_H

#include <string>
#include <vector>

#include "platform/gpu_bench.h"
#include "platform/system_ram.h"
#include "weft/runtime/arguments.h"

namespace weft::test {

template <class Ram>
struct MachineWith {
  static constexpr std::uint64_t kBase = 0x8000'0000, kRamBytes = 64 * 1024;

  template <class... RamArguments>
  MachineWith(std::vector<std::string> overrides, const std::string& config,
              const runtime::DeviceOptions& options, RamArguments... arguments)
      : bench(
            [&] {
              overrides.insert(overrides.begin(), {"sm.count=2", "system.enabled=true"});
              return overrides;
            }(),
            config, options),
        ram("ram", kBase, kRamBytes, arguments...) {
    bench.device.gpu().dma_socket.bind(ram.socket);
    bench.device.gpu().add_system_window(kBase, kRamBytes);
  }
  std::string fault_of(const dispatch::Dim3& grid, const dispatch::Dim3& block,
                       const runtime::Arguments& arguments) {
    try {
      bench.run(grid, block, arguments);
    } catch (const SimulatedFault& fault) {
      return fault.what();
    }
    return "";
  }
  std::string violations() { return bench.device.gpu().violations(); }

  GpuBench bench;
  Ram ram;
};

struct UnifiedMachine : MachineWith<SystemRam> {
  explicit UnifiedMachine(SystemRam::Access access, const std::vector<std::string>& overrides = {},
                          const runtime::DeviceOptions& options = {}, double latency_ns = 100,
                          const std::string& config = "gtx480")
      : MachineWith(overrides, config, options, access, sc_core::sc_time(latency_ns, sc_core::SC_NS)) {}
};

}  // namespace weft::test

#endif
