#include "sm/lane_account.h"

#include <algorithm>

namespace weft::sm {

void LaneAccount::start(Cycle now, unsigned chunks, const ptx::Program& program) {
  if (!enabled()) return;
  begin_survey(now, false);
  until_ = now;
  keys_ = std::size_t{program.rows} + program.predicates;
  pending_.assign(keys_ * chunks, 0);
}

void LaneAccount::bring_to(Cycle now) {
  if (!enabled() || now <= until_) return;
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

void LaneAccount::begin_survey(Cycle now, bool holds_block) {
  bring_to(now);
  holds_block_ = holds_block;
  static_lanes_ = dynamic_lanes_ = resident_warps_ = 0;
  for (Lane& lane : lanes_) {
    lane.warps = lane.stalled = 0;
    lane.ready = false;
  }
}

// A lane counts as dynamic until the last of its warps is found to wait.
void LaneAccount::warps(unsigned lane, unsigned count) {
  lanes_[lane].warps = count;
  resident_warps_ += count;
  if (count == 0) return;
  ++static_lanes_;
  ++dynamic_lanes_;
}

void LaneAccount::stalled(unsigned lane) {
  if (++lanes_[lane].stalled == lanes_[lane].warps) --dynamic_lanes_;
}

void LaneAccount::issued(unsigned lane, unsigned threads, unsigned executing) {
  Lane& of = lanes_[lane];
  of.ready = false;
  ++of.issues;
  of.threads += threads;
  of.executed += executing;
}

void LaneAccount::count_conflicts() {
  const auto lanes = static_cast<std::size_t>(
      std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.ready; }));
  if (lanes != 0) ++conflicts_[std::min(lanes, conflicts_.size()) - 1];
}

// Shared memory, constants and parameters are near.
void LaneAccount::loads(const ptx::Instruction& in, const execute::LaneAccess* accesses, unsigned count,
                        std::uint32_t warp) {
  for (const execute::LaneAccess* access = accesses; access != accesses + count; ++access) {
    const bool far = access->space == ptx::Space::kGlobal || access->space == ptx::Space::kLocal ||
                     access->space == ptx::Space::kTexture;
    for (unsigned i = 0; far && i < in.write_count; ++i)
      pending(access->chunk, in.writes[i]) |= access->mask | warp;
  }
}

void LaneAccount::returned(const ptx::Instruction& in, unsigned chunk, std::uint32_t threads) {
  for (unsigned i = 0; i < in.write_count; ++i) pending(chunk, in.writes[i]) &= ~threads;
}

bool LaneAccount::waits(const execute::Operation& op, const warp_formation::Issue& issue) const {
  for (const warp_formation::ThreadGroup& group : issue.groups) {
    const std::uint32_t* const pending = pending_.data() + keys_ * group.chunk;
    for (unsigned i = 0; i < op.key_count; ++i) {
      if ((pending[op.keys[i]] & group.mask) != 0) return true;
    }
  }
  return false;
}

void LaneAccount::bind(statistics::Group& group) {
  if (!enabled()) return;
  static const statistics::Unit kLaneCycles("lanes*cycles"), kWarpCycles("warps*cycles");
  statistics::Group& all = group.group("lanes");
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
    statistics::Group& lane = group.group("lane", static_cast<unsigned>(i));
    lane.counter("issues", units::kInstructions, "instructions issued to the lane", lanes_[i].issues);
    lane.counter("thread_instructions", units::kInstructions,
                 "threads of the instructions issued to the lane, counted in the cycle of the issue",
                 lanes_[i].threads);
    lane.counter("executed_thread_instructions", units::kInstructions,
                 "threads of the instructions issued to the lane whose guard held", lanes_[i].executed);
  }
}

}  // namespace weft::sm
