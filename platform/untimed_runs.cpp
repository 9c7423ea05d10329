#include "platform/untimed_runs.h"

#include <utility>

namespace weft {

void UntimedRuns::push(std::function<void()> run) {
  waiting_.push_back(std::move(run));
  if (process_.valid()) {
    event_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  sc_core::sc_spawn_options options;
  options.set_stack_size(kStackBytes);
  process_ = sc_core::sc_spawn([this] { work(); }, sc_core::sc_gen_unique_name("untimed"), &options);
}

bool UntimedRuns::is_caller() const {
  return process_.valid() && sc_core::sc_get_current_process_handle() == process_;
}

void UntimedRuns::reset() {
  waiting_.clear();
  abandoned_ = busy_;
}

void UntimedRuns::work() {
  for (;;) {
    while (waiting_.empty()) sc_core::wait(event_);
    const std::function<void()> run = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    run();
    busy_ = abandoned_ = false;
  }
}

}  // namespace weft
