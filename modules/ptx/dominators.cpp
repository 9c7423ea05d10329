#include "ptx/dominators.h"

#include <algorithm>

namespace weft::ptx {
namespace {

// By node: the other ends of its edges, in one array.
class Neighbours {
 public:
  Neighbours(const std::vector<GraphEdge>& edges, std::uint32_t nodes, bool backward)
      : first_(nodes + std::size_t{1}, 0), ends_(edges.size()) {
    const auto node = [backward](const GraphEdge& e) { return backward ? e.second : e.first; };
    for (const GraphEdge& e : edges) ++first_[node(e) + std::size_t{1}];
    for (std::size_t n = 0; n < nodes; ++n) first_[n + 1] += first_[n];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (const GraphEdge& e : edges) ends_[next[node(e)]++] = backward ? e.first : e.second;
  }
  const std::uint32_t* begin(std::uint32_t node) const { return ends_.data() + first_[node]; }
  const std::uint32_t* end(std::uint32_t node) const { return ends_.data() + first_[node + std::size_t{1}]; }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> ends_;
};

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
    path.emplace_back(root, successors.begin(root));
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == successors.end(node)) {
        path.pop_back();
        continue;
      }
      const std::uint32_t to = *next++;
      if (number_[to] != kNone) continue;
      visit(to, number_[node]);
      path.emplace_back(to, successors.begin(to));
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
    const std::uint32_t node = node_[w];
    for (const std::uint32_t* p = predecessors.begin(node); p != predecessors.end(node); ++p) {
      if (number_[*p] != kNone) semi_[w] = std::min(semi_[w], semi_[evaluate(number_[*p])]);
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
  return DominatorSearch(Neighbours(edges, nodes, false), nodes, root).run(Neighbours(edges, nodes, true));
}

}  // namespace weft::ptx
