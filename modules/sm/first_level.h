// A first-level cache of an SM: tags and MSHRs. `probe` says what a request would find, and changes nothing;
// `take` makes it so. Caches fetch sectors; where a line is one sector, its number is the line's.
//
//   const FirstLevel::Probe found = cache.probe(sector, sector);
//   if (found.hit)                cache.touch(found);
//   else if (!found.waits(room))  victim = cache.take(found, waiter);   // merged, or a fetch goes
//   ... cache.fill(now, sector, sector, [&](std::uint32_t waiter) { ... });
#ifndef WEFT_SM_FIRST_LEVEL_H
#define WEFT_SM_FIRST_LEVEL_H

#include <cstdint>

#include "bus/clock_domain.h"
#include "cache/mshr_table.h"
#include "cache/sector_tags.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

class FirstLevel {
 public:
  using Sector = cache::Sector;

  // `waiters`: that a sector in flight has room for at least. `sector_bytes` = 0: whole lines.
  explicit FirstLevel(const machine::KernelCacheConfig& config, std::uint64_t waiters = 0,
                      std::uint64_t sector_bytes = 0);
  explicit FirstLevel(const machine::DataCacheConfig& config);
  void reset();
  void archive(Archive& archive) { archive(tags_, mshrs_, full_since_, full_cycles_); }
  // A kernel starts: with none of the last one's lines, unless they are kept.
  void start_kernel() {
    if (!config_.kept) tags_.invalidate_all();
  }

  const machine::KernelCacheConfig& config() const { return config_; }
  bool has_fetches() const { return mshrs_.in_use() != 0; }
  const cache::SectorTags& tags() const { return tags_; }
  cache::SectorTags& tags() { return tags_; }

  struct Probe {
    cache::SectorTags::Found tag;
    std::uint64_t key = 0;  // what the MSHRs know the fetch by
    bool hit = false;
    bool merges = false;            // a fetch of it is on its way
    bool has_way = false;           // there, reserved, or one can be
    bool has_entry = false;         // an MSHR takes the request
    std::uint32_t write_backs = 0;  // that must go first, of the line that makes room
    cache::MshrOutcome outcome = cache::MshrOutcome::kAllocated;
    // `room`: requests that may leave the SM now.
    bool waits(std::size_t room) const {
      return !merges && (!has_entry || !has_way || room < 1 + write_backs);
    }
  };
  // What a request for the sector would find.
  Probe probe(Sector sector, std::uint64_t key) const;
  // An MSHR takes a request of this key. The sector is there, is reserved, or has a way that can be.
  bool has_entry(std::uint64_t key) const { return takes(mshrs_.check(key)); }
  bool has_way(Sector sector) const { return has_way(sector, tags_.find(sector)); }
  // It hits, and is counted.
  void touch(const Probe& found) {
    if (config_.enabled) tags_.access(found.tag);
  }
  // It misses, waits for its data, and is counted. What has to be written back of the line that made room.
  cache::SectorTags::Victim take(const Probe& found, std::uint32_t waiter);
  // It misses and takes a place without a fetch, and is counted. The same.
  cache::SectorTags::Victim place(const Probe& found);
  // It is refused for the first time. `full`: no request may leave the SM.
  void refuse(const Probe& found, bool full);
  // The fetch has come: calls visit(waiter) for each request that waits for it.
  template <class Visit>
  void fill(Cycle now, Sector sector, std::uint64_t key, Visit&& visit) {
    if (allocates_on_fill_) place_on_fill(sector);
    tags_.fill(sector);
    mshrs_.release(key, visit);
    count_full(now);
  }
  // Counts the time in which every MSHR was in use, up to now.
  void count_full(Cycle now) {
    if (full_since_ != kNever) full_cycles_ += now - full_since_;
    full_since_ = mshrs_.full() ? now : kNever;
  }

  // `full`: with the time in which every MSHR was in use.
  void bind(statistics::Group& group, bool full);

 private:
  static bool takes(cache::MshrOutcome outcome) {
    return outcome == cache::MshrOutcome::kMerged || outcome == cache::MshrOutcome::kAllocated;
  }
  bool has_way(Sector sector, cache::LineState state) const {
    return allocates_on_fill_ || state != cache::LineState::kInvalid || tags_.can_reserve(sector);
  }
  // Its data find a place only now, or none: then they are not kept.
  void place_on_fill(Sector sector) {
    if (tags_.find(sector) == cache::LineState::kInvalid && tags_.can_reserve(sector)) tags_.reserve(sector);
  }

  const machine::KernelCacheConfig& config_;
  const bool allocates_on_fill_ = false;
  cache::SectorTags tags_;
  cache::MshrTable mshrs_;
  Cycle full_since_ = kNever;  // every MSHR is in use
  std::uint64_t full_cycles_ = 0;
};

}  // namespace weft::sm

#endif
