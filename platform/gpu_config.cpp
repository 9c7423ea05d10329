#include "weft/platform/gpu_config.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "area/array_cost.h"
#include "common/config_checker.h"
#include "common/config_document.h"
#include "common/config_origins.h"
#include "common/config_reader.h"
#include "common/config_schema.h"
#include "common/config_writer.h"
#include "common/share_folder.h"
#include "platform/config_base.h"
#include "platform/config_files.h"
#include "platform/dram_standard.h"
#include "platform/energy_machine.h"
#include "platform/renamed_keys.h"
#include "weft/common/error.h"
#include "weft/warp_formation/plugins.h"
#include "weft/warp_formation/scheme.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft {
namespace {

constexpr std::uint64_t kMostGroups = 128;  // of a warp on a lane that runs it in time
constexpr std::uint64_t kMostPorts = memory::ChannelMapConfig::kMostSlices;  // of the crossbar to memory

std::filesystem::path config_folder() {
  return share_folder("WEFT_CONFIGS", "configs", WEFT_CONFIG_FOLDER, WEFT_INSTALLED_CONFIG_FOLDER);
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

void GpuConfig::Launches::describe(config::Visitor& v) {
  v.integer("latency", latency, {0, 100'000}, "cycles",
            "from the turn of a launch to its first block: the work of the GPU's front end");
}

void GpuConfig::Watchdog::describe(config::Visitor& v) {
  v.integer("cycles", cycles, {1000, 1'000'000'000}, "cycles",
            "core cycles without a commit, while threads live, after which a launch counts as hung");
}

void GpuConfig::Process::describe(config::Visitor& v) {
  v.real("node_nm", node_nm, {area::kSmallestNode, area::kLargestNode}, "nm",
         "feature size, for areas and access times (`weft area`)");
  v.real("chip_mm2", chip_mm2, {0, 2000}, "mm2",
         "area of the whole chip, to show areas as shares of the chip; 0: unknown");
  config::choice(
      v, "cam_data", cam_data, {{"cam", CamData::kCam}, {"ram", CamData::kRam}},
      "price of data that a CAM selects (`weft area`): that of as large a CAM, as CACTI 6.5 has it, "
      "or of a RAM");
}

void GpuConfig::System::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "kernels can access system memory, within windows that the host sets");
  port.describe(v);
}

void GpuConfig::CarveOut::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "device memory lies in system memory; there are no memory controllers");
  v.integer("base", base, {0, std::uint64_t{1} << 57}, "bytes",
            "address of device memory's first byte in system memory; a multiple of 4096");
  port.describe(v);
  config::group(v, "ram", ram, "system memory that `weft run` provides; an SoC uses its own memory");
}

void GpuConfig::L2::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "false: the crossbar leads straight to the memory channels");
  v.integer("banks_per_channel", banks_per_channel, {1, 16}, "banks", "L2 banks per memory channel");
  bank.describe(v);
}

void GpuConfig::Dram::describe(config::Visitor& v) {
  v.preset("standard",
           "a DRAM standard, whose banks and timings hold where the file gives no others: a name in "
           "configs/dram, or "
           "a file; given by --set, its values replace those of the file");
  v.integer("bytes", bytes, {1u << 20, std::uint64_t{1} << 36}, "bytes", "device memory");
  map.describe(v);
  channel.describe(v);
}

void GpuConfig::describe(config::Visitor& v) {
  v.preset("base",
           "a configuration whose values hold where this file gives no others: a name in configs, or a path "
           "from this file's folder");
  v.text("name", name, "name of the machine; not taken from the base");
  v.text("compute_capability", compute_capability,
         "compute capability that CUDA programs see, and up to which their PTX is chosen: MAJOR.MINOR, such "
         "as 8.6");
  config::group(v, "clocks", clocks, "clock domains");
  config::group(v, "sm", sm, "streaming multiprocessors");
  config::group(v, "warp_formation", warp_formation, "which threads run together");
  config::group(v, "datapath", sm.datapath, "how lanes run threads");
  config::group(v, "scalarization", sm.scalarization, "scalar execution");
  config::group(v, "crossbar", crossbar, "interconnect between the SMs and the memory side");
  config::group(v, "l2", l2, "second-level cache");
  config::group(v, "dram", dram, "device memory");
  config::group(v, "addresses", sm.addresses, "where kernels find memory");
  config::group(v, "system", system, "system memory as kernels see it");
  config::group(v, "carve_out", carve_out, "a GPU whose device memory is part of system memory");
  config::group(v, "launch", launch, "how launches begin");
  config::group(v, "watchdog", watchdog, "detection of launches that hang");
  config::group(v, "process", process, "process technology of the chip");
  config::group(v, "energy", energy, "energy of the events that sm.observe.events counts");
  config::group(v, "host", host, "registers, command processor and DMA engine; idle if nothing is connected");
}

unsigned parse_capability(const std::string& where, const std::string& text) {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  const std::size_t dot = text.size() < 3 ? 0 : text.size() - 2;  // one digit or two, a point, one digit
  const bool formed = (dot == 1 || dot == 2) && text[dot] == '.' && digit(dot + 1) && digit(0) &&
                      digit(dot - 1) && text[0] != '0';
  if (!formed)
    throw InputError(where, "found '" + text + "'; allowed: MAJOR.MINOR from 1.0 to 99.9, such as 7.5");
  return static_cast<unsigned>(std::stoul(text.substr(0, dot)) * 10) +
         static_cast<unsigned>(text[dot + 1] - '0');
}

void GpuConfig::check(const std::string& where) const {
  parse_capability(where + "/compute_capability", compute_capability);
  sm.check(where + "/sm");
  warp_formation.check(where + "/warp_formation");
  crossbar.check(where + "/crossbar");
  if (l2.enabled) l2.bank.check(where + "/l2");
  if (dram.map.channels * dram.map.l2_banks > kMostPorts) {
    throw config::RuleError(where + "/dram/channels", {where + "/l2/banks_per_channel"},
                            "found " + std::to_string(dram.map.channels) +
                                " channels with l2.banks_per_channel = " + std::to_string(dram.map.l2_banks) +
                                "; allowed: at most " + std::to_string(kMostPorts) + " L2 banks in total");
  }
  if (l2.enabled && l2.bank.partitions > std::min(sm.count, dram.map.slices())) {
    throw config::RuleError(where + "/l2/partitions", {where + "/sm/count", where + "/dram/channels"},
                            "found " + std::to_string(l2.bank.partitions) + " with " +
                                std::to_string(sm.count) + " SMs and " + std::to_string(dram.map.slices()) +
                                " L2 banks; allowed: at most as many as either");
  }
  if (dram.map.banks % dram.channel.scheduler.pseudo_channels != 0) {
    throw config::RuleError(where + "/dram/pseudo_channels", {where + "/dram/banks"},
                            "found " + std::to_string(dram.channel.scheduler.pseudo_channels) +
                                "; allowed: divisors of banks = " + std::to_string(dram.map.banks));
  }
  dram.map.check(where + "/dram");
  dram.channel.check(where + "/dram");
  host.check(where + "/host");
  check_carve_out(where + "/carve_out");
  sm.addresses.check(where + "/addresses", dram.bytes);
  if (warp_formation.warp_size > sm.max_threads) {
    throw config::RuleError(where + "/warp_formation/warp_size", {where + "/sm/max_threads"},
                            "found " + std::to_string(warp_formation.warp_size) +
                                "; allowed: at most sm.max_threads = " + std::to_string(sm.max_threads));
  }
  warp_formation.check_watchdog(where, watchdog.cycles);
  check_datapath(where);
  check_scalarization(where);
  check_beside(where);
  check_lines(where);
  if (sm.observe.events) technology_of(energy);  // a mistake in it should not cost a run
}

// What lanes that each run a warp in time ask of the rest of the SM.
void GpuConfig::check_datapath(const std::string& where) const {
  const datapath::Config& d = sm.datapath;
  d.check(where + "/datapath");
  d.units.check(where + "/datapath/units", sm.schedulers);
  const bool permuted = d.lane_permutation != warp_formation::LanePermutation::kIdentity;
  if (permuted && warp_formation.warp_size < sm.simd_width) {
    throw config::RuleError(
        where + "/datapath/lane_permutation", {where + "/warp_formation/warp_size", where + "/sm/simd_width"},
        "found a permutation with warps of " + std::to_string(warp_formation.warp_size) +
            " threads; allowed with at least sm.simd_width = " + std::to_string(sm.simd_width));
  }
  if (sm.sub_cores() > 1 && d.binding_in_use() == datapath::Binding::kTurns && d.kind == "spatial" &&
      d.registers == datapath::Registers::kBlock) {
    throw config::RuleError(where + "/datapath/binding", {where + "/sm/block_placement"},
                            "found turns with sm.block_placement = sub_cores; allowed: auto and slot");
  }
  if (sm.sub_cores() > 1 && (d.kind != "spatial" || d.registers != datapath::Registers::kBlock)) {
    const bool kind = d.kind != "spatial";
    throw config::RuleError(
        where + "/sm/block_placement", {where + (kind ? "/datapath/kind" : "/datapath/registers")},
        "found sub_cores with datapath." + (kind ? "kind = " + d.kind : std::string("registers = warp")) +
            "; allowed with kind = spatial and registers = block");
  }
  if (d.kind != "temporal") return;
  const std::string kind = where + "/datapath/kind";
  const auto refuse = [&](const char* key, const std::string& text) {
    throw config::RuleError(kind, {where + key}, "found temporal with " + text);
  };
  if (warp_formation.scheme != "sbr") {
    refuse("/warp_formation/scheme", "warp_formation.scheme = " + warp_formation.scheme +
                                         "; allowed: sbr, because a lane has the registers of its own warps "
                                         "only and cannot run threads of other warps");
  }
  if (permuted)
    refuse("/datapath/lane_permutation",
           "a datapath.lane_permutation; allowed: identity, because a lane runs all threads of its warps");
  if (sm.simd_groups != 1) {
    refuse("/sm/simd_groups", "sm.simd_groups = " + std::to_string(sm.simd_groups) +
                                  "; allowed: 1, because sm.simd_width counts all lanes");
  }
  for (const auto& [key, latency] :
       {std::pair("/sm/shared_memory/latency_64", sm.shared_memory.latency_64),
        std::pair("/sm/shared_memory/latency_128", sm.shared_memory.latency_128)}) {
    if (latency != 0)
      refuse(key, "a latency of wide elements of " + std::to_string(latency) +
                      "; allowed: 0, because a lane takes one word after the other");
  }
  if (sm.issue_port == machine::IssuePort::kShared)
    refuse("/sm/issue_port",
           "sm.issue_port = shared; allowed: per_unit, because lanes work while other lanes issue");
  if (sm.issue_alignment)
    refuse("/sm/issue_alignment",
           "sm.issue_alignment = true; allowed: false, because a lane can become free in any cycle");
  if (sm.dependence == machine::Dependence::kBarrel &&
      (!d.has_registers_per_unit() || d.forwarding == datapath::Forwarding::kPlace)) {
    refuse("/sm/dependence",
           "sm.dependence = barrel; allowed: scoreboard, because lanes know when their results are there; "
           "barrel needs datapath.forwarding = warp and datapath.instruction_register = unit");
  }
  if (sm.simd_width % d.lane_width != 0) {
    throw config::RuleError(where + "/datapath/lane_width", {where + "/sm/simd_width"},
                            "found " + std::to_string(d.lane_width) +
                                "; allowed: divisors of sm.simd_width = " + std::to_string(sm.simd_width));
  }
  if (warp_formation.warp_size / d.lane_width > kMostGroups) {
    throw config::RuleError(where + "/warp_formation/warp_size", {where + "/datapath/lane_width"},
                            "found " + std::to_string(warp_formation.warp_size) + "; allowed: at most " +
                                std::to_string(kMostGroups) +
                                " times datapath.lane_width = " + std::to_string(d.lane_width));
  }
}

// What one value per warp asks of the rest.
void GpuConfig::check_scalarization(const std::string& where) const {
  if (!sm.scalarization.on()) return;
  const auto refuse = [&](const char* key, const char* other, const std::string& text) {
    throw config::RuleError(where + key, {where + other}, text);
  };
  constexpr const char* kKind = "/scalarization/kind";
  if (warp_formation.scheme != "sbr") {
    refuse(kKind, "/warp_formation/scheme",
           "found scalar instructions with warp_formation.scheme = " + warp_formation.scheme +
               "; allowed: sbr, because a scalar value needs a warp with a reconvergence stack whose threads "
               "are not regrouped");
  }
  if (warp_formation.warp_size > warp_formation::kChunk) {
    refuse(kKind, "/warp_formation/warp_size",
           "found scalar instructions with warp_formation.warp_size = " +
               std::to_string(warp_formation.warp_size) + "; allowed: at most " +
               std::to_string(warp_formation::kChunk) + ", the threads for which a register has one value");
  }
  if (sm.scalarization.separate() && sm.datapath.kind != "spatial") {
    refuse("/scalarization/unit", "/datapath/kind",
           "found separate with datapath.kind = " + sm.datapath.kind +
               "; allowed: spatial, because lanes that run warps in time execute scalar instructions "
               "themselves");
  }
}

// What instructions that share the lanes of a unit ask of the rest.
void GpuConfig::check_beside(const std::string& where) const {
  if (!warp_formation::find_scheme(warp_formation.scheme)->issues_beside) return;
  constexpr const char* kBeats = "none, because instructions share the beats of a unit";
  const auto refuse = [&](const char* key, const std::string& value, const std::string& allowed) {
    throw config::RuleError(where + key, {where + "/warp_formation/scheme"},
                            "found " + value + " with warp_formation.scheme = " + warp_formation.scheme +
                                "; allowed: " + allowed);
  };
  if (sm.issue_width != 1) {
    refuse("/sm/issue_width", std::to_string(sm.issue_width),
           "1, because the scheme itself says what is issued beside an instruction");
  }
  if (sm.datapath.operands.kind != datapath::Operands::Kind::kNone) {
    refuse("/datapath/operands/kind", "conflicts of banks",
           "none, because several instructions read operands at once");
  }
  if (sm.datapath.compaction == datapath::Compaction::kBcc) refuse("/datapath/compaction", "bcc", kBeats);
  if (sm.datapath.compaction == datapath::Compaction::kScc) refuse("/datapath/compaction", "scc", kBeats);
}

void GpuConfig::check_lines(const std::string& where) const {
  const std::pair<std::string, std::uint64_t> caches[] = {{"/sm/l1i/line_bytes", sm.l1i.tags.line_bytes},
                                                          {"/sm/l1d/line_bytes", sm.l1d.tags.line_bytes},
                                                          {"/sm/l1c/line_bytes", sm.l1c.tags.line_bytes},
                                                          {"/sm/l1t/line_bytes", sm.l1t.tags.line_bytes}};
  const auto at_most = [&](const std::string& key, std::uint64_t line, const std::string& limiting_key,
                           const char* limiting_name, std::uint64_t limit) {
    if (line <= limit) return;
    throw config::RuleError(where + key, {where + limiting_key},
                            "found " + std::to_string(line) + "; allowed: at most " + limiting_name + " = " +
                                std::to_string(limit));
  };
  const auto within_interleave = [&](const std::string& key, std::uint64_t line) {
    at_most(key, line, "/dram/interleave_bytes", "dram.interleave_bytes", dram.map.interleave_bytes);
  };
  for (const auto& [key, line] : caches) within_interleave(key, line);
  within_interleave("/sm/coalescer/block_bytes", sm.coalescer.block_bytes);
  if (sm.joined_bytes() > dram.map.interleave_bytes) {
    throw config::RuleError(
        where + "/sm/request_sectors",
        {where + "/sm/coalescer/block_bytes", where + "/dram/interleave_bytes"},
        "found " + std::to_string(sm.request_sectors) + " blocks of " +
            std::to_string(sm.coalescer.block_bytes) +
            " bytes; allowed: at most dram.interleave_bytes = " + std::to_string(dram.map.interleave_bytes));
  }
  if (!l2.enabled) return;
  within_interleave("/l2/line_bytes", l2.bank.tags.line_bytes);
  for (const auto& [key, line] : caches)
    at_most(key, line, "/l2/line_bytes", "l2.line_bytes", l2.bank.tags.line_bytes);
}

void GpuConfig::derive() {
  dram.map.l2_banks = l2.enabled ? l2.banks_per_channel : 1;
}

GpuConfig GpuConfig::checked(const std::string& where) const {
  GpuConfig config = *this;
  config::check_ranges(config, where);
  config.derive();
  config.check(where + ": ");
  return config;
}

void GpuConfig::check_carve_out(const std::string& where) const {
  if (!carve_out.enabled) return;
  if (carve_out.base % 4096 != 0) {
    throw InputError(where + "/base",
                     "found " + std::to_string(carve_out.base) + "; allowed: a multiple of 4096");
  }
}

GpuConfig GpuConfig::of_document(const nlohmann::json& document, const std::string& where,
                                 const std::vector<config::Override>& given) {
  GpuConfig config;
  config::load(config, document, where, given);
  config.derive();
  config::Origins(document, where, given).check([&] { config.check(""); });
  return config;
}

GpuConfig load_config_with(const std::string& name_or_path, const std::vector<Setting>& settings) {
  load_plugins_of_environment();  // their keys are the configuration's
  LayeredConfig read = read_layers(config_path(name_or_path));
  for (const Setting& setting : settings) {
    read.layers.push_back(
        config::apply_override(read.document, with_new_key(setting.text, setting.option), setting.option));
    refuse_base(read.document, read.layers.back());
    apply_dram_standard(read.document, read.layers.back());
  }
  return GpuConfig::of_document(read.document, read.file, read.layers);
}

GpuConfig load_config_document(const nlohmann::json& document, const std::string& where) {
  load_plugins_of_environment();
  const LayeredConfig read = layers_of(document, where);
  return GpuConfig::of_document(read.document, read.file, read.layers);
}

GpuConfig load_config(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  return load_config_with(name_or_path, std::vector<Setting>(overrides.begin(), overrides.end()));
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
  load_plugins_of_environment();
  return config::schema(GpuConfig(), "Weft configuration");
}

}  // namespace weft
