// What `weft cuda` tells the libraries in the program that it starts: the environment variable WEFT_CUDA, a
// JSON object. Without the variable everything is as by default, and nothing is printed or written: the GPU
// behind kDevicePath is used if this file exists, and otherwise one is simulated.
#ifndef WEFT_RUNTIME_CUDA_CORE_SETTINGS_H
#define WEFT_RUNTIME_CUDA_CORE_SETTINGS_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::cuda {

inline constexpr const char* kSettingsVariable = "WEFT_CUDA";

// An hour.
inline constexpr std::uint64_t kMostHostWait = 3'600'000;

inline constexpr const char* kDevicePath = "/dev/weft0";
inline constexpr const char* kDeviceConfig = "/etc/weft/gpu.json";  // of the GPU behind it

struct Settings {
  // The GPU: one that is simulated in the process, or the one of the machine, by the kernel's driver
  // (backend.h).
  enum class Kind { kSimulator, kDriver };
  Kind backend = Kind::kSimulator;
  std::string device = kDevicePath;  // of the driver
  // Of the GPU, by name or path. With the driver: the effective configuration of the GPU behind it.
  std::string config = "gtx480";
  std::vector<std::string> overrides;  // "path=value"
  std::string out;                     // folder for results; empty: none
  bool summary = false;                // print one at the program's end
  bool functional = false;             // without timing
  bool instant_copies = false;         // copies take no simulated time
  // Launches that are timed, counted from 1; last 0: all. Or those between cudaProfilerStart and
  // cudaProfilerStop.
  std::uint64_t first_launch = 1, last_launch = 0;
  bool profiler_region = false;
  std::uint64_t max_cycles = 0;        // core cycles over all launches; 0: no limit
  std::uint64_t max_instructions = 0;  // of threads, over all launches; 0: no limit
  std::uint64_t sample = 0;            // core cycles of an interval of samples.csv; 0: none
  bool characteristics = false;        // write characteristics.json (runtime/characteristics.h)
  // Compute capability that programs see, times ten, instead of the machine's; 0: that of the machine.
  unsigned capability = 0;
  std::vector<std::string> checks;   // of kernels: memory, race, warp, scalar
  std::uint64_t check_reports = 16;  // different places after which a launch ends
  // How long a program that has work on the device neither calls CUDA nor does anything but wait or compute,
  // until the work goes on without it (stand_in.h); 0: never.
  std::uint64_t host_wait_ms = 100;
  std::int64_t gdb = -1;     // port at which the program itself waits for GDB; -1: it does not
  std::string gdb_symbols;   // debugger::Options::symbols
  std::int64_t process = 0;  // the program itself; its child processes write to folders of their own
};

std::string to_text(const Settings& settings);
// Throws InputError for text that is no such object.
Settings parse_settings(const std::string& text);
Settings settings_of_environment();

}  // namespace weft::cuda

#endif
