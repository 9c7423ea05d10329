// A scheduler domain: one warp-formation unit, and what it sees of the SM.
#ifndef WEFT_SM_STAGES_DOMAIN_H
#define WEFT_SM_STAGES_DOMAIN_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "bus/clock_domain.h"
#include "sm/waking_contexts.h"
#include "weft/machine/sm_config.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class IssueStage;

// A step of the SM looks at each domain, whether or not its schedulers are asked: what it looks at is in one
// line of the host's caches (`unit` to `memory_free_`), and the long ring of contexts that wait for a cycle
// comes last.
struct alignas(64) Domain final : warp_formation::SmView {
  using Stall = warp_formation::Stall;

  const IssueStage* issue = nullptr;  // which answers the schedulers
  unsigned first_context = 0, first_scheduler = 0;
  alignas(64) std::unique_ptr<warp_formation::WarpFormation> unit;

  // Schedulers of a domain, one bit each.
  using Schedulers = std::uint32_t;
  static constexpr Schedulers kAll = ~Schedulers{0};

  // Of a new unit: whether its schedulers are apart, and which of them a context concerns.
  void learn_concerns(unsigned schedulers);
  bool is_apart() const { return apart_; }
  // The scheme, for a call that changes it: as a whole, or one of its contexts.
  warp_formation::WarpFormation& changing() {
    changed_ = kAll;
    parked_.clear();
    return *unit;
  }
  warp_formation::WarpFormation& changing(unsigned context) {
    changed_ |= concerned_[context];
    parked_.remove(context);
    return *unit;
  }
  // Schedulers that got nothing are asked again only when something has happened, as an SM that sleeps asks
  // nobody: the scheme changed, operands or instructions arrived, or a cycle came that was named.
  bool has_changed() const { return changed_ != 0; }
  bool asks(Cycle now) const { return changed_ != 0 || now >= asks_at_; }
  Cycle asks_at() const { return asks_at_; }
  // Those to ask now.
  Schedulers asking(Cycle now) {
    const Schedulers changed = changed_;
    changed_ = 0;
    return now >= asks_at_ ? kAll : changed;
  }
  // `again`: in any case at the next step; with the others, whose answers may change with theirs.
  void asked(Cycle now, Schedulers again) {
    if (again != 0) changed_ |= apart_ ? again : kAll;
    asks_at_ = std::min(unit->next_event(now), waking_.next());
  }

  Stall ready(unsigned scheduler, const warp_formation::Issue& offer) const override;
  Stall ready_beside(unsigned scheduler, const warp_formation::Issue& offer) const override;
  std::uint32_t waiting_threads(const warp_formation::Issue& offer,
                                const warp_formation::ThreadGroup& group) const override;
  void wait(unsigned context, unsigned chunk, Stall stall) const {
    (stall == Stall::kMemory ? waiting_for_memory_ : waiting_for_arithmetic_).add(context);
    waiters_[chunk].add(context);
  }
  // Registers of threads of the chunk were written.
  void written(unsigned chunk) {
    warp_formation::ContextSet& waiters = waiters_[chunk];
    unsigned context = waiters.next(0);
    if (context == warp_formation::ContextSet::kMaxContexts) return;
    waiting_for_memory_.remove(waiters);
    waiting_for_arithmetic_.remove(waiters);
    for (; context != warp_formation::ContextSet::kMaxContexts; context = waiters.next(context + 1))
      changed_ |= concerned_[context];
    waiters.clear();
  }
  // The context's instruction cannot start before `until`. (SIMD groups are free so soon that to set a
  // context aside would not pay.)
  void wait_for_unit(unsigned context, ptx::Unit kind, Cycle until) const {
    if (kind == ptx::Unit::kSfu) {
      waiting_for_unit_.add(context);
      sfu_free_ = std::min(sfu_free_, until);
    } else if (kind == ptx::Unit::kMemory) {
      waiting_for_memory_unit_.add(context);
      memory_free_ = std::min(memory_free_, until);
      if (parks_) parked_.add(context);
    }
  }
  // From now on contexts are parked that wait for nothing but the way to the load-store unit.
  void park(bool parks, bool asks_all) {
    parks_ = parks;
    asks_parked_ = asks_all;
    parked_.clear();
  }
  bool has_parked() const { return !parked_.empty(); }
  // That way is taken until then, by another scheduler perhaps: calls choose() for a context, and what is
  // parked is not asked again.
  template <class Choose>
  Stall choose_while_taken(Cycle until, Choose&& choose) {
    memory_free_ = std::min(memory_free_, until);
    if (!asks_parked_) {
      waiting_for_memory_unit_.add(parked_);
      return choose();
    }
    waiting_for_memory_unit_.remove(parked_);
    const Stall stall = choose();
    waiting_for_memory_unit_.add(parked_);
    return stall;
  }
  // The context's instruction cannot start before `until`, for its lane or for operands that come then.
  void wait_until(unsigned context, Stall stall, Cycle now, Cycle until) const {
    (stall == Stall::kUnitBusy ? waiting_for_unit_ : waiting_for_arithmetic_).add(context);
    waking_.add(now, context, until);
  }
  // Contexts whose unit may be free now are asked again. `room`: the load-store unit takes instructions.
  void free_units(Cycle now, bool room) {
    if (now >= sfu_free_) {
      waiting_for_unit_.clear();
      sfu_free_ = kNever;
    }
    if (room && now >= memory_free_) {
      waiting_for_memory_unit_.clear();
      memory_free_ = kNever;
    }
    waking_.take(now, [this](const warp_formation::ContextSet& contexts) {
      waiting_for_unit_.remove(contexts);
      waiting_for_arithmetic_.remove(contexts);
    });
  }
  // The context is known to wait: asking again is a waste of time.
  bool has_set_aside(unsigned context) const {
    return waiting_for_memory_.has(context) || waiting_for_arithmetic_.has(context) ||
           waiting_for_unit_.has(context) || waiting_for_memory_unit_.has(context) ||
           waiting_for_fetch_.has(context);
  }
  void forget_waiters(unsigned chunks) {
    changed_ = kAll;
    sfu_free_ = memory_free_ = kNever;
    waiting_for_unit_.clear();
    waiting_for_memory_unit_.clear();
    waking_.clear();
    waiting_for_memory_.clear();
    waiting_for_arithmetic_.clear();
    waiters_.assign(chunks, {});
  }
  // Contexts that wait for instructions, and the marks for the schedulers that each of them concerns when it
  // has got what it needs.
  warp_formation::ContextSet& fetching() { return waiting_for_fetch_; }
  Schedulers& changed() { return changed_; }
  const std::vector<Schedulers>& concerned() const { return concerned_; }

 private:
  Schedulers changed_ = kAll;  // for whom something has happened since they were asked
  bool apart_ = false, parks_ = false, asks_parked_ = false;
  Cycle asks_at_ = 0;
  // Before these cycles no special-function unit, and not the load-store unit, is free for those who wait.
  mutable Cycle sfu_free_ = kNever, memory_free_ = kNever;
  mutable warp_formation::ContextSet parked_;
  mutable std::vector<warp_formation::ContextSet> waiters_;  // by chunk
  std::vector<Schedulers> concerned_;                        // by context
  mutable WakingContexts waking_;                            // contexts set aside until a cycle that is known
};

// The domains of an SM with their units. How many contexts the front end needs, the units know.
std::vector<Domain> make_domains(const machine::SmConfig& config, const warp_formation::Config& formation,
                                 unsigned lanes);
inline unsigned contexts_of(const std::vector<Domain>& domains) {
  return domains.back().first_context + domains.back().unit->contexts().size();
}

}  // namespace weft::sm

#endif
