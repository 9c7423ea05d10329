#include "platform/soc/soc_config.h"

#include <nlohmann/json.hpp>

#include "common/config_document.h"
#include "common/config_reader.h"
#include "platform/config_files.h"

namespace weft {

void SocConfig::Cpu::describe(config::Visitor& v) {
  v.word("kind", kind, {"rv64", "aarch64", "external", "qemu"},
         "host CPU: an instruction-set model, another process over a socket, or a machine in QEMU");
  timing.describe(v);
  config::group(v, "external", external, "of kind external only");
  config::group(v, "qemu", qemu, "of kind qemu only");
}

void SocConfig::Peripherals::describe(config::Visitor& v) {
  v.real("latency_ns", latency_ns, {0, 1e6}, "ns", "of a register of a peripheral");
  v.boolean("stamps", stamps, "lines of the serial output carry the simulated time");
}

void SocConfig::describe(config::Visitor& v) {
  v.text("name", name, "name of the system");
  v.text("gpu", gpu, "name or path of the GPU's configuration");
  config::group(v, "cpu", cpu, "host CPU");
  config::group(v, "bus", bus, "system bus");
  config::group(v, "ram", ram, "system memory");
  config::group(v, "peripherals", peripherals, "interrupt controller, timer, serial output");
}

void SocConfig::check(const std::string& file) const {
  ram.check(file + ": /ram");
}

SocConfig load_soc_config(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const std::string path = config_path(name_or_path, "soc");
  nlohmann::json document = config::read_file(path);
  std::vector<config::Override> given;
  given.reserve(overrides.size());
  for (const auto& text : overrides) given.push_back(config::apply_override(document, text));
  SocConfig config;
  config::load(config, document, path, given);
  config.check(path);
  return config;
}

std::vector<std::string> soc_config_names() {
  return config_names_in("soc");
}

}  // namespace weft
