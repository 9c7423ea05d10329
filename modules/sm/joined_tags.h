// The tags of reads that leave an SM as one request (`sm.request_sectors`). The request has a tag of its own,
// which names them.
#ifndef WEFT_SM_JOINED_TAGS_H
#define WEFT_SM_JOINED_TAGS_H

#include <array>
#include <cstdint>
#include <vector>

#include "sm/request_tag.h"

namespace weft::sm {

class JoinedTags {
 public:
  static constexpr unsigned kMost = 4;  // of a request

  void clear() { *this = JoinedTags(); }
  // The tag of a request that has `first`, and from now on `second`, too. At most kMost in all.
  std::uint64_t join(std::uint64_t first, std::uint64_t second) {
    if (kind_of_tag(first) != TagKind::kJoined) first = open(first);
    Group& group = groups_[value_of_tag(first)];
    group.tags[group.count++] = second;
    return first;
  }
  // Its response has come: calls visit(tag) for each. `visit` joins nothing.
  template <class Visit>
  void take(std::uint64_t joined, Visit&& visit) {
    const auto number = static_cast<std::uint32_t>(value_of_tag(joined));
    for (unsigned i = 0; i < groups_[number].count; ++i) visit(groups_[number].tags[i]);
    free_.push_back(number);
  }

 private:
  struct Group {
    std::array<std::uint64_t, kMost> tags{};
    unsigned count = 0;
  };

  std::uint64_t open(std::uint64_t first) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(groups_.size()));
      groups_.emplace_back();
      free_.reserve(groups_.capacity());
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    groups_[number].tags[0] = first;
    groups_[number].count = 1;
    return tag_of(TagKind::kJoined, number);
  }

  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::sm

#endif
