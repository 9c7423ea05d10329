// Dominators and loops of a function's flow graph.
//
// A loop has one header, which dominates what leads back to it. Edges that lead back to a block that does not
// dominate them (loops with several entries) make no loop here.
#ifndef WEFT_PTX_LOOPS_H
#define WEFT_PTX_LOOPS_H

#include <vector>

#include "ptx/flow.h"
#include "ptx/neighbours.h"

namespace weft::ptx {

class Loops {
 public:
  explicit Loops(const FlowGraph& flow);

  // A block of code that no thread reaches has no predecessors, and belongs to no loop.
  Neighbours::Range predecessors(std::uint32_t block) const { return predecessors_[block]; }
  bool is_reachable(std::uint32_t block) const { return reachable_[block]; }
  std::uint32_t immediate_dominator(std::uint32_t block) const { return dominator_[block]; }
  // How many blocks dominate it.
  std::uint32_t depth(std::uint32_t block) const { return depth_[block]; }
  bool dominates(std::uint32_t a, std::uint32_t b) const {
    return number_[a] <= number_[b] && number_[b] < number_[a] + size_[a];
  }
  // The closest block that dominates both.
  std::uint32_t common_dominator(std::uint32_t a, std::uint32_t b) const;
  // Whether an edge leads back to a block that comes before its begin, in a loop of either kind.
  bool leads_back(std::uint32_t from, std::uint32_t to) const { return order_[from] >= order_[to]; }

  // The innermost loop that holds the block, by its header; kNone.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t loop_of(std::uint32_t block) const { return is_header_[block] ? block : around_[block]; }
  // The loop around the loop of a header; kNone.
  std::uint32_t around(std::uint32_t header) const { return around_[header]; }
  bool holds(std::uint32_t header, std::uint32_t block) const;
  // The outermost loop that holds `block` and not `other`; kNone.
  std::uint32_t outermost_without(std::uint32_t block, std::uint32_t other) const;

 private:
  void number_blocks(const FlowGraph& flow);
  void find_loops(const FlowGraph& flow);

  static std::vector<GraphEdge> edges_of(const FlowGraph& flow, const std::vector<bool>& reachable);

  std::vector<bool> reachable_;
  Neighbours predecessors_;
  std::vector<std::uint32_t> dominator_, depth_;
  std::vector<std::uint32_t> order_;          // reverse post-order
  std::vector<std::uint32_t> number_, size_;  // pre-order and size of its part of the tree of dominators
  std::vector<bool> is_header_;
  std::vector<std::uint32_t> around_;  // the innermost loop that holds a block, other than its own
};

}  // namespace weft::ptx

#endif
