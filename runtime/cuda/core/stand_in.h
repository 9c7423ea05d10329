// Lets work go on while a program waits for it without calling CUDA: it polls a variable that a function in a
// stream sets, or memory that a kernel or a copy writes, or sleeps until then.
//
//   StandIn stand_in(milliseconds, [&](std::uint64_t calls) { /* if there were no more calls, simulate */ });
//   stand_in.called();      // at the beginning and the end of each call of the program
//   stand_in.arm(left);     // whether work is left that the program could wait for in this way
//
// A thread that looks at the process a hundred times a second while it is armed. The program counts as
// waiting when since its last call it has used so many milliseconds of CPU time, or slept so long with all of
// its threads, or both together. Time in which a thread wants to run and the machine does not let it does not
// count, so that a loaded machine gives the same results.
#ifndef WEFT_RUNTIME_CUDA_CORE_STAND_IN_H
#define WEFT_RUNTIME_CUDA_CORE_STAND_IN_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace weft::cuda {

class StandIn {
 public:
  // `act` is told how many calls there had been.
  using Act = std::function<void(std::uint64_t calls)>;

  // One per process; never destroyed.
  StandIn(std::uint64_t patience_ms, Act act);
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() = delete;

  void called() { calls_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  void arm(bool armed);

 private:
  void watch();

  const double patience_ms_;
  const Act act_;
  std::atomic<std::uint64_t> calls_{0};
  std::atomic<bool> armed_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace weft::cuda

#endif
