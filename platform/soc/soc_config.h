// One JSON -> the checked configuration of an SoC (platform/soc/README.md).
#ifndef WEFT_PLATFORM_SOC_CONFIG_H
#define WEFT_PLATFORM_SOC_CONFIG_H

#include <string>
#include <vector>

#include "common/config_visitor.h"
#include "soc/external_cpu.h"
#include "soc/host_cpu.h"
#include "soc/qemu_device.h"
#include "soc/ram.h"
#include "soc/system_bus.h"

namespace weft {

struct SocConfig {
  std::string name = "unnamed";
  std::string gpu = "gtx480";  // name or path of the GPU's own configuration
  struct Cpu {
    std::string kind = "rv64";  // or aarch64, external, qemu
    soc::HostCpu::Config timing;
    soc::ExternalCpu::Config external;
    soc::QemuDevice::Config qemu;
    void describe(config::Visitor& v);
  } cpu;
  soc::SystemBus::Config bus;
  soc::Ram::Config ram;
  struct Peripherals {
    double latency_ns = 20;
    bool stamps = true;  // lines of the serial output carry the time
    void describe(config::Visitor& v);
  } peripherals;

  void describe(config::Visitor& v);
  void check(const std::string& file) const;
};

// By name (configs/soc/NAME.json) or by path; "path=value" overrides on top. Throws InputError.
SocConfig load_soc_config(const std::string& name_or_path, const std::vector<std::string>& overrides = {});
std::vector<std::string> soc_config_names();

}  // namespace weft

#endif
