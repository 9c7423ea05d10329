// Immediate dominators by their definition, and on graphs deeper than any stack.
#include "ptx/dominators.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

namespace weft::ptx::testing::dominators_test {
namespace {

using Edges = std::vector<GraphEdge>;
constexpr std::uint32_t kNobody = UINT32_MAX;

// What the root reaches without passing `without`.
std::vector<bool> reached(const Edges& edges, std::uint32_t nodes, std::uint32_t root,
                          std::uint32_t without) {
  std::vector<std::vector<std::uint32_t>> successors(nodes);
  for (const auto& [from, to] : edges) successors[from].push_back(to);
  std::vector<bool> seen(nodes, false);
  std::vector<std::uint32_t> work{root};
  while (!work.empty()) {
    const std::uint32_t node = work.back();
    work.pop_back();
    if (node == without || seen[node]) continue;
    seen[node] = true;
    work.insert(work.end(), successors[node].begin(), successors[node].end());
  }
  return seen;
}

// d dominates n if n cannot be reached without d. Of the strict dominators of a node the immediate one is
// that which all others dominate: it has the most dominators itself.
std::vector<std::uint32_t> by_definition(const Edges& edges, std::uint32_t nodes, std::uint32_t root) {
  const std::vector<bool> reachable = reached(edges, nodes, root, kNobody);
  std::vector<std::vector<std::uint32_t>> dominators(nodes);
  for (std::uint32_t d = 0; d < nodes; ++d) {
    const std::vector<bool> without = reached(edges, nodes, root, d);
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (n != d && reachable[n] && !without[n]) dominators[n].push_back(d);
    }
  }
  std::vector<std::uint32_t> result(nodes, root);
  for (std::uint32_t n = 0; n < nodes; ++n) {
    for (const std::uint32_t d : dominators[n]) {
      if (dominators[d].size() >= dominators[result[n]].size()) result[n] = d;
    }
  }
  return result;
}

TEST(Dominators, AgreeWithTheirDefinition) {
  std::mt19937 random(1);
  for (int round = 0; round < 600; ++round) {
    const std::uint32_t nodes = 1 + static_cast<std::uint32_t>(random() % (round % 20 == 0 ? 120 : 24));
    // From trees, by loops and crossing edges, to dense graphs, with parts that the root does not reach.
    Edges edges(random() % (1 + nodes * (1 + round % 4)));
    for (auto& [from, to] : edges) {
      from = static_cast<std::uint32_t>(random() % nodes);
      to = round % 3 == 0 ? static_cast<std::uint32_t>(random() % nodes)
                          : std::min(nodes - 1, from + static_cast<std::uint32_t>(random() % 4));
    }
    const auto root = round % 3 == 0 ? static_cast<std::uint32_t>(random() % nodes) : 0u;
    ASSERT_EQ(immediate_dominators(edges, nodes, root), by_definition(edges, nodes, root)) << round;
  }
}

// The example of Lengauer and Tarjan's paper (Fig. 1 and 2).
TEST(Dominators, OfThePapersExample) {
  const std::string names = "RABCDEFGHIJKL";
  Edges edges;
  for (const char* edge : {"RA", "RB", "RC", "AD", "BA", "BD", "BE", "CF", "CG", "DL", "EH",
                           "FI", "GI", "GJ", "HE", "HK", "IK", "JI", "KI", "KR", "LH"}) {
    edges.emplace_back(names.find(edge[0]), names.find(edge[1]));
  }
  std::string found;
  for (const std::uint32_t d : immediate_dominators(edges, 13, 0)) found += names[d];
  EXPECT_EQ(found, "RRRRRRCCRRGRD");
}

TEST(Dominators, OfAMillionNodesInARow) {
  constexpr std::uint32_t kNodes = 1'000'000;
  Edges row, fan;
  for (std::uint32_t n = 0; n + 1 < kNodes; ++n) {
    row.emplace_back(n, n + 1);
    row.emplace_back(kNodes - 1, n);
    fan.emplace_back(0, n + 1);
    if (n != 0) fan.emplace_back(n, n + 1);
  }
  std::vector<std::uint32_t> before(kNodes);
  std::iota(before.begin() + 1, before.end(), 0u);
  EXPECT_EQ(immediate_dominators(row, kNodes, 0), before);
  EXPECT_EQ(immediate_dominators(fan, kNodes, 0), std::vector<std::uint32_t>(kNodes, 0));
}

}  // namespace
}  // namespace weft::ptx::testing::dominators_test
