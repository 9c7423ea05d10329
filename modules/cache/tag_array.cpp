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
      set_of_slot_(config.ways),
      replacement_(config.replacement.make({config.sets, config.ways})),
      set_index_(config.set_index.make({config.sets, config.line_bytes})),
      plain_(set_index_->plain()),
      state_(config.sets * config.ways, config.ways),
      counts_(config.sets, SetCounts{static_cast<std::uint16_t>(config.ways), 0, 0, 0}),
      index_(config.ways > kFewWays ? config.sets * config.ways : 0) {}

std::size_t TagArray::search(Line line) const {
  if (index_.used()) {
    const std::size_t found = index_.find(line, kNone, [&](std::size_t slot) { return holds(slot, line); });
    if (found != kNone) last_found_ = found;
    return found;
  }
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
  without_marked_ = state_.states;
}

void TagArray::set_ways(std::size_t ways) {
  if (ways == state_.ways) return;
  state_.ways = ways;
  forget_lines();
  replacement_->reset();
}

void TagArray::set_state(std::size_t slot, LineState state) {
  LineState& own = state_.states[slot];
  const auto change = [&](LineState of) { return (state == of ? 1 : 0) - (own == of ? 1 : 0); };
  const int invalid = change(LineState::kInvalid);
  const int reserved = change(LineState::kReserved);
  own = state;
  const bool marked = keep_below_ != 0 && state_.marked[slot] != 0;
  if (keep_below_ != 0) without_marked_[slot] = marked ? LineState::kReserved : state;
  if (invalid == 0 && reserved == 0) return;
  const std::size_t set = set_of_slot_.quotient(slot);
  SetCounts& counts = counts_[set];
  counts.invalid = static_cast<std::uint16_t>(counts.invalid + invalid);
  counts.reserved = static_cast<std::uint16_t>(counts.reserved + reserved);
  if (!marked) counts.kept = static_cast<std::uint16_t>(counts.kept + reserved);
  if (invalid > 0)
    counts.not_below = std::min(counts.not_below, static_cast<std::uint16_t>(slot - set * ways_));
}

void TagArray::set_mark(std::size_t slot, bool marked) {
  state_.marked[slot] = marked ? 1 : 0;
  state_.marked_lines += marked ? std::size_t{1} : ~std::size_t{0};
  const LineState state = state_.states[slot];
  without_marked_[slot] = marked ? LineState::kReserved : state;
  if (state == LineState::kReserved) return;
  SetCounts& counts = counts_[set_of_slot_.quotient(slot)];
  counts.kept = static_cast<std::uint16_t>(counts.kept + (marked ? 1 : -1));
}

void TagArray::count_all_invalid() {
  std::fill(counts_.begin(), counts_.end(), SetCounts{static_cast<std::uint16_t>(state_.ways), 0, 0, 0});
  if (keep_below_ != 0) std::fill(without_marked_.begin(), without_marked_.end(), LineState::kInvalid);
  index_.reset();
}

// What follows from the state, after the whole of it was read.
void TagArray::derive() {
  count_all_invalid();
  touched_ = true;
  for (std::size_t slot = 0; slot < state_.states.size(); ++slot) {
    const LineState state = state_.states[slot];
    if (state == LineState::kInvalid) continue;
    SetCounts& counts = counts_[set_of_slot_.quotient(slot)];
    const bool reserved = state == LineState::kReserved;
    const bool marked = keep_below_ != 0 && state_.marked[slot] != 0;
    --counts.invalid;
    if (reserved) ++counts.reserved;
    if (reserved || marked) ++counts.kept;
    if (keep_below_ != 0) without_marked_[slot] = marked ? LineState::kReserved : state;
    if (index_.used()) index_.place(slot, 0, state_.lines[slot]);
  }
}

// Could `victim_slot` name one? If all lines are marked as written or reserved, a marked line has to go, but
// only if no fill is to come after which its line could go.
bool TagArray::has_victim(std::size_t set) const {
  const SetCounts& counts = counts_[set];
  if (counts.invalid != 0) return true;
  if (counts.reserved == state_.ways) return false;
  return keep_below_ == 0 || !keeps_marked() || counts.kept < state_.ways || counts.reserved == 0;
}

// An invalid way if there is one, else what the policy says.
std::size_t TagArray::victim_slot(Line line) const {
  const std::size_t set = set_of(line);
  if (!has_victim(set)) return kNone;
  SetCounts& counts = counts_[set];
  const std::size_t first = set * ways_;
  if (counts.invalid != 0) {
    while (state_.states[first + counts.not_below] != LineState::kInvalid) ++counts.not_below;
    return first + counts.not_below;
  }
  const bool keeps = keep_below_ != 0 && keeps_marked() && counts.kept < state_.ways;
  return replacement_->victim({first, state_.ways, (keeps ? without_marked_ : state_.states).data() + first});
}

LineState TagArray::access(Line line) {
  const std::size_t slot = slot_of(line);
  const LineState found = state_at(slot);
  count(slot, found);
  return found;
}

bool TagArray::can_reserve(Line line) const {
  return has_victim(set_of(line));
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
  if (index_.used()) index_.place(slot, state_.lines[slot], line);
  state_.lines[slot] = line;
  set_state(slot, LineState::kReserved);
  state_.written[slot] = 0;
  touched_ = true;
  replacement_->placed(slot, victim.evicted);
  return victim;
}

bool TagArray::fill(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kReserved) return false;
  const bool dirty = state_.written[slot] != 0;
  set_state(slot, dirty ? LineState::kDirty : LineState::kValid);
  state_.dirty += dirty ? 1 : 0;
  return true;
}

bool TagArray::hold(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kValid) return false;
  set_state(slot, LineState::kReserved);
  return true;
}

bool TagArray::mark_dirty_at(std::size_t slot) {
  if (slot == kNone || state_.states[slot] == LineState::kReserved) return false;
  if (state_.states[slot] == LineState::kValid) ++state_.dirty;
  set_state(slot, LineState::kDirty);
  return true;
}

void TagArray::mark_dirty_on_fill(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot != kNone && state_.states[slot] == LineState::kReserved) state_.written[slot] = 1;
}

bool TagArray::clean(Line line) {
  const std::size_t slot = slot_of(line);
  if (slot == kNone || state_.states[slot] != LineState::kDirty) return false;
  set_state(slot, LineState::kValid);
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
  set_state(slot, LineState::kInvalid);
  return was;
}

// Kernels begin with empty caches, and most SMs of a large GPU have had no line since.
void TagArray::invalidate_all() {
  if (touched_) forget_lines();
}

void TagArray::forget_lines() {
  std::fill(state_.states.begin(), state_.states.end(), LineState::kInvalid);
  std::fill(state_.marked.begin(), state_.marked.end(), std::uint8_t{0});
  state_.dirty = state_.marked_lines = 0;
  touched_ = false;
  count_all_invalid();
}

void TagArray::reset() {
  state_ = State(state_.lines.size(), ways_);
  keep_written_below(keep_below_);
  replacement_->reset();
  touched_ = false;
  count_all_invalid();
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
