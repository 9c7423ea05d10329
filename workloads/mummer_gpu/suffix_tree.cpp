#include "workloads/mummer_gpu/suffix_tree.h"

#include <algorithm>
#include <deque>

namespace weft::workloads {
namespace {

constexpr std::uint32_t kOpenEnd = UINT32_MAX;  // a leaf's edge grows with the text
constexpr std::uint32_t kLevelsByBreadth = 8;
constexpr std::uint32_t kLevelsBeforeBlocks = 16, kLevelsOfABlock = 5;

// Ukkonen, On-line construction of suffix trees, Algorithmica 14, 1995.
class Builder {
 public:
  struct Node {
    std::uint32_t begin = 0, end = 0, link = 0;
  };
  explicit Builder(const Bases& text) : text_(text) {
    nodes_.reserve(2 * text.size() + 1);
    child_.reserve(2 * text.size() + 1);
    nodes_.resize(2);
    child_.resize(2);
    nodes_[SuffixTree::kRoot].link = SuffixTree::kRoot;
    for (std::uint32_t i = 0; i < text.size(); ++i) extend(i);
    for (Node& node : nodes_) {
      if (node.end == kOpenEnd) node.end = static_cast<std::uint32_t>(text.size());
    }
  }

  std::vector<Node> nodes_;
  std::vector<std::array<std::uint32_t, 5>> child_;

 private:
  std::uint32_t add(std::uint32_t begin, std::uint32_t end) {
    nodes_.push_back({begin, end, SuffixTree::kRoot});
    child_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  std::uint32_t length(std::uint32_t node, std::uint32_t at) const {
    return std::min(nodes_[node].end, at + 1) - nodes_[node].begin;
  }
  void link_from_last(std::uint32_t node) {
    if (last_inner_ != SuffixTree::kNone) nodes_[last_inner_].link = node;
    last_inner_ = SuffixTree::kNone;
  }

  void extend(std::uint32_t at) {
    const std::uint8_t base = text_[at];
    ++remaining_;
    last_inner_ = SuffixTree::kNone;
    while (remaining_ > 0) {
      if (active_length_ == 0) active_edge_ = at;
      const std::uint32_t next = child_[active_node_][text_[active_edge_]];
      if (next == SuffixTree::kNone) {
        const std::uint32_t leaf = add(at, kOpenEnd);
        child_[active_node_][text_[active_edge_]] = leaf;
        link_from_last(active_node_);
      } else {
        const std::uint32_t edge = length(next, at);
        if (active_length_ >= edge) {  // walk down
          active_edge_ += edge;
          active_length_ -= edge;
          active_node_ = next;
          continue;
        }
        if (text_[nodes_[next].begin + active_length_] == base) {
          ++active_length_;
          link_from_last(active_node_);
          return;
        }
        split(next, at);
      }
      --remaining_;
      if (active_node_ == SuffixTree::kRoot && active_length_ > 0) {
        --active_length_;
        active_edge_ = at - remaining_ + 1;
      } else {
        active_node_ = nodes_[active_node_].link;
      }
    }
  }

  void split(std::uint32_t next, std::uint32_t at) {
    const std::uint32_t begin = nodes_[next].begin;
    const std::uint32_t inner = add(begin, begin + active_length_);
    const std::uint32_t leaf = add(at, kOpenEnd);
    child_[active_node_][text_[active_edge_]] = inner;
    child_[inner][text_[at]] = leaf;
    nodes_[next].begin = begin + active_length_;
    child_[inner][text_[nodes_[next].begin]] = next;
    link_from_last(inner);
    last_inner_ = inner;
  }

  const Bases& text_;
  std::uint32_t active_node_ = SuffixTree::kRoot, active_edge_ = 0, active_length_ = 0;
  std::uint32_t remaining_ = 0, last_inner_ = SuffixTree::kNone;
};

// Old numbers in their new order: the first levels by breadth, each subtree below by depth.
std::vector<std::uint32_t> order_of(const std::vector<std::array<std::uint32_t, 5>>& child) {
  std::vector<std::uint32_t> order{SuffixTree::kNone, SuffixTree::kRoot}, level{SuffixTree::kRoot};
  const auto children_of = [&](std::uint32_t node, auto visit) {
    for (const std::uint32_t next : child[node]) {
      if (next != SuffixTree::kNone) visit(next);
    }
  };
  for (std::uint32_t depth = 0; depth < kLevelsByBreadth; ++depth) {
    std::vector<std::uint32_t> below;
    for (const std::uint32_t node : level)
      children_of(node, [&](std::uint32_t next) { below.push_back(next); });
    order.insert(order.end(), below.begin(), below.end());
    level = std::move(below);
  }
  std::vector<std::uint32_t> stack;
  for (const std::uint32_t top : level) {
    children_of(top, [&](std::uint32_t next) { stack.push_back(next); });
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      stack.pop_back();
      order.push_back(node);
      children_of(node, [&](std::uint32_t next) { stack.push_back(next); });
    }
  }
  return order;
}

// Old numbers in the order of MUMmerGPU 2: by breadth, and from level 16 each node that is reached so brings
// its next four levels, by depth; those on the fifth wait for their turn.
class BlockOrder {
 public:
  explicit BlockOrder(const std::vector<std::array<std::uint32_t, 5>>& child) : child_(child) {
    order_.reserve(child.size());
    waiting_.emplace_back(SuffixTree::kRoot, 0);
    while (!waiting_.empty()) {
      const auto [node, level] = waiting_.front();
      waiting_.pop_front();
      append(node, level, level < kLevelsBeforeBlocks ? 1 : kLevelsOfABlock);
    }
  }
  const std::vector<std::uint32_t>& order() const { return order_; }

 private:
  void append(std::uint32_t node, std::uint32_t level, std::uint32_t levels) {
    order_.push_back(node);
    for (const std::uint32_t next : child_[node]) {
      if (next == SuffixTree::kNone) continue;
      if (levels > 1) {
        append(next, level + 1, levels - 1);
      } else {
        waiting_.emplace_back(next, level + 1);
      }
    }
  }
  const std::vector<std::array<std::uint32_t, 5>>& child_;
  std::vector<std::uint32_t> order_{SuffixTree::kNone};
  std::deque<std::pair<std::uint32_t, std::uint32_t>> waiting_;  // node, level
};

}  // namespace

SuffixTree::SuffixTree(const Bases& genome, Order numbered) : text_(genome) {
  text_.push_back(kTerminator);
  const Builder builder(text_);
  const std::vector<std::uint32_t> order =
      numbered == Order::kInBlocks ? BlockOrder(builder.child_).order() : order_of(builder.child_);
  std::vector<std::uint32_t> number(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  nodes_.resize(order.size());
  ups_.resize(order.size());
  // A parent comes before its children in this order, so its depth is known.
  for (std::uint32_t i = kRoot; i < order.size(); ++i) {
    const auto& old = builder.nodes_[order[i]];
    const auto& child = builder.child_[order[i]];
    Node& node = nodes_[i];
    const std::uint32_t edge = old.end - old.begin;
    node.begin = old.begin, node.end = old.end;
    node.depth = nodes_[ups_[i].parent].depth + edge;
    bool leaf = true;
    for (std::uint32_t base = 0; base < child.size(); ++base) {
      if (child[base] == kNone) continue;
      leaf = false;
      const std::uint32_t below = number[child[base]];
      ups_[below].parent = i;
      (base < 4 ? node.children[base] : ups_[i].ended) = below;
    }
    const auto whole = static_cast<std::uint32_t>(text_.size());
    node.link = leaf ? kLeaf | (whole - node.depth) : number[old.link];
  }
}

}  // namespace weft::workloads
