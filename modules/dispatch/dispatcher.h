// The thread-block scheduler: hands the blocks of grids to SMs that have room, in order, at most one block
// per SM and cycle, SMs in round robin.
//
// Several launches may run at once. An SM holds blocks of one launch at a time. A launch takes SMs on which
// nothing is left of the one before; the next launch begins when the ones that run have placed their last
// blocks and such an SM is there. So kernels overlap at their ends, and small ones run side by side.
#ifndef WEFT_DISPATCH_DISPATCHER_H
#define WEFT_DISPATCH_DISPATCHER_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "bus/clock_domain.h"
#include "weft/common/archive.h"
#include "weft/dispatch/launch.h"

namespace weft::dispatch {

// An SM as the dispatcher sees it.
class BlockTarget {
 public:
  virtual ~BlockTarget() = default;
  virtual bool can_launch() const = 0;  // a block of the kernel that it holds
  virtual void launch_block(const Dim3& index) = 0;
  virtual bool drained() const = 0;  // no blocks and no transactions left
};

class Dispatcher final : public Clocked {
 public:
  using Number = std::uint64_t;  // of a launch: its owner's

  // Registers itself with the clock: create it after the SMs, so that it acts after them in each cycle.
  // `latency`: cycles from the beginning of a launch to its first block.
  Dispatcher(ClockDomain& clock, std::vector<BlockTarget*> targets, Cycle latency = 0);

  // Called within a step, at edge `now`.
  struct Hooks {
    std::function<bool()> waiting;         // a launch may begin
    std::function<void(Cycle now)> begin;  // begins it: calls `start`
    // SM `target` turns to the kernel of the launch, now.
    std::function<void(unsigned target, Number, Cycle now)> assign;
    // All blocks of the launch have retired, and its SMs have drained.
    std::function<void(Number, Cycle now)> finished;
    // A block of the launch came to SM `target`, or has retired there. May be empty.
    std::function<void(unsigned target, Number, bool came)> block = {};
  };
  void set_hooks(Hooks hooks) { hooks_ = std::move(hooks); }

  void start(Number number, const Dim3& grid);  // from `begin`
  // A launch was queued, a block retired, an SM drained: looked at from the next edge on, asleep or not.
  void poke() {
    state_.due = std::min(state_.due, clock_.current_edge() + 1);
    clock_.wake(index_);
  }
  // A block of the launch that SM `target` holds has retired.
  void block_retired(unsigned target);
  // The launch gets no further blocks, and ends when its SMs have drained.
  void abandon(Number number);
  void reset();
  // Its place in the clock domain.
  std::size_t clock_index() const { return index_; }
  // From within `finished`, when no launch runs: the step in which it was written goes on after reading.
  void archive(Archive& archive);

  Cycle step(Cycle now) override;

  bool active() const { return !state_.running.empty(); }
  // Of the launches since none was running.
  std::uint64_t blocks() const { return state_.total; }
  std::uint64_t blocks_done() const { return state_.retired; }

 private:
  struct Running {
    Number number = 0;
    Dim3 grid{};
    std::uint64_t total = 0, placed = 0, retired = 0;
    Cycle ready = 0;  // no block comes before
    std::size_t next_target = 0;
    bool abandoned = false;
  };
  static constexpr Number kNobody = UINT64_MAX;
  struct State {
    explicit State(std::size_t targets) : holds(targets, kNobody), used(targets, 0) {}
    Cycle due = kNever;              // the next edge at which it acts
    std::vector<Running> running;    // in the order in which they began
    std::vector<Number> holds;       // by SM: the launch whose kernel it holds, running or not
    std::vector<std::uint8_t> used;  // by SM: got a block at this edge
    bool placed = false;             // some SM did
    std::uint64_t total = 0, retired = 0;
    void archive(Archive& archive) {
      auto& [due_, running_, holds_, used_, placed_, total_, retired_] = *this;
      archive(due_, at_rest(running_), holds_, used_, placed_, total_, retired_);
    }
  };

  static Dim3 block_index(const Dim3& grid, std::uint64_t number);
  Cycle work(Cycle now);
  void finish(Cycle now);
  bool drained(const Running& launch) const;
  bool unplaced() const;
  Cycle next_placing(Cycle now) const;
  bool can_take(std::size_t target) const;
  bool some_target_free() const;
  void place(Running& launch, Cycle now);

  ClockDomain& clock_;
  std::vector<BlockTarget*> targets_;
  const Cycle latency_;
  const std::size_t index_;
  Hooks hooks_;
  State state_;
};

}  // namespace weft::dispatch

#endif
