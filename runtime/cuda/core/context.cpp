#include "runtime/cuda/core/context.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <systemc>
#include <utility>
#include <vector>

#include "common/error.h"
#include "runtime/cuda/core/images.h"
#include "runtime/cuda/core/memory.h"
#include "runtime/cuda/core/modules.h"
#include "runtime/cuda/core/profile.h"
#include "runtime/cuda/core/signals.h"
#include "runtime/cuda/core/streams.h"
#include "runtime/device.h"
#include "runtime/dma_copies.h"

// libsystemc.so refers to it; nothing calls it here.
extern "C" __attribute__((visibility("default"))) int sc_main(int /*argc*/, char** /*argv*/) {
  return 1;
}

namespace weft::cuda {
namespace {

thread_local bool in_callback = false;

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
      profile_(std::make_unique<Profile>()),
      owner_(static_cast<int>(getpid())) {
  const runtime::DeviceLimits limits;
  limits_[0] = limits.stack_bytes;
  limits_[1] = limits.printf_bytes;
  limits_[2] = limits.heap_bytes;
  std::atexit([] { Context::instance().finish(); });
}

void Context::report(const std::string& text) {
  std::fflush(stdout);
  std::fprintf(stderr, "weft: %s\n", text.c_str());
}

Error Context::guarded(const char* name, Run run, void* body, AfterFault after_fault) {
  if (in_callback) return Error::kNotPermitted;
  Error result = Error::kSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (!interrupted()) result = run_body(name, run, body, after_fault);
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
    if (!failure.report.empty()) report(std::string(name) + ": " + failure.report);
    return failure.error;
  } catch (const InputError& error) {
    report(std::string(name) + ": " + error.what());
    return Error::kInvalidValue;
  } catch (const std::bad_alloc&) {
    return Error::kOutOfMemory;
  } catch (const std::exception& error) {
    report(std::string(name) + ": internal error: " + error.what());
    return Error::kUnknown;
  }
}

Context::Callback::Callback() {
  in_callback = true;
}
Context::Callback::~Callback() {
  in_callback = false;
}

const Settings& Context::settings() {
  if (settings_ == nullptr) {
    try {
      settings_ = std::make_unique<Settings>(settings_of_environment());
    } catch (const InputError& error) {
      fail(Error::kInitialization, error.what());
    }
  }
  return *settings_;
}

const GpuConfig& Context::config() {
  if (config_ == nullptr) {
    try {
      // Managed and pinned memory needs the first; the others make the DMA engine fit for long copies.
      std::vector<std::string> overrides{"system.enabled=true", "host.burst_bytes=4096", "host.dma_slots=64",
                                         "host.outstanding=64"};
      overrides.insert(overrides.end(), settings().overrides.begin(), settings().overrides.end());
      config_ = std::make_unique<GpuConfig>(load_config(settings().config, overrides));
    } catch (const InputError& error) {
      fail(Error::kInitialization, error.what());
    }
  }
  return *config_;
}

runtime::Device& Context::device() {
  if (device_ != nullptr) return *device_;
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
  runtime::DeviceOptions options;
  options.max_cycles = settings().max_cycles;
  options.limits.stack_bytes = limits_[0];
  options.limits.printf_bytes = limits_[1];
  options.limits.heap_bytes = limits_[2];
  options.functional.all = settings().functional;
  options.host_memory.emplace();
  options.interrupted = [this] { return interrupted(); };
  try {
    device_ = std::make_unique<runtime::Device>(config(), options);
    if (!settings().instant_copies) {
      copies_ = std::make_unique<runtime::DmaCopies>(device_->gpu());
      device_->use(copies_.get());
    }
  } catch (const InputError& error) {
    fail(Error::kInitialization, error.what());
  }
  watch_signals();
  return *device_;
}

void Context::watch_signals() {
  if (watch_ != nullptr || (!settings().summary && settings().out.empty())) return;
  watch_ = new SignalWatch([this] { finish_interrupted(); });
}

bool Context::interrupted() const {
  return watch_ != nullptr && watch_->interrupted();
}

void Context::fault(FaultKind kind, const std::string& text) {
  flush_output();
  if (!interrupted()) report("a kernel faulted: " + text);
  sticky_ = error_of(kind);
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
  if (device_ != nullptr) device_->set_limits(limits);
}

void Context::reset() {
  if (device_ != nullptr) {
    try {
      if (sticky_ == Error::kSuccess) streams_->synchronise();
    } catch (const Failure&) {
      // Reported; it goes with the reset.
    }
    flush_output();
    profile_->keep_statistics(*device_);
    device_->reset();
  }
  images_->reset();
  streams_->reset();
  modules_->reset();
  memory_->reset();
  sticky_ = Error::kSuccess;
}

void Context::flush_output() {
  if (device_ == nullptr) return;
  const std::string text = device_->take_output();
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Context::finish() {
  if (getpid() != owner_) return;  // a child that was forked
  const std::lock_guard lock(mutex_);
  if (finished_ || device_ == nullptr || settings_ == nullptr) return;
  try {
    if (sticky_ == Error::kSuccess && !interrupted()) streams_->synchronise();  // what nobody waited for
  } catch (const Failure&) {
    // The fault has been reported.
  }
  write_results();
}

// In the thread of the watch. Whoever simulates stops, and gives the lock.
void Context::finish_interrupted() {
  const std::lock_guard lock(mutex_);
  if (!finished_) write_results();
}

void Context::write_results() {
  finished_ = true;
  flush_output();
  if (!settings_->summary && settings_->out.empty()) return;
  profile_->keep_statistics(*device_);
  if (settings_->summary) std::fprintf(stderr, "%s", profile_->summary().c_str());
  if (settings_->out.empty()) return;
  std::string folder = settings_->out;
  if (settings_->process != 0 && settings_->process != owner_) folder += "/process-" + std::to_string(owner_);
  try {
    profile_->write(folder, *this);
  } catch (const InputError& error) {
    report(error.what());
  }
}

}  // namespace weft::cuda
