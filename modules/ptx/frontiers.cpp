#include "ptx/frontiers.h"

#include <algorithm>

namespace weft::ptx {
namespace {

class Ranking {
 public:
  explicit Ranking(const FlowGraph& flow)
      : blocks_(flow.blocks),
        count_(static_cast<std::uint32_t>(flow.blocks.size())),
        place_(count_, 0),
        region_(count_, 0),
        height_(count_, 0),
        top_(count_, 0),
        number_(count_, 0),
        low_(count_, 0) {
    for (std::uint32_t i = 0; i < count_; ++i) place_[flow.dominance_order[i]] = i;
  }

  // By block: the length of its path to the exit, at least 1.
  const std::vector<std::uint32_t>& heights() {
    std::vector<std::uint32_t> all(count_);
    for (std::uint32_t b = 0; b < count_; ++b) all[b] = b;
    enter(all, 0, kNone);
    while (!regions_.empty()) {
      Region& region = regions_.back();
      if (region.next == region.ends.size()) {
        close_loop(region.blocks);
        regions_.pop_back();
        continue;
      }
      const auto first = region.blocks.begin() +
                         static_cast<std::ptrdiff_t>(region.next == 0 ? 0 : region.ends[region.next - 1]);
      const auto last = region.blocks.begin() + static_cast<std::ptrdiff_t>(region.ends[region.next]);
      ++region.next;
      if (last - first == 1) {
        set_height(*first, region.base);
      } else {
        enter_loop({first, last}, region.base);
      }
    }
    return height_;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // Blocks whose edges to `head` are left out: the strongly connected components that are left, each before
  // those that lead to it. All of them are higher than `base`.
  struct Region {
    std::vector<std::uint32_t> blocks;  // of one component after the other ...
    std::vector<std::size_t> ends;      // ... each of which ends here
    std::size_t next = 0;
    std::uint32_t base = 0;
  };

  // Above the base and all blocks that it leads to. Those that have no height yet are heads of loops around
  // the block, to which it leads back.
  void set_height(std::uint32_t block, std::uint32_t base) {
    height_[block] = top_[block] = 1 + std::max(base, highest_after(block));
  }
  std::uint32_t highest_after(std::uint32_t block) const {
    std::uint32_t height = 0;
    for (const std::uint32_t s : blocks_[block].successors) {
      if (s != count_) height = std::max(height, top_[s]);
    }
    return height;
  }

  // Threads may come to the loop by several blocks of it, of which the first in the order of dominance is its
  // head.
  void enter_loop(std::vector<std::uint32_t> blocks, std::uint32_t base) {
    for (const std::uint32_t b : blocks) base = std::max(base, highest_after(b));
    std::sort(blocks.begin(), blocks.end(),
              [this](std::uint32_t a, std::uint32_t b) { return place_[a] < place_[b]; });
    if (left_ == 0) {
      for (auto b = blocks.rbegin(); b != blocks.rend(); ++b) set_height(*b, base);
      return close_loop(blocks);
    }
    enter(blocks, base, blocks[0]);
  }
  // What leads to a block of the loop, head or not, comes before all of it.
  void close_loop(const std::vector<std::uint32_t>& blocks) {
    std::uint32_t top = 0;
    for (const std::uint32_t b : blocks) top = std::max(top, height_[b]);
    for (const std::uint32_t b : blocks) top_[b] = top;
  }

  void enter(const std::vector<std::uint32_t>& blocks, std::uint32_t base, std::uint32_t head) {
    ++last_region_;
    for (const std::uint32_t b : blocks) {
      region_[b] = last_region_;
      number_[b] = 0;
      const std::uint64_t work = 1 + blocks_[b].successors.size();
      left_ -= std::min(left_, work);
    }
    regions_.emplace_back();
    regions_.back().blocks.reserve(blocks.size());
    regions_.back().base = base;
    last_number_ = 0;
    for (const std::uint32_t b : blocks) {
      if (number_[b] == 0) find_components(b, head);
    }
  }

  // Tarjan's search, from `root` on. A block that has been put into a component is in no region until that is
  // entered.
  void find_components(std::uint32_t root, std::uint32_t head) {
    const std::uint32_t region = last_region_;
    const auto visit = [this](std::uint32_t block) {
      number_[block] = low_[block] = ++last_number_;
      open_.push_back(block);
      path_.emplace_back(block, 0);
    };
    visit(root);
    while (!path_.empty()) {
      auto& [block, next] = path_.back();
      if (next < blocks_[block].successors.size()) {
        const std::uint32_t s = blocks_[block].successors[next++];
        if (s == count_ || s == head || region_[s] != region) continue;
        if (number_[s] == 0) {
          visit(s);
        } else {
          low_[block] = std::min(low_[block], number_[s]);
        }
        continue;
      }
      const std::uint32_t done = block;
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().first] = std::min(low_[path_.back().first], low_[done]);
      if (low_[done] == number_[done]) close(done);
    }
  }
  void close(std::uint32_t root) {
    std::vector<std::uint32_t>& closed = regions_.back().blocks;
    std::uint32_t block = kNone;
    while (block != root) {
      block = open_.back();
      open_.pop_back();
      region_[block] = 0;
      closed.push_back(block);
    }
    regions_.back().ends.push_back(closed.size());
  }

  const std::vector<BasicBlock>& blocks_;
  const std::uint32_t count_;
  std::vector<std::uint32_t> place_;         // by block: in the order of dominance
  std::vector<std::uint32_t> region_;        // by block; 0: none that is searched
  std::vector<std::uint32_t> height_;        // by block; 0: not known yet
  std::vector<std::uint32_t> top_;           // by block: height of the highest block of its loop, likewise
  std::vector<std::uint32_t> number_, low_;  // by block: of Tarjan's search; 0: not visited
  std::vector<std::uint32_t> open_;
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;  // block, its next successor
  std::vector<Region> regions_;
  std::uint32_t last_region_ = 0, last_number_ = 0;
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
