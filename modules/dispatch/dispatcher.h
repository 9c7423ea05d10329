// The thread-block scheduler: hands the blocks of a grid to SMs that have room, in order, at most one block
// per SM and cycle, SMs in round robin.
#ifndef WEFT_DISPATCH_DISPATCHER_H
#define WEFT_DISPATCH_DISPATCHER_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "common/clock_domain.h"
#include "dispatch/launch.h"

namespace weft::dispatch {

// An SM as the dispatcher sees it.
class BlockTarget {
 public:
  virtual ~BlockTarget() = default;
  virtual bool can_launch() const = 0;
  virtual void launch_block(const Dim3& index) = 0;
};

class Dispatcher final : public Clocked {
 public:
  // Registers itself with the clock: create it after the SMs, so that it acts after them in each cycle.
  Dispatcher(ClockDomain& clock, std::vector<BlockTarget*> targets);

  // Called at the edge at which the launch begins, and at the edge at which its last block has retired and
  // `finished` says that nothing is left; the latter may start the next launch.
  struct Hooks {
    std::function<bool(Cycle)> begin;  // takes the next launch; false: there is none
    std::function<bool()> drained;     // no transactions left
    std::function<void(Cycle)> finished;
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  void start(const Dim3& grid);  // from `begin`
  // A launch was queued, a block retired, an SM drained: looked at from the next edge on, asleep or not.
  void poke() {
    due_ = std::min(due_, clock_.current_edge() + 1);
    clock_.wake(index_);
  }
  void block_retired() {
    ++retired_;
    poke();
  }
  void reset();

  Cycle step(Cycle now) override;

  bool active() const { return active_; }
  std::uint64_t blocks() const { return total_; }
  std::uint64_t blocks_done() const { return retired_; }

 private:
  Dim3 block_index(std::uint64_t number) const;
  Cycle work(Cycle now);

  ClockDomain& clock_;
  std::vector<BlockTarget*> targets_;
  const std::size_t index_;
  Hooks hooks_;
  bool active_ = false;
  Cycle due_ = kNever;  // the next edge at which it acts
  Dim3 grid_{};
  std::uint64_t total_ = 0, placed_ = 0, retired_ = 0;
  std::size_t next_target_ = 0;
};

}  // namespace weft::dispatch

#endif
