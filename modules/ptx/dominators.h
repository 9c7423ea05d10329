// Immediate dominators of a graph, by Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a
// Flowgraph" (TOPLAS 1979), in its simple version, O(edges · log nodes). Nothing recurses, so a graph may be
// one chain of a million nodes.
//
//   immediate_dominators({{0, 1}, {0, 2}, {1, 3}, {2, 3}}, 4, 0)  ->  0, 0, 0, 0
#ifndef WEFT_PTX_DOMINATORS_H
#define WEFT_PTX_DOMINATORS_H

#include "ptx/neighbours.h"

namespace weft::ptx {

// By node below `nodes`. The root, and what it does not reach, have the root.
std::vector<std::uint32_t> immediate_dominators(const std::vector<GraphEdge>& edges, std::uint32_t nodes,
                                                std::uint32_t root);

}  // namespace weft::ptx

#endif
