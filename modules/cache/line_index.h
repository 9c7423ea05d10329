// Finds the place of a line in a cache with wide sets, where a search through the set takes long.
//
// A hash table whose entries are the places of the cache; each place is in the chain of the line that it got
// last. A line that leaves without another one in its place stays in its chain: the owner's test decides
// whether a place holds the line.
#ifndef WEFT_CACHE_LINE_INDEX_H
#define WEFT_CACHE_LINE_INDEX_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::cache {

class LineIndex {
 public:
  // Of no places: an index that is not used. At most 2^20 places (TagConfig::check).
  explicit LineIndex(std::size_t places) : next_(places, kApart) {
    while (places != 0 && std::size_t{1} << bits_ < places) ++bits_;
    first_.assign(places == 0 ? 0 : std::size_t{1} << bits_, kEnd);
  }

  bool used() const { return !next_.empty(); }
  // The place of the line's chain that holds(place) accepts; `none` if there is no such place.
  template <class Holds>
  std::size_t find(std::uint64_t line, std::size_t none, Holds&& holds) const {
    for (std::uint32_t place = first_[chain_of(line)]; place != kEnd; place = next_[place]) {
      if (holds(place)) return place;
    }
    return none;
  }
  // The place had the line `before`, if any, and gets the line `now`.
  void place(std::size_t place, std::uint64_t before, std::uint64_t now) {
    if (next_[place] != kApart) {
      std::uint32_t* link = &first_[chain_of(before)];
      while (*link != place) link = &next_[*link];
      *link = next_[place];
    }
    std::uint32_t& first = first_[chain_of(now)];
    next_[place] = first;
    first = static_cast<std::uint32_t>(place);
  }
  void reset() {
    std::fill(first_.begin(), first_.end(), kEnd);
    std::fill(next_.begin(), next_.end(), kApart);
  }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};
  static constexpr std::uint32_t kApart = kEnd - 1;  // in no chain

  // Fibonacci hashing: the upper bits of a product with 2^64 over the golden ratio.
  std::size_t chain_of(std::uint64_t line) const { return (line * 0x9E3779B97F4A7C15u) >> (64 - bits_); }

  unsigned bits_ = 1;
  std::vector<std::uint32_t> first_;  // by chain
  std::vector<std::uint32_t> next_;   // by place
};

}  // namespace weft::cache

#endif
