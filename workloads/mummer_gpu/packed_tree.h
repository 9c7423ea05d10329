// A suffix tree as two textures of 16-byte texels, in the layout of MUMmerGPU 2, which the Rodinia suite
// ships: of every node five fields of 24 bits and one byte.
//
//   node      parent, suffix link, begin, end, depth
//   children  by base A, C, G, T, then the child that ends the reference; the byte is 0
//             of a leaf: where its suffix begins, in the first field; the byte is 1
//
// Parents, links and children are addresses of texels. Consecutive nodes go down columns of 32 texels, so
// that a block of the texture holds nodes that lie near each other in the tree.
#ifndef WEFT_WORKLOADS_MUMMER_GPU_PACKED_TREE_H
#define WEFT_WORKLOADS_MUMMER_GPU_PACKED_TREE_H

#include "workloads/mummer_gpu/suffix_tree.h"

namespace weft::workloads {

struct PackedTree {
  using Texel = std::array<std::uint32_t, 4>;
  static constexpr std::uint32_t kWidth = 4096;  // texels of a row; there are at most as many rows

  explicit PackedTree(const SuffixTree& tree);

  // Column, and row << 16, of a node's two texels. No node has the address 0.
  static std::uint32_t address_of(std::uint32_t node);

  std::vector<Texel> nodes, children;  // row by row
};

}  // namespace weft::workloads

#endif
