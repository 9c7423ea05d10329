// What ends a program from outside is noticed in time to write results.
//
//   SignalWatch watch([](SignalWatch::End end) { /* write what there is; in a thread of its own */ });
//
// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM and SIGXCPU, unless the program has handlers of its own
// or ignores them. The handler only wakes a thread, which calls the function and lets the program die by the
// signal as it would have: at once if the signal comes again. SIGABRT, the signals of broken memory and wrong
// instructions (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS) and _exit() wait for that thread, for a few seconds
// at most, because the program may hold what it needs. Child processes are not watched.
#ifndef WEFT_RUNTIME_CUDA_CORE_SIGNALS_H
#define WEFT_RUNTIME_CUDA_CORE_SIGNALS_H

#include <functional>

namespace weft::cuda {

class SignalWatch {
 public:
  // Whether the thread that ends the program waits until results are written, and with it what it was doing.
  enum class End { kSoon, kNow };

  // One per process; never destroyed.
  explicit SignalWatch(std::function<void(End)> write);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch() = delete;

  // Whether a signal or _exit() has come: simulations stop.
  bool interrupted() const;
  bool signalled() const;  // a signal
  // _exit(): returns when results are written, or cannot be. As safe as a handler.
  void exiting() const;

 private:
  void watch();

  const std::function<void(End)> write_;
};

}  // namespace weft::cuda

#endif
