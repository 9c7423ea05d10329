#include "study/session/session.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/number.h"
#include "debugger/debugger.h"
#include "runtime/kernels_json.h"
#include "study/session/interrupt.h"
#include "study/session/run_record.h"
#include "study/terminal/progress.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

runtime::FunctionalOptions functional_options(const SessionOptions& options) {
  runtime::FunctionalOptions functional;
  functional.all = options.functional;
  if (options.functional) {
    const auto refuse = [](bool given, const char* option, const char* instead = "") {
      if (given) {
        throw InputError(
            option, std::string("is not allowed with --functional, which has no cycles and no transactions") +
                        instead);
      }
    };
    refuse(options.max_cycles != 0, "--max-cycles", "; --max-instructions has");
    refuse(options.no_sleep, "--no-sleep");
    refuse(options.monitors, "--monitors");
    refuse(!options.trace.file.empty(), "--vcd");
    refuse(!options.transactions.file.empty(), "--transactions");
    refuse(!options.timeline.file.empty(), "--timeline");
    refuse(options.sample != 0, "--sample");
    refuse(!options.fast_forward.empty(), "--fast-forward");
    refuse(options.gdb.has_value(), "--gdb");
  }
  const std::string& skip = options.fast_forward;
  if (skip.empty()) return functional;
  // A kernel's name begins as identifiers do.
  const auto first = static_cast<unsigned char>(skip.front());
  if (std::isalpha(first) != 0 || first == '_' || first == '$' || first == '%') {
    functional.kernel = skip;
  } else {
    functional.launches = read_unsigned("--fast-forward", skip, {0, UINT64_MAX, 1, "launches"});
  }
  return functional;
}

runtime::DeviceOptions device_options(const SessionOptions& options) {
  runtime::DeviceOptions device;
  device.sleeping = !options.no_sleep;
  device.monitors = options.monitors;
  device.max_cycles = options.max_cycles;
  device.max_instructions = options.max_instructions;
  device.limits = options.limits;
  device.progress = progress_of_run(options.one_launch);
  device.interrupted = interrupted;
  device.functional = functional_options(options);
  device.check = check::options_of(options.checks, options.check_reports);
  device.check.records_writes = options.records_writes;
  device.check.compares_writes = options.compares_writes;
  device.check.ptx = options.checked_ptx;
  device.observer = options.observer;
  device.profile = options.profile;
  return device;
}

std::unique_ptr<debugger::Debugger> debugger_of(const SessionOptions& options) {
  if (!options.gdb.has_value()) return nullptr;
  return std::make_unique<debugger::Debugger>(
      debugger::Options{*options.gdb, options.gdb_symbols, interrupted});
}

}  // namespace

std::string mode_of(const SessionOptions& options) {
  return options.functional ? "functional" : options.fast_forward.empty() ? "timed" : "fast-forward";
}

SessionOptions with_settings(SessionOptions options, const workloads::Workload& workload,
                             const std::string& size) {
  const auto settings = workloads::settings_of(workload, size);
  options.size_settings.assign(settings.begin(), settings.end());
  return options;
}

GpuConfig config_of(const SessionOptions& options) {
  std::vector<Setting> settings;
  settings.reserve(options.size_settings.size() + options.overrides.size());
  for (const std::string& text : options.size_settings) settings.emplace_back(text, "--size, which sets");
  for (const std::string& text : options.overrides) settings.emplace_back(text);
  return load_config_with(options.config, settings);
}

Outcome outcome_of(const workloads::Workload& workload, const std::string& size) {
  Outcome outcome;
  outcome.workload = workload.name();
  outcome.size = workloads::values_of(workload, size);
  outcome.code = workload.code();
  return outcome;
}

Session::Session(const SessionOptions& options)
    : options_(options),
      config_(config_of(options)),
      transactions_(transaction_trace(options.transactions)),
      debugger_(debugger_of(options)),
      device_(config_, [this] {
        runtime::DeviceOptions device = device_options(options_);
        device.debugger = debugger_.get();
        if (transactions_ != nullptr)
          device.observations.push_back({transactions_->hops(), transactions_->observer(), false});
        if (!options_.checkpoint.has_value()) return device;
        device.checkpoint = [this](const std::string& state) { write_checkpoint(state); };
        device.checkpoint_seconds = static_cast<double>(*options_.checkpoint);
        return device;
      }()) {
  // Before the simulation, not after it: a folder that cannot be made should not cost a run.
  if (!options_.out.empty()) make_folder(options_.out);
  fst_ = start_trace(device_.gpu(), options_.trace);
  start_timeline(device_.gpu(), options_.timeline);
  if (transactions_ != nullptr) transactions_->begin(device_.gpu());
  start_tables(device_.gpu(), options_.sample, options_.out, options_.functional);
  catch_interrupts();
}

Session::~Session() = default;

void Session::prepare_checkpoints(const Outcome& outcome) {
  const char* const option = options_.resume ? "--resume" : "--checkpoint";
  if (!options_.resume && !options_.checkpoint.has_value()) return;
  if (options_.out.empty()) throw InputError(option, "needs --out DIR, the folder of the checkpoint");
  const std::string why = device_.cannot_be_kept();
  if (!why.empty()) throw InputError(option, "cannot be used: " + why);
  ordered_json record = run_record(outcome, config_, options_, false);
  record.erase("finished");
  record["options"].erase("max_cycles");  // where a run is stopped does not change what comes before
  checkpoint_.emplace(options_.out, std::move(record));
  remove_drafts(options_.out);  // of a checkpoint that was not finished
  if (!options_.resume) return;
  std::optional<std::string> state = checkpoint_->read();
  if (state.has_value()) return device_.resume(std::move(*state));
  std::cerr << "weft: found no " << checkpoint_->path() << "; the run starts from its beginning\n";
}

// Within the simulation. A disk that is full now may not be at the next one.
void Session::write_checkpoint(const std::string& state) {
  if (!checkpoint_.has_value()) return;
  try {
    checkpoint_->write(state);
    cannot_write_ = false;
  } catch (const InputError& error) {
    if (!cannot_write_) std::cerr << "weft: --checkpoint: " << error.what() << "\n";
    cannot_write_ = lacks_checkpoint_ = true;
  }
}

// A run that has come to its end needs it no more.
void Session::end_checkpoints(const Outcome& outcome) {
  if (!checkpoint_.has_value()) return;
  if (!outcome.interrupted) return checkpoint_->remove();
  if (checkpoint_->exists()) {
    std::cerr << "weft: repeat the command with --resume to continue from " << checkpoint_->path() << "\n";
  } else {
    std::cerr << "weft: no checkpoint has been written yet\n";
  }
}

ExitCode Session::execute(Outcome& outcome, workloads::Workload& workload) {
  prepare_checkpoints(outcome);
  return execute(outcome, [&](runtime::Device& device, Outcome& result) {
    const workloads::Result got = workloads::run(workload, device, result.size, result.code);
    result.verified = got.verified;
    result.message = got.message;
    if (device.resuming())
      throw InputError(checkpoint_->path(),
                       "is later than the end of the run: it belongs to another program");
  });
}

ExitCode Session::execute(Outcome& outcome, const std::function<void(runtime::Device&, Outcome&)>& work) {
  try {
    work(device_, outcome);
  } catch (const runtime::LaunchAbandoned& abandoned) {
    outcome.interrupted = true;
    outcome.fault = abandoned.what();
  } catch (const SimulatedFault& fault) {
    outcome.fault = fault.what();
  }
  const ExitCode code = finish(outcome);
  if (debugger_ != nullptr) debugger_->ended(static_cast<int>(code));
  return code;
}

// Tells and writes what the work has come to.
ExitCode Session::finish(Outcome& outcome) {
  end_progress_line();
  outcome.mode = mode_of(options_);
  outcome.checks = options_.checks;
  outcome.violations = device_.gpu().violations();

  std::cout << device_.take_output();
  if (!options_.quiet) std::cout << summary(outcome, device_, Paint::of(STDOUT_FILENO));
  std::cout.flush();
  if (!outcome.fault.empty())
    std::cerr << Paint::of(STDERR_FILENO).bad("weft:") << " " << outcome.fault << "\n";
  if (outcome.mode == "fast-forward" && device_.gpu().totals().cycles == 0) {
    std::cerr << "weft: no launch was timed: --fast-forward " << options_.fast_forward
              << " covers all of them\n";
  }
  if (!outcome.violations.empty()) std::cerr << "weft: protocol violations:\n" << outcome.violations;
  for (const check::Report& report : device_.reports()) {
    std::cerr << "weft: " << report.text;
    if (report.count > 1) std::cerr << " (and " << report.count - 1 << " more times here)";
    std::cerr << "\n";
  }
  for (const std::string& what : device_.not_compared())
    std::cerr << "weft: --check scalar: not compared with the run without scalarization: " << what << "\n";
  std::string elsewhere;
  if (!options_.out.empty()) {
    const bool ended_by_signal = outcome.interrupted && interrupted();
    std::vector<TextFile> more;
    if (options_.more_results) more = options_.more_results(outcome, device_);
    add_tables(device_.gpu(), more);
    std::string sources = runtime::kernels_json(device_, WEFT_SOURCE_FOLDER);
    const bool no_sources = sources.empty();
    more.push_back({"kernels.json", std::move(sources), no_sources});
    elsewhere = write_results(options_.out, outcome, device_,
                              run_record(outcome, config_, options_, !ended_by_signal), std::move(more),
                              !options_.no_sync);
  }
  if (!elsewhere.empty()) std::cerr << "weft: " << elsewhere << "\n";
  end_checkpoints(outcome);
  if (transactions_ != nullptr) transactions_->close();
  finish_timeline(device_.gpu());
  finish_trace(device_.gpu(),
               fst_.get());  // after the results: a waveform that does not fit the disk must not cost them

  const auto is_of_scalars = [](const check::Report& report) { return report.kind == "scalar"; };
  const auto& reports = device_.reports();
  const bool of_the_program = !std::all_of(reports.begin(), reports.end(), is_of_scalars);
  if (of_the_program || (!outcome.fault.empty() && reports.empty())) return ExitCode::kFault;
  if (!outcome.verified.value_or(true) || !outcome.violations.empty() || !reports.empty())
    return ExitCode::kWrongResult;
  return elsewhere.empty() && !lacks_checkpoint_ ? ExitCode::kDone : ExitCode::kBadInput;
}

}  // namespace weft::study
