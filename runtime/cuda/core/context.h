// The one context of a process: a GPU (backend.h) that is there when it is first needed, and what belongs to
// it.
//
//   return Context::instance().call("cudaMalloc", [&](Context& c) { *memory = c.memory().allocate(bytes); });
//
// A process has one context for all its threads, shared by the driver and the runtime API. Calls are
// serialised by a lock. The context is never destroyed, because programs call CUDA from destructors of
// globals; results are written when the process ends by exit(), by returning from main() or by _exit(), and
// when a signal ends it (signals.h).
//
// The simulation runs in calls that wait. Where a program waits without calling, a thread stands in for it
// (stand_in.h): as if the program had called cudaDeviceSynchronize at that place. Other calls wait meanwhile,
// but for two cases in which that could be for ever: kernels that wait for the program, and functions of the
// program, in streams, that do not return for a second.
#ifndef WEFT_RUNTIME_CUDA_CORE_CONTEXT_H
#define WEFT_RUNTIME_CUDA_CORE_CONTEXT_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>

#include "runtime/cuda/core/error.h"
#include "runtime/cuda/core/selection.h"
#include "runtime/cuda/core/settings.h"

namespace weft {
struct GpuConfig;
}

namespace weft::cuda {

class Backend;
class Images;
class Memory;
class Modules;
class Pools;
class Profile;
class SignalWatch;
class StandIn;
class Streams;

class Context {
 public:
  static Context& instance();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() = delete;

  // What a call may do after a fault, which ends all work until reset(): most return its error.
  enum class AfterFault { kRefused, kAllowed };

  // Runs an API call: takes the lock and makes error codes of what it throws. `name` is for reports.
  template <class Body>
  Error call(const char* name, Body&& body, AfterFault after_fault = AfterFault::kRefused) {
    using Plain = std::remove_reference_t<Body>;
    const auto run = [](Context& context, void* object) { (*static_cast<Plain*>(object))(context); };
    return guarded(name, run, const_cast<std::remove_const_t<Plain>*>(&body), after_fault);
  }
  // Calls a function of the program that was put into a stream. Calls of CUDA from it fail with
  // kNotPermitted.
  void call_back(const std::function<void()>& function);

  // All of these: with the lock. They fail with kInitialization if the configuration is wrong.
  const Settings& settings();
  const GpuConfig& config();
  // Compute capability that the program sees, times ten.
  unsigned capability();
  Selection& selection() {
    settings();
    return selection_;
  }
  Backend& backend();  // builds or opens the GPU at the first call
  bool has_backend() const { return backend_ != nullptr; }

  Memory& memory() { return *memory_; }
  Modules& modules() { return *modules_; }
  Streams& streams() { return *streams_; }
  Images& images() { return *images_; }
  Pools& pools() { return *pools_; }
  Profile& profile() { return *profile_; }

  // Waits until no other thread simulates. The lock may be given meanwhile, and what other calls can change
  // is to be looked up afterwards.
  void await_turn();
  // How often work went on without the program.
  std::uint64_t stood_in() const { return stood_in_; }

  // A kernel faulted: reports it, and lets no more work run until reset().
  void fault(FaultKind kind, const std::string& text);
  Error sticky() const { return sticky_; }

  // cudaDeviceSetLimit and its like: numbers as of cudaLimit. Before the first launch.
  std::uint64_t limit(int which) const;
  void set_limit(int which, std::uint64_t value);

  // cudaDeviceReset: no memory, modules, streams; a fresh GPU.
  void reset();
  // Prints what kernels have printed so far.
  void flush_output();
  // Whether the program is about to die by a signal or _exit(): nothing is simulated any more.
  bool interrupted() const;
  // Whether work is left that will not be done, because the program has ended too early.
  bool cut_short() const;
  // _exit(): writes results, and ends the process.
  [[noreturn]] static void exit_now(int status);
  // A line on standard error.
  static void report(const std::string& text);

 private:
  using Run = void (*)(Context&, void*);
  Context();
  Error guarded(const char* name, Run run, void* body, AfterFault after_fault);
  void report_failure(const char* name, const std::string& text);
  Error run_body(const char* name, Run run, void* body, AfterFault after_fault);
  void watch_work();
  void stand_in(std::uint64_t calls);
  void finish(int status);  // at exit
  void finish_early(bool lock_may_be_lost);
  void keep_statistics();  // of the simulator, if it is one
  void write_results();
  void watch_signals();

  std::timed_mutex mutex_;
  std::unique_ptr<Settings> settings_;
  Selection selection_;
  std::unique_ptr<GpuConfig> config_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Modules> modules_;
  std::unique_ptr<Streams> streams_;
  std::unique_ptr<Images> images_;
  std::unique_ptr<Pools> pools_;
  std::unique_ptr<Profile> profile_;
  std::uint64_t limits_[3];
  std::atomic<Error> sticky_{Error::kSuccess};
  std::set<std::string> reported_;  // texts of failures
  int owner_ = 0;                   // process
  bool finished_ = false;
  SignalWatch* watch_ = nullptr;
  StandIn* stand_in_ = nullptr;
  std::atomic<unsigned> entering_{0};  // calls that want the lock
  std::condition_variable_any turn_;   // of the two that follow
  bool standing_in_ = false;
  bool in_function_ = false;   // of the program, while standing in: without the lock
  bool kernels_wait_ = false;  // for the program, since it was last seen that they do
  std::uint64_t stood_in_ = 0;
};

}  // namespace weft::cuda

#endif
