#include "cache/sector_tags.h"

namespace weft::cache {

SectorTags::SectorTags(const TagConfig& config, std::uint64_t sector_bytes)
    : sector_bytes_(sector_bytes),
      shift_(static_cast<unsigned>(__builtin_ctzll(config.line_bytes / sector_bytes))),
      tags_(config),
      state_(whole() ? 0 : config.sets * config.ways) {}

LineState SectorTags::state_of(std::size_t place, std::uint32_t bit) const {
  if (place == TagArray::kNone) return LineState::kInvalid;
  const Sectors& sectors = state_.lines[place];
  if ((sectors.pending & bit) != 0) return LineState::kReserved;
  if ((sectors.dirty & bit) != 0) return LineState::kDirty;
  return (sectors.valid & bit) != 0 ? LineState::kValid : LineState::kInvalid;
}

LineState SectorTags::access(Sector sector) {
  if (whole()) return tags_.access(sector);
  const LineState found = find(sector);
  tags_.count(line_of(sector), found);
  return found;
}

bool SectorTags::can_reserve(Sector sector) const {
  if (whole()) return tags_.can_reserve(sector);
  return tags_.place_of(line_of(sector)) != TagArray::kNone || tags_.can_reserve(line_of(sector));
}

SectorTags::Victim SectorTags::victim_for(Sector sector) const {
  const Line line = line_of(sector);
  if (whole()) {
    const TagArray::Victim victim = tags_.victim_for(line);
    return {victim.dirty ? 1u : 0u, victim.line};
  }
  if (tags_.place_of(line) != TagArray::kNone) return {};
  const TagArray::Victim victim = tags_.victim_for(line);
  if (!victim.evicted) return {};
  return {state_.lines[tags_.place_of(victim.line)].dirty, victim.line << shift_};
}

SectorTags::Victim SectorTags::reserve(Sector sector) {
  const Line line = line_of(sector);
  if (whole()) {
    const TagArray::Victim victim = tags_.reserve(line);
    return {victim.dirty ? 1u : 0u, victim.line};
  }
  const Victim victim = victim_for(sector);
  if (tags_.place_of(line) == TagArray::kNone) {
    if (victim.dirty != 0) tags_.mark_dirty(victim.first >> shift_);  // so that it is counted
    tags_.reserve(line);
    state_.lines[tags_.place_of(line)] = {};
  } else {
    tags_.hold(line);
  }
  state_.lines[tags_.place_of(line)].pending |= bit_of(sector);
  return victim;
}

void SectorTags::settle(Sectors& sectors, Sector sector) {
  sectors.pending &= ~bit_of(sector);
  if (sectors.pending == 0) tags_.fill(line_of(sector));
}

bool SectorTags::fill(Sector sector) {
  if (whole()) return tags_.fill(sector);
  if (find(sector) != LineState::kReserved) return false;
  Sectors& sectors = state_.lines[tags_.place_of(line_of(sector))];
  sectors.valid |= bit_of(sector);
  settle(sectors, sector);
  return true;
}

bool SectorTags::mark_dirty(Sector sector) {
  if (whole()) return tags_.mark_dirty(sector);
  const LineState found = find(sector);
  if (found == LineState::kInvalid || found == LineState::kReserved) return false;
  state_.lines[tags_.place_of(line_of(sector))].dirty |= bit_of(sector);
  return true;
}

LineState SectorTags::invalidate(Sector sector) {
  if (whole()) return tags_.invalidate(sector);
  const LineState was = find(sector);
  if (was == LineState::kInvalid) return was;
  Sectors& sectors = state_.lines[tags_.place_of(line_of(sector))];
  sectors.valid &= ~bit_of(sector);
  sectors.dirty &= ~bit_of(sector);
  if (was == LineState::kReserved) settle(sectors, sector);
  if (sectors.valid == 0 && sectors.pending == 0) tags_.invalidate(line_of(sector));
  return was;
}

void SectorTags::reset() {
  tags_.reset();
  state_ = State(state_.lines.size());
}

}  // namespace weft::cache
