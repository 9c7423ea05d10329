#include "weft/warp_formation/likely_convergence.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {
namespace {

class Search {
 public:
  explicit Search(const ptx::Program& program)
      : blocks_(program.blocks),
        visited_(blocks_.size(), 0),
        place_(blocks_.size(), 0),
        share_(blocks_.size(), 0) {}

  // The likely point of the branch that ends block `branch` and whose reconvergence point begins block `end`:
  // a block number, or blocks_.size().
  std::uint32_t point_of(std::uint32_t branch, std::uint32_t end) {
    const auto none = static_cast<std::uint32_t>(blocks_.size());
    const auto& ways = blocks_[branch].successors;
    end_ = end;
    if (ways.size() < 2) return none;
    order_from(branch);
    struct Best {
      double first = 0, second = 0;  // the two greatest likelihoods of a block, over the ways out
    };
    std::vector<Best> best(order_.size());
    for (const std::uint32_t way : ways) {
      spread_from(way);
      for (std::size_t i = 0; i < order_.size(); ++i) {
        const double share = share_[order_[i]];
        if (share > best[i].first)
          best[i].second = std::exchange(best[i].first, share);
        else
          best[i].second = std::max(best[i].second, share);
      }
    }
    std::uint32_t point = none;
    double greatest = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const double likelihood = best[i].first * best[i].second;
      if (likelihood <= greatest) continue;
      greatest = likelihood;
      point = order_[i];
    }
    return point;
  }

 private:
  // Blocks between `branch` and its reconvergence point, which is not included, in reverse post-order; the
  // branch itself, to which a loop may lead back, comes last.
  void order_from(std::uint32_t branch) {
    ++mark_;
    order_.clear();
    path_.assign(1, {branch, 0});
    visited_[branch] = mark_;
    while (!path_.empty()) {
      auto& [block, next] = path_.back();
      const auto& successors = blocks_[block].successors;
      if (next == successors.size()) {
        order_.push_back(block);
        path_.pop_back();
        continue;
      }
      const std::uint32_t s = successors[next++];
      if (s == blocks_.size() || s == end_ || visited_[s] == mark_) continue;
      visited_[s] = mark_;
      path_.emplace_back(s, 0);
    }
    std::reverse(order_.begin(), order_.end());
    std::rotate(order_.begin(), order_.begin() + 1, order_.end());
    for (std::uint32_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  }

  // How likely a thread that leaves the branch by `way` comes through each block of `order_`. What goes back
  // to an earlier block is lost: threads of another path have left it by then.
  void spread_from(std::uint32_t way) {
    const auto inside = [this](std::uint32_t block) { return block < blocks_.size() && block != end_; };
    for (const std::uint32_t block : order_) share_[block] = 0;
    if (inside(way)) share_[way] = 1;
    for (const std::uint32_t block : order_) {
      if (share_[block] == 0) continue;
      const auto& successors = blocks_[block].successors;
      const double part = share_[block] / static_cast<double>(successors.size());
      for (const std::uint32_t s : successors) {
        if (inside(s) && place_[s] > place_[block]) share_[s] += part;
      }
    }
  }

  const std::vector<ptx::BasicBlock>& blocks_;
  std::uint32_t end_ = 0;                                    // the branch's reconvergence point
  std::vector<std::uint32_t> order_, visited_, place_;       // place_: of a block in order_
  std::uint32_t mark_ = 0;                                   // of this search in visited_
  std::vector<std::pair<std::uint32_t, std::size_t>> path_;  // block, its next successor
  std::vector<double> share_;                                // by block
};

}  // namespace

std::vector<ptx::Pc> likely_convergence_points(const ptx::Program& program, Reconvergence rule) {
  std::vector<ptx::Pc> points(program.code.size(), ptx::kNoPc);
  const auto block_at = [&program](ptx::Pc pc) {
    const auto found = std::lower_bound(program.blocks.begin(), program.blocks.end(), pc,
                                        [](const ptx::BasicBlock& b, ptx::Pc at) { return b.first < at; });
    return static_cast<std::uint32_t>(found - program.blocks.begin());
  };
  Search search(program);
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const ptx::Instruction& last = program.code[program.blocks[b].last];
    if (!last.is_branch() && last.op != ptx::Opcode::kBrx) continue;
    const std::uint32_t point = search.point_of(b, block_at(reconvergence_point(last, rule)));
    if (point < program.blocks.size()) points[program.blocks[b].last] = program.blocks[point].first;
  }
  return points;
}

}  // namespace weft::warp_formation
