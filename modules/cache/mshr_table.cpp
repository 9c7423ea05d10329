#include "cache/mshr_table.h"

#include <algorithm>
#include <numeric>

#include "common/config_origins.h"

namespace weft::cache {

void MshrConfig::check(const std::string& where, std::uint64_t most_waiting) const {
  if (entries * merges <= most_waiting) return;  // a waiter costs the simulator 8 bytes
  throw config::RuleError(where + "_entries", {where + "_merges"},
                          "found " + std::to_string(entries) + " with " + where.substr(where.rfind('/') + 1) +
                              "_merges = " + std::to_string(merges) + ", which are " +
                              std::to_string(entries * merges) + " requests; allowed: up to " +
                              std::to_string(most_waiting));
}

namespace {

// Of the table of 2^bits places, at most half of them taken.
unsigned bits_for(std::uint64_t entries) {
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < 2 * entries) ++bits;
  return bits;
}

}  // namespace

MshrTable::State::State(const MshrConfig& config)
    : table(std::size_t{1} << bits_for(config.entries), kNone),
      entries(config.entries),
      free(config.entries) {
  std::iota(free.rbegin(), free.rend(), 0u);
  waiters.reserve(config.entries * config.merges);
}

MshrTable::MshrTable(const MshrConfig& config)
    : config_(config),
      merges_(static_cast<std::uint32_t>(config.merges)),
      hash_shift_(64 - bits_for(config.entries)),
      state_(config) {}

void MshrTable::reset() {
  state_ = State(config_);
}

std::uint32_t MshrTable::find(Line line) const {
  const std::size_t mask = state_.table.size() - 1;
  for (std::size_t at = home(line); state_.table[at] != kNone; at = (at + 1) & mask) {
    if (state_.entries[state_.table[at]].line == line) return state_.table[at];
  }
  return kNone;
}

MshrOutcome MshrTable::check(Line line) const {
  const std::uint32_t entry = find(line);
  if (entry != kNone)
    return state_.entries[entry].count < merges_ ? MshrOutcome::kMerged : MshrOutcome::kEntryFull;
  return state_.free.empty() ? MshrOutcome::kNoEntry : MshrOutcome::kAllocated;
}

void MshrTable::append(Entry& entry, std::uint32_t waiter) {
  std::uint32_t place = state_.free_waiter;
  if (place == kNone) {
    place = static_cast<std::uint32_t>(state_.waiters.size());
    state_.waiters.emplace_back();
  } else {
    state_.free_waiter = state_.waiters[place].next;
  }
  state_.waiters[place] = {waiter, kNone};
  (entry.first == kNone ? entry.first : state_.waiters[entry.last].next) = place;
  entry.last = place;
  ++entry.count;
}

MshrOutcome MshrTable::add(Line line, std::uint32_t waiter) {
  std::uint32_t entry = find(line);
  if (entry != kNone) {
    if (state_.entries[entry].count == merges_) return MshrOutcome::kEntryFull;
    append(state_.entries[entry], waiter);
    ++merged_;
    return MshrOutcome::kMerged;
  }
  if (state_.free.empty()) return MshrOutcome::kNoEntry;
  entry = state_.free.back();
  state_.free.pop_back();
  state_.entries[entry] = {line, 0, kNone, kNone};
  append(state_.entries[entry], waiter);
  const std::size_t mask = state_.table.size() - 1;
  std::size_t at = home(line);
  while (state_.table[at] != kNone) at = (at + 1) & mask;
  state_.table[at] = entry;
  ++allocated_;
  most_in_use_ = std::max<std::uint64_t>(most_in_use_, ++state_.in_use);
  return MshrOutcome::kAllocated;
}

std::uint32_t MshrTable::close(Line line) {
  const std::size_t mask = state_.table.size() - 1;
  std::size_t hole = home(line);
  while (state_.entries[state_.table[hole]].line != line) hole = (hole + 1) & mask;
  const std::uint32_t entry = state_.table[hole];
  // A follower may fill the hole unless its home lies after the hole (cyclically).
  for (std::size_t at = (hole + 1) & mask; state_.table[at] != kNone; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(state_.entries[state_.table[at]].line)) & mask;
    if (from_home >= ((at - hole) & mask)) {
      state_.table[hole] = state_.table[at];
      hole = at;
    }
  }
  state_.table[hole] = kNone;
  return entry;
}

bool MshrTable::next_waiter(std::uint32_t entry, std::uint32_t& waiter) {
  const std::uint32_t place = state_.entries[entry].first;
  if (place == kNone) {
    state_.free.push_back(entry);
    --state_.in_use;
    return false;
  }
  Waiter& taken = state_.waiters[place];
  waiter = taken.handle;
  state_.entries[entry].first = taken.next;
  taken.next = state_.free_waiter;
  state_.free_waiter = place;
  return true;
}

void MshrTable::bind(statistics::Group& group) {
  group.counter("allocated", units::kLines, "fetches started", allocated_);
  group.counter("merged", units::kAccesses, "requests that joined a fetch under way", merged_);
  group.counter("no_entry", units::kAccesses, "requests that waited because every entry was in use",
                no_entry_);
  group.counter("entry_full", units::kAccesses, "requests that waited because their line's entry was full",
                entry_full_);
  group.gauge("in_use", units::kLines, "entries in use", [this] { return in_use(); });
  group.maximum("most_in_use", units::kLines, "most entries in use at a time", most_in_use_);
}

}  // namespace weft::cache
