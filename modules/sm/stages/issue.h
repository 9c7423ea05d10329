// Issue: what a scheme offers and could start now becomes an instruction in flight.
#ifndef WEFT_SM_STAGES_ISSUE_H
#define WEFT_SM_STAGES_ISSUE_H

#include <array>
#include <cstdint>

#include "sm/instruction_buffers.h"
#include "sm/stages/core.h"
#include "sm/stages/stage.h"

namespace weft::sm {

class IssueStage final {
 public:
  using Stall = warp_formation::Stall;

  IssueStage(Core& core, InstructionBuffers& buffers, const MemoryRoom& memory, IssueSink& next)
      : core_(core), buffers_(buffers), memory_(memory), next_(next) {
    for (Domain& domain : core.domains) domain.issue = this;
  }

  // The scheduler of a domain chooses in this cycle; kNone: it has issued.
  Stall step(Cycle now, Domain& domain, unsigned scheduler) {
    return core_.scalar_unit ? issue_to_two(now, domain, scheduler) : issue(now, domain, scheduler);
  }
  // Whether the domain's first scheduler could issue the offer now.
  bool would_issue(const Domain& domain, const warp_formation::Issue& offer) const;
  // Threads of the group for which an operand of the instruction at `pc` has not been written.
  std::uint32_t waiting_threads(ptx::Pc pc, const warp_formation::ThreadGroup& group) const;

  // What keeps the scheduler of a domain from issuing the offer now. `kSetsAside`: a context that has to wait
  // is not asked again until it may have changed.
  template <bool kSetsAside>
  [[gnu::always_inline]] Stall ready(const Domain& domain, unsigned scheduler,
                                     const warp_formation::Issue& offer) const;
  // ... beside what it has issued in this cycle.
  Stall ready_beside(const Domain& domain, unsigned scheduler, const warp_formation::Issue& offer) const;

 private:
  // Where scalar instructions have a unit of their own: what a scheduler may still issue in this cycle. A
  // warp issues to one of the two units only.
  struct Slots {
    bool limited = false;                                // a scheduler is choosing
    std::array<std::uint64_t, 2> left{};                 // for [0] vector, [1] scalar instructions
    std::array<warp_formation::ContextSet, 2> issued{};  // contexts that did
    bool allow(bool scalar, unsigned context) const {
      return left[scalar ? 1 : 0] != 0 && !issued[scalar ? 0 : 1].has(context);
    }
  };
  Stall issue(Cycle now, Domain& domain, unsigned scheduler);
  Stall issue_to_two(Cycle now, Domain& domain, unsigned scheduler);
  void issue_beside(Cycle now, Domain& domain, unsigned scheduler);
  // What the offer's instruction waits for, whatever the units.
  template <bool kSetsAside>
  [[gnu::always_inline]] Stall waits(const Domain& domain, const execute::Operation& op,
                                     const warp_formation::Issue& offer) const;
  void start(Cycle now, Domain& domain, unsigned scheduler, warp_formation::Issue& offer);
  void consume(Domain& domain, const warp_formation::Issue& offer);
  Cycle operands(const execute::Operation& op, const warp_formation::Issue& offer) const;

  Core& core_;
  InstructionBuffers& buffers_;
  const MemoryRoom& memory_;
  IssueSink& next_;
  Slots slots_;
};

}  // namespace weft::sm

#endif
