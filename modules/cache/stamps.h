// A time for each place of a cache, for policies that evict the line with the oldest one.
#ifndef WEFT_CACHE_STAMPS_H
#define WEFT_CACHE_STAMPS_H

#include <cstdint>
#include <vector>

#include "weft/cache/replacement.h"

namespace weft::cache {

class Stamps {
 public:
  explicit Stamps(std::size_t places) : times_(places) {}

  void stamp(std::size_t place) { times_[place] = ++clock_; }
  std::size_t oldest(const Replacement::Set& set) const {
    std::size_t best = set.end();
    for (std::size_t place = set.first; place < set.end(); ++place) {
      if (set.may_go(place) && (best == set.end() || times_[place] < times_[best])) best = place;
    }
    return best;
  }
  void reset() { *this = Stamps(times_.size()); }
  void archive(Archive& archive) {
    auto& [times, clock] = *this;
    archive(times, clock);
  }

 private:
  std::vector<std::uint64_t> times_;
  std::uint64_t clock_ = 0;
};

}  // namespace weft::cache

#endif
