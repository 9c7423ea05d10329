// Random graphs in compressed rows, and the search that checks the searches.
#ifndef WEFT_WORKLOADS_GRAPH_H
#define WEFT_WORKLOADS_GRAPH_H

#include <cstdint>
#include <vector>

#include "weft/common/error.h"
#include "weft/platform/gpu.h"
#include "workloads/host.h"

namespace weft::workloads {

inline constexpr std::int32_t kUnvisited = -1;

struct Graph {
  std::vector<std::int32_t> row,
      neighbour;  // compressed rows: edges of v are neighbour[row[v] .. row[v + 1])
};

// Every vertex gets `fewest` to `most` edges to vertices drawn uniformly. Throws InputError when they are
// more than the device can hold.
inline Graph random_graph(runtime::Device& device, std::uint32_t vertices, std::uint32_t fewest,
                          std::uint32_t most, std::uint32_t seed) {
  Random random(device, seed);
  const std::uint64_t room = device.gpu().config().dram.bytes / sizeof(std::int32_t);
  Graph graph;
  graph.row.reserve(vertices + 1);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    graph.row.push_back(static_cast<std::int32_t>(graph.neighbour.size()));
    const std::uint32_t edges = random.next() % (most - fewest + 1) + fewest;
    if (graph.neighbour.size() + edges > room) {
      throw InputError("size of the graph", "its edges need more device memory than dram.bytes, " +
                                                std::to_string(device.gpu().config().dram.bytes));
    }
    for (std::uint32_t i = 0; i < edges; ++i) {
      graph.neighbour.push_back(static_cast<std::int32_t>(random.next() % vertices));
    }
  }
  graph.row.push_back(static_cast<std::int32_t>(graph.neighbour.size()));
  return graph;
}

// Each edge and its reverse, in compressed rows.
inline Graph both_ways(const Graph& graph) {
  const std::size_t vertices = graph.row.size() - 1;
  std::vector<std::int32_t> edges(vertices, 0);
  const auto for_each_edge = [&](auto visit) {
    for (std::size_t from = 0; from < vertices; ++from) {
      for (std::int32_t edge = graph.row[from]; edge < graph.row[from + 1]; ++edge) {
        visit(static_cast<std::int32_t>(from), graph.neighbour[edge]);
      }
    }
  };
  for_each_edge([&](std::int32_t from, std::int32_t to) { ++edges[from], ++edges[to]; });
  Graph both;
  both.row.push_back(0);
  for (const std::int32_t count : edges) both.row.push_back(both.row.back() + count);
  both.neighbour.resize(2 * graph.neighbour.size());
  std::vector<std::int32_t> next(both.row.begin(), both.row.end() - 1);
  for_each_edge([&](std::int32_t from, std::int32_t to) {
    both.neighbour[next[from]++] = to;
    both.neighbour[next[to]++] = from;
  });
  return both;
}

inline std::vector<std::int32_t> levels_from_vertex_0(const Graph& graph) {
  std::vector<std::int32_t> level(graph.row.size() - 1, kUnvisited), queue{0};
  level[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const std::int32_t vertex = queue[head];
    for (std::int32_t edge = graph.row[vertex]; edge < graph.row[vertex + 1]; ++edge) {
      const std::int32_t next = graph.neighbour[edge];
      if (level[next] != kUnvisited) continue;
      level[next] = level[vertex] + 1;
      queue.push_back(next);
    }
  }
  return level;
}

}  // namespace weft::workloads

#endif
