// What waveforms show of an SM. One that sleeps issues nothing, and its lanes go on; all else stays as its
// last step left it.
#include "sm/sm.h"

namespace weft::sm {

void Sm::probes(const Probes::Scope& scope) const {
  constexpr unsigned kStallBits = 4;
  static_assert(warp_formation::kStalls <= 1u << kStallBits);
  scope.signal("active_lanes", Probes::kCountBits, [this](Cycle now) {
    std::uint64_t lanes = 0;
    for (const IssueTrace& trace : issue_traces_) lanes += traced_ == now ? trace.active_lanes : 0;
    return lanes;
  });
  scope.signal("blocks", Probes::kCountBits, [this](Cycle) {
    std::uint64_t blocks = 0;
    for (const auto& block : state_.blocks) blocks += block.live ? 1 : 0;
    return blocks;
  });
  scope.signal("instructions", Probes::kCountBits, [this](Cycle) { return in_flight_.size(); });
  scope.signal("transactions", Probes::kCountBits, [this](Cycle) { return transactions(); });
  for (unsigned s = 0; s < config_.schedulers; ++s) {
    const Probes::Scope scheduler = scope.scope("scheduler", s);
    scheduler.signal("pc", Probes::kNumberBits, [this, s](Cycle now) {
      const ptx::Pc pc = issue_traces_[s].pc;
      return traced_ == now && pc != ptx::kNoPc ? pc : Probes::kUndriven;
    });
    scheduler.signal("stall", kStallBits,
                     [this, s](Cycle) { return static_cast<std::uint64_t>(account_.last(s)); });
    scheduler.signal("active_lanes", Probes::kCountBits, [this, s](Cycle now) {
      return traced_ == now ? issue_traces_[s].active_lanes : std::uint64_t{0};
    });
  }
  for (unsigned lane = 0; lane < datapath_->lane_count(); ++lane) {
    const Probes::Scope own = scope.scope("lane", lane);
    const auto works = [this, lane](Cycle now) { return now < datapath_->lane_free(lane); };
    own.signal("warp", Probes::kCountBits, [this, lane, works](Cycle now) {
      return works(now) ? lane_traces_[lane].context : Probes::kUndriven;
    });
    own.signal("place", Probes::kCountBits, [this, lane, works](Cycle now) {
      const unsigned place = works(now) ? datapath_->place_of(lane, now) : datapath::Datapath::kNoPlace;
      return place != datapath::Datapath::kNoPlace ? place : Probes::kUndriven;
    });
    own.signal("pc", Probes::kNumberBits, [this, lane, works](Cycle now) {
      return works(now) ? lane_traces_[lane].pc : Probes::kUndriven;
    });
  }
}

}  // namespace weft::sm
