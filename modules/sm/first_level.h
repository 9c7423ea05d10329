// A first-level cache of an SM: tags and MSHRs. `probe` says what a request would find, and changes nothing;
// `take` makes it so.
//
//   const FirstLevel::Probe found = cache.probe(line, line);
//   if (found.hit)                cache.touch(found);
//   else if (!found.waits(room))  victim = cache.take(found, waiter);   // merged, or a fetch goes
//   ... cache.fill(line, line, [&](std::uint32_t waiter) { ... });
#ifndef WEFT_SM_FIRST_LEVEL_H
#define WEFT_SM_FIRST_LEVEL_H

#include <cstdint>

#include "bus/clock_domain.h"
#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

class FirstLevel {
 public:
  using Line = cache::Line;

  // `waiters`: that a line in flight has room for at least.
  explicit FirstLevel(const machine::KernelCacheConfig& config, std::uint64_t waiters = 0);
  void reset();
  void archive(Archive& archive) { archive(tags_, mshrs_, full_since_, full_cycles_); }
  // A kernel starts: with none of the last one's lines, unless they are kept.
  void start_kernel() {
    if (!config_.kept) tags_.invalidate_all();
  }

  const machine::KernelCacheConfig& config() const { return config_; }
  bool has_fetches() const { return mshrs_.in_use() != 0; }
  const cache::TagArray& tags() const { return tags_; }
  cache::TagArray& tags() { return tags_; }

  struct Probe {
    Line line = 0;
    std::uint64_t key = 0;  // what the MSHRs know the fetch by
    cache::LineState state = cache::LineState::kInvalid;
    bool hit = false;
    bool merges = false;        // a fetch of it is on its way
    bool has_way = false;       // there, reserved, or one can be
    bool has_entry = false;     // an MSHR takes the request
    bool evicts_dirty = false;  // for which a write-back must go first
    cache::MshrOutcome outcome = cache::MshrOutcome::kAllocated;
    // `room`: requests that may leave the SM now.
    bool waits(std::size_t room) const {
      return !merges && (!has_entry || !has_way || room < (evicts_dirty ? 2u : 1u));
    }
  };
  // What a request for the line would find.
  Probe probe(Line line, std::uint64_t key) const;
  // An MSHR takes a request of this key. The line is there, is reserved, or has a way that can be.
  bool has_entry(std::uint64_t key) const { return takes(mshrs_.check(key)); }
  bool has_way(Line line) const { return has_way(line, tags_.find(line)); }
  // It hits, and is counted.
  void touch(const Probe& found) {
    if (config_.enabled) tags_.access(found.line);
  }
  // It misses, waits for its data, and is counted. The line that has to be written back, if it is dirty.
  cache::TagArray::Victim take(const Probe& found, std::uint32_t waiter);
  // It is refused for the first time. `full`: no request may leave the SM.
  void refuse(const Probe& found, bool full);
  // The fetch has come: calls visit(waiter) for each request that waits for it.
  template <class Visit>
  void fill(Cycle now, Line line, std::uint64_t key, Visit&& visit) {
    tags_.fill(line);
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
  bool has_way(Line line, cache::LineState state) const {
    return state != cache::LineState::kInvalid || tags_.can_reserve(line);
  }

  const machine::KernelCacheConfig& config_;
  cache::TagArray tags_;
  cache::MshrTable mshrs_;
  Cycle full_since_ = kNever;  // every MSHR is in use
  std::uint64_t full_cycles_ = 0;
};

}  // namespace weft::sm

#endif
