#include "ptx/frontiers.h"

#include <algorithm>

#include "ptx/loops.h"

namespace weft::ptx {
namespace {

class Ranking {
 public:
  explicit Ranking(const FlowGraph& flow)
      : blocks_(flow.blocks),
        count_(static_cast<std::uint32_t>(flow.blocks.size())),
        position_(positions(flow.reverse_post_order)),
        forest_(flow.reverse_post_order, predecessors(flow.blocks),
                [this](std::uint32_t header, std::uint32_t block) {
                  return position_[header] <= position_[block];
                }),
        height_(count_, 0),
        top_(count_ + std::size_t{1}, 0),
        items_(count_ + std::size_t{1}),
        exits_(count_) {
    for (auto b = flow.reverse_post_order.rbegin(); b != flow.reverse_post_order.rend(); ++b) {
      items_[container(forest_.loop_of(*b))].push_back(*b);
      if (forest_.is_header(*b)) items_[container(forest_.around(*b))].push_back(*b);
    }
    for (std::uint32_t b = 0; b < count_; ++b) {
      for (const std::uint32_t s : blocks_[b].successors) {
        const std::uint32_t loop = s == count_ ? LoopForest::kNone : outermost_without(b, s);
        if (loop != LoopForest::kNone) exits_[loop].emplace_back(b, s);
      }
    }
  }

  // By block: the length of its path to the exit, at least 1.
  const std::vector<std::uint32_t>& heights() {
    struct Open {
      std::uint32_t loop;  // count_: the whole function
      std::size_t next;    // item
      std::uint32_t base;  // all of the loop is higher
    };
    std::vector<Open> open{{count_, 0, 0}};
    while (!open.empty()) {
      auto& [loop, next, base] = open.back();
      if (next < items_[loop].size()) {
        const std::uint32_t item = items_[loop][next++];
        if (item != loop && forest_.is_header(item)) {
          open.push_back({item, 0, std::max(base, highest_behind(item))});
        } else {
          set_height(item, loop, base);
        }
        continue;
      }
      const std::uint32_t top = top_[loop];
      open.pop_back();
      if (!open.empty()) top_[open.back().loop] = std::max(top_[open.back().loop], top);
    }
    return height_;
  }

 private:
  static std::vector<std::uint32_t> positions(const std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> position(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    return position;
  }
  static Neighbours predecessors(const std::vector<BasicBlock>& blocks) {
    const auto count = static_cast<std::uint32_t>(blocks.size());
    std::vector<GraphEdge> edges;
    for (std::uint32_t b = 0; b < count; ++b) {
      for (const std::uint32_t s : blocks[b].successors) {
        if (s != count) edges.emplace_back(b, s);
      }
    }
    return {edges, count, Neighbours::kBackward};
  }
  std::uint32_t container(std::uint32_t loop) const { return loop == LoopForest::kNone ? count_ : loop; }

  // LoopForest's, within the bounds of the search.
  std::uint32_t outermost_without(std::uint32_t block, std::uint32_t other) {
    std::uint32_t found = LoopForest::kNone;
    for (std::uint32_t loop = forest_.loop_of(block);
         loop != LoopForest::kNone && left_ != 0 && !forest_.holds(loop, other);
         loop = forest_.around(loop)) {
      found = loop;
      --left_;
    }
    return found;
  }
  // How high an edge leads: to the top of a loop that it enters. Headers of loops around have no height yet.
  std::uint32_t height_at_end(std::uint32_t from, std::uint32_t to) {
    if (to == count_) return 0;
    const std::uint32_t loop = outermost_without(to, from);
    return loop == LoopForest::kNone ? height_[to] : top_[loop];
  }
  void set_height(std::uint32_t block, std::uint32_t loop, std::uint32_t base) {
    for (const std::uint32_t s : blocks_[block].successors) base = std::max(base, height_at_end(block, s));
    height_[block] = base + 1;
    top_[loop] = std::max(top_[loop], height_[block]);
  }
  // What the loop leads to, and the loops around it do not leave.
  std::uint32_t highest_behind(std::uint32_t loop) {
    std::uint32_t height = 0;
    for (const auto& [from, to] : exits_[loop]) height = std::max(height, height_at_end(from, to));
    return height;
  }

  const std::vector<BasicBlock>& blocks_;
  const std::uint32_t count_;
  const std::vector<std::uint32_t> position_;  // by block: in reverse post-order
  const LoopForest forest_;
  std::vector<std::uint32_t> height_;  // by block; 0: not known yet
  std::vector<std::uint32_t> top_;     // by loop: height of its highest block
  std::vector<std::vector<std::uint32_t>>
      items_;                                  // by loop: its blocks, and headers of loops in it; last first
  std::vector<std::vector<GraphEdge>> exits_;  // by loop: edges that leave it and no loop around
  std::uint64_t left_ = kLoopSearch;
};

}  // namespace

void rank_blocks(FlowGraph& flow) {
  Ranking ranking(flow);
  const std::vector<std::uint32_t>& heights = ranking.heights();
  std::vector<std::uint32_t> order(flow.blocks.size());
  for (std::uint32_t b = 0; b < order.size(); ++b) order[b] = b;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return heights[a] > heights[b]; });
  for (std::uint32_t i = 0; i < order.size(); ++i) flow.blocks[order[i]].rank = i;
}

// Threads come to wait at block w from a block d, which then runs before all others. They wait as long as
// blocks of higher priority than w run. So they wait while `block` runs if a way leads to it over such blocks
// only, from where others may be when d has run: a successor of d, or a block between d and w.
std::vector<std::uint32_t> thread_frontier(const std::vector<BasicBlock>& blocks, std::uint32_t block) {
  const auto exit = static_cast<std::uint32_t>(blocks.size());
  std::vector<std::vector<std::uint32_t>> predecessors(exit);
  std::vector<std::uint32_t> by_rank(exit);
  for (std::uint32_t b = 0; b < exit; ++b) {
    by_rank[blocks[b].rank] = b;
    for (const std::uint32_t s : blocks[b].successors) {
      if (s != exit) predecessors[s].push_back(b);
    }
  }
  // By block: of all ways to `block`, the one whose last block in the order of priorities comes first has
  // this rank there; `exit`: there is none. Blocks become known in the order of these ranks.
  std::vector<std::uint32_t> worst(exit, exit);
  std::vector<std::uint32_t> work;
  const auto know = [&](std::uint32_t b, std::uint32_t rank) {
    worst[b] = rank;
    work.push_back(b);
  };
  std::vector<bool> next(exit, false);  // by rank: leads to a block that is known
  next[blocks[block].rank] = true;
  for (std::uint32_t rank = 0; rank < exit; ++rank) {
    if (!next[rank] || worst[by_rank[rank]] != exit || rank < blocks[block].rank) continue;
    know(by_rank[rank], rank);
    while (!work.empty()) {
      const std::uint32_t to = work.back();
      work.pop_back();
      for (const std::uint32_t p : predecessors[to]) {
        if (worst[p] != exit) continue;
        if (blocks[p].rank < rank) {
          know(p, rank);
        } else {
          next[blocks[p].rank] = true;
        }
      }
    }
  }
  std::vector<std::uint32_t> frontier;
  for (std::uint32_t w = 0; w < exit; ++w) {
    const std::uint32_t rank = blocks[w].rank;
    if (rank <= blocks[block].rank || predecessors[w].empty()) continue;
    std::uint32_t first = rank;  // of the blocks that lead there
    bool waits = false;
    for (const std::uint32_t d : predecessors[w]) {
      first = std::min(first, blocks[d].rank);
      for (const std::uint32_t s : blocks[d].successors) waits = waits || (s != exit && worst[s] < rank);
    }
    for (std::uint32_t r = first + 1; r < rank && !waits; ++r) waits = worst[by_rank[r]] < rank;
    if (waits) frontier.push_back(w);
  }
  return frontier;
}

namespace {

// Ranks that lie in overlapping loops, as edges that lead back are added: [to, from] of each.
class LoopSpans {
 public:
  explicit LoopSpans(std::uint32_t count) : parent_(count), covered_(count, false) {
    for (std::uint32_t rank = 0; rank < count; ++rank) parent_[rank] = rank;
  }
  void add(std::uint32_t from, std::uint32_t to) {
    covered_[from] = covered_[to] = true;
    for (std::uint32_t begin = begin_of(from); begin > to; begin = begin_of(from)) {
      parent_[begin] = begin - 1;
      covered_[begin - 1] = true;
    }
  }
  // The first rank of the span that holds this one; where there is none, `otherwise`.
  std::uint32_t begin_of(std::uint32_t rank, std::uint32_t otherwise) {
    return covered_[rank] ? begin_of(rank) : otherwise;
  }

 private:
  std::uint32_t begin_of(std::uint32_t rank) {
    while (parent_[rank] != rank) rank = parent_[rank] = parent_[parent_[rank]];
    return rank;
  }
  std::vector<std::uint32_t> parent_;  // towards the begin of the span
  std::vector<bool> covered_;
};

// By rank of a block w: threads may wait there from the block of this rank on, up to w. They came from a
// block d. If d runs before w, others run later than d, or in a loop that leads back from before w: while the
// end of a loop runs, nobody waits before it. If d leads back to w, it leads further back, too.
std::vector<std::uint32_t> waits_from(const std::vector<BasicBlock>& blocks) {
  const auto count = static_cast<std::uint32_t>(blocks.size());
  std::vector<std::uint32_t> by_rank(count), least(count, kNoRank);  // of a block's successors, by its rank
  std::vector<std::vector<std::uint32_t>> predecessors(count);       // ranks
  for (std::uint32_t b = 0; b < count; ++b) {
    by_rank[blocks[b].rank] = b;
    for (const std::uint32_t s : blocks[b].successors) {
      if (s == count) continue;
      predecessors[blocks[s].rank].push_back(blocks[b].rank);
      least[blocks[b].rank] = std::min(least[blocks[b].rank], blocks[s].rank);
    }
  }
  LoopSpans loops(count);
  std::vector<std::uint32_t> from(count, kNoRank);
  for (std::uint32_t w = 0; w < count; ++w) {
    for (const std::uint32_t d : predecessors[w]) {
      if (d < w) {
        from[w] = std::min(from[w], loops.begin_of(d, d + 1));
      } else if (least[d] < w) {
        from[w] = std::min(from[w], loops.begin_of(least[d], least[d]));
      }
    }
    for (const std::uint32_t s : blocks[by_rank[w]].successors) {
      if (s != count && blocks[s].rank <= w) loops.add(w, blocks[s].rank);
    }
  }
  return from;
}

}  // namespace

std::vector<std::uint32_t> conservative_targets(const std::vector<BasicBlock>& blocks) {
  const std::vector<std::uint32_t> from = waits_from(blocks);
  const auto count = static_cast<std::uint32_t>(blocks.size());
  // Blocks behind the current one, the nearest last: threads wait at each from an earlier block on than at
  // those that are nearer.
  std::vector<std::uint32_t> targets(count, kNoRank), behind;
  for (std::uint32_t rank = count; rank-- > 0;) {
    const auto nearer =
        std::partition_point(behind.begin(), behind.end(), [&](std::uint32_t w) { return from[w] <= rank; });
    if (nearer != behind.begin()) targets[rank] = *std::prev(nearer);
    while (!behind.empty() && from[behind.back()] >= from[rank]) behind.pop_back();
    behind.push_back(rank);
  }
  for (const BasicBlock& block : blocks) {
    for (const std::uint32_t s : block.successors) {
      if (s != count) targets[block.rank] = std::min(targets[block.rank], blocks[s].rank);
    }
  }
  return targets;
}

}  // namespace weft::ptx
