// What a cache does with one access after the other, told by a list per set: an oracle for the data cache of
// an SM and for the L2.
#ifndef WEFT_TESTS_CACHE_REFERENCE_CACHE_H
#define WEFT_TESTS_CACHE_REFERENCE_CACHE_H

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "weft/cache/cache_config.h"

namespace weft::test {

class ReferenceCache {
 public:
  // What a store does to a sector that is there: it goes on, and changes or drops the sector; or it stays.
  enum class Store : std::uint8_t { kThrough, kInvalidate, kBack };
  struct Rules {
    std::uint64_t sets = 4, ways = 4, sectors = 1;  // sectors of a line
    std::string replacement = "lru";
    Store store = Store::kThrough;
    bool allocates = false;      // a store that misses takes a place ...
    bool fetches_parts = false;  // ... and fetches the sector, unless it writes all of it
  };

  explicit ReferenceCache(const Rules& rules) : rules_(rules), sets_(rules.sets) {}

  // What leaves the cache, in order: "R5" is the fetch of sector 5, "W5" a write of it, "W4x2" one of sectors
  // 4 and 5.
  std::vector<std::string> load(std::uint64_t sector) {
    const bool hit = find(sector);
    use(sector);
    return hit ? std::vector<std::string>() : bring(sector, true);
  }
  std::vector<std::string> store(std::uint64_t sector, bool whole) {
    const std::string written = "W" + std::to_string(sector);
    if (!find(sector)) {
      if (!rules_.allocates) return {written};
      use(sector);
      std::vector<std::string> left = bring(sector, rules_.fetches_parts && !whole);
      if (rules_.store == Store::kBack) {
        found_->dirty |= bit_of(sector);
      } else {
        left.push_back(written);
      }
      return left;
    }
    if (rules_.store != Store::kInvalidate) use(sector);
    if (rules_.store == Store::kBack) {
      found_->dirty |= bit_of(sector);
      return {};
    }
    if (rules_.store == Store::kInvalidate) {
      found_->valid &= ~bit_of(sector);
      if (found_->valid == 0) set_of(sector).erase(found_);
    }
    return {written};
  }
  std::uint64_t hits() const { return hits_; }

 private:
  struct Line {
    std::uint64_t number = 0;
    std::uint32_t valid = 0, dirty = 0;  // a bit for each sector
  };
  using Set = std::list<Line>;  // the line that makes room next is the first

  std::uint32_t bit_of(std::uint64_t sector) const { return 1u << sector % rules_.sectors; }
  Set& set_of(std::uint64_t sector) { return sets_[sector / rules_.sectors % rules_.sets]; }

  // Is the sector there? `found_` is its line, or the end of its set.
  bool find(std::uint64_t sector) {
    Set& set = set_of(sector);
    const std::uint64_t number = sector / rules_.sectors;
    found_ = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.number == number; });
    if (found_ == set.end()) return false;
    const bool hit = (found_->valid & bit_of(sector)) != 0;
    hits_ += hit ? 1 : 0;
    return hit;
  }

  // Its line, if it is there, is used.
  void use(std::uint64_t sector) {
    Set& set = set_of(sector);
    if (rules_.replacement == "lru" && found_ != set.end()) set.splice(set.end(), set, found_);
  }

  std::vector<std::string> bring(std::uint64_t sector, bool fetches) {
    std::vector<std::string> left;
    Set& set = set_of(sector);
    if (found_ == set.end()) {
      if (set.size() == rules_.ways) {
        left = write_backs(set.front());
        set.pop_front();
      }
      set.push_back({sector / rules_.sectors});
      found_ = std::prev(set.end());
    }
    found_->valid |= bit_of(sector);
    if (fetches) left.push_back("R" + std::to_string(sector));
    return left;
  }

  std::vector<std::string> write_backs(const Line& line) const {
    std::vector<std::string> left;
    for (std::uint64_t first = 0; first < rules_.sectors;) {
      std::uint64_t end = first;
      while (end < rules_.sectors && (line.dirty >> end & 1) != 0) ++end;
      if (end != first) {
        const std::string run = end == first + 1 ? "" : "x" + std::to_string(end - first);
        left.push_back("W" + std::to_string(line.number * rules_.sectors + first) + run);
      }
      first = std::max(end, first + 1);
    }
    return left;
  }

  const Rules rules_;
  std::vector<Set> sets_;
  Set::iterator found_;
  std::uint64_t hits_ = 0;
};

}  // namespace weft::test

#endif
