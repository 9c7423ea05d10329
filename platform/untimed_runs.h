// A process in which kernels without timing run, one after the other. There they may wait for system memory
// that grants no direct access.
#ifndef WEFT_PLATFORM_UNTIMED_RUNS_H
#define WEFT_PLATFORM_UNTIMED_RUNS_H

#include <cstddef>
#include <deque>
#include <functional>
#include <systemc>

namespace weft {

class UntimedRuns final : public sc_core::sc_module {
 public:
  explicit UntimedRuns(const sc_core::sc_module_name& name) : sc_module(name) {}

  // Calls `run` in the process, at this instant unless others are before it.
  void push(std::function<void()> run);
  // Whether the caller is a run.
  bool is_caller() const;
  // A run is under way.
  bool busy() const { return busy_; }
  // Forgets those that wait. The one that is under way sees `abandoned` from now on, and has to end.
  void reset();
  bool abandoned() const { return abandoned_; }

 private:
  static constexpr int kStackBytes = 1 << 20;

  void work();

  std::deque<std::function<void()>> waiting_;
  sc_core::sc_event event_;
  sc_core::sc_process_handle process_;  // since the first run
  bool busy_ = false, abandoned_ = false;
};

}  // namespace weft

#endif
