// A graph's edges by node, in two arrays.
//
//   const Neighbours successors({{0, 1}, {0, 2}}, 3, Neighbours::kForward);
//   for (const std::uint32_t s : successors[0]) ...                             // 1, 2
#ifndef WEFT_PTX_NEIGHBOURS_H
#define WEFT_PTX_NEIGHBOURS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace weft::ptx {

using GraphEdge = std::pair<std::uint32_t, std::uint32_t>;  // from, to

class Neighbours {
 public:
  enum Direction : bool { kForward, kBackward };  // successors, predecessors
  struct Range {
    const std::uint32_t *first, *last;
    const std::uint32_t* begin() const { return first; }
    const std::uint32_t* end() const { return last; }
  };

  Neighbours(const std::vector<GraphEdge>& edges, std::uint32_t nodes, Direction direction)
      : first_(nodes + std::size_t{1}, 0), ends_(edges.size()) {
    const auto node = [&](const GraphEdge& e) { return direction == kForward ? e.first : e.second; };
    for (const GraphEdge& e : edges) ++first_[node(e) + std::size_t{1}];
    for (std::size_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const GraphEdge& e : edges) ends_[next[node(e)]++] = direction == kForward ? e.second : e.first;
  }
  Range operator[](std::uint32_t node) const {
    return {ends_.data() + first_[node], ends_.data() + first_[node + std::size_t{1}]};
  }

 private:
  std::vector<std::size_t> first_;   // by node, of ends_
  std::vector<std::uint32_t> ends_;  // the other ends
};

}  // namespace weft::ptx

#endif
