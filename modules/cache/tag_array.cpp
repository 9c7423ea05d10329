#include "cache/tag_array.h"

#include <algorithm>

#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/error.h"

namespace weft::cache {

void TagConfig::describe_parts(config::Visitor& v) {
  replacement.describe(v, "replacement", "which line of a full set is evicted");
  set_index.describe(v, "set_index", "which set a line goes to");
}

void TagConfig::describe(config::Visitor& v) {
  v.integer("sets", sets, {1, 1 << 20}, "sets", "number of sets; need not be a power of two");
  v.integer("ways", ways, {1, 1024}, "lines", "lines per set");
  v.integer("line_bytes", line_bytes, {4, 4096}, "bytes", "bytes per line; a power of two");
  describe_parts(v);
}

void TagConfig::check(const std::string& where, std::uint64_t most_lines) const {
  const auto found = [](std::uint64_t value) { return "found " + std::to_string(value); };
  if (!is_power_of_two(line_bytes))
    throw InputError(where + "/line_bytes", found(line_bytes) + "; allowed: powers of two");
  if (sets * ways > most_lines) {  // each costs the simulator 18 bytes
    throw config::RuleError(where + "/sets", {where + "/ways"},
                            found(sets) + " with ways = " + std::to_string(ways) + ", which are " +
                                std::to_string(sets * ways) + " lines; allowed: up to " +
                                std::to_string(most_lines));
  }
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  if (bytes() > kMostBytes) {
    throw config::RuleError(where + "/sets", {where + "/ways", where + "/line_bytes"},
                            found(sets) + ", which are " + std::to_string(bytes()) +
                                " bytes (sets x ways x line_bytes); allowed: up to " +
                                std::to_string(kMostBytes));
  }
  const std::string allowed = set_index.refuses({sets, line_bytes});
  if (!allowed.empty()) {
    throw config::RuleError(where + "/set_index", {where + "/sets", where + "/line_bytes"},
                            "found " + set_index.name + " with " + std::to_string(sets) + " sets of " +
                                std::to_string(line_bytes) + " bytes; allowed: " + allowed);
  }
}

TagArray::TagArray(const TagConfig& config)
    : sets_(config.sets),
      line_bytes_(config.line_bytes),
      ways_(config.ways),
      replacement_(config.replacement.make({config.sets, config.ways})),
      set_index_(config.set_index.make({config.sets, config.line_bytes})),
      plain_(set_index_->plain()),
      state_(config.sets * config.ways, config.ways) {}

std::size_t TagArray::search(Line line) const {
  const std::size_t first = set_of(line) * ways_;
  for (std::size_t slot = first; slot < first + ways_; ++slot) {
    if (holds(slot, line)) return last_found_ = slot;
  }
  return kNone;
}

void TagArray::keep_written_below(std::uint64_t percent) {
  keep_below_ = percent;
  if (percent == 0) return;
  state_.marked.assign(state_.lines.size(), 0);
  without_marked_.resize(ways_);
}

void TagArray::set_ways(std::size_t ways) {
  if (ways == state_.ways) return;
  invalidate_all();
  replacement_->reset();
  state_.ways = ways;
}

// An invalid way if there is one, else what the policy says.
std::size_t TagArray::victim_slot(Line line) const {
  const std::size_t first = set_of(line) * ways_;
  const Replacement::Set set{first, state_.ways, &state_.states[first]};
  bool may_go = false;
  for (std::size_t slot = set.first; slot < set.end(); ++slot) {
    if (state_.states[slot] == LineState::kInvalid) return slot;
    may_go = may_go || set.may_go(slot);
  }
  return may_go ? victim_of(set) : kNone;
}

// Of a set with a line that is not reserved. If all others are marked as written, one of these has to go, but
// only if no fill is to come after which its line could go.
std::size_t TagArray::victim_of(const Replacement::Set& set) const {
  if (keep_below_ == 0 || !keeps_marked()) return replacement_->victim(set);
  bool may_go = false, reserved = false;
  for (std::size_t way = 0; way < set.ways; ++way) {
    const bool fills = set.states[way] == LineState::kReserved;
    const bool kept = state_.marked[set.first + way] != 0;
    without_marked_[way] = kept ? LineState::kReserved : set.states[way];
    may_go = may_go || (!fills && !kept);
    reserved = reserved || fills;
  }
  if (may_go) return replacement_->victim({set.first, set.ways, without_marked_.data()});
  return reserved ? kNone : replacement_->victim(set);
}

LineState TagArray::access(Line line) {
  const std::size_t slot = slot_of(line);
  const LineState found = state_at(slot);
  count(slot, found);
  return found;
}

bool TagArray::can_reserve(Line line) const {
  if (keep_below_ != 0) return victim_slot(line) != kNone;
  const auto first = state_.states.begin() + static_cast<std::ptrdiff_t>(set_of(line) * ways_);
  return std::any_of(first, first + static_cast<std::ptrdiff_t>(state_.ways),
                     [](LineState state) { return state != LineState::kReserved; });
}

TagArray::Victim TagArray::content_of(std::size_t slot) const {
  Victim victim;
  victim.evicted = state_.states[slot] != LineState::kInvalid;
  victim.dirty = state_.states[slot] == LineState::kDirty;
  if (victim.evicted) victim.line = state_.lines[slot];
  return victim;
}

TagArray::Victim TagArray::victim_for(Line line) const {
  return content_of(victim_slot(line));
}

TagArray::Victim TagArray::reserve(Line line) {
  const std::size_t slot = victim_slot(line);
  const Victim victim = content_of(slot);
  if (victim.evicted) ++evictions_;
  if (victim.dirty) {
    ++dirty_evictions_;
    --state_.dirty;
  }
  unmark(slot);
  state_.lines[slot] = line;
  state_.states[slot] = LineState::kReserved;
  state_.written[slot] = 0;
  replacement_->placed(slot, victim.evicted);
  return victim;
}

bool TagArray::fill(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kReserved) return false;
  const bool dirty = state_.written[slot] != 0;
  state_.states[slot] = dirty ? LineState::kDirty : LineState::kValid;
  state_.dirty += dirty ? 1 : 0;
  return true;
}

bool TagArray::hold(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kValid) return false;
  state_.states[slot] = LineState::kReserved;
  return true;
}

bool TagArray::mark_dirty_at(std::size_t slot) {
  if (slot == kNone || state_.states[slot] == LineState::kReserved) return false;
  if (state_.states[slot] == LineState::kValid) ++state_.dirty;
  state_.states[slot] = LineState::kDirty;
  return true;
}

void TagArray::mark_dirty_on_fill(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot != kNone && state_.states[slot] == LineState::kReserved) state_.written[slot] = 1;
}

bool TagArray::clean(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kDirty) return false;
  state_.states[slot] = LineState::kValid;
  --state_.dirty;
  return true;
}

Line TagArray::next_dirty() {
  std::size_t& slot = state_.next_dirty;
  while (state_.states[slot] != LineState::kDirty) slot = slot + 1 == state_.states.size() ? 0 : slot + 1;
  return state_.lines[slot];
}

LineState TagArray::invalidate(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone) return LineState::kInvalid;
  const LineState was = state_.states[slot];
  if (was == LineState::kDirty) --state_.dirty;
  unmark(slot);
  state_.states[slot] = LineState::kInvalid;
  return was;
}

void TagArray::invalidate_all() {
  std::fill(state_.states.begin(), state_.states.end(), LineState::kInvalid);
  std::fill(state_.marked.begin(), state_.marked.end(), std::uint8_t{0});
  state_.dirty = state_.marked_lines = 0;
}

void TagArray::reset() {
  state_ = State(state_.lines.size(), ways_);
  keep_written_below(keep_below_);
  replacement_->reset();
}

void TagArray::bind(statistics::Group& group) {
  group.counter("accesses", units::kAccesses, "requests that looked up a line", accesses_);
  group.counter("hits", units::kAccesses, "requests that found their line", hits_);
  group.counter("pending_hits", units::kAccesses, "requests whose line was already being fetched",
                pending_hits_);
  group.counter("misses", units::kAccesses, "requests whose line was absent", misses_);
  group.counter("evictions", units::kLines, "lines evicted to make room for others", evictions_);
  group.counter("dirty_evictions", units::kLines, "evicted lines that were written back", dirty_evictions_);
  group.counter("set_full", units::kAccesses, "requests that waited for a way of a set full of pending fills",
                reservation_failures_);
  group.ratio("miss_rate", units::kRatio, "misses and pending hits per access",
              {{&misses_, &pending_hits_}, {&accesses_}});
}

}  // namespace weft::cache
