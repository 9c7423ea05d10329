// One JSON -> one checked configuration of the whole GPU.
#ifndef WEFT_PLATFORM_GPU_CONFIG_H
#define WEFT_PLATFORM_GPU_CONFIG_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/config_visitor.h"
#include "weft/crossbar/crossbar_config.h"
#include "weft/dram/dram_config.h"
#include "weft/energy/energy_config.h"
#include "weft/host/config.h"
#include "weft/l2/l2_config.h"
#include "weft/machine/sm_config.h"
#include "weft/memory/channel_map_config.h"
#include "weft/soc/ram_config.h"
#include "weft/system_port/system_port_config.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft {

namespace config {
struct Override;
}

struct Setting;

struct GpuConfig {
  std::string name = "unnamed";
  std::string compute_capability = "7.5";  // that CUDA programs see; chooses among their PTX
  struct Clocks {
    double core_mhz = 700, interconnect_mhz = 700, memory_mhz = 924;
    void describe(config::Visitor& v);
  } clocks;
  machine::SmConfig sm;
  warp_formation::Config warp_formation;
  crossbar::Config crossbar;
  struct L2 {
    bool enabled = true;  // false: the crossbar leads straight to the memory channels
    std::uint64_t banks_per_channel = 2;
    l2::Config bank;
    void describe(config::Visitor& v);
  } l2;
  struct Dram {
    std::uint64_t bytes = 1u << 30;  // device memory
    memory::ChannelMapConfig map;    // its l2_banks follows from l2
    dram::ChannelConfig channel;
    void describe(config::Visitor& v);
  } dram;
  struct System {
    bool enabled = false;  // kernels reach system memory, through Gpu::dma_socket
    system_port::Config port;
    void describe(config::Visitor& v);
  } system;
  // A GPU without memory controllers: device memory (dram.bytes) lies in system memory. Of dram only what
  // divides memory among the L2 banks counts then: channels and interleave_bytes.
  struct CarveOut {
    bool enabled = false;
    std::uint64_t base = 0x9000'0000;  // where its first byte lies
    system_port::Config port{16, 64, 1};
    // The memory that the device API puts behind dma_socket, of dram.bytes; in an SoC there is the SoC's
    // own.
    struct Ram : soc::RamConfig {
      void describe(config::Visitor& v) { describe_timing(v); }
    } ram;
    void describe(config::Visitor& v);
  } carve_out;
  struct Launches {
    std::uint64_t latency = 0;  // core cycles from a launch's turn to its first block
    void describe(config::Visitor& v);
  } launch;
  struct Watchdog {
    std::uint64_t cycles = 1'000'000;  // core cycles without a commit while threads are live
    void describe(config::Visitor& v);
  } watchdog;
  // What the chip is made in, for `weft area`; times of the simulation do not depend on it.
  struct Process {
    double node_nm = 40;
    double chip_mm2 = 0;  // 0: not known
    // How data is priced that a CAM of the same part selects: as CACTI 6.5 does, as if it were the CAM's keys
    // once more, or as a RAM.
    enum class CamData : std::uint8_t { kCam, kRam } cam_data = CamData::kCam;
    void describe(config::Visitor& v);
  } process;

  energy::Config energy;
  host::Config host;

  void describe(config::Visitor& v);
  // Rules that join several fields; throws InputError naming `where` and the JSON pointer.
  void check(const std::string& where) const;
  // A copy with what follows from other fields, for a struct that a program filled in: what load_config()
  // would refuse throws InputError here too.
  GpuConfig checked(const std::string& where) const;

 private:
  void derive();  // sets what follows from other fields
  void check_carve_out(const std::string& where) const;
  void check_datapath(const std::string& where) const;
  void check_scalarization(const std::string& where) const;
  void check_beside(const std::string& where) const;
  void check_lines(const std::string& where) const;

  static GpuConfig of_document(const nlohmann::json& document, const std::string& where,
                               const std::vector<config::Override>& given);

  friend GpuConfig load_config_with(const std::string& name_or_path, const std::vector<Setting>& settings);
  friend GpuConfig load_config_document(const nlohmann::json& document, const std::string& where);
};

// "8.6" -> 86. Throws InputError that names `where` for another text.
unsigned parse_capability(const std::string& where, const std::string& text);

// A value on top of a configuration, "path=value", and who gave it, for messages.
struct Setting {
  // NOLINTNEXTLINE(google-explicit-constructor): a text is a setting
  Setting(std::string given, std::string by = "--set") : text(std::move(given)), option(std::move(by)) {}
  std::string text, option;
};

// Reads a configuration by name ("gtx480": configs/gtx480.json of the source tree or the installed share
// folder) or by path (anything with a slash or ending in .json), applies the settings, checks it. A file may
// name another one as its `base`. Keys under their names of the version before are accepted with a warning on
// standard error.
GpuConfig load_config_with(const std::string& name_or_path, const std::vector<Setting>& settings);
GpuConfig load_config(const std::string& name_or_path,
                      const std::vector<std::string>& overrides = {});  // --set
// The same from JSON. `where` is the file or whatever else it is from, for messages.
GpuConfig load_config_document(const nlohmann::json& document, const std::string& where);
std::vector<std::string> config_names();
nlohmann::ordered_json effective_config(const GpuConfig& config);
nlohmann::ordered_json config_schema();

}  // namespace weft

#endif
