#include "platform/gpu_config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/config_document.h"
#include "common/config_reader.h"
#include "common/config_schema.h"
#include "common/config_writer.h"
#include "common/error.h"
#include "platform/config_files.h"

namespace weft {
namespace {

// Where the named configurations lie: $WEFT_CONFIGS; else the share folder beside the program, if it is
// installed; else the source tree; else the share folder that the build was configured for.
std::filesystem::path config_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("WEFT_CONFIGS")) return given;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = program.parent_path().parent_path() / "share" / "weft" / "configs";
  if (!error && fs::is_directory(beside, error)) return beside;
  if (fs::is_directory(WEFT_CONFIG_FOLDER, error)) return WEFT_CONFIG_FOLDER;
  return WEFT_INSTALLED_CONFIG_FOLDER;
}

}  // namespace

std::string config_path(const std::string& name_or_path, const std::string& folder,
                        const std::string& where) {
  const bool is_path = name_or_path.find('/') != std::string::npos ||
                       (name_or_path.size() > 5 && name_or_path.substr(name_or_path.size() - 5) == ".json");
  if (is_path) return name_or_path;
  const auto names = config_names_in(folder);
  if (std::find(names.begin(), names.end(), name_or_path) == names.end()) {
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + name;
    throw InputError(where, "unknown configuration \"" + name_or_path + "\"; known: " + known +
                                "; or give the path of a file");
  }
  return (config_folder() / folder / (name_or_path + ".json")).string();
}

void GpuConfig::Clocks::describe(config::Visitor& v) {
  v.real("core_mhz", core_mhz, {1, 10000}, "MHz", "clock of the SMs");
  v.real("interconnect_mhz", interconnect_mhz, {1, 10000}, "MHz", "clock of the crossbar and the L2");
  v.real("memory_mhz", memory_mhz, {1, 10000}, "MHz", "command clock of the memory");
}

void GpuConfig::Datapath::describe(config::Visitor& v) {
  v.word("kind", kind, {"spatial"}, "how lanes are bound to threads: spatial SIMD groups");
}

void GpuConfig::Scalarization::describe(config::Visitor& v) {
  v.word("kind", kind, {"off"}, "execution of uniform instructions once per warp");
}

void GpuConfig::Watchdog::describe(config::Visitor& v) {
  v.integer("cycles", cycles, {1000, 1'000'000'000}, "cycles",
            "core cycles without a commit, while threads live, after which a launch counts as hung");
}

void GpuConfig::System::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "kernels can reach system memory, within windows that the host sets");
  port.describe(v);
}

void GpuConfig::CarveOut::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "device memory lies in system memory; there are no memory controllers");
  v.integer("base", base, {0, std::uint64_t{1} << 57}, "bytes",
            "address of device memory's first byte in system memory; a multiple of 4096");
  port.describe(v);
  config::group(v, "ram", ram, "what `weft run` puts there; in an SoC it is the SoC's own memory");
}

void GpuConfig::L2::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "false: the crossbar leads straight to the memory channels");
  v.integer("banks_per_channel", banks_per_channel, {1, 16}, "banks",
            "L2 banks in front of a memory channel");
  bank.describe(v);
}

void GpuConfig::Gddr5::describe(config::Visitor& v) {
  v.integer("bytes", bytes, {1u << 20, std::uint64_t{1} << 36}, "bytes", "device memory");
  v.integer("channels", map.channels, {1, 64}, "channels", "memory channels; need not be a power of two");
  v.integer("interleave_bytes", map.interleave_bytes, {32, 1u << 20}, "bytes",
            "chunk that stays on a channel");
  v.integer("banks", map.banks, {1, 64}, "banks", "banks of a channel");
  v.integer("row_bytes", map.row_bytes, {64, 1u << 20}, "bytes",
            "row of a bank, over all devices of the channel");
  v.integer("bank_interleave_bytes", map.bank_interleave_bytes, {32, 1u << 20}, "bytes",
            "consecutive bytes of a channel that stay in a bank");
  v.boolean("bank_xor", map.bank_xor, "exclusive-or the low bits of the row into the bank number");
  channel.describe(v);
}

void GpuConfig::describe(config::Visitor& v) {
  v.text("name", name, "name of the machine");
  config::group(v, "clocks", clocks, "clock domains");
  config::group(v, "sm", sm, "streaming multiprocessors");
  config::group(v, "warp_formation", warp_formation, "which threads run together");
  config::group(v, "datapath", datapath, "lanes");
  config::group(v, "scalarization", scalarization, "scalar execution");
  config::group(v, "crossbar", crossbar, "interconnect between the SMs and the memory side");
  config::group(v, "l2", l2, "second-level cache");
  config::group(v, "gddr5", gddr5, "device memory");
  config::group(v, "system", system, "system memory as kernels see it");
  config::group(v, "carve_out", carve_out, "a GPU whose device memory is part of system memory");
  config::group(v, "watchdog", watchdog, "detection of launches that hang");
  config::group(v, "host", host,
                "registers, command processor and DMA engine; idle where nothing is connected");
}

void GpuConfig::check(const std::string& file) const {
  const std::string root = file + ": ";
  sm.check(root + "/sm");
  warp_formation.check(root + "/warp_formation");
  crossbar.check(root + "/crossbar");
  if (l2.enabled) l2.bank.check(root + "/l2");
  gddr5.map.check(root + "/gddr5");
  gddr5.channel.check(root + "/gddr5");
  host.check(root + "/host");
  check_carve_out(root + "/carve_out");
  if (warp_formation.warp_size > sm.max_threads) {
    throw InputError(root + "/warp_formation/warp_size",
                     "found " + std::to_string(warp_formation.warp_size) +
                         ", allowed is at most sm.max_threads = " + std::to_string(sm.max_threads));
  }
  if (warp_formation.scheme == "dwr" && warp_formation.dwr.lat_timeout >= watchdog.cycles) {
    throw InputError(root + "/warp_formation/dwr/lat_timeout",
                     "found " + std::to_string(warp_formation.dwr.lat_timeout) +
                         " cycles, allowed are less than watchdog.cycles = " +
                         std::to_string(watchdog.cycles) + ", or 0 (never)");
  }
  const auto line_fits = [&](const char* cache, std::uint64_t line) {
    if (line > gddr5.map.interleave_bytes) {
      throw InputError(root + "/" + cache + "/line_bytes",
                       "found " + std::to_string(line) + ", allowed is at most gddr5.interleave_bytes = " +
                           std::to_string(gddr5.map.interleave_bytes));
    }
  };
  line_fits("sm/l1i", sm.l1i.line_bytes);
  line_fits("sm/l1d", sm.l1d.line_bytes);
  line_fits("sm/l1c", sm.l1c.line_bytes);
  line_fits("sm/l1t", sm.l1t.line_bytes);
  line_fits("sm/coalescer", sm.coalescer.block_bytes);
  if (l2.enabled) {
    const std::uint64_t line = l2.bank.tags.line_bytes;
    line_fits("l2", line);
    for (const auto& [cache, bytes] : {std::pair<const char*, std::uint64_t>{"l1i", sm.l1i.line_bytes},
                                       {"l1d", sm.l1d.line_bytes},
                                       {"l1c", sm.l1c.line_bytes},
                                       {"l1t", sm.l1t.line_bytes}}) {
      if (bytes > line) {
        throw InputError(root + "/sm/" + cache + "/line_bytes",
                         "found " + std::to_string(bytes) +
                             ", allowed is at most l2.line_bytes = " + std::to_string(line));
      }
    }
  }
}

void GpuConfig::check_carve_out(const std::string& where) const {
  if (!carve_out.enabled) return;
  if (carve_out.base % 4096 != 0) {
    throw InputError(where + "/base",
                     "found " + std::to_string(carve_out.base) + ", allowed is a multiple of 4096");
  }
}

GpuConfig load_config(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const std::string path = config_path(name_or_path);
  nlohmann::json document = config::read_file(path);
  std::vector<config::Override> given;
  given.reserve(overrides.size());
  for (const auto& text : overrides) given.push_back(config::apply_override(document, text));
  GpuConfig config;
  config::load(config, document, path, given);
  config.gddr5.map.l2_banks = config.l2.enabled ? config.l2.banks_per_channel : 1;
  config.check(path);
  return config;
}

std::vector<std::string> config_names() {
  return config_names_in("");
}

std::vector<std::string> config_names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(config_folder() / folder, ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

nlohmann::ordered_json effective_config(const GpuConfig& config) {
  return config::write(config);
}

nlohmann::ordered_json config_schema() {
  return config::schema(GpuConfig(), "Weft configuration");
}

}  // namespace weft
