// The tags of a set-associative cache: states and replacement, no data.
//
// Lines are named by their number (address / line_bytes); a cache that sees only every n-th chunk of memory
// should number its lines densely, or it uses only some of its sets. Set = line mod sets; neither sets nor
// ways need be a power of two (the DWR machine: 64 sets of 12 ways, a 48 KB cache of 64-byte lines).
//
// The way of a line: absent -> reserve -> kReserved (its fill is under way) -> fill -> kValid -> mark_dirty
// -> kDirty. A request is counted once, by `access`; a stalled request asks `find` and `can_reserve` as often
// as it likes.
#ifndef WEFT_CACHE_TAG_ARRAY_H
#define WEFT_CACHE_TAG_ARRAY_H

#include <cstdint>
#include <string>
#include <vector>

#include "common/config_visitor.h"
#include "common/fast_divider.h"
#include "common/statistics.h"

namespace weft::cache {

using Line = std::uint64_t;

enum class LineState : std::uint8_t { kInvalid, kReserved, kValid, kDirty };
enum class Replacement : std::uint8_t { kLru, kFifo };

class TagArray {
 public:
  struct Config {
    std::uint64_t sets = 64;
    std::uint64_t ways = 8;
    std::uint64_t line_bytes = 128;
    Replacement replacement = Replacement::kLru;

    void describe(config::Visitor& v);
    // Throws InputError if line_bytes is no power of two, the capacity is above 1 GiB, or there are more than
    // 2^20 lines.
    void check(const std::string& where) const;
    std::uint64_t bytes() const { return sets * ways * line_bytes; }
  };

  struct Victim {
    bool evicted = false;  // a valid or dirty line made room
    bool dirty = false;    // ... and must be written back
    Line line = 0;
  };

  explicit TagArray(const Config& config);

  Line line_of(std::uint64_t address) const { return line_bytes_.quotient(address); }
  std::uint64_t line_bytes() const { return line_bytes_.divisor(); }

  // The state of a line; kInvalid if it is absent. Changes nothing and counts nothing.
  LineState find(Line line) const;
  // Counts one request and makes its line the most recently used. Returns the state found.
  LineState access(Line line);

  // Is there a way in the set of `line` that no pending fill holds?
  bool can_reserve(Line line) const;
  // The line that `reserve` would evict. Precondition: can_reserve(line).
  Victim victim_for(Line line) const;
  // Takes the victim's way for `line`, which must be absent. Precondition: can_reserve(line).
  Victim reserve(Line line);
  // The fill has come: kReserved -> kValid. False if the line is not reserved (it was invalidated meanwhile).
  bool fill(Line line);
  // kValid -> kDirty. False if the line is absent or reserved.
  bool mark_dirty(Line line);
  // The state it had.
  LineState invalidate(Line line);
  void invalidate_all();
  // Counts a request whose line could not be reserved: once per request, however long it waits.
  void count_reservation_failure() { ++reservation_failures_; }

  // Back to construction, except for the statistics.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t slot_of(Line line) const;
  std::size_t victim_slot(Line line) const;
  Victim content_of(std::size_t slot) const;

  FastDivider sets_;
  FastDivider line_bytes_;
  const std::size_t ways_;
  const Replacement replacement_;
  // Indexed by set * ways + way.
  std::vector<Line> lines_;
  std::vector<LineState> states_;
  std::vector<std::uint64_t> stamps_;  // LRU: time of last use; FIFO: time of reservation
  std::uint64_t clock_ = 0;

  std::uint64_t accesses_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t pending_hits_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t evictions_ = 0;
  std::uint64_t dirty_evictions_ = 0;
  std::uint64_t reservation_failures_ = 0;
};

}  // namespace weft::cache

#endif
