// weft soc: firmware on a host CPU, or another process, that uses the GPU as a device.
#include "platform/soc/soc.h"

#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "common/config_writer.h"
#include "common/output_files.h"
#include "sc_main/observe_options.h"
#include "sc_main/options.h"
#include "study/session/interrupt.h"
#include "study/session/log_stream.h"
#include "study/session/outcome.h"
#include "study/session/timeline.h"
#include "study/session/trace.h"
#include "study/session/transactions.h"
#include "study/terminal/table.h"
#include "weft/warp_formation/plugins.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

struct SocOptions {
  std::string config = "rv64", firmware, initrd, out, log;
  std::vector<std::string> overrides, gpu_overrides;
  double max_ms = 10'000;
  std::uint64_t sample = 0;
  bool monitors = false, functional = false, launch_times = false;
  TraceOptions trace;
  TimelineOptions timeline;
  TransactionOptions transactions;
};

struct SocOutcome {
  std::string fault;
  double cpu_seconds = 0, simulated_ns = 0;
};

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Until the program's end, an interrupt, the time limit, or until nothing can happen any more.
SocOutcome simulate(Soc& soc, double max_ms) {
  SocOutcome outcome;
  const sc_core::sc_time most(max_ms, sc_core::SC_MS), slice(1, sc_core::SC_MS);
  const double began = cpu_seconds();
  while (!soc.ended() && outcome.fault.empty()) {
    sc_core::sc_start(std::min(slice, most - sc_core::sc_time_stamp()));
    if (soc.ended()) break;
    if (interrupted()) {
      outcome.fault = "interrupted";
    } else if (sc_core::sc_time_stamp() >= most) {
      outcome.fault = "the program did not end within --max-ms " + std::to_string(max_ms);
    } else if (!sc_core::sc_pending_activity()) {
      outcome.fault = "the host CPU waits for an interrupt, but no event is pending";
    }
  }
  outcome.cpu_seconds = cpu_seconds() - began;
  outcome.simulated_ns = sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_NS);
  if (outcome.fault.empty()) outcome.fault = soc.fault();
  return outcome;
}

ordered_json statistics_json(Soc& soc, const SocOptions& options, const SocOutcome& outcome) {
  const Totals totals = soc.gpu().totals();
  ordered_json json;
  json["firmware"] = options.firmware.empty() ? ordered_json(nullptr) : ordered_json(options.firmware);
  json["config"] = options.config;
  if (!plugins().empty()) json["plugins"] = plugins_json();
  json["exit_code"] = soc.exit_code().has_value() ? ordered_json(*soc.exit_code()) : ordered_json(nullptr);
  json["fault"] = outcome.fault.empty() ? ordered_json(nullptr) : ordered_json(outcome.fault);
  json["simulated_ns"] = outcome.simulated_ns;
  json["host_instructions"] = soc.host_instructions();
  if (soc.guest_seconds() != 0) json["guest_seconds"] = soc.guest_seconds();
  json["cycles"] = totals.cycles;
  json["thread_instructions"] = totals.thread_instructions;
  json["warp_instructions"] = totals.warp_instructions;
  for (const char* const name : {"ipc", "simd_efficiency"}) json[name] = totals[name];
  const functional::Counters& untimed = soc.gpu().untimed_counters();
  if (untimed.launches != 0) {
    json["functional"] = {{"launches", untimed.launches},
                          {"thread_instructions", untimed.thread_instructions},
                          {"warp_instructions", untimed.warp_instructions}};
  }
  json["cpu_seconds"] = outcome.cpu_seconds;
  json["peak_memory_bytes"] = peak_memory_bytes();
  json["soc"] = soc.statistics().sample();
  json["statistics"] = soc.gpu().statistics().sample();
  return json;
}

std::string summary(Soc& soc, const SocOutcome& outcome) {
  const Totals totals = soc.gpu().totals();
  std::ostringstream out;
  const auto line = [&](const char* name) -> std::ostream& { return out << label(name); };
  line("result");
  if (!outcome.fault.empty()) {
    out << "fault: " << outcome.fault << "\n";
  } else {
    out << "exit code " << soc.exit_code().value_or(-1) << "\n";
  }
  out << std::fixed << std::setprecision(1);
  line("simulated time") << outcome.simulated_ns / 1e3 << " us\n";
  if (soc.guest_seconds() != 0) line("the guest's clock") << soc.guest_seconds() << " s of real time\n";
  line("GPU core cycles") << totals.cycles << " with a kernel\n";
  line("thread instructions") << totals.thread_instructions << "\n";
  const functional::Counters& untimed = soc.gpu().untimed_counters();
  if (untimed.launches != 0) {
    line("without timing") << untimed.launches << " kernels, " << untimed.thread_instructions
                           << " thread instructions\n";
  }
  line("CPU seconds") << std::setprecision(3) << outcome.cpu_seconds << "\n";
  if (soc.host_instructions() != 0 && outcome.cpu_seconds > 0) {
    line("host instructions") << soc.host_instructions() << ", " << std::setprecision(1)
                              << static_cast<double>(soc.host_instructions()) / outcome.cpu_seconds * 1e-6
                              << " million per second\n";
  }
  return out.str();
}

// Empty, unless it was asked for.
std::string launch_table(Recordings& recordings) {
  const auto stages = recordings.launch_stages();
  if (stages.empty()) return "";
  const auto number = [](double ns) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << ns;
    return text.str();
  };
  TextTable table({{"launches from packets, ns", Align::kLeft, 22},
                   {"launches"},
                   {"mean"},
                   {"least"},
                   {"most"},
                   {"what", Align::kLeft}});
  for (const Recordings::LaunchStage& stage : stages) {
    const bool any = stage.launches != 0;
    table.row({stage.name, std::to_string(stage.launches), any ? number(stage.mean_ns) : "-",
               any ? number(stage.least_ns) : "-", any ? number(stage.most_ns) : "-", stage.meaning});
  }
  return "\n" + table.text();
}

}  // namespace

ExitCode soc(const Words& words) {
  SocOptions options;
  Options description("system and results");
  description
      .text("config", options.config, "NAME", "a name (`weft list configs`, those of soc/) or a JSON file")
      .list("set", options.overrides, "PATH=VALUE",
            "override values of the system's configuration, for example cpu.mhz=2000")
      .plugins()
      .list("gpu-set", options.gpu_overrides, "PATH=VALUE", "override values of the GPU's configuration")
      .text("firmware", options.firmware, "FILE",
            "ELF file that the host CPU runs (not for an external CPU); for QEMU: a multiboot image or a "
            "kernel")
      .text("initrd", options.initrd, "FILE", "initial RAM disk of the kernel that QEMU runs")
      .text("log", options.log, "FILE",
            "file, device or pipe for the serial output, instead of standard output")
      .text("out", options.out, "DIR", "folder for stats.json, config.json and summary.txt; made if missing")
      .real("max-ms", options.max_ms, {0, 1e9, "ms"}, "stop after this simulated time (exit code 3; 10000)")
      .number("sample", options.sample, kSampleBounds,
              "write samples.csv to --out: the activity of each SM in intervals of this many core cycles")
      .flag("functional", options.functional,
            "run kernels without timing until the program enables timing (register MODE); like --gpu-set "
            "host.functional=true")
      .flag(
          "launch-times", options.launch_times,
          "print where the time of launches goes, from the doorbell to the interrupt's handler; with --out, "
          "launch_times.csv has each")
      .flag("monitors", options.monitors,
            "check the TLM-2.0 protocol on every hop; a violation is a wrong result");
  add_trace_options(description, options.trace);
  add_transaction_options(description, options.transactions);
  add_timeline_options(description, options.timeline);
  if (!parse(words, "weft soc --firmware FILE [OPTIONS]\n       weft soc --config external [OPTIONS]",
             description))
    return ExitCode::kDone;

  const SocConfig config = load_soc_config(options.config, options.overrides);
  if (config.cpu.kind != "external" && options.firmware.empty())
    throw InputError("weft soc", "a host CPU of kind " + config.cpu.kind + " needs --firmware FILE");
  std::optional<LogStream> log;
  if (!options.log.empty()) log.emplace(options.log);
  if (!options.out.empty()) make_folder(options.out);
  Gpu::Options gpu_options;
  gpu_options.monitors = options.monitors;
  const auto transactions = transaction_trace(options.transactions);
  if (transactions != nullptr)
    gpu_options.observations.push_back({transactions->hops(), transactions->observer(), false});
  if (options.functional) options.gpu_overrides.emplace_back("host.functional=true");
  Soc soc("soc", config, load_gpu_of(config, options.gpu_overrides), log ? *log : std::cout, gpu_options);
  const auto fst = start_trace(soc.gpu(), options.trace);
  start_timeline(soc.gpu(), options.timeline);
  if (transactions != nullptr) transactions->begin(soc.gpu());
  start_tables(soc.gpu(), options.sample, options.out);
  if (options.launch_times) soc.gpu().recordings().time_launches();
  if (!options.firmware.empty()) soc.load(options.firmware, options.initrd);
  catch_interrupts();
  soc.give_up_if(interrupted);

  const SocOutcome outcome = simulate(soc, options.max_ms);
  soc.flush_serial_output();
  const bool complete = !log || log->finish();
  const std::string violations = soc.violations();
  const std::string page = summary(soc, outcome) + launch_table(soc.gpu().recordings());
  std::cout << page << std::flush;
  std::string elsewhere;
  if (!options.out.empty()) {
    ordered_json effective = {{"soc", config::write(config)}, {"gpu", effective_config(soc.gpu().config())}};
    std::vector<TextFile> files{{"config.json", text_of(effective)}, {"summary.txt", page}};
    add_tables(soc.gpu(), files);
    files.push_back({"stats.json", text_of(statistics_json(soc, options, outcome))});
    elsewhere = save_files(options.out, files);
  }
  if (!elsewhere.empty()) std::cerr << "weft: " << elsewhere << "\n";
  if (!violations.empty()) std::cerr << "weft: protocol violations:\n" << violations;
  if (transactions != nullptr) transactions->close();
  finish_timeline(soc.gpu());
  finish_trace(soc.gpu(),
               fst.get());  // after the results: a waveform that does not fit the disk must not cost them
  if (!outcome.fault.empty()) {
    std::cerr << "weft: " << outcome.fault << "\n";
    return ExitCode::kFault;
  }
  const auto code = static_cast<ExitCode>(*soc.exit_code());
  if (code != ExitCode::kDone) return code;
  if (!violations.empty()) return ExitCode::kWrongResult;
  return complete && elsewhere.empty() ? ExitCode::kDone : ExitCode::kBadInput;
}

}  // namespace weft::cli
