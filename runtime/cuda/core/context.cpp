#include "runtime/cuda/core/context.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "ptx/what_helps.h"
#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/linux_driver.h"
#include "runtime/cuda/core/memory.h"
#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/pools.h"
#include "runtime/cuda/core/profile.h"
#include "runtime/cuda/core/signals.h"
#include "runtime/cuda/core/simulator.h"
#include "runtime/cuda/core/stand_in.h"
#include "runtime/cuda/core/streams.h"
#include "weft/common/error.h"
#include "weft/runtime/device.h"

namespace weft::cuda {
namespace {

// Whether the thread runs a function of the program that was put into a stream; and whether it holds the
// context's lock meanwhile.
thread_local bool in_callback = false, callback_has_lock = false;

// What _exit() finds, without making one.
std::atomic<Context*> existing{nullptr};

// How long a function in a stream keeps calls of other threads out, and what _exit() waits for the lock.
constexpr std::chrono::seconds kFunctionPatience{1}, kLastPatience{1};
constexpr int kFoundSomething = 3;  // as exit code

}  // namespace

Context& Context::instance() {
  static Context* const context = new Context;
  return *context;
}

Context::Context()
    : memory_(std::make_unique<Memory>(*this)),
      modules_(std::make_unique<Modules>(*this)),
      streams_(std::make_unique<Streams>(*this)),
      images_(std::make_unique<Images>(*this)),
      pools_(std::make_unique<Pools>(*this)),
      profile_(std::make_unique<Profile>()),
      owner_(static_cast<int>(getpid())) {
  existing = this;
  const runtime::DeviceLimits limits;
  limits_[0] = limits.stack_bytes;
  limits_[1] = limits.printf_bytes;
  limits_[2] = limits.heap_bytes;
  on_exit([](int status, void* context) { static_cast<Context*>(context)->finish(status); }, this);
  std::at_quick_exit([] {
    if (Context* const context = existing) context->finish(kFoundSomething);  // its status stays
  });
}

void Context::report(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "weft: %s\n", text.c_str());
}

Error Context::guarded(const char* name, Run run, void* body, AfterFault after_fault) {
  if (in_callback) return Error::kNotPermitted;
  Error result = Error::kSuccess;
  ++entering_;
  {
    const std::lock_guard lock(mutex_);
    --entering_;
    if (stand_in_ != nullptr) stand_in_->called();
    if (in_function_) turn_.wait_for(mutex_, kFunctionPatience, [this] { return !in_function_; });
    if (!interrupted()) result = run_body(name, run, body, after_fault);
    watch_work();
  }
  while (interrupted()) pause();  // the signal ends the process, once results are written
  return result;
}

Error Context::run_body(const char* name, Run run, void* body, AfterFault after_fault) {
  if (sticky_ != Error::kSuccess && after_fault == AfterFault::kRefused) return sticky_;
  try {
    run(*this, body);
    return Error::kSuccess;
  } catch (const Failure& failure) {
    if (!failure.report.empty()) report_failure(name, failure.report);
    return failure.error;
  } catch (const runtime::OutOfDeviceMemory& error) {
    report_failure(name, error.what());
    return Error::kOutOfMemory;
  } catch (const InputError& error) {
    report_failure(name, error.what());
    return Error::kInvalidValue;
  } catch (const std::bad_alloc&) {
    return Error::kOutOfMemory;
  } catch (const std::exception& error) {
    report(std::string(name) + ": internal error: " + error.what());
    return Error::kUnknown;
  }
}

// Once, however often the program tries again: a kernel that cannot run is launched in loops.
void Context::report_failure(const char* name, const std::string& text) {
  constexpr std::size_t kMostTexts = 1000;
  std::string whole = std::string(name) + ": " + text;
  // What a function is not, it says of itself; what a kernel lacks is the same for whoever asks for it.
  const std::string& key = text.rfind("is not provided", 0) == 0 ? whole : text;
  if (reported_.count(key) != 0) return;
  if (reported_.size() < kMostTexts) reported_.insert(key);
  // What helps is the same for all kernels of the program.
  if (ptx::names_older_code(whole) && !reported_.insert(std::string(ptx::kOlderCodeHelps)).second)
    whole = ptx::without_older_code(whole);
  report(whole);
}

void Context::call_back(const std::function<void()>& function) {
  struct Inside {
    explicit Inside(Context& of) : context(of), unlocked(of.standing_in_) {
      in_callback = true;
      callback_has_lock = !unlocked;
      if (!unlocked) return;
      context.in_function_ = true;
      context.mutex_.unlock();
    }
    ~Inside() {
      in_callback = false;
      if (!unlocked) return;
      context.mutex_.lock();
      context.in_function_ = false;
      context.turn_.notify_all();
    }
    Context& context;
    const bool unlocked;
  } const inside(*this);
  function();
}

void Context::await_turn() {
  turn_.wait(mutex_, [this] { return !standing_in_; });
}

// At the end of a call: whether the program could wait for something without calling.
void Context::watch_work() {
  if (backend_ == nullptr || settings().host_wait_ms == 0) return;
  const bool visible = streams_->has_functions() || memory_->is_shared();
  if (stand_in_ == nullptr) {
    if (!visible) return;
    stand_in_ = new StandIn(settings().host_wait_ms, [this](std::uint64_t calls) { stand_in(calls); });
  }
  stand_in_->called();
  const bool idle = backend_->streams().idle();
  if (idle) kernels_wait_ = false;
  const bool possible = sticky_ == Error::kSuccess && !finished_ && !interrupted();
  stand_in_->arm(visible && possible && !idle);
}

// In the thread that stands in for the program, which has made so many calls.
void Context::stand_in(std::uint64_t calls) {
  const std::lock_guard lock(mutex_);
  if (stand_in_->calls() != calls || finished_ || interrupted() || sticky_ != Error::kSuccess) return;
  if (!kernels_wait_) ++stood_in_;
  standing_in_ = true;
  for (bool going = true; going;) {
    // Simulated time must not depend on when the program's next call comes: it waits until there is nothing
    // left to do. Where kernels wait for the program, perhaps for that call, it does not.
    const auto stop = [this] { return finished_ || (kernels_wait_ && entering_ != 0); };
    switch (streams_->advance(stop)) {
      case Streams::Advance::kKernelsWait:
        kernels_wait_ = true;
        break;
      case Streams::Advance::kDone:
        kernels_wait_ = going = false;
        break;
      default:
        going = false;
    }
  }
  standing_in_ = false;
  turn_.notify_all();
  watch_work();
}

const Settings& Context::settings() {
  if (settings_ == nullptr) {
    try {
      settings_ = std::make_unique<Settings>(settings_of_environment());
      selection_ = Selection(*settings_);
    } catch (const InputError& error) {
      fail(Error::kInitialization, error.what());
    }
  }
  return *settings_;
}

unsigned Context::capability() {
  if (settings().capability != 0) return settings().capability;
  return parse_capability("compute_capability", config().compute_capability);
}

const GpuConfig& Context::config() {
  if (config_ == nullptr) {
    try {
      std::vector<std::string> overrides;
      if (settings().backend == Settings::Kind::kSimulator) {
        // Managed and pinned memory needs the first; the others make the DMA engine fit for long copies.
        overrides = {"system.enabled=true", "host.burst_bytes=4096", "host.dma_slots=64",
                     "host.outstanding=64"};
      }
      overrides.insert(overrides.end(), settings().overrides.begin(), settings().overrides.end());
      config_ = std::make_unique<GpuConfig>(load_config(settings().config, overrides));
    } catch (const InputError& error) {
      fail(Error::kInitialization, error.what());
    }
  }
  return *config_;
}

Backend& Context::backend() {
  if (backend_ != nullptr) return *backend_;
  runtime::DeviceLimits limits;
  limits.stack_bytes = limits_[0];
  limits.printf_bytes = limits_[1];
  limits.heap_bytes = limits_[2];
  try {
    const auto stops = [this] { return interrupted(); };
    if (settings().backend == Settings::Kind::kDriver) {
      backend_ = std::make_unique<LinuxDriver>(settings(), config(), limits, stops);
    } else {
      backend_ = std::make_unique<Simulator>(settings(), config(), limits, stops);
    }
  } catch (const InputError& error) {
    fail(Error::kInitialization, error.what());
  }
  watch_signals();
  return *backend_;
}

void Context::watch_signals() {
  const bool writes = settings().summary || !settings().out.empty() || !settings().checks.empty();
  if (watch_ != nullptr || !writes) return;
  watch_ = new SignalWatch([this](SignalWatch::End end) { finish_early(end == SignalWatch::End::kNow); });
}

bool Context::interrupted() const {
  return watch_ != nullptr && watch_->interrupted();
}

bool Context::cut_short() const {
  return watch_ != nullptr && (watch_->signalled() || (sticky_ == Error::kSuccess && watch_->interrupted() &&
                                                       !backend_->streams().idle()));
}

void Context::exit_now(int status) {
  Context* const context = existing;
  if (context != nullptr && context->watch_ != nullptr && getpid() == context->owner_) {
    context->watch_->exiting();
    if (status == 0 && !context->profile_->findings().empty()) status = kFoundSomething;
  }
  for (;;) syscall(SYS_exit_group, status);
}

void Context::fault(FaultKind kind, const std::string& text) {
  flush_output();
  sticky_ = error_of(kind);
  if (interrupted()) return;
  report("a kernel faulted: " + text);
  const bool too_long = kind == FaultKind::kHang || text.find("--max-cycles") != std::string::npos;
  if (too_long && !settings().functional && backend_->simulator() != nullptr) {
    report(
        "--functional runs kernels without timing; --launches N-M and --region profiler time only some of "
        "them");
  }
}

std::uint64_t Context::limit(int which) const {
  if (which < 0 || which > 2) fail(Error::kUnsupportedLimit);
  return limits_[which];
}

void Context::set_limit(int which, std::uint64_t value) {
  if (which < 0 || which > 2) fail(Error::kUnsupportedLimit);
  runtime::DeviceLimits limits;
  std::uint64_t* const all[] = {&limits.stack_bytes, &limits.printf_bytes, &limits.heap_bytes};
  for (int i = 0; i < 3; ++i) *all[i] = i == which ? value : limits_[i];
  runtime::check_limits(limits);
  limits_[which] = value;
  if (backend_ != nullptr) backend_->set_limits(limits);
}

void Context::reset() {
  await_turn();
  kernels_wait_ = false;
  if (backend_ != nullptr) {
    try {
      if (sticky_ == Error::kSuccess) streams_->synchronise();
    } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
      // Reported; it goes with the reset.
    }
    flush_output();
    keep_statistics();
    backend_->reset();
  }
  images_->reset();
  streams_->reset();
  modules_->reset();
  memory_->reset();
  pools_->reset();
  sticky_ = Error::kSuccess;
}

void Context::flush_output() {
  if (backend_ == nullptr) return;
  const std::string text = backend_->take_output();
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Context::finish(int status) {
  if (getpid() != owner_) return;  // a child that was forked
  {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!in_callback || !callback_has_lock) lock.lock();
    if (finished_ || backend_ == nullptr || settings_ == nullptr) return;
    // A function in a stream that does not return, or has called exit() itself.
    const bool can_run =
        !in_callback && turn_.wait_for(mutex_, kFunctionPatience, [this] { return !standing_in_; });
    try {
      if (can_run && sticky_ == Error::kSuccess && !interrupted())
        streams_->synchronise();  // what nobody waited for
    } catch (const Failure&) {    // NOLINT(bugprone-empty-catch)
      // The fault has been reported.
    }
    write_results();
    backend_->ended(status);
  }
  if (status == 0 && !profile_->findings().empty()) exit(kFoundSomething);  // glibc goes on where it is
}

// In the thread of the watch. Whoever simulates stops, and gives the lock, unless it is the thread that ends
// the program here and now: then it waits for this, and the context stands still.
void Context::finish_early(bool lock_may_be_lost) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (!lock_may_be_lost) {
    lock.lock();
  } else if (!lock.try_lock_for(kLastPatience)) {
    report("the program ends within a call to CUDA; results are what they are now");
  }
  if (!finished_) write_results();
}

void Context::keep_statistics() {
  if (Simulator* const simulator = backend_->simulator()) profile_->keep_statistics(simulator->device());
}

void Context::write_results() {
  finished_ = true;
  flush_output();
  keep_statistics();
  profile_->note(selection_.summary());
  for (const check::Report& finding : profile_->findings()) {
    const std::string more =
        finding.count > 1 ? " (and " + std::to_string(finding.count - 1) + " more times here)" : "";
    report(finding.text + more);
  }
  if (settings_->summary) std::fprintf(stderr, "%s", profile_->summary().c_str());
  if (settings_->out.empty()) return;
  std::string folder = settings_->out;
  if (settings_->process != 0 && settings_->process != owner_) folder += "/process-" + std::to_string(owner_);
  try {
    const std::string elsewhere = profile_->write(folder, *this, *backend_);
    if (!elsewhere.empty()) report(elsewhere);
  } catch (const InputError& error) {
    report(error.what());
  }
}

}  // namespace weft::cuda
