// The launches of a GPU: which wait, which run, the kernel that each SM holds, and the cycles they took.
//
// The dispatcher says when a launch begins, takes an SM and ends; this unit does what that means.
#ifndef WEFT_PLATFORM_LAUNCHES_H
#define WEFT_PLATFORM_LAUNCHES_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/launch_queue.h"
#include "platform/launch_log.h"
#include "sm/sm.h"
#include "weft/common/archive.h"
#include "weft/common/fault.h"
#include "weft/platform/gpu_config.h"

namespace weft {

class Launches {
 public:
  // What else happens as launches begin and end.
  struct Hooks {
    std::function<execute::DeviceMemoryView(const execute::Kernel&)> view;  // what one that begins can reach
    std::function<bool()> may_overlap;  // whether a launch may begin while others run
    std::function<void(const execute::Kernel&, Cycle now, bool alone)> begun;
    std::function<void()> ended;                                   // no launch runs or waits any more
    std::function<void(const execute::Kernel&, Cycle last)> left;  // a launch has ended, by itself or not
    std::function<void()> rests;  // a launch has ended and none runs, but some may wait; after `ended`
  };

  // Registers the dispatcher with the clock: create it after the SMs.
  Launches(const GpuConfig& config, ClockDomain& core, std::deque<sm::Sm>& sms, Hooks hooks);

  // Writes the launches from now on down in `log`, which outlives them.
  void write_down(LaunchLog* log) { log_ = log; }

  // One that Gpu::prepare has made.
  void push(std::shared_ptr<const execute::Kernel> kernel);
  bool idle() const { return queue_.empty() && !dispatcher_.active(); }
  bool active() const { return dispatcher_.active(); }
  dispatch::Dispatcher& dispatcher() { return dispatcher_; }
  const dispatch::Dispatcher& dispatcher() const { return dispatcher_; }

  // Ends the launch of the kernel that SM `guilty` holds, and lets the others go on. False: nothing happened,
  // because that launch is not contained (dispatch::Launch).
  bool end_contained(const Fault& fault, unsigned guilty);
  // The same of all launches that run.
  bool end_contained(const Fault& fault);
  // Ends every launch with this fault, which is of the kernel that SM `guilty` holds (kNoSm: of none).
  static constexpr unsigned kNoSm = ~0u;
  void stop(const Fault& fault, unsigned guilty);
  // Forgets every launch without a word.
  void reset();
  // Written from within `rests`.
  void archive(Archive& archive);

  // Core cycles in which a launch was active; launches that began.
  std::uint64_t cycles() const {
    return past_cycles_ + (active() ? core_.current_edge() - active_since_ + 1 : 0);
  }
  std::uint64_t& begun() { return begun_; }
  std::uint64_t begun() const { return begun_; }
  // The kernels that run, oldest first: "advance", "advance + expand".
  const std::string& kernel_names() const { return names_; }
  // The lowest compute capability for which one of them was compiled (ptx::Program::target).
  std::uint32_t least_target() const {
    std::uint32_t least = UINT32_MAX;
    for (const Running& running : running_) least = std::min(least, running.kernel->program.target);
    return least;
  }
  // The one that the SM holds; empty: none.
  std::string_view kernel_of(unsigned sm) const {
    return held_[sm] == nullptr ? std::string_view() : held_[sm]->program.name;
  }

 private:
  using Number = dispatch::Dispatcher::Number;
  struct Running {
    Number number = 0;
    std::shared_ptr<const execute::Kernel> kernel;
    Cycle first_cycle = 0;
    Fault fault;  // that ends it, when its SMs have drained
  };

  static std::vector<dispatch::BlockTarget*> targets(std::deque<sm::Sm>& sms);
  void begin(Cycle now);
  void assign(unsigned sm, Number number, Cycle now);
  void finished(Number number, Cycle now);
  void end(Running& launch, const Fault& fault);
  void name_kernels();
  dispatch::LaunchOutcome outcome_of(const Running& launch, Cycle now) const;

  const GpuConfig& config_;
  ClockDomain& core_;
  std::deque<sm::Sm>& sms_;
  dispatch::Dispatcher dispatcher_;
  const Hooks hooks_;
  dispatch::LaunchQueue<std::shared_ptr<const execute::Kernel>> queue_;
  std::vector<Running> running_;                              // in the order in which they began
  std::vector<std::shared_ptr<const execute::Kernel>> held_;  // by SM
  Cycle active_since_ = 0;
  Number next_number_ = 0;
  std::uint64_t past_cycles_ = 0, begun_ = 0;
  std::string names_;
  LaunchLog* log_ = nullptr;
};

}  // namespace weft

#endif
