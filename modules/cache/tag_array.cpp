#include "cache/tag_array.h"

#include <algorithm>

#include "common/config_origins.h"
#include "common/error.h"

namespace weft::cache {

void TagArray::Config::describe(config::Visitor& v) {
  v.integer("sets", sets, {1, 1 << 20}, "sets", "number of sets; need not be a power of two");
  v.integer("ways", ways, {1, 1024}, "lines", "lines per set");
  v.integer("line_bytes", line_bytes, {4, 4096}, "bytes", "bytes per line; a power of two");
  config::choice(v, "replacement", replacement, {{"lru", Replacement::kLru}, {"fifo", Replacement::kFifo}},
                 "which line of a full set makes room");
}

void TagArray::Config::check(const std::string& where) const {
  if ((line_bytes & (line_bytes - 1)) != 0) {
    throw InputError(where + "/line_bytes", std::to_string(line_bytes) + " is not a power of two");
  }
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  if (bytes() > kMostBytes) {
    throw config::RuleError(where + "/sets", {where + "/ways", where + "/line_bytes"},
                            "cache of " + std::to_string(bytes()) +
                                " bytes (sets x ways x line_bytes); allowed are " +
                                std::to_string(kMostBytes));
  }
  constexpr std::uint64_t kMostLines = 1u << 20;  // each costs the simulator 17 bytes
  if (sets * ways > kMostLines) {
    throw config::RuleError(where + "/sets", {where + "/ways"},
                            "cache of " + std::to_string(sets * ways) +
                                " lines (sets x ways); allowed are up to " + std::to_string(kMostLines));
  }
}

TagArray::TagArray(const Config& config)
    : sets_(config.sets),
      line_bytes_(config.line_bytes),
      ways_(config.ways),
      replacement_(config.replacement),
      lines_(config.sets * config.ways),
      states_(config.sets * config.ways, LineState::kInvalid),
      stamps_(config.sets * config.ways) {}

std::size_t TagArray::slot_of(Line line) const {
  const std::size_t first = sets_.remainder(line) * ways_;
  for (std::size_t slot = first; slot < first + ways_; ++slot) {
    if (lines_[slot] == line && states_[slot] != LineState::kInvalid) return slot;
  }
  return kNone;
}

// An invalid way if there is one, else the one with the oldest stamp that is not reserved.
std::size_t TagArray::victim_slot(Line line) const {
  const std::size_t first = sets_.remainder(line) * ways_;
  std::size_t best = kNone;
  for (std::size_t slot = first; slot < first + ways_; ++slot) {
    if (states_[slot] == LineState::kInvalid) return slot;
    if (states_[slot] == LineState::kReserved) continue;
    if (best == kNone || stamps_[slot] < stamps_[best]) best = slot;
  }
  return best;
}

LineState TagArray::find(Line line) const {
  const std::size_t slot = slot_of(line);
  return slot == kNone ? LineState::kInvalid : states_[slot];
}

LineState TagArray::access(Line line) {
  ++accesses_;
  const std::size_t slot = slot_of(line);
  if (slot == kNone) {
    ++misses_;
    return LineState::kInvalid;
  }
  if (replacement_ == Replacement::kLru) stamps_[slot] = ++clock_;
  ++(states_[slot] == LineState::kReserved ? pending_hits_ : hits_);
  return states_[slot];
}

bool TagArray::can_reserve(Line line) const {
  return victim_slot(line) != kNone;
}

TagArray::Victim TagArray::content_of(std::size_t slot) const {
  Victim victim;
  victim.evicted = states_[slot] != LineState::kInvalid;
  victim.dirty = states_[slot] == LineState::kDirty;
  if (victim.evicted) victim.line = lines_[slot];
  return victim;
}

TagArray::Victim TagArray::victim_for(Line line) const {
  return content_of(victim_slot(line));
}

TagArray::Victim TagArray::reserve(Line line) {
  const std::size_t slot = victim_slot(line);
  const Victim victim = content_of(slot);
  if (victim.evicted) ++evictions_;
  if (victim.dirty) ++dirty_evictions_;
  lines_[slot] = line;
  states_[slot] = LineState::kReserved;
  stamps_[slot] = ++clock_;
  return victim;
}

bool TagArray::fill(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || states_[slot] != LineState::kReserved) return false;
  states_[slot] = LineState::kValid;
  return true;
}

bool TagArray::mark_dirty(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || states_[slot] == LineState::kReserved) return false;
  states_[slot] = LineState::kDirty;
  return true;
}

LineState TagArray::invalidate(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone) return LineState::kInvalid;
  const LineState was = states_[slot];
  states_[slot] = LineState::kInvalid;
  return was;
}

void TagArray::invalidate_all() {
  std::fill(states_.begin(), states_.end(), LineState::kInvalid);
}

void TagArray::reset() {
  invalidate_all();
  std::fill(stamps_.begin(), stamps_.end(), 0);
  clock_ = 0;
}

void TagArray::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".accesses", "accesses", "requests that looked up a line", accesses_);
  registry.counter(prefix + ".hits", "accesses", "requests that found their line", hits_);
  registry.counter(prefix + ".pending_hits", "accesses", "requests whose line was on its way", pending_hits_);
  registry.counter(prefix + ".misses", "accesses", "requests whose line was absent", misses_);
  registry.counter(prefix + ".evictions", "lines", "lines that made room for others", evictions_);
  registry.counter(prefix + ".dirty_evictions", "lines", "evicted lines that were written back",
                   dirty_evictions_);
  registry.counter(prefix + ".set_full", "accesses",
                   "requests that waited for a way of a set full of pending fills", reservation_failures_);
  registry.derived(prefix + ".miss_rate", "ratio", "misses and pending hits per access", [this] {
    return accesses_ == 0 ? 0.0
                          : static_cast<double>(misses_ + pending_hits_) / static_cast<double>(accesses_);
  });
}

}  // namespace weft::cache
