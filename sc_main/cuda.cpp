#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "check/checks.h"
#include "common/output_files.h"
#include "debugger/connection.h"
#include "runtime/cuda/core/settings.h"
#include "sc_main/options.h"
#include "weft/platform/gpu_config.h"
#include "weft/warp_formation/plugins.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;

struct CudaOptions {
  cuda::Settings settings;
  std::string capability;
  std::string launches, region;
  bool preload = false, quiet = false;
  Words program;  // and its arguments
};

// "3-5" or "4"
void parse_launches(const std::string& text, cuda::Settings& settings) {
  const Bounds bounds{1, UINT64_MAX, 1, "launches"};
  const auto dash = text.find('-');
  settings.first_launch = read_unsigned("--launches", text.substr(0, dash), bounds);
  settings.last_launch = dash == std::string::npos
                             ? settings.first_launch
                             : read_unsigned("--launches", text.substr(dash + 1), bounds);
  if (settings.first_launch > settings.last_launch) {
    throw InputError("--launches",
                     "found '" + text + "'; allowed: N-M with N up to M, as in 3-5, or one launch");
  }
}

// It tells of all launches, from the counts of timed ones.
void check_characteristics(const CudaOptions& options) {
  if (!options.settings.characteristics) return;
  if (options.settings.out.empty()) throw InputError("--characteristics", "needs --out DIR");
  const char* const given = options.settings.functional ? "--functional"
                            : !options.launches.empty() ? "--launches"
                            : !options.region.empty()   ? "--region"
                                                        : nullptr;
  if (given != nullptr)
    throw InputError("--characteristics",
                     std::string("is not allowed with ") + given + ": it needs all launches timed");
}

void choose_gdb(std::uint64_t port, cuda::Settings& settings) {
  if (port == kNoGdb) {
    if (!settings.gdb_symbols.empty()) throw InputError("--gdb-symbols", "needs --gdb PORT");
    return;
  }
  if (settings.functional)
    throw InputError("--gdb", "is not allowed with --functional, which has no cycles and no transactions");
  const debugger::Connection free(static_cast<std::uint16_t>(port));  // else an error now, not in the program
  settings.gdb = static_cast<std::int64_t>(port);
  if (!settings.gdb_symbols.empty()) settings.gdb_symbols = fs::absolute(settings.gdb_symbols).string();
}

void choose_launches(const CudaOptions& options, cuda::Settings& settings) {
  const char* const given = !options.launches.empty() ? "--launches"
                            : !options.region.empty() ? "--region"
                                                      : nullptr;
  if (given == nullptr) return;
  if (settings.functional) throw InputError(given, "is not allowed with --functional, which times no launch");
  if (!options.launches.empty() && !options.region.empty())
    throw InputError("--launches", "is not allowed with --region, which also chooses launches");
  if (!options.launches.empty()) return parse_launches(options.launches, settings);
  if (options.region != "profiler")
    throw InputError("--region", "found '" + options.region + "'; allowed: profiler");
  settings.profiler_region = true;
}

// Where the program begins among the words: behind "--", or with the first word that is no option and no
// option's value. An option with several values takes what looks like one.
Words::const_iterator begin_of_program(const Words& words, const Options& options) {
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word[0] == '-'; };
  auto word = words.begin();
  while (word != words.end() && *word != "--" && is_option(*word)) {
    if ((*word)[1] != '-') {  // -h
      ++word;
      continue;
    }
    const auto equals = word->find('=');
    const auto* const option = options.description().find_nothrow(word->substr(2, equals - 2), false);
    ++word;
    if (option == nullptr || option->semantic()->max_tokens() == 0 || equals != std::string::npos) continue;
    if (word != words.end()) ++word;
    if (option->semantic()->max_tokens() == 1) continue;
    const std::string shown = option->format_parameter();  // "PATH=VALUE" or "memory|race"
    const auto looks_like_value = [&](const std::string& text) {
      return shown.find('=') != std::string::npos
                 ? text.find('=') != std::string::npos
                 : ("|" + shown + "|").find("|" + text + "|") != std::string::npos;
    };
    while (word != words.end() && !is_option(*word) && looks_like_value(*word)) ++word;
  }
  return word;
}

// The folder above that of this program, in the build tree and where it is installed.
fs::path prefix() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) throw InputError("weft cuda", "/proc/self/exe cannot be read: " + error.message());
  return program.parent_path().parent_path();
}

std::string library_folder() {
  std::error_code error;
  fs::path folder = prefix() / "lib" / "weft-cuda";
  if (!fs::exists(folder / "libcuda.so.1", error)) {
    throw InputError("weft cuda", "libcuda.so.1 is not in " + folder.string());
  }
  return folder.string();
}

void prepend(const char* variable, const std::string& value) {
  const char* old = std::getenv(variable);
  const std::string joined = old == nullptr || *old == '\0' ? value : value + ":" + old;
  setenv(variable, joined.c_str(), 1);
}

void set_environment(const CudaOptions& options, const std::string& folder) {
  prepend("LD_LIBRARY_PATH", folder);
  if (options.preload) {
    prepend("LD_PRELOAD", folder + "/libcuda.so.1");
    prepend("LD_PRELOAD", folder + "/libcudart.so.13");
  }
  // Configurations that are installed lie beside this program, not beside the one that starts.
  const fs::path configs = prefix() / "share" / "weft" / "configs";
  std::error_code error;
  if (fs::is_directory(configs, error)) setenv("WEFT_CONFIGS", configs.c_str(), 0);
  // By their whole paths: the program may change its working directory.
  std::string files;
  for (const Plugin& plugin : plugins()) files += (files.empty() ? "" : ":") + plugin.file;
  if (!files.empty()) setenv("WEFT_PLUGINS", files.c_str(), 1);
  setenv(cuda::kSettingsVariable, cuda::to_text(options.settings).c_str(), 1);
}

[[noreturn]] void become(const Words& program) {
  Words words = program;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::cout.flush();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // as a program expects them
  execvp(arguments[0], arguments.data());
  throw InputError(program[0], std::string("cannot be started: ") + std::strerror(errno));
}

}  // namespace

ExitCode cuda(const Words& words) {
  CudaOptions options;
  Options machine("machine and results");
  machine.text("config", options.settings.config, "NAME", "a name (weft list configs) or a JSON file")
      .list("set", options.settings.overrides, "PATH=VALUE",
            "override values of the configuration, for example sm.count=4")
      .plugins()
      .text("out", options.settings.out, "DIR",
            "folder for stats.json (each launch, and all launches), config.json and summary.txt; made if "
            "missing")
      .number("max-cycles", options.settings.max_cycles, kCycleBounds,
              "core cycles after which launches fail with a timeout")
      .number("max-instructions", options.settings.max_instructions, kInstructionBounds,
              "thread instructions after which launches fail with a timeout")
      .number("sample", options.settings.sample, kSampleBounds,
              "write samples.csv to --out: the activity of each SM in intervals of this many core cycles")
      .flag("characteristics", options.settings.characteristics,
            "write characteristics.json to --out: what weft characterize tells of each kernel")
      .flag("functional", options.settings.functional,
            "run kernels without timing: the same results, no simulated time")
      .text("launches", options.launches, "N-M",
            "time only the launches N to M of the program, counted from 1, and run the others without timing")
      .text("region", options.region, "profiler",
            "time only the launches between cudaProfilerStart and cudaProfilerStop")
      .flag("instant-copies", options.settings.instant_copies,
            "copies between host and device take no simulated time, and less real time")
      .list("check", options.settings.checks, "memory|race|warp|scalar",
            "memory: every access of kernels against allocations, alignment and what has been written; race: "
            "accesses of threads that nothing orders; warp: primitives and barriers without threads that "
            "they name or read; scalar: whether the value per warp (scalarization) equals the value of each "
            "thread; the exit code is 3 instead of 0 if anything is found")
      .number("check-reports", options.settings.check_reports, kReportBounds,
              "reports about different instructions after which a launch ends (16)")
      .number("host-wait", options.settings.host_wait_ms, {0, cuda::kMostHostWait, 1, "ms"},
              "time without a call to CUDA after which simulation continues, since the program may poll for "
              "a result; 0: never (" +
                  std::to_string(options.settings.host_wait_ms) + ")")
      .text("capability", options.capability, "MAJOR.MINOR",
            "compute capability that the program sees and that selects PTX, instead of the machine's "
            "[1.0 to 99.9]")
      .flag("preload", options.preload,
            "also for programs that name a folder of CUDA libraries themselves (DT_RPATH)")
      .flag("quiet", options.quiet, "print no summary");
  std::uint64_t port = kNoGdb;
  add_gdb_options(machine, port, options.settings.gdb_symbols);

  const bool described = words == Words{std::string(kDescribe)};
  const auto end = described ? words.end() : begin_of_program(words, machine);
  const std::string usage = "weft cuda [OPTIONS] [--] PROGRAM [ARGUMENTS]";
  if (!parse(Words(words.begin(), end), usage, machine)) return ExitCode::kDone;
  if (!options.capability.empty())
    options.settings.capability = parse_capability("--capability", options.capability);
  options.program.assign(end != words.end() && *end == "--" ? end + 1 : end, words.end());
  choose_launches(options, options.settings);
  check_characteristics(options);
  if (options.program.empty()) throw InputError("weft cuda", "needs a program: " + usage);
  check::options_of(options.settings.checks, options.settings.check_reports);  // says what is wrong with them
  if (options.settings.sample != 0 && options.settings.out.empty())
    throw InputError("--sample", "needs a folder for samples.csv; give --out DIR");
  if (options.settings.sample != 0 && options.settings.functional)
    throw InputError("--sample", "is not allowed with --functional, which has no cycles and no transactions");
  choose_gdb(port, options.settings);
  options.settings.summary = !options.quiet;
  options.settings.process = getpid();
  // What is wrong with them should be told before the program starts; and it may change its working
  // directory.
  load_config(options.settings.config, options.settings.overrides);
  if (fs::exists(options.settings.config))
    options.settings.config = fs::absolute(options.settings.config).string();
  if (!options.settings.out.empty()) {
    make_folder(options.settings.out);
    options.settings.out = fs::absolute(options.settings.out).string();
  }
  set_environment(options, library_folder());
  become(options.program);
}

}  // namespace weft::cli
