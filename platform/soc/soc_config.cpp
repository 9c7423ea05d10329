#include "platform/soc/soc_config.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/config_checker.h"
#include "common/config_document.h"
#include "common/config_origins.h"
#include "common/config_reader.h"
#include "common/config_schema.h"
#include "common/hex.h"
#include "platform/config_files.h"
#include "platform/firmware/soc_map.h"
#include "weft/common/error.h"

namespace weft {
namespace {

constexpr const char* kFolder = "soc/";

// "soc/NAME" of a system that is there.
bool named(const std::string& name_or_path) {
  if (name_or_path.rfind(kFolder, 0) != 0) return false;
  const auto names = soc_config_names();
  return std::find(names.begin(), names.end(), name_or_path.substr(std::strlen(kFolder))) != names.end();
}

std::string path_of(const std::string& name_or_path) {
  return config_path(named(name_or_path) ? name_or_path.substr(std::strlen(kFolder)) : name_or_path, "soc");
}

}  // namespace

void SocConfig::Cpu::describe(config::Visitor& v) {
  v.word("kind", kind, {"rv64", "aarch64", "external", "qemu"},
         "host CPU: an instruction-set model, another process over a socket, or a machine in QEMU");
  timing.describe(v);
  config::group(v, "external", external, "settings of cpu.kind external");
  config::group(v, "qemu", qemu, "settings of cpu.kind qemu");
}

void SocConfig::Peripherals::describe(config::Visitor& v) {
  v.real("latency_ns", latency_ns, {0, 1e6}, "ns", "latency of a peripheral's register");
  v.boolean("stamps", stamps, "lines of the serial output carry the simulated time");
}

void SocConfig::describe(config::Visitor& v) {
  v.text("name", name, "name of the system");
  v.text("gpu", gpu, "name or path of the GPU's configuration");
  v.text("gpu_settings", gpu_settings, "path=value, separated by blanks: what this system changes in it");
  config::group(v, "cpu", cpu, "host CPU");
  config::group(v, "bus", bus, "system bus");
  config::group(v, "ram", ram, "system memory");
  config::group(v, "peripherals", peripherals, "interrupt controller, timer, serial output");
}

void SocConfig::check(const std::string& where) const {
  ram.check(where + "/ram");
  if (cpu.kind == "qemu") cpu.qemu.check(where + "/cpu/qemu");
  if ((cpu.kind == "rv64" || cpu.kind == "aarch64") && !ram.dmi) {
    throw config::RuleError(where + "/ram/dmi", {where + "/cpu/kind"},
                            "found false; allowed with a host CPU of kind " + cpu.kind +
                                ": true, because the CPU runs its program from memory");
  }
}

SocConfig SocConfig::checked(const std::string& where) const {
  config::check_ranges(*this, where);
  check(where + ": ");
  return *this;
}

std::uint64_t SocConfig::memory_base() const {
  return cpu.kind == "qemu" ? 0 : std::uint64_t{SOC_RAM_BASE};
}

std::uint64_t SocConfig::memory_bytes() const {
  return cpu.kind == "qemu" ? cpu.qemu.ram_mib << 20 : ram.bytes;
}

std::uint64_t SocConfig::software_bytes(const GpuConfig& gpu_config) const {
  const std::uint64_t base = memory_base(), bytes = memory_bytes();
  if (!gpu_config.carve_out.enabled) return bytes;
  const std::uint64_t begin = gpu_config.carve_out.base;
  const bool inside = begin > base && begin - base < bytes && gpu_config.dram.bytes <= bytes - (begin - base);
  if (!inside) {
    throw InputError(gpu + ": /carve_out/base",
                     "found " + hex(begin) + " for " + std::to_string(gpu_config.dram.bytes) +
                         " bytes of device memory (dram.bytes); allowed: addresses in the memory of system " +
                         name + ", without its first byte: " + hex(base) + " to " + hex(base + (bytes - 1)));
  }
  return begin - base;
}

SocConfig load_soc_config(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const std::string path = path_of(name_or_path);
  nlohmann::json document = config::read_file(path);
  std::vector<config::Override> given;
  given.reserve(overrides.size());
  for (const auto& text : overrides) given.push_back(config::apply_override(document, text));
  SocConfig config;
  config::load(config, document, path, given);
  config::Origins(document, path, given).check([&] { config.check(""); });
  config_path(config.gpu, "", path + ": /gpu");  // says where an unknown name stands
  return config;
}

GpuConfig load_gpu_of(const SocConfig& config, const std::vector<std::string>& overrides) {
  std::vector<Setting> settings;
  std::istringstream own(config.gpu_settings);
  for (std::string text; own >> text;) settings.emplace_back(text, config.name + ": /gpu_settings");
  for (const std::string& text : overrides) settings.emplace_back(text, "--gpu-set");
  GpuConfig gpu = load_config_with(config.gpu, settings);
  config.software_bytes(gpu);
  return gpu;
}

bool is_soc_config(const std::string& name_or_path) {
  if (named(name_or_path)) return true;
  const auto gpus = config_names();
  if (std::find(gpus.begin(), gpus.end(), name_or_path) != gpus.end()) return false;
  const auto systems = soc_config_names();
  if (std::find(systems.begin(), systems.end(), name_or_path) != systems.end()) return true;
  try {
    const nlohmann::json document = config::read_file(config_path(name_or_path));
    return document.is_object() &&
           (document.contains("cpu") || document.contains("gpu") || document.contains("peripherals"));
  } catch (const InputError&) {
    return false;
  }
}

nlohmann::ordered_json soc_config_schema() {
  return config::schema(SocConfig(), "Weft system configuration");
}

std::vector<std::string> soc_config_names() {
  return config_names_in("soc");
}

}  // namespace weft
