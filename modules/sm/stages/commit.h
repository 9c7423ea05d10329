// Commit: results become visible, branches are resolved, threads wait for each other and go on, exit; blocks
// leave.
#ifndef WEFT_SM_STAGES_COMMIT_H
#define WEFT_SM_STAGES_COMMIT_H

#include <array>
#include <cstdint>

#include "sm/event_wheel.h"
#include "sm/outcome_list.h"
#include "sm/stages/core.h"
#include "sm/stages/stage.h"

namespace weft::sm {

class CommitStage final : public Completion, public execute::Synchroniser::Runner {
 public:
  explicit CommitStage(Core& core) : core_(core) {}

  void reset() { wheel_.clear(); }
  // What is due in this cycle.
  void step(Cycle now) {
    wheel_.take(now, [this](const Event& event) { handle(event); });
    if (!core_.synchroniser.gatherings().empty()) release_gatherings();
  }
  Cycle next_event(Cycle now) const { return wheel_.next(now); }
  bool idle() const { return wheel_.empty(); }

  void finish(Cycle now, std::uint16_t id, const datapath::Times& times) override;
  void resolve_at(Cycle now, std::uint16_t id, Cycle at) override;
  void sent(Cycle now, std::uint16_t id) override;
  void arrived(Cycle now, std::uint16_t id, unsigned chunk, std::uint32_t threads) override;
  void left_memory(std::uint16_t id) override { release(id); }

 private:
  using Outcome = warp_formation::Outcome;
  using ThreadGroup = warp_formation::ThreadGroup;
  struct Event {
    enum class Kind : std::uint8_t { kWriteBack, kResolve, kReturn, kBarrier } kind = Kind::kWriteBack;
    std::uint16_t issue = 0;
    std::uint32_t which = 0;  // kWriteBack: bit g: group g of the issue; kReturn: the chunk
    std::uint32_t mask = 0;   // of threads of these
  };

  void handle(const Event& event);
  void write_back(const Event& event);
  void resolve(std::uint16_t id);
  void resolve_control(std::uint16_t id);
  void resolve_branch(std::uint16_t id);
  void resolve_idle_threads(std::uint16_t id);
  void resolve_all(std::uint16_t id);
  void go_on(std::uint16_t id, const ThreadGroup& group);
  void tell(std::uint16_t id, warp_formation::Outcomes outcomes);
  void tell(std::uint16_t id) { tell(id, outcomes_.outcomes()); }
  void exit_threads(const InFlight& flight);
  void release(std::uint16_t id);
  void retire_if_done(std::uint16_t slot);

  // commit_control.cpp
  using Targets = std::array<std::array<ptx::Pc, isa::kLanes>, warp_formation::kMaxGroups>;
  static bool has_targets(const ptx::Instruction& in);
  bool find_targets(std::uint16_t id, Targets& targets);
  void resolve_targets(std::uint16_t id);

  // commit_synchronise.cpp
  void take_turn_at_barrier(std::uint16_t id);
  void resolve_barrier(std::uint16_t id);
  void release_gatherings();
  void tell_who_waits(std::uint16_t id);
  void arrive_at_gathering(std::uint16_t id);
  void wait_for_copies(std::uint16_t id);
  bool resume_after_copies(std::uint16_t id);
  std::uint32_t ending(const execute::ResidentBlock& block, unsigned chunk) const override;
  std::uint32_t held_back(const execute::ResidentBlock& block, unsigned chunk,
                          const std::uint32_t* standing) const override;
  std::uint32_t waiting_to_exit(const execute::ResidentBlock& block) const override;
  void barrier_opened(const execute::ResidentBlock& block, unsigned barrier) override;
  void gathered(const execute::ResidentBlock& block, unsigned chunk, std::uint32_t lanes) override;

  Core& core_;
  OutcomeList outcomes_;  // of the issue that is being resolved
  EventWheel<Event> wheel_;
};

}  // namespace weft::sm

#endif
