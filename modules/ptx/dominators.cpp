#include "ptx/dominators.h"

#include <algorithm>

namespace weft::ptx {
namespace {

// Nodes are named by their numbers in a depth-first search from here on, so that an ancestor in its tree has
// the smaller number. Names are the paper's: semi(dominator), label, ancestor, bucket, EVAL.
class DominatorSearch {
 public:
  DominatorSearch(const Neighbours& successors, std::uint32_t nodes, std::uint32_t root)
      : number_(nodes, kNone) {
    const auto visit = [this](std::uint32_t node, std::uint32_t parent) {
      number_[node] = static_cast<std::uint32_t>(node_.size());
      node_.push_back(node);
      parent_.push_back(parent);
    };
    std::vector<std::pair<std::uint32_t, const std::uint32_t*>> path;  // node, its next successor
    visit(root, 0);
    path.emplace_back(root, successors[root].begin());
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == successors[node].end()) {
        path.pop_back();
        continue;
      }
      const std::uint32_t to = *next++;
      if (number_[to] != kNone) continue;
      visit(to, number_[node]);
      path.emplace_back(to, successors[to].begin());
    }
  }

  // By node.
  std::vector<std::uint32_t> run(const Neighbours& predecessors) {
    const std::size_t count = node_.size();
    semi_.resize(count);
    for (std::uint32_t v = 0; v < count; ++v) semi_[v] = v;
    label_ = semi_;
    ancestor_.assign(count, kNone);
    dominator_.assign(count, 0);
    bucket_.assign(count, kNone);
    next_in_bucket_.assign(count, kNone);
    for (auto w = static_cast<std::uint32_t>(count); --w > 0;) find_semidominator(w, predecessors);
    for (std::uint32_t w = 1; w < count; ++w) {
      if (dominator_[w] != semi_[w]) dominator_[w] = dominator_[dominator_[w]];
    }
    std::vector<std::uint32_t> result(number_.size(), node_[0]);
    for (std::uint32_t v = 0; v < count; ++v) result[node_[v]] = node_[dominator_[v]];
    return result;
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  void find_semidominator(std::uint32_t w, const Neighbours& predecessors) {
    for (const std::uint32_t p : predecessors[node_[w]]) {
      if (number_[p] != kNone) semi_[w] = std::min(semi_[w], semi_[evaluate(number_[p])]);
    }
    next_in_bucket_[w] = bucket_[semi_[w]];
    bucket_[semi_[w]] = w;
    const std::uint32_t parent = parent_[w];
    ancestor_[w] = parent;
    for (std::uint32_t v = bucket_[parent]; v != kNone; v = next_in_bucket_[v]) {
      const std::uint32_t u = evaluate(v);
      dominator_[v] = semi_[u] < semi_[v] ? u : parent;
    }
    bucket_[parent] = kNone;
  }

  // On the way from v up to a root of the forest, without it: the node with the smallest semidominator. The
  // way is made short for the next time, from its upper end on.
  std::uint32_t evaluate(std::uint32_t v) {
    if (ancestor_[v] == kNone) return v;
    for (std::uint32_t u = v; ancestor_[ancestor_[u]] != kNone; u = ancestor_[u]) way_.push_back(u);
    for (; !way_.empty(); way_.pop_back()) {
      const std::uint32_t u = way_.back(), above = ancestor_[u];
      if (semi_[label_[above]] < semi_[label_[u]]) label_[u] = label_[above];
      ancestor_[u] = ancestor_[above];
    }
    return label_[v];
  }

  std::vector<std::uint32_t> number_;         // by node
  std::vector<std::uint32_t> node_, parent_;  // by number
  std::vector<std::uint32_t> semi_, label_, ancestor_, dominator_;
  std::vector<std::uint32_t> bucket_, next_in_bucket_;  // lists of those whose semidominator is the node
  std::vector<std::uint32_t> way_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const std::vector<GraphEdge>& edges, std::uint32_t nodes,
                                                std::uint32_t root) {
  DominatorSearch search(Neighbours(edges, nodes, Neighbours::kForward), nodes, root);
  return search.run(Neighbours(edges, nodes, Neighbours::kBackward));
}

}  // namespace weft::ptx
