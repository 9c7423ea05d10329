// One JSON -> the checked configuration of an SoC (platform/soc/README.md).
#ifndef WEFT_PLATFORM_SOC_CONFIG_H
#define WEFT_PLATFORM_SOC_CONFIG_H

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "soc/external_cpu.h"
#include "soc/host_cpu.h"
#include "soc/qemu_device.h"
#include "soc/ram.h"
#include "soc/system_bus.h"
#include "weft/common/config_visitor.h"
#include "weft/platform/gpu_config.h"

namespace weft {

struct SocConfig {
  std::string name = "unnamed";
  std::string gpu = "gtx480";  // name or path of the GPU's own configuration
  std::string gpu_settings;    // "path=value ..." on top of it
  struct Cpu {
    std::string kind = "rv64";  // or aarch64, external, qemu
    soc::HostCpu::Config timing;
    soc::ExternalCpu::Config external;
    soc::QemuDevice::Config qemu;
    void describe(config::Visitor& v);
  } cpu;
  soc::SystemBus::Config bus;
  soc::RamConfig ram;
  struct Peripherals {
    double latency_ns = 20;
    bool stamps = true;  // lines of the serial output carry the time
    void describe(config::Visitor& v);
  } peripherals;

  void describe(config::Visitor& v);
  // As GpuConfig's.
  void check(const std::string& where) const;
  SocConfig checked(const std::string& where) const;

  // System memory: its first address, and bytes.
  std::uint64_t memory_base() const;
  std::uint64_t memory_bytes() const;
  // What of it is left to software, below the GPU's own part (GpuConfig::carve_out), if there is one. Throws
  // InputError unless that lies in memory and leaves some.
  std::uint64_t software_bytes(const GpuConfig& gpu_config) const;
};

// By name (configs/soc/NAME.json, "NAME" or "soc/NAME") or by path; "path=value" overrides on top. Throws
// InputError.
SocConfig load_soc_config(const std::string& name_or_path, const std::vector<std::string>& overrides = {});
// The GPU's configuration, checked against the system's. Throws InputError.
GpuConfig load_gpu_of(const SocConfig& config, const std::vector<std::string>& overrides = {});  // --gpu-set
std::vector<std::string> soc_config_names();
// Whether a configuration is a system's and not a GPU's. False, too, if it cannot be read.
bool is_soc_config(const std::string& name_or_path);
nlohmann::ordered_json soc_config_schema();

}  // namespace weft

#endif
