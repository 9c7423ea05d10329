// How a device runs what was asked for: slices of simulated time, launches without timing, faults.
#include <algorithm>
#include <chrono>

#include "debugger/debugger.h"
#include "runtime/device_impl.h"

namespace weft::runtime {
namespace {

// Simulated core cycles between two looks at the outside: short against a second of wall time at any speed,
// long against the cost of entering the SystemC kernel.
constexpr std::uint64_t kSliceCycles = 10'000;
constexpr std::chrono::milliseconds kProgressInterval{250};

}  // namespace

// Whether a launch of this kernel, the next one, runs without timing.
bool Device::Impl::is_functional(const std::string& kernel) {
  const FunctionalOptions& wanted = options.functional;
  if (!wanted.kernel.empty() && kernel == wanted.kernel) reached_kernel = true;
  const bool before_kernel = !wanted.kernel.empty() && !reached_kernel;
  return wanted.all || launches++ < wanted.launches || before_kernel;
}

dispatch::LaunchOutcome Device::Impl::run_functional(execute::Kernel& kernel) {
  using Clock = std::chrono::steady_clock;
  using End = dispatch::LaunchOutcome::End;
  dispatch::LaunchOutcome outcome;
  outcome.begin_ps = outcome.end_ps =
      sc_core::sc_time_stamp().value() / sc_core::sc_time(1, sc_core::SC_PS).value();
  if (gpu.faulted()) {
    outcome.end = End::kStopped;
    outcome.fault = {gpu.fault_kind(), gpu.fault()};
    return outcome;
  }
  const EffortTimer timer(functional_effort);
  auto next_progress = Clock::now() + kProgressInterval;
  const auto interrupted = [&] {
    if (options.progress && Clock::now() >= next_progress) {
      Progress progress = gpu.progress();
      progress.thread_instructions += engine.counters().thread_instructions;
      options.progress(progress);
      next_progress = Clock::now() + kProgressInterval;
    }
    return options.interrupted && options.interrupted();
  };
  // The timed launches before this one count too.
  const std::uint64_t timed = gpu.progress().thread_instructions;
  if (options.max_instructions != 0)
    engine.limit(options.max_instructions - std::min(options.max_instructions, timed));
  Fault fault = engine.run(kernel, gpu.memory_view(), interrupted);
  if (!fault) return outcome;
  if (engine.was_interrupted() && reached_instructions()) fault.text = instructions_reached();
  outcome.fault = fault;
  abandoned = engine.was_interrupted();
  outcome.end = abandoned ? End::kStopped : End::kFaulted;
  gpu.abandon(fault);  // and with it the launches that follow
  return outcome;
}

std::uint64_t Device::Impl::thread_instructions() const {
  return gpu.progress().thread_instructions + engine.counters().thread_instructions;
}

bool Device::Impl::reached_instructions() const {
  return options.max_instructions != 0 && thread_instructions() >= options.max_instructions;
}

std::string Device::Impl::instructions_reached() const {
  return "stopped after " + std::to_string(thread_instructions()) +
         " thread instructions, the limit of --max-instructions";
}

void Device::Impl::abandon(const std::string& reason) {
  gpu.abandon({FaultKind::kStopped, reason});
  abandoned = true;
}

void Device::Impl::throw_if_faulted() const {
  if (!gpu.faulted()) return;
  if (options.debugger != nullptr && gpu.fault_kind() == FaultKind::kHang)
    options.debugger->hung(gpu.fault());
  if (abandoned) throw LaunchAbandoned(gpu.fault());
  throw SimulatedFault(gpu.fault());
}

bool Device::Impl::run_outside() {
  if (outside.empty()) return false;
  const Outside next = std::move(outside.front());
  outside.pop_front();
  next.function();
  next.done();
  return true;
}

void Device::Impl::run(const std::function<bool()>& reached) {
  using Clock = std::chrono::steady_clock;
  const Running now(running);
  if (checkpoints.state.has_value()) return_to_rest();
  streams.poll();
  auto next_progress = Clock::now() + kProgressInterval;
  const double core_mhz = gpu.config().clocks.core_mhz;
  while (!reached() && !gpu.faulted()) {
    if (run_outside()) continue;
    std::uint64_t slice = kSliceCycles;
    if (options.max_cycles != 0) {
      const std::uint64_t spent_cycles = gpu.progress().cycles;
      if (spent_cycles >= options.max_cycles) {
        abandon("stopped after " + std::to_string(spent_cycles) + " core cycles, the limit of --max-cycles");
        break;
      }
      slice = std::min(slice, options.max_cycles - spent_cycles);
    }
    if (options.max_instructions != 0) {
      if (reached_instructions()) {
        abandon(instructions_reached());
        break;
      }
      // No slice is long enough to go far beyond the limit: an SM issues at most all its threads in a cycle.
      const std::uint64_t left = options.max_instructions - thread_instructions();
      const std::uint64_t most = gpu.config().sm.count * gpu.config().sm.max_threads;
      slice = std::min(slice, std::max<std::uint64_t>(1, left / most));
    }
    if (options.interrupted && options.interrupted()) {
      abandon("interrupted");
      break;
    }
    sc_core::sc_start(sc_core::sc_time(static_cast<double>(slice) / core_mhz, sc_core::SC_US));
    if (!reached() && !gpu.faulted() && outside.empty() && !sc_core::sc_pending_activity()) {
      gpu.abandon({FaultKind::kHang, "the simulation has no pending event, but a launch still runs"});
    }
    if (options.progress && Clock::now() >= next_progress) {
      options.progress(gpu.progress());
      next_progress = Clock::now() + kProgressInterval;
    }
  }
}

}  // namespace weft::runtime
