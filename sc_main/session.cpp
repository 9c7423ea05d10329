#include "sc_main/session.h"

#include <iostream>

#include "sc_main/files.h"
#include "sc_main/interrupt.h"
#include "sc_main/progress.h"

namespace weft::cli {
namespace {

runtime::DeviceOptions device_options(const SessionOptions& options) {
  runtime::DeviceOptions device;
  device.sleeping = !options.no_sleep;
  device.monitors = options.monitors;
  device.max_cycles = options.max_cycles;
  device.limits = options.limits;
  device.progress = progress_line();
  device.interrupted = interrupted;
  return device;
}

}  // namespace

Session::Session(const SessionOptions& options)
    : options_(options),
      config_(load_config(options.config, options.overrides)),
      device_(config_, device_options(options)) {
  // Before the simulation, not after it: a folder that cannot be made should not cost a run.
  if (!options_.out.empty()) make_folder(options_.out);
  start_trace(device_.gpu(), options_.trace);
  catch_interrupts();
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
  end_progress_line();
  outcome.violations = device_.gpu().violations();

  std::cout << device_.take_output() << summary(outcome, device_);
  std::cout.flush();
  if (!outcome.fault.empty()) std::cerr << "weft: " << outcome.fault << "\n";
  if (!outcome.violations.empty()) std::cerr << "weft: protocol violations:\n" << outcome.violations;
  if (!options_.out.empty()) write_results(options_.out, outcome, device_);
  finish_trace(device_.gpu());  // after the results: a waveform that does not fit the disk must not cost them

  if (!outcome.fault.empty()) return ExitCode::kFault;
  const bool wrong = outcome.verified == false || !outcome.violations.empty();
  return wrong ? ExitCode::kWrongResult : ExitCode::kDone;
}

}  // namespace weft::cli
