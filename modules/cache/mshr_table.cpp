#include "cache/mshr_table.h"

#include <algorithm>

#include "common/config_origins.h"

namespace weft::cache {

void MshrTable::Config::describe(config::Visitor& v) {
  v.integer("entries", entries, {1, 1 << 16}, "lines", "lines that can be fetched at the same time");
  v.integer("merges", merges, {1, 1024}, "requests",
            "requests that can wait for one line, the first included");
}

void MshrTable::Config::check(const std::string& where) const {
  constexpr std::uint64_t kMostWaiting = 1u << 20;  // each costs the simulator 4 bytes
  if (entries * merges <= kMostWaiting) return;
  throw config::RuleError(where + "_entries", {where + "_merges"},
                          "table for " + std::to_string(entries * merges) +
                              " requests (entries x merges); allowed are up to " +
                              std::to_string(kMostWaiting));
}

MshrTable::MshrTable(const Config& config)
    : merges_(static_cast<std::uint32_t>(config.merges)),
      lines_(config.entries),
      count_(config.entries),
      taken_(config.entries),
      waiters_(config.entries * config.merges),
      free_(config.entries) {
  unsigned bits = 1;
  while ((std::size_t{1} << bits) < 2 * config.entries) ++bits;
  table_.resize(std::size_t{1} << bits);
  hash_shift_ = 64 - bits;
  reset();
}

void MshrTable::reset() {
  std::fill(table_.begin(), table_.end(), kNone);
  std::fill(count_.begin(), count_.end(), 0);
  std::fill(taken_.begin(), taken_.end(), 0);
  free_.resize(lines_.size());
  for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<std::uint32_t>(free_.size() - 1 - i);
  in_use_ = 0;
}

std::uint32_t MshrTable::find(Line line) const {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = home(line); table_[at] != kNone; at = (at + 1) & mask) {
    if (lines_[table_[at]] == line) return table_[at];
  }
  return kNone;
}

MshrOutcome MshrTable::check(Line line) const {
  const std::uint32_t entry = find(line);
  if (entry != kNone) return count_[entry] < merges_ ? MshrOutcome::kMerged : MshrOutcome::kEntryFull;
  return free_.empty() ? MshrOutcome::kNoEntry : MshrOutcome::kAllocated;
}

MshrOutcome MshrTable::add(Line line, std::uint32_t waiter) {
  std::uint32_t entry = find(line);
  if (entry != kNone) {
    if (count_[entry] == merges_) return MshrOutcome::kEntryFull;
    waiters_[std::size_t{entry} * merges_ + count_[entry]++] = waiter;
    ++merged_;
    return MshrOutcome::kMerged;
  }
  if (free_.empty()) return MshrOutcome::kNoEntry;
  entry = free_.back();
  free_.pop_back();
  lines_[entry] = line;
  count_[entry] = 1;
  taken_[entry] = 0;
  waiters_[std::size_t{entry} * merges_] = waiter;
  const std::size_t mask = table_.size() - 1;
  std::size_t at = home(line);
  while (table_[at] != kNone) at = (at + 1) & mask;
  table_[at] = entry;
  ++allocated_;
  most_in_use_ = std::max<std::uint64_t>(most_in_use_, ++in_use_);
  return MshrOutcome::kAllocated;
}

std::uint32_t MshrTable::close(Line line) {
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = home(line);
  while (lines_[table_[hole]] != line) hole = (hole + 1) & mask;
  const std::uint32_t entry = table_[hole];
  // A follower may fill the hole unless its home lies after the hole (cyclically).
  for (std::size_t at = (hole + 1) & mask; table_[at] != kNone; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(lines_[table_[at]])) & mask;
    if (from_home >= ((at - hole) & mask)) {
      table_[hole] = table_[at];
      hole = at;
    }
  }
  table_[hole] = kNone;
  return entry;
}

bool MshrTable::next_waiter(std::uint32_t entry, std::uint32_t& waiter) {
  if (taken_[entry] == count_[entry]) {
    free_.push_back(entry);
    --in_use_;
    return false;
  }
  waiter = waiters_[std::size_t{entry} * merges_ + taken_[entry]++];
  return true;
}

void MshrTable::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".allocated", "lines", "fetches started", allocated_);
  registry.counter(prefix + ".merged", "accesses", "requests that joined a fetch under way", merged_);
  registry.counter(prefix + ".no_entry", "accesses", "requests that waited because every entry was in use",
                   no_entry_);
  registry.counter(prefix + ".entry_full", "accesses",
                   "requests that waited because their line's entry was full", entry_full_);
  registry.counter(prefix + ".most_in_use", "lines", "most entries in use at a time", most_in_use_);
}

}  // namespace weft::cache
