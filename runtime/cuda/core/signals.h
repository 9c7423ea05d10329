// What ends a program from outside is noticed in time to write results.
//
//   SignalWatch watch([] { /* write what there is; in a thread of its own */ });
//
// SIGINT, SIGTERM, SIGHUP and SIGABRT, unless the program has handlers of its own or ignores them. The
// handler only wakes a thread, which calls the function and lets the program die by the signal as it would
// have: at once if the signal comes again. abort() waits for that thread, for a few seconds at most, because
// the program may hold what it needs. After signals that come from broken memory (SIGSEGV and the like)
// nothing is written. Child processes are not watched.
#ifndef WEFT_RUNTIME_CUDA_CORE_SIGNALS_H
#define WEFT_RUNTIME_CUDA_CORE_SIGNALS_H

#include <functional>

namespace weft::cuda {

class SignalWatch {
 public:
  // One per process; never destroyed.
  explicit SignalWatch(std::function<void()> write);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() = delete;

  // Whether a signal has come: simulations stop.
  bool interrupted() const;

 private:
  void watch();

  const std::function<void()> write_;
};

}  // namespace weft::cuda

#endif
