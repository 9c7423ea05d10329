// Miss status holding registers: which lines are being fetched, and who waits for them, in order of arrival.
//
// A waiter is a 32-bit handle of the owner's. An entry holds up to `merges` waiters, the first included. When
// the fill comes, either `release(line, visit)` hands out all waiters at once, or `close(line)` takes the
// entry out of the lookup and `next_waiter(entry)` hands them out one by one; the entry stays occupied until
// the last has gone, so a miss to the same line meanwhile gets an entry, and a fetch, of its own.
#ifndef WEFT_CACHE_MSHR_TABLE_H
#define WEFT_CACHE_MSHR_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

#include "cache/tag_array.h"
#include "weft/cache/cache_config.h"
#include "weft/common/archive.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::cache {

enum class MshrOutcome : std::uint8_t {
  kAllocated,  // a new entry: the owner must fetch the line
  kMerged,     // joined the waiters of a fetch under way
  kNoEntry,    // refused: every entry is in use
  kEntryFull,  // refused: the line's entry has `merges` waiters
};

class MshrTable {
 public:
  explicit MshrTable(const MshrConfig& config);

  // What `add` would return. Changes nothing and counts nothing.
  MshrOutcome check(Line line) const;
  MshrOutcome add(Line line, std::uint32_t waiter);
  // Counts a request that was refused: once per request, however long it waits.
  void count_refusal(MshrOutcome cause) { ++(cause == MshrOutcome::kNoEntry ? no_entry_ : entry_full_); }

  // Is a fetch of the line under way?
  bool contains(Line line) const { return find(line) != kNone; }
  // The entry of a line that is contained, from 0 to entries - 1: for what the owner keeps per entry.
  std::uint32_t entry_of(Line line) const { return find(line); }
  // Takes the entry of `line` out of the lookup; the line must be contained. Returns the entry.
  std::uint32_t close(Line line);
  // Hands out the next waiter of a closed entry; false, and the entry is free again, when there is none.
  bool next_waiter(std::uint32_t entry, std::uint32_t& waiter);
  // Is another waiter left in this closed entry?
  bool has_waiter(std::uint32_t entry) const { return state_.entries[entry].first != kNone; }
  // close and next_waiter in one: visit(waiter) for each waiter, in order of arrival.
  template <class Visit>
  void release(Line line, Visit&& visit) {
    const std::uint32_t entry = close(line);
    std::uint32_t waiter;
    while (next_waiter(entry, waiter)) visit(waiter);
  }

  std::size_t in_use() const { return state_.in_use; }
  bool full() const { return state_.free.empty(); }
  // Back to construction, except for the statistics.
  void reset();
  void archive(Archive& archive) { archive(state_); }
  void bind(statistics::Group& group);

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    Line line = 0;
    std::uint32_t count = 0;                    // waiters that came
    std::uint32_t first = kNone, last = kNone;  // of those that were not handed out yet
  };
  struct Waiter {
    std::uint32_t handle = 0;
    std::uint32_t next = kNone;  // in order of arrival; of a free place: another free one
  };
  struct State {
    explicit State(const MshrConfig& config);
    std::vector<std::uint32_t> table;  // entry, or kNone
    std::vector<Entry> entries;
    std::vector<std::uint32_t> free;
    // One pool for all entries. It has room for all that may wait, but only places that are used are filled:
    // to fill all took a tenth of the start of a large GPU.
    std::vector<Waiter> waiters;
    std::uint32_t free_waiter = kNone;
    std::size_t in_use = 0;
    void archive(Archive& archive) {
      auto& [table_, entries_, free_, waiters_, free_waiter_, in_use_] = *this;
      archive(at_rest(in_use_), set_anew(table_, entries_, waiters_, free_waiter_), free_);
    }
  };

  // Open addressing with linear probing, at most half full; removal shifts the followers back.
  std::size_t home(Line line) const { return (line * 0x9E3779B97F4A7C15u) >> hash_shift_; }
  std::uint32_t find(Line line) const;
  void append(Entry& entry, std::uint32_t waiter);

  const MshrConfig config_;
  const std::uint32_t merges_;
  const unsigned hash_shift_;
  State state_;

  std::uint64_t allocated_ = 0;
  std::uint64_t merged_ = 0;
  std::uint64_t no_entry_ = 0;
  std::uint64_t entry_full_ = 0;
  std::uint64_t most_in_use_ = 0;
};

}  // namespace weft::cache

#endif
