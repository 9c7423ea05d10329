#include "sm/observers/issue_signals.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

IssueSignals::IssueSignals(Sm& sm) : sm_(sm), schedulers_(sm.schedulers()), lanes_(sm.lane_count()) {}

void IssueSignals::keep(bool on) {
  forget();
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
  for (const auto& group : flight.all()) scheduler.active_lanes += flight.scalar() ? 1 : count_of(group.mask);
  if (lanes_.empty()) return;
  // A unit that lanes share may leave them free.
  const unsigned lane = sm_.core().datapath->lane_of(flight.groups[0].chunk, flight.groups[0].mask);
  const Cycle until = sm_.core().datapath->lane_free(lane);
  if (until != lanes_[lane].until) lanes_[lane] = {until, flight.pc, issue.context};
}

void IssueSignals::probes(const Probes::Scope& scope) const {
  constexpr unsigned kStallBits = 4;
  static_assert(warp_formation::kStalls <= 1u << kStallBits);
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
  for (unsigned s = 0; s < schedulers_.size(); ++s) {
    const Probes::Scope scheduler = scope.scope("scheduler", s);
    scheduler.signal("pc", Probes::kNumberBits, [this, s](Cycle now) {
      const ptx::Pc pc = schedulers_[s].pc;
      return issued_ == now && pc != ptx::kNoPc ? pc : Probes::kUndriven;
    });
    scheduler.signal("stall", kStallBits,
                     [this, s](Cycle) { return static_cast<std::uint64_t>(sm_.stall(s)); });
    scheduler.signal("active_lanes", Probes::kCountBits, [this, s](Cycle now) {
      return issued_ == now ? schedulers_[s].active_lanes : std::uint64_t{0};
    });
  }
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

}  // namespace weft::sm
