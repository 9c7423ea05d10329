#include "cache/sector_tags.h"

#include <algorithm>

#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/popcount.h"

namespace weft::cache {

void check_sectors(const std::string& where, std::uint64_t line_bytes, std::uint64_t sector_bytes) {
  const std::uint64_t least = (line_bytes + SectorTags::kMostSectors - 1) / SectorTags::kMostSectors;
  if (sector_bytes == 0) return;
  if (is_power_of_two(sector_bytes) && sector_bytes >= least && sector_bytes <= line_bytes) return;
  throw config::RuleError(where + "/sector_bytes", {where + "/line_bytes"},
                          "found " + std::to_string(sector_bytes) + "; allowed: 0 and powers of two from " +
                              std::to_string(least) + " to " + std::to_string(line_bytes) +
                              " (1/32 to all of line_bytes)");
}

SectorTags::SectorTags(const TagConfig& config, std::uint64_t sector_bytes, bool byte_masks)
    : sector_bytes_(sector_bytes),
      shift_(static_cast<unsigned>(__builtin_ctzll(config.line_bytes / sector_bytes))),
      masks_(byte_masks),
      whole_(shift_ == 0 && !byte_masks),
      tags_(config),
      state_(whole_ ? 0 : config.sets * config.ways, masks_ ? config.sets * config.ways << shift_ : 0) {}

void SectorTags::clear_masks(std::size_t place) {
  if (!masks_) return;
  const auto first = state_.written.begin() + static_cast<std::ptrdiff_t>(place << shift_);
  std::fill(first, first + (std::ptrdiff_t{1} << shift_), std::uint64_t{0});
}

SectorTags::Victim SectorTags::victim_for_part(Sector sector) const {
  const Line line = line_of(sector);
  if (tags_.place_of(line) != TagArray::kNone) return {};
  const TagArray::Victim victim = tags_.victim_for(line);
  if (!victim.evicted) return {};
  return {state_.lines[tags_.place_of(victim.line)].dirty, victim.line << shift_};
}

SectorTags::Victim SectorTags::reserve_part(Sector sector) {
  const Line line = line_of(sector);
  const Victim victim = victim_for_part(sector);
  if (tags_.place_of(line) == TagArray::kNone) {
    if (victim.dirty != 0) tags_.mark_dirty(victim.first >> shift_);  // so that it is counted
    tags_.reserve(line);
    state_.dirty -= count_of(victim.dirty);
    state_.lines[tags_.place_of(line)] = {};
    clear_masks(tags_.place_of(line));
  } else {
    tags_.hold(line);
  }
  const std::size_t place = tags_.place_of(line);
  if (masks_) {
    if ((state_.lines[place].dirty & bit_of(sector)) != 0) --state_.dirty;  // again when it is filled
    state_.written[index_of(place, sector)] = 0;
  }
  state_.lines[place].pending |= bit_of(sector);
  return victim;
}

SectorTags::Victim SectorTags::write(Sector sector, std::uint64_t bytes, bool dirty) {
  Victim victim;
  if (tags_.place_of(line_of(sector)) == TagArray::kNone) {
    victim = reserve_part(sector);
    settle(state_.lines[tags_.place_of(line_of(sector))], sector);
  }
  const std::size_t place = tags_.place_of(line_of(sector));
  Sectors& sectors = state_.lines[place];
  std::uint64_t& written = state_.written[index_of(place, sector)];
  written |= bytes;
  const std::uint64_t all = ~std::uint64_t{0} >> (kMostMaskedBytes - sector_bytes());
  if (written == all) {
    sectors.valid |= bit_of(sector);
    written = 0;
  }
  if (dirty && (sectors.dirty & bit_of(sector)) == 0) {
    sectors.dirty |= bit_of(sector);
    ++state_.dirty;
  }
  return victim;
}

void SectorTags::settle(Sectors& sectors, Sector sector) {
  sectors.pending &= ~bit_of(sector);
  if (sectors.pending == 0) tags_.fill(line_of(sector));
}

bool SectorTags::fill_part(Sector sector) {
  if (find(sector) != LineState::kReserved) return false;
  Sectors& sectors = state_.lines[tags_.place_of(line_of(sector))];
  sectors.valid |= bit_of(sector);
  if ((sectors.dirty & bit_of(sector)) != 0) ++state_.dirty;
  settle(sectors, sector);
  return true;
}

bool SectorTags::mark_part_dirty(const Found& found) {
  if (found.state == LineState::kInvalid || found.state == LineState::kReserved) return false;
  state_.lines[found.place].dirty |= bit_of(found.sector);
  if (found.state == LineState::kValid) ++state_.dirty;
  return true;
}

void SectorTags::mark_dirty_on_fill(Sector sector) {
  if (whole()) return tags_.mark_dirty_on_fill(sector);
  if (find(sector) != LineState::kReserved) return;
  state_.lines[tags_.place_of(line_of(sector))].dirty |= bit_of(sector);
}

bool SectorTags::clean(Sector sector) {
  if (whole()) return tags_.clean(sector);
  if (!is_dirty(sector)) return false;
  state_.lines[tags_.place_of(line_of(sector))].dirty &= ~bit_of(sector);
  --state_.dirty;
  return true;
}

Sector SectorTags::next_dirty() {
  if (whole()) return tags_.next_dirty();
  std::size_t& place = state_.next_dirty;
  const auto dirty = [&] { return state_.lines[place].dirty & ~state_.lines[place].pending; };
  while (dirty() == 0) place = place + 1 == state_.lines.size() ? 0 : place + 1;
  return (tags_.line_at(place) << shift_) + static_cast<unsigned>(__builtin_ctz(dirty()));
}

LineState SectorTags::invalidate(Sector sector) {
  if (whole()) return tags_.invalidate(sector);
  const Found found = look_up(sector);
  if (found.state == LineState::kInvalid && written(found) == 0) return found.state;
  Sectors& sectors = state_.lines[found.place];
  if (is_dirty(sector)) --state_.dirty;
  sectors.valid &= ~bit_of(sector);
  sectors.dirty &= ~bit_of(sector);
  if (masks_) state_.written[index_of(found.place, sector)] = 0;
  if (found.state == LineState::kReserved) settle(sectors, sector);
  if (sectors.valid == 0 && sectors.pending == 0 && !has_masks(found.place))
    tags_.invalidate(line_of(sector));
  return found.state;
}

bool SectorTags::has_masks(std::size_t place) const {
  if (!masks_) return false;
  const auto first = state_.written.begin() + static_cast<std::ptrdiff_t>(place << shift_);
  return std::any_of(first, first + (std::ptrdiff_t{1} << shift_),
                     [](std::uint64_t mask) { return mask != 0; });
}

void SectorTags::invalidate_all() {
  if (!tags_.touched()) return;
  tags_.invalidate_all();
  std::fill(state_.written.begin(), state_.written.end(), std::uint64_t{0});
  std::fill(state_.lines.begin(), state_.lines.end(), Sectors());
  state_.dirty = 0;
}

void SectorTags::reset() {
  tags_.reset();
  state_ = State(state_.lines.size(), state_.written.size());
}

}  // namespace weft::cache
