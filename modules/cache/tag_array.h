// The tags of a set-associative cache: states and replacement, no data.
//
// Lines are named by their number (address / line_bytes); a cache that sees only every n-th chunk of memory
// should number its lines densely, or it uses only some of its sets. Which set a line goes to, and which line
// makes room, are parts that the configuration names (weft/cache/set_index.h, replacement.h). Neither sets
// nor ways need be a power of two (the DWR machine: 64 sets of 12 ways, a 48 KB cache of 64-byte lines).
//
// The way of a line: absent -> reserve -> kReserved (its fill is under way) -> fill -> kValid -> mark_dirty
// -> kDirty -> clean -> kValid. A request is counted once, by `access`; a stalled request asks `find` and
// `can_reserve` as often as it likes.
#ifndef WEFT_CACHE_TAG_ARRAY_H
#define WEFT_CACHE_TAG_ARRAY_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/line_index.h"
#include "common/fast_divider.h"
#include "weft/cache/cache_config.h"
#include "weft/common/archive.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::cache {

using Line = std::uint64_t;

class TagArray {
 public:
  struct Victim {
    bool evicted = false;  // a valid or dirty line made room
    bool dirty = false;    // ... and must be written back
    Line line = 0;
  };

  explicit TagArray(const TagConfig& config);

  Line line_of(std::uint64_t address) const { return line_bytes_.quotient(address); }
  std::uint64_t line_bytes() const { return line_bytes_.divisor(); }

  // The state of a line; kInvalid if it is absent. Changes nothing and counts nothing.
  LineState find(Line line) const { return state_at(slot_of(line)); }
  // Counts one request and makes its line the most recently used. Returns the state found.
  LineState access(Line line);
  // Counts one request that found this at this place (kNone: nowhere), whatever the line's own state: for
  // who has looked the line up, and for an owner of sectors.
  void count(std::size_t place, LineState found) {
    ++accesses_;
    if (place != kNone) replacement_->found(place);
    ++(found == LineState::kInvalid ? misses_ : found == LineState::kReserved ? pending_hits_ : hits_);
  }

  // Is there a way in the set of `line` that no pending fill holds?
  bool can_reserve(Line line) const;
  // The line that `reserve` would evict. Precondition: can_reserve(line).
  Victim victim_for(Line line) const;
  // Takes the victim's way for `line`, which must be absent. Precondition: can_reserve(line).
  Victim reserve(Line line);
  // The fill has come: kReserved -> kValid, or kDirty if it was written meanwhile. False if the line is not
  // reserved (it was invalidated meanwhile).
  bool fill(Line line);
  // A part of the line is fetched: kValid -> kReserved. False if the line is in another state.
  bool hold(Line line);
  // kValid -> kDirty. False if the line is absent or reserved.
  bool mark_dirty(Line line) { return mark_dirty_at(slot_of(line)); }
  bool mark_dirty_at(std::size_t slot);
  // A write to a line that is kReserved: it will be kDirty.
  void mark_dirty_on_fill(Line line);
  // The line has been written back: kDirty -> kValid. False if it is not dirty.
  bool clean(Line line);
  // Lines that are kDirty, and one of them; the next ones in turn if each is cleaned. Precondition: there is
  // one.
  std::size_t dirty_lines() const { return state_.dirty; }
  Line next_dirty();
  // Where the line is among all, below sets x ways; kNone if it is absent.
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t place_of(Line line) const { return slot_of(line); }
  Line line_at(std::size_t place) const { return state_.lines[place]; }
  LineState state_at(std::size_t place) const {
    return place == kNone ? LineState::kInvalid : state_.states[place];
  }
  // The state it had.
  LineState invalidate(Line line);
  void invalidate_all();
  // A line has come since all became invalid.
  bool touched() const { return touched_; }
  // While fewer than `percent` of the lines are marked as written, these lines make no room, as long as
  // another line of their set can, now or when its fill has come. 0 (the default): all may.
  void keep_written_below(std::uint64_t percent);
  void mark_written(std::size_t place) {
    if (keep_below_ != 0 && state_.marked[place] == 0) set_mark(place, true);
  }
  // From now on a set has so many ways, of those of the configuration; the others are invalid.
  // Precondition: no line is reserved or dirty. All lines become invalid if the number changes.
  void set_ways(std::size_t ways);
  std::size_t ways() const { return state_.ways; }

  // Counts a request whose line could not be reserved: once per request, however long it waits.
  void count_reservation_failure() { ++reservation_failures_; }

  // Back to construction, except for the statistics.
  void reset();
  void archive(Archive& archive) {
    archive(state_);
    replacement_->archive(archive);
    if (!archive.writes()) derive();
  }
  void bind(statistics::Group& group);

 private:
  // Sets of more ways have an index of their lines.
  static constexpr std::size_t kFewWays = 16;

  struct State {  // indexed by set * ways + way
    State(std::size_t slots, std::size_t all_ways)
        : ways(all_ways), lines(slots), states(slots, LineState::kInvalid), written(slots, 0) {}
    std::size_t ways;  // of a set, in use
    std::vector<Line> lines;
    std::vector<LineState> states;
    std::vector<std::uint8_t> written;  // of kReserved: dirty when filled
    std::size_t dirty = 0;              // lines
    std::size_t next_dirty = 0;         // where the search for one goes on
    std::vector<std::uint8_t> marked;   // as written, if that matters
    std::size_t marked_lines = 0;
    void archive(Archive& archive) {
      auto& [ways_, lines_, states_, written_, dirty_, next_dirty_, marked_, marked_lines_] = *this;
      archive(ways_, lines_, states_, written_, dirty_, next_dirty_, marked_, marked_lines_);
    }
  };

  // Follows from the state: what a set has, so that nobody has to search through its ways.
  struct SetCounts {
    std::uint16_t invalid = 0;  // of the ways in use
    std::uint16_t reserved = 0;
    std::uint16_t kept = 0;       // reserved or marked as written
    std::uint16_t not_below = 0;  // the first way that may be invalid
  };

  std::size_t set_of(Line line) const {
    if (plain_) return sets_.remainder(line);
    if (line != mixed_line_) {
      mixed_line_ = line;
      mixed_set_ = sets_.remainder(set_index_->mixed(line));
    }
    return mixed_set_;
  }
  bool holds(std::size_t slot, Line line) const {
    return state_.lines[slot] == line && state_.states[slot] != LineState::kInvalid;
  }
  std::size_t slot_of(Line line) const { return holds(last_found_, line) ? last_found_ : search(line); }
  std::size_t search(Line line) const;
  std::size_t victim_slot(Line line) const;
  bool has_victim(std::size_t set) const;
  void set_state(std::size_t slot, LineState state);
  void set_mark(std::size_t slot, bool marked);
  void count_all_invalid();
  void forget_lines();
  void derive();
  // Few enough lines are marked as written, so that these are kept.
  bool keeps_marked() const {
    return state_.marked_lines * 100 < keep_below_ * state_.ways * sets_.divisor();
  }
  void unmark(std::size_t slot) {
    if (keep_below_ != 0 && state_.marked[slot] != 0) set_mark(slot, false);
  }
  Victim content_of(std::size_t slot) const;

  FastDivider sets_;
  FastDivider line_bytes_;
  const std::size_t ways_;  // that a set has at most
  const FastDivider set_of_slot_;
  const std::unique_ptr<Replacement> replacement_;
  const std::unique_ptr<SetIndex> set_index_;
  const bool plain_;  // the set index mixes nothing
  std::uint64_t keep_below_ = 0;
  State state_;
  mutable std::vector<SetCounts> counts_;  // by set
  std::vector<LineState> without_marked_;  // the states, but kReserved for those that are marked
  LineIndex index_;
  bool touched_ = false;
  mutable Line mixed_line_ = ~Line{0};  // the line that was mixed last, which is often asked for again
  mutable std::size_t mixed_set_ = 0;
  mutable std::size_t last_found_ = 0;  // where a line was found: the same one is often looked up again

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
