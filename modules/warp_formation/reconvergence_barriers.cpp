#include "warp_formation/reconvergence_barriers.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "weft/common/popcount.h"

namespace weft::warp_formation {
ReconvergenceBarriers::ReconvergenceBarriers(const ReincarnationTables& config, unsigned width, bool likely)
    : width_(width),
      ways_(static_cast<unsigned>(config.barrier_ways)),
      sets_(static_cast<unsigned>(config.barrier_entries / config.barrier_ways)),
      banks_(config.barrier_banks == 0 ? width
                                       : std::min(static_cast<unsigned>(config.barrier_banks), width)),
      ports_(static_cast<unsigned>(config.barrier_ports)),
      // A bank has at most this many lanes, and each is in one set.
      may_conflict_(std::min((width + banks_ - 1) / banks_, sets_) > ports_),
      linked_(config.barrier_span == BarrierSpan::kLinked),
      join_any_(config.barrier_join == BarrierJoin::kAny),
      likely_(likely),
      entries_(config.barrier_entries) {
  fresh_.reserve(kMaxLanes);
  completed_.reserve(config.barrier_entries);
}

void ReconvergenceBarriers::reset() {
  std::fill(entries_.begin(), entries_.end(), Entry());
  std::fill(at_pc_.begin(), at_pc_.end(), std::uint16_t{0});
  std::fill(expected_.begin(), expected_.end(), std::uint16_t{0});
  completed_.clear();
  waiting_ = 0;
  in_use_ = likely_in_use_ = 0;
  opened_ = likely_made_ = likely_joins_ = 0;
  counters_ = {};
}

void ReconvergenceBarriers::hold_rows(std::size_t rows) {
  if (expected_.size() < rows * width_) expected_.resize(rows * width_, 0);
  held_.resize((expected_.size() + kChunk - 1) / kChunk);
}

bool ReconvergenceBarriers::registered(std::uint16_t row, unsigned lane, const Place& place) const {
  if (expected_[row * width_ + lane] == 0) return false;
  for (Index e = set_of(row); e < set_of(row) + ways_; ++e) {
    const Entry& entry = entries_[e];
    if (((entry.lanes & ~entry.reached) >> lane & 1) != 0 && entry.row[lane] == row && entry.place == place)
      return true;
  }
  return false;
}

// Lanes that all entries of the barrier expect.
std::uint32_t ReconvergenceBarriers::ring_lanes(Index entry) const {
  std::uint32_t lanes = 0;
  Index e = entry;
  do {
    lanes |= entries_[e].lanes;
    e = entries_[e].next;
  } while (e != entry);
  return lanes;
}

// An entry of an earlier divergence at the same place with room in this lane.
int ReconvergenceBarriers::older(std::uint16_t row, unsigned lane, const Place& place, bool likely) const {
  for (Index e = set_of(row); e < set_of(row) + ways_; ++e) {
    const Entry& entry = entries_[e];
    if (entry.lanes != 0 && entry.likely == likely && entry.place == place &&
        (ring_lanes(e) >> lane & 1) == 0)
      return e;
  }
  return -1;
}

// The entry for threads of this row: the one that this divergence opened in their set, or a free one, or -1.
int ReconvergenceBarriers::open(std::uint16_t row, const Place& place, bool likely) {
  if (sets_ == 0) return -1;
  const Index set = set_of(row);
  for (const Index e : fresh_) {
    if (e >= set && e < set + ways_) return e;
  }
  for (Index e = set; e < set + ways_; ++e) {
    Entry& entry = entries_[e];
    if (entry.lanes != 0) continue;
    entry.reached = entry.parked = entry.blocked = 0;
    entry.place = place;
    entry.likely = likely;
    entry.number = ++opened_;
    entry.next = e;
    if (linked_ && !fresh_.empty()) {
      entry.next = entries_[fresh_.back()].next;
      entries_[fresh_.back()].next = e;
    }
    fresh_.push_back(e);
    ++at_pc_[place.rpc];
    ++counters_.opened;
    counters_.peak = std::max(counters_.peak, ++in_use_);
    likely_in_use_ += likely;
    likely_made_ += likely;
    return e;
  }
  return -1;
}

// Threads of one set need one port: its ways are read at once, for all lanes of the bank.
unsigned ReconvergenceBarriers::conflict(const LaneSet& threads) {
  std::array<Index, kMaxLanes> sets{};  // of a bank's lanes, each once
  unsigned most = 1;
  for (unsigned bank = 0; bank < banks_; ++bank) {
    Index* end = sets.data();
    for (unsigned lane = bank; lane < width_; lane += banks_) {
      if ((threads.mask >> lane & 1) == 0) continue;
      const Index set = set_of(threads.row[lane]);
      if (std::find(sets.data(), end, set) == end) *end++ = set;
    }
    most = std::max(most, (static_cast<unsigned>(end - sets.data()) + ports_ - 1) / ports_);
  }
  if (most > 1) ++counters_.conflicts;
  counters_.conflict_cycles += most - 1;
  return most - 1;
}

void ReconvergenceBarriers::reserve(const LaneSet& threads, const Place& place, bool likely) {
  fresh_.clear();
  each_lane(threads.mask, [&](unsigned lane) {
    const std::uint16_t row = threads.row[lane];
    if (sets_ != 0 && registered(row, lane, place)) return;  // loops do not take an entry per turn
    int e = sets_ != 0 && join_any_ ? older(row, lane, place, likely) : -1;
    if (e < 0) e = open(row, place, likely);
    if (e < 0) {
      ++counters_.missed;
      return;
    }
    Entry& entry = entries_[static_cast<unsigned>(e)];
    entry.lanes |= 1u << lane;
    entry.row[lane] = row;
    ++expected(row, lane);
    ++counters_.reserved;
  });
  if (fresh_.size() > 1) ++counters_.multiset;
  counters_.uses.writes += std::max<std::size_t>(1, fresh_.size());
}

std::uint32_t ReconvergenceBarriers::arrive(const LaneSet& threads, const Place& place) {
  std::uint32_t arrived = 0;
  bool joined = false;
  if (!any_at(place.rpc)) return 0;
  for (std::uint32_t rest = threads.mask; rest != 0;) {
    const Index set = set_of(threads.row[static_cast<unsigned>(__builtin_ctz(rest))]);
    each_lane(rest, [&](unsigned lane) {
      if (set_of(threads.row[lane]) == set) rest &= ~(1u << lane);
    });
    for (Index e = set; e < set + ways_; ++e) {
      Entry& entry = entries_[e];
      if (entry.lanes == 0 || !(entry.place == place)) continue;
      std::uint32_t here = 0;
      each_lane(threads.mask & entry.lanes & ~entry.reached, [&](unsigned lane) {
        if (entry.row[lane] == threads.row[lane]) here |= 1u << lane;
      });
      if (here == 0) continue;
      entry.reached |= here;
      ++counters_.uses.writes;
      arrived |= here;
      joined = joined || entry.likely;
      waiting_ += count_of(here);
      each_lane(here, [&](unsigned lane) {
        if (--expected(threads.row[lane], lane) != 0 && entry.number != opened_)
          leave_inner(e, threads.row[lane], lane);
      });
      complete_if_all_reached(e);
    }
  }
  likely_joins_ += joined;
  return arrived;
}

void ReconvergenceBarriers::exit(const LaneSet& threads) {
  each_lane(threads.mask, [&](unsigned lane) {
    const std::uint16_t row = threads.row[lane];
    if (sets_ == 0 || expected(row, lane) == 0) return;
    expected(row, lane) = 0;
    for (Index e = set_of(row); e < set_of(row) + ways_; ++e) {
      Entry& entry = entries_[e];
      if (((entry.lanes & ~entry.reached) >> lane & 1) == 0 || entry.row[lane] != row) continue;
      leave(e, 1u << lane, false);
    }
  });
}

// A thread of the entry will not come.
void ReconvergenceBarriers::leave(Index e, std::uint32_t lane, bool leaving) {
  Entry& entry = entries_[e];
  entry.lanes &= ~lane;
  if (entry.lanes != 0) return complete_if_all_reached(e, leaving);
  const Index next = entry.next;
  release(e);
  if (next != e) complete_if_all_reached(next, leaving);
}

// The thread has come to an entry past the points of those opened later.
void ReconvergenceBarriers::leave_inner(Index outer, std::uint16_t row, unsigned lane) {
  for (Index e = set_of(row); e < set_of(row) + ways_; ++e) {
    const Entry& entry = entries_[e];
    if (((entry.lanes & ~entry.reached) >> lane & 1) == 0 || entry.row[lane] != row) continue;
    if (entry.number < entries_[outer].number) continue;
    abandon(e, 1u << lane);
  }
}

// It is no longer expected at the entry.
void ReconvergenceBarriers::abandon(Index e, std::uint32_t lane) {
  const auto at = static_cast<unsigned>(__builtin_ctz(lane));
  --expected(entries_[e].row[at], at);
  leave(e, lane, true);
}

void ReconvergenceBarriers::reserve_likely(LaneSet threads, const Place& point, const Place& place) {
  if (sets_ == 0) return;
  each_lane(threads.mask, [&](unsigned lane) {
    if (place.rpc != ptx::kNoPc && !registered(threads.row[lane], lane, place)) threads.mask &= ~(1u << lane);
  });
  if (!threads.empty()) reserve(threads, point, true);
}

void ReconvergenceBarriers::leave_likely_in_vain() {
  if (likely_in_use_ == 0 || waiting_ == 0) return;
  const auto parked = [](const Entry& entry, unsigned lane) { return (entry.parked >> lane & 1) != 0; };
  const auto missing = [](const Entry& entry) { return entry.lanes & ~entry.reached; };
  if (std::none_of(entries_.begin(), entries_.end(),
                   [&](const Entry& entry) { return (missing(entry) & entry.parked) != 0; }))
    return;
  find_held(parked);
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (!entry.likely || entry.reached == 0) continue;
    each_lane(missing(entry), [&](unsigned lane) {
      if (!held(entry, lane)) return;
      abandon(static_cast<Index>(e), 1u << lane);
      ++counters_.uses.writes;
    });
  }
}

// Takes an entry without threads out of its barrier.
void ReconvergenceBarriers::release(Index e) {
  Index before = e;
  while (entries_[before].next != e) before = entries_[before].next;
  entries_[before].next = entries_[e].next;
  --at_pc_[entries_[e].place.rpc];
  --in_use_;
  likely_in_use_ -= entries_[e].likely;
  entries_[e].lanes = entries_[e].reached = 0;
}

void ReconvergenceBarriers::park(const LaneSet& threads, bool at_block_barrier) {
  each_registration(threads, [&](Index e, std::uint32_t lane) {
    entries_[e].parked |= lane;
    if (at_block_barrier) entries_[e].blocked |= lane;
  });
  each_registration(threads, [&](Index e, std::uint32_t) { complete_if_all_reached(e, !at_block_barrier); });
}

void ReconvergenceBarriers::unpark(const LaneSet& threads) {
  each_registration(threads, [&](Index e, std::uint32_t lane) {
    entries_[e].parked &= ~lane;
    entries_[e].blocked &= ~lane;
  });
}

void ReconvergenceBarriers::complete_if_all_reached(Index first, bool leaving) {
  std::uint32_t reached = 0, blocked = 0;
  bool alone = false;
  Index e = first;
  do {
    const Entry& entry = entries_[e];
    if (entry.reached != entry.lanes) {
      if ((entry.reached | entry.parked) != entry.lanes) return;
      alone = true;
    }
    reached |= entry.reached;
    blocked |= entry.blocked;
    e = entry.next;
  } while (e != first);
  if (alone && (blocked == 0 || reached == 0 || (!leaving && ends_[entries_[first].place.rpc] != 0))) return;
  take_reached(first, alone);
}

// Those of the barrier that have reached it go on, all of them or `alone`.
void ReconvergenceBarriers::take_reached(Index first, bool alone) {
  Completed done;
  done.place = entries_[first].place;
  done.alone = alone;
  unsigned entries = 0;
  Index e = first;
  do {
    ++entries;
    e = entries_[e].next;
  } while (e != first);
  for (; entries > 0; --entries) {
    Entry& entry = entries_[e];
    LaneSet part;
    part.mask = entry.reached;
    part.row = entry.row;
    done.threads.take(part, part.mask);
    entry.lanes &= ~entry.reached;
    entry.reached = 0;
    const Index next = entry.next;
    if (entry.lanes == 0) release(e);
    e = next;
  }
  waiting_ -= done.threads.count();
  completed_.push_back(done);
}

// Warps merge, so those whom a thread waits for may be held by others that it does not know.
template <class Stands>
void ReconvergenceBarriers::find_held(Stands&& stands) const {
  std::fill(held_.begin(), held_.end(), 0u);
  const auto waits_in_vain = [&](const Entry& entry) {
    bool any = false;
    each_lane(entry.lanes & ~entry.reached,
              [&](unsigned lane) { any = any || stands(entry, lane) || held(entry, lane); });
    return any;
  };
  for (bool grown = true; grown;) {
    grown = false;
    for (const Entry& entry : entries_) {
      if (entry.lanes == 0 || entry.reached == 0) continue;
      bool in_vain = false;
      const Entry* part = &entry;  // the entries of a barrier complete together
      do {
        in_vain = waits_in_vain(*part);
        part = &entries_[part->next];
      } while (!in_vain && part != &entry);
      if (!in_vain) continue;
      each_lane(entry.reached, [&](unsigned lane) {
        const unsigned position = entry.row[lane] * width_ + lane;
        const std::uint32_t bit = 1u << position % kChunk;
        grown = grown || (held_[position / kChunk] & bit) == 0;
        held_[position / kChunk] |= bit;
      });
    }
  }
}

std::uint32_t ReconvergenceBarriers::held_back(unsigned chunk, const std::uint32_t* standing) const {
  if (waiting_ == 0) return 0;
  find_held([&](const Entry& entry, unsigned lane) {
    const unsigned position = entry.row[lane] * width_ + lane;
    return (standing[position / kChunk] >> position % kChunk & 1) != 0;
  });
  return held_[chunk];
}

bool ReconvergenceBarriers::expects(const LaneSet& threads) const {
  bool any = false;
  each_lane(threads.mask, [&](unsigned lane) { any |= expected_[threads.row[lane] * width_ + lane] != 0; });
  return any;
}

std::uint64_t ReconvergenceBarriers::bits(unsigned thread_bits) const {
  return entries_.size() * (32 + std::uint64_t{width_} * (thread_bits + 1) + (likely_ ? 1 : 0));
}

std::uint64_t ReconvergenceBarriers::link_bits() const {
  if (!linked_ || entries_.size() < 2) return 0;
  return entries_.size() * (64 - static_cast<std::uint64_t>(__builtin_clzll(entries_.size() - 1)));
}

std::string ReconvergenceBarriers::dump() const {
  std::ostringstream out;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    if (entry.lanes == 0) continue;
    out << "barrier entry " << e << " (block slot " << entry.place.slot << "): at pc " << entry.place.rpc
        << (entry.likely ? ", a likely-convergence point" : "") << ", reached ";
    for (unsigned lane = 0; lane < width_; ++lane) {
      out << ((entry.lanes >> lane & 1) == 0 ? '-' : (entry.reached >> lane & 1) != 0 ? '1' : '0');
    }
    out << ", waits for threads";
    each_lane(entry.lanes & ~entry.reached,
              [&](unsigned lane) { out << " " << entry.row[lane] * width_ + lane; });
    if (entry.next != e) out << ", linked to entry " << entry.next;
    out << "\n";
  }
  return out.str();
}

}  // namespace weft::warp_formation
