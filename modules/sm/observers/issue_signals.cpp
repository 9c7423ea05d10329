#include "sm/observers/issue_signals.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

IssueSignals::IssueSignals(Sm& sm)
    : sm_(sm),
      schedulers_(sm.schedulers()),
      lanes_(sm.lane_count()),
      slots_(contexts_of(sm.core().domains)),
      waits_(sm) {}

void IssueSignals::keep(bool on, bool details) {
  if (on != attached_) forget();
  if (details && !details_) forget_details();
  details_ = details;
  if (on == attached_) return;
  if (on) {
    sm_.attach(*this);
  } else {
    sm_.detach(*this);
  }
  attached_ = on;
}

void IssueSignals::forget() {
  std::fill(schedulers_.begin(), schedulers_.end(), Scheduler());
  std::fill(lanes_.begin(), lanes_.end(), Lane());
  forget_details();
}

void IssueSignals::forget_details() {
  std::fill(slots_.begin(), slots_.end(), Slot());
  waits_.start(true);
}

void IssueSignals::kernel_started(const KernelStart&) {
  waits_.start(true);
}

void IssueSignals::kernel_finished(Cycle) {
  waits_.start(true);
}

void IssueSignals::resolved(std::uint16_t id, warp_formation::Outcomes outcomes, Cycle) {
  if (details_) waits_.resolved(id, outcomes);
}

void IssueSignals::barrier_opened(std::uint16_t slot, unsigned barrier) {
  if (details_) waits_.barrier_opened(slot, barrier);
}

void IssueSignals::gathered(std::uint16_t slot, unsigned chunk, std::uint32_t) {
  if (details_) waits_.gathered(slot, chunk);
}

void IssueSignals::reset() {
  forget();
  issued_ = 0;
}

void IssueSignals::issued(const Issue& issue) {
  if (issued_ != issue.now) std::fill(schedulers_.begin(), schedulers_.end(), Scheduler());
  issued_ = issue.now;
  const InFlight& flight = issue.flight;
  Scheduler& scheduler = schedulers_[issue.scheduler];
  scheduler.pc = flight.pc;
  scheduler.context = issue.context;
  for (const auto& group : flight.all()) scheduler.active_lanes += flight.scalar() ? 1 : count_of(group.mask);
  if (details_) issued_details(issue, scheduler);
  if (lanes_.empty()) return;
  // A unit that lanes share may leave them free.
  const unsigned lane = sm_.core().datapath->lane_of(flight.groups[0].chunk, flight.groups[0].mask);
  const Cycle until = sm_.core().datapath->lane_free(lane);
  if (until != lanes_[lane].until) lanes_[lane] = {until, flight.pc, issue.context};
}

void IssueSignals::issued_details(const Issue& issue, Scheduler& scheduler) {
  const InFlight& flight = issue.flight;
  scheduler.opcode = ptx::Mnemonic(*flight.op->instruction);
  waits_.issued(issue);
  slots_[issue.context] = {issue.now, flight.pc};
  for (std::uint64_t rest = issue.partners; rest != 0; rest &= rest - 1) {
    const std::size_t other = issue.context + static_cast<unsigned>(__builtin_ctzll(rest));
    if (other < slots_.size()) slots_[other] = {issue.now, flight.pc};
  }
}

void IssueSignals::probes(const Probes::Scope& scope) const {
  scope.signal("active_lanes", Probes::kCountBits, [this](Cycle now) {
    std::uint64_t lanes = 0;
    for (const Scheduler& scheduler : schedulers_) lanes += issued_ == now ? scheduler.active_lanes : 0;
    return lanes;
  });
  scope.signal("blocks", Probes::kCountBits, [this](Cycle) {
    std::uint64_t blocks = 0;
    for (const auto& block : sm_.core().state.blocks) blocks += block.live ? 1 : 0;
    return blocks;
  });
  scope.signal("instructions", Probes::kCountBits, [this](Cycle) { return sm_.core().in_flight.size(); });
  scope.signal("transactions", Probes::kCountBits, [this](Cycle) { return sm_.memory().transactions(); });
  schedulers(scope);
  lanes(scope);
  slots(scope.details());
  requests(scope.scope("memory").without_version().details());
}

void IssueSignals::schedulers(const Probes::Scope& scope) const {
  constexpr unsigned kStallBits = 4;
  static_assert(warp_formation::kStalls <= 1u << kStallBits);
  for (unsigned s = 0; s < schedulers_.size(); ++s) {
    const Probes::Scope scheduler = scope.scope("scheduler", s);
    const auto issues = [this, s](Cycle now) { return issued_ == now && schedulers_[s].pc != ptx::kNoPc; };
    scheduler.signal("pc", Probes::kNumberBits, [this, s, issues](Cycle now) {
      return issues(now) ? schedulers_[s].pc : Probes::kUndriven;
    });
    scheduler.signal("warp", Probes::kCountBits, [this, s, issues](Cycle now) {
      return issues(now) ? schedulers_[s].context : Probes::kUndriven;
    });
    scheduler.details().text("opcode", [this, s, issues](Cycle now) {
      return issues(now) ? schedulers_[s].opcode.text() : std::string_view();
    });
    scheduler.signal("stall", kStallBits,
                     [this, s](Cycle) { return static_cast<std::uint64_t>(sm_.stall(s)); });
    scheduler.signal("active_lanes", Probes::kCountBits, [this, s](Cycle now) {
      return issued_ == now ? schedulers_[s].active_lanes : std::uint64_t{0};
    });
  }
}

void IssueSignals::lanes(const Probes::Scope& scope) const {
  for (unsigned lane = 0; lane < lanes_.size(); ++lane) {
    const Probes::Scope own = scope.scope("lane", lane).without_version();
    const auto works = [this, lane](Cycle now) { return now < sm_.core().datapath->lane_free(lane); };
    own.signal("warp", Probes::kCountBits, [this, lane, works](Cycle now) {
      return works(now) ? lanes_[lane].context : Probes::kUndriven;
    });
    own.signal("place", Probes::kCountBits, [this, lane, works](Cycle now) {
      const unsigned place =
          works(now) ? sm_.core().datapath->place_of(lane, now) : datapath::Datapath::kNoPlace;
      return place != datapath::Datapath::kNoPlace ? place : Probes::kUndriven;
    });
    own.signal("pc", Probes::kNumberBits,
               [this, lane, works](Cycle now) { return works(now) ? lanes_[lane].pc : Probes::kUndriven; });
  }
}

// What a slot waits for is asked of its scheme, so it is shown as the last step left it.
void IssueSignals::slots(const Probes::Scope& scope) const {
  constexpr unsigned kStateBits = 4;
  static_assert(SlotWaits::kReady < 1u << kStateBits);
  for (const Domain& domain : sm_.core().domains) {
    for (unsigned c = 0; c < domain.unit->contexts().size(); ++c) {
      const unsigned number = domain.first_context + c;
      const Probes::Scope slot = scope.scope("warp", number);
      slot.signal("state", kStateBits, [this, &domain, c, number](Cycle now) {
        if (slots_[number].issued == now) return std::uint64_t{0};
        const std::uint8_t state = waits_.state(domain, c);
        return state == SlotWaits::kNobody ? Probes::kUndriven : std::uint64_t{state};
      });
      slot.signal("pc", Probes::kNumberBits, [this, &domain, c, number](Cycle now) {
        const bool issues = slots_[number].issued == now;
        const ptx::Pc pc = issues ? slots_[number].pc : domain.unit->contexts().pc(c);
        return pc != ptx::kNoPc ? pc : Probes::kUndriven;
      });
    }
  }
}

// The handshake of the memory port: from BEGIN_REQ until the crossbar has taken the request.
void IssueSignals::requests(const Probes::Scope& memory) const {
  const MemoryStage& stage = sm_.memory();
  memory.signal("request_valid", 1, [&stage](Cycle now) { return stage.port().requests(now) ? 1 : 0; });
  memory.signal("request_ready", 1,
                [&stage](Cycle now) { return stage.port().requests(now) && !stage.port().busy() ? 1 : 0; });
  memory.signal("request_write", 1, [&stage](Cycle now) {
    return !stage.port().requests(now)      ? Probes::kUndriven
           : stage.port().last_sent().write ? std::uint64_t{1}
                                            : std::uint64_t{0};
  });
  memory.signal("request_address", Probes::kMostBits, [&stage](Cycle now) {
    return stage.port().requests(now) ? stage.port().last_sent().address : Probes::kUndriven;
  });
}

}  // namespace weft::sm
