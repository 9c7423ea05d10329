#include "sm/observers/lane_account.h"

#include <algorithm>
#include <string>

#include "sm/sm.h"

namespace weft::sm {

void LaneAccount::kernel_started(const KernelStart& start) {
  begin_survey(start.first, false);
  until_ = start.first;
  const ptx::Program& program = start.kernel.program;
  keys_ = std::size_t{program.rows} + program.predicates;
  pending_.assign(keys_ * start.chunks, 0);
}

// All cycles before `now` were spent as the last survey found.
void LaneAccount::bring_to(Cycle now) {
  if (now <= until_) return;
  const Cycle cycles = now - until_;
  if (holds_block_) {
    cycles_ += cycles;
    static_ += cycles * static_lanes_;
    dynamic_ += cycles * dynamic_lanes_;
    resident_ += cycles * resident_warps_;
  }
  until_ = now;
}

void LaneAccount::reset() {
  std::fill(lanes_.begin(), lanes_.end(), Lane());
  holds_block_ = false;
  static_lanes_ = dynamic_lanes_ = resident_warps_ = 0;
  until_ = cycles_ = static_ = dynamic_ = resident_ = 0;
  conflicts_ = {};
  std::fill(pending_.begin(), pending_.end(), 0);
}

void LaneAccount::choosing(Cycle now) {
  begin_survey(now, sm_.core().has_block());
  for (unsigned lane = 0; lane < lanes_.size(); ++lane)
    has_warps(lanes_[lane], (*sm_.core().datapath).warps_of(lane));
  using Next = warp_formation::WarpFormation::Next;
  const std::vector<Domain>& domains = sm_.core().domains;
  for (unsigned d = 0; d < domains.size(); ++d) {
    const Domain& domain = domains[d];
    const unsigned contexts = domain.unit->contexts().size();
    for (unsigned context = 0; context < contexts; ++context) {
      warp_formation::Issue offer;
      const Next next = domain.unit->next(context, offer);
      if (next == Next::kNone || offer.groups.count == 0) continue;
      const warp_formation::ThreadGroup& first = *offer.groups.begin();
      const unsigned own = (*sm_.core().datapath).lane_of(first.chunk, first.mask);
      const execute::Operation& op = sm_.core().operation(offer.pc);
      if (waits(op, offer)) {
        stalls(lanes_[own]);
      } else if (next == Next::kOffered && !domain.has_set_aside(context)) {
        const unsigned lane = lane_for(own, op, now);
        if (lane < lanes_.size() && sm_.would_issue(d, offer)) lanes_[lane].ready = true;
      }
    }
  }
}

void LaneAccount::begin_survey(Cycle now, bool holds_block) {
  bring_to(now);
  holds_block_ = holds_block;
  static_lanes_ = dynamic_lanes_ = resident_warps_ = 0;
  for (Lane& lane : lanes_) {
    lane.warps = lane.stalled = 0;
    lane.ready = false;
  }
}

// Warps of the lane that have not exited. A lane counts as dynamic until the last of its warps is found to
// wait.
void LaneAccount::has_warps(Lane& lane, unsigned count) {
  lane.warps = count;
  resident_warps_ += count;
  if (count == 0) return;
  ++static_lanes_;
  ++dynamic_lanes_;
}

// One of its warps waits for a load.
void LaneAccount::stalls(Lane& lane) {
  if (++lane.stalled == lane.warps) --dynamic_lanes_;
}

// The lane on which a warp of lane `own` could begin the instruction, and on which no other warp that was
// looked at can; the number of lanes: none. What takes no lane is of the lane that the warp is on, and only
// the register of its own unit has to be free.
unsigned LaneAccount::lane_for(unsigned own, const execute::Operation& op, Cycle now) const {
  const datapath::Datapath& datapath = (*sm_.core().datapath);
  const auto lanes = static_cast<unsigned>(lanes_.size());
  if (!datapath.takes_lane(op)) return lanes_[own].ready ? lanes : own;
  const auto free = [&](unsigned lane) { return datapath.lane_free(lane) <= now && !lanes_[lane].ready; };
  if (datapath.binds_warps()) return free(own) ? own : lanes;
  unsigned lane = 0;
  while (lane < lanes && !free(lane)) ++lane;
  return lane;
}

void LaneAccount::issued(const Issue& issue) {
  const InFlight& flight = issue.flight;
  Lane& lane = lanes_[(*sm_.core().datapath).lane_of(flight.groups[0].chunk, flight.groups[0].mask)];
  lane.ready = false;
  ++lane.issues;
  lane.threads += flight.threads();
  lane.executed += flight.executing_threads();
}

// Shared memory, constants and parameters are near.
void LaneAccount::accessed(const InFlight& flight, const execute::LaneAccess* accesses, unsigned count) {
  const ptx::Instruction& in = *flight.op->instruction;
  if (!in.is_load()) return;
  for (const execute::LaneAccess* access = accesses; access != accesses + count; ++access) {
    const bool far = access->space == ptx::Space::kGlobal || access->space == ptx::Space::kLocal ||
                     access->space == ptx::Space::kTexture;
    for (unsigned i = 0; far && i < in.write_count; ++i)
      pending(access->chunk, in.writes[i]) |= access->mask | flight.warp;
  }
}

void LaneAccount::arrived(const InFlight& flight, unsigned chunk, std::uint32_t threads) {
  const ptx::Instruction& in = *flight.op->instruction;
  for (unsigned i = 0; i < in.write_count; ++i) pending(chunk, in.writes[i]) &= ~threads;
}

// Whether threads of the offer wait for such loads before the operation can be issued.
bool LaneAccount::waits(const execute::Operation& op, const warp_formation::Issue& offer) const {
  for (const warp_formation::ThreadGroup& group : offer.groups) {
    const std::uint32_t* const pending = pending_.data() + keys_ * group.chunk;
    for (unsigned i = 0; i < op.key_count; ++i) {
      if ((pending[op.keys[i]] & group.mask) != 0) return true;
    }
  }
  return false;
}

// Where something was issued, lanes that were ready and got nothing stand by.
void LaneAccount::stepped(Cycle now, bool issued) {
  if (issued) {
    const auto lanes = static_cast<std::size_t>(
        std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.ready; }));
    if (lanes != 0) ++conflicts_[std::min(lanes, conflicts_.size()) - 1];
  }
  bring_to(now + 1);
}

void LaneAccount::bind(statistics::Group& sm) {
  static const statistics::Unit kLaneCycles("lanes*cycles"), kWarpCycles("warps*cycles");
  statistics::Group& all = sm.group("lanes");
  all.counter("cycles", units::kCycles,
              "cycles in which the SM held a block; all statistics of lanes cover these cycles", cycles_);
  constexpr std::array<const char*, 3> kNames = {"conflicts_1", "conflicts_2", "conflicts_3_or_more"};
  constexpr std::array<const char*, 3> kLanes = {"one lane", "two lanes", "three lanes or more"};
  for (std::size_t i = 0; i < conflicts_.size(); ++i) {
    all.counter(kNames[i], units::kCycles,
                std::string("cycles in which ") + kLanes[i] +
                    " had a ready warp and could begin an instruction, and the front end issued to another",
                conflicts_[i]);
  }
  all.counter("static_lane_cycles", kLaneCycles, "lanes with a warp that had not exited, summed over cycles",
              static_);
  all.counter("dynamic_lane_cycles", kLaneCycles,
              "lanes with a warp that neither had exited nor waited for a load from beyond the SM", dynamic_);
  all.counter("resident_warp_cycles", kWarpCycles, "warps that had not exited, summed over cycles",
              resident_);
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    statistics::Group& lane = sm.group("lane", static_cast<unsigned>(i));
    lane.counter("issues", units::kInstructions, "instructions issued to the lane", lanes_[i].issues);
    lane.counter("thread_instructions", units::kInstructions,
                 "threads of the instructions issued to the lane, counted in the cycle of the issue",
                 lanes_[i].threads);
    lane.counter("executed_thread_instructions", units::kInstructions,
                 "threads of the instructions issued to the lane whose guard held", lanes_[i].executed);
  }
}

}  // namespace weft::sm
