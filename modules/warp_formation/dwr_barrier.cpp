// Dynamic warp resizing: the LAT barrier. Which instructions have one, who waits there and who does not, and
// what issues together afterwards.
#include <algorithm>

#include "warp_formation/dwr.h"
#include "weft/common/popcount.h"

namespace weft::warp_formation {

// Whether the LAT that the sub-warp has come to was detected before; if not, it is as it issues. "Dynamic
// synchronization [detects] an LAT after decode and synchronizes the partner sub-warps on the instruction in
// future executions" [DWR IV.A].
bool Dwr::known(unsigned context) {
  SubWarp& warp = warps_[context];
  ++statistics_.lat_table.reads;
  if (detected_.hit(key_of(warp.stack.top().pc))) return true;
  warp.learns = true;
  ++statistics_.lats_missed;
  return false;
}

void Dwr::learn(ptx::Pc pc) {
  const PcTable::Inserted inserted = detected_.insert(key_of(pc));
  ++statistics_.lat_table.writes;
  if (inserted.fresh) ++statistics_.lats_detected;
  if (inserted.evicted) ++statistics_.lat_table_evictions;
}

// bar.synch_partner, when it has come through its pipeline [DWR IV.D].
void Dwr::execute_barrier(unsigned context) {
  SubWarp& warp = warps_[context];
  Scheduler& s = scheduler_of(context);
  const ptx::Pc pc = warp.stack.top().pc;
  if (passes_ignored(context)) return;
  ++statistics_.lat_barriers;
  Group& group = group_of(context);
  ++statistics_.partner_synch.reads;
  ++statistics_.partner_synch.writes;
  if (!group.valid) {
    group.valid = true;
    group.pc = pc;
    group.since = now_;
    ++waiting_groups_;
    if (options_.lat_timeout != 0) next_timeout_ = std::min(next_timeout_, now_ + options_.lat_timeout);
  } else if (group.pc != pc) {
    ignore(pc);
  }
  group.lock |= bit_of(context);
  warp.at_lat = AtLat::kLocked;
  warp.locked_since = now_;
  s.far.add(context);
  reconsider(group);
}

// The LAT that the sub-warp is at is in the ignore list: it does not wait.
bool Dwr::passes_ignored(unsigned context) {
  SubWarp& warp = warps_[context];
  ++statistics_.ignore_list.reads;
  if (!ignored_.hit(key_of(warp.stack.top().pc))) return false;
  ++statistics_.lat_barriers;
  ++statistics_.ilt_hits;
  warp.at_lat = AtLat::kNo;
  --scheduler_of(context).at_lat;
  go_past(context);
  return true;
}

// The sub-warp issues its LAT alone, past those that wait for it. Once all LATs are ignored it comes to no
// barrier any more, and without the release they would wait until it exits.
void Dwr::go_past(unsigned context) {
  scheduler_of(context).eligible.add(context);
  Group& group = group_of(context);
  if (!options_.release_on_ignored || !group.valid) return;
  ++statistics_.ilt_releases;
  release(group);
}

void Dwr::ignore(ptx::Pc pc) {
  const PcTable::Inserted inserted = ignored_.insert(key_of(pc));
  ++statistics_.ignore_list.writes;
  if (inserted.fresh) ++statistics_.ilt_inserts;
  if (inserted.evicted) ++statistics_.ilt_evictions;
  kernel_->ignored[pc] = true;
}

// Lets the locked sub-warps go if no partner will come any more. That is no reason to ignore the LAT: the
// paper's list is for a second LAT barrier of another PC [DWR IV.D].
void Dwr::reconsider(Group& group) {
  if (!group.valid || ~(group.lock | group.parked | group.absent) << (64 - partners_) != 0) return;
  if (group.parked != 0 && options_.ilt_insert == IltInsert::kLatOrBarrier) ignore(group.pc);
  release(group);
}

// A partner that never comes may spin on what a locked sub-warp would write: those that have waited for
// lat_timeout go on, and nobody waits at that PC any more.
void Dwr::end_long_waits() {
  next_timeout_ = kNoEvent;
  for (auto& group : groups_) {
    if (!group.valid) continue;
    const Cycle end = group.since + options_.lat_timeout;
    if (now_ < end) {
      next_timeout_ = std::min(next_timeout_, end);
      continue;
    }
    ++statistics_.lat_timeouts;
    ignore(group.pc);
    release(group);
  }
}

// The sub-warp combiner: those of a block at equal PCs issue as one.
void Dwr::release(Group& group) {
  const unsigned first = static_cast<unsigned>(&group - groups_.data()) * partners_;
  Partners left = group.lock;
  group.valid = false;
  --waiting_groups_;
  group.pc = ptx::kNoPc;
  group.lock = 0;
  while (left != 0) {
    const unsigned leader = lowest(left);
    const SubWarp& lead = warps_[first + leader];
    const StackEntry& place = lead.stack.top();
    Partners members = 0;
    for (Partners rest = left; rest != 0; rest &= rest - 1) {
      const SubWarp& warp = warps_[first + lowest(rest)];
      const StackEntry& top = warp.stack.top();
      if (top.pc == place.pc && top.depth == place.depth && warp.slot == lead.slot) members |= rest & -rest;
    }
    left &= ~members;
    combine(first + leader, members >> leader);
  }
}

void Dwr::combine(unsigned leader, Partners members) {
  Scheduler& s = scheduler_of(leader);
  SubWarp& first = warps_[leader];
  const unsigned rows_per_chunk = kChunk / geometry_.lanes;
  first.members = members;
  first.group_count = 0;
  for (Partners rest = members; rest != 0; rest &= rest - 1) {
    const unsigned context = leader + lowest(rest);
    SubWarp& warp = warps_[context];
    warp.at_lat = AtLat::kCombineReady;
    --s.at_lat;
    s.far.remove(context);
    released_.push_back(static_cast<std::uint16_t>(context));
    if (first.group_count == 0 || first.groups[first.group_count - 1].chunk != warp.first_chunk) {
      const auto row = static_cast<std::uint8_t>(first.group_count * rows_per_chunk);
      first.groups[first.group_count++] = {0, warp.first_chunk, row, true};
    }
    first.groups[first.group_count - 1].mask |= threads_of(warp);
  }
  s.eligible.add(leader);
}

}  // namespace weft::warp_formation
