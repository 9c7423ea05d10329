// A time for each place of a cache, for policies that evict the line with the oldest one.
#ifndef WEFT_CACHE_STAMPS_H
#define WEFT_CACHE_STAMPS_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/fast_divider.h"
#include "weft/cache/replacement.h"

namespace weft::cache {

class Stamps {
 public:
  explicit Stamps(const Replacement::Setting& setting)
      : setting_(setting), ways_(setting.ways), times_(setting.places()) {
    if (setting.ways > kFewWays) links_.resize(setting.places() + setting.sets);
    unlink_all();
  }

  void stamp(std::size_t place) {
    times_[place] = ++clock_;
    if (!links_.empty()) make_last(place);
  }
  std::size_t oldest(const Replacement::Set& set) const {
    return links_.empty() ? least(set) : first_that_may_go(set);
  }
  void reset() { *this = Stamps(setting_); }
  void archive(Archive& archive) {
    archive(times_, clock_);
    if (!archive.writes() && !links_.empty()) link_by_time();
  }

 private:
  // A wide set has its stamped places in a list, the oldest first, because a search through all of them takes
  // long. The list is a ring that is closed by an entry of the set, behind those of all places.
  static constexpr std::size_t kFewWays = 16;
  struct Link {
    std::uint32_t before = 0, after = 0;
  };

  std::size_t least(const Replacement::Set& set) const {
    std::size_t best = set.end();
    for (std::size_t place = set.first; place < set.end(); ++place) {
      if (set.may_go(place) && (best == set.end() || times_[place] < times_[best])) best = place;
    }
    return best;
  }
  std::size_t first_that_may_go(const Replacement::Set& set) const {
    const std::size_t ring = ring_of(set.first);
    std::size_t place = links_[ring].after;
    while (place != ring && !set.may_go(place)) place = links_[place].after;
    return place == ring ? set.end() : place;
  }
  std::size_t ring_of(std::size_t place) const { return times_.size() + ways_.quotient(place); }
  void make_last(std::size_t place) {
    const auto own = static_cast<std::uint32_t>(place);
    const auto ring = static_cast<std::uint32_t>(ring_of(place));
    Link& link = links_[place];
    if (link.after == ring) return;
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    link = {links_[ring].before, ring};
    links_[link.before].after = own;
    links_[ring].before = own;
  }
  void unlink_all() {
    for (std::size_t i = 0; i < links_.size(); ++i)
      links_[i] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i)};
  }
  void link_by_time() {
    unlink_all();
    std::vector<std::size_t> order;
    for (std::size_t place = 0; place < times_.size(); ++place) {
      if (times_[place] != 0) order.push_back(place);
    }
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return times_[a] < times_[b]; });
    for (const std::size_t place : order) make_last(place);
  }

  Replacement::Setting setting_;
  FastDivider ways_;
  std::vector<std::uint64_t> times_;
  std::uint64_t clock_ = 0;
  std::vector<Link> links_;  // by place, then by set
};

}  // namespace weft::cache

#endif
