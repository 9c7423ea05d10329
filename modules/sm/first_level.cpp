#include "sm/first_level.h"

#include <algorithm>

namespace weft::sm {

using cache::LineState;
using cache::MshrOutcome;

namespace {
cache::MshrConfig with_room_for(cache::MshrConfig mshrs, std::uint64_t waiters) {
  mshrs.merges = std::max(mshrs.merges, waiters);
  return mshrs;
}
}  // namespace

FirstLevel::FirstLevel(const machine::KernelCacheConfig& config, std::uint64_t waiters,
                       std::uint64_t sector_bytes)
    : config_(config),
      tags_(config.tags, cache::bytes_of_sector(config.tags.line_bytes, sector_bytes)),
      mshrs_(with_room_for(config.mshrs, waiters)) {}

FirstLevel::FirstLevel(const machine::DataCacheConfig& config)
    : config_(config),
      allocates_on_fill_(config.allocation != machine::Allocation::kOnMiss),
      tags_(config.tags, config.unit_bytes(), config.enabled && config.fetches_lazily()),
      mshrs_(config.outstanding()) {
  tags_.lines().keep_written_below(config.write_ratio);
}

void FirstLevel::reset() {
  tags_.reset();
  mshrs_.reset();
  full_since_ = kNever;
}

FirstLevel::Probe FirstLevel::probe(Sector sector, std::uint64_t key) const {
  Probe found;
  found.tag = tags_.look_up(sector);
  found.key = key;
  found.hit =
      !config_.enabled || found.tag.state == LineState::kValid || found.tag.state == LineState::kDirty;
  if (found.hit) return found;
  found.outcome = mshrs_.check(key);
  found.merges = found.outcome == MshrOutcome::kMerged;
  found.has_entry = takes(found.outcome);
  found.has_way = has_way(sector, found.tag.state);
  if (tags_.dirty_sectors() != 0 && found.tag.state == LineState::kInvalid && found.has_way)
    found.write_backs = cache::runs_of(tags_.victim_for(sector).dirty);
  return found;
}

cache::SectorTags::Victim FirstLevel::take(const Probe& found, std::uint32_t waiter) {
  cache::SectorTags::Found tag = found.tag;
  if (allocates_on_fill_ && found.merges) tag.state = LineState::kReserved;  // under way, without a place
  tags_.access(tag);
  mshrs_.add(found.key, waiter);
  if (found.merges || found.tag.state != LineState::kInvalid || allocates_on_fill_) return {};
  return tags_.reserve(found.tag.sector);
}

cache::SectorTags::Victim FirstLevel::place(const Probe& found) {
  tags_.access(found.tag);
  const cache::SectorTags::Victim victim = tags_.reserve(found.tag.sector);
  tags_.fill(found.tag.sector);
  return victim;
}

void FirstLevel::refuse(const Probe& found, bool full) {
  if (!found.has_entry) {
    mshrs_.count_refusal(found.outcome);
  } else if (!found.has_way && !full) {
    tags_.count_reservation_failure();
  }
}

void FirstLevel::bind(statistics::Group& group, bool full) {
  tags_.bind(group);
  mshrs_.bind(group.group("mshr"));
  if (!full) return;
  group.group("mshr").counter("full_cycles", units::kCycles, "cycles in which every entry was in use",
                              full_cycles_);
}

}  // namespace weft::sm
