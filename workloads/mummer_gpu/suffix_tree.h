// A suffix tree of DNA, and its layout in two-dimensional textures.
//
//   const SuffixTree tree(genome);          // Ukkonen's algorithm, then renumbered
//   tree.nodes()[id], tree.children()[id]   // the texels of node id lie at (id % width, id / width)
//
// Nodes near the root are numbered level by level, those below depth first, so that threads that begin a
// search meet in few cache lines and a thread that goes on finds a node's descendants nearby.
#ifndef WEFT_WORKLOADS_MUMMER_GPU_SUFFIX_TREE_H
#define WEFT_WORKLOADS_MUMMER_GPU_SUFFIX_TREE_H

#include <array>

#include "workloads/mummer_gpu/genome.h"

namespace weft::workloads {

class SuffixTree {
 public:
  static constexpr std::uint32_t kNone = 0, kRoot = 1;  // node numbers; nothing has the number 0
  static constexpr std::uint32_t kTextureWidth = 2048;
  static constexpr std::uint32_t kLeaf = 0x80000000u;

  // What a texel of the node texture says.
  struct Node {
    std::uint32_t begin = 0, end = 0;  // the edge to it: bases [begin, end); the terminator lies at the end
    std::uint32_t link = 0;            // suffix link; of a leaf: kLeaf | where its suffix begins
    std::uint32_t depth = 0;           // bases from the root, with the terminator
  };
  using Children = std::array<std::uint32_t, 4>;  // by base; kNone: there is none
  // How a traversal goes up, and the child whose edge begins with the terminator.
  struct Up {
    std::uint32_t parent = 0, ended = 0;
  };

  explicit SuffixTree(const Bases& genome);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Children>& children() const { return children_; }
  const std::vector<Up>& ups() const { return ups_; }
  const Bases& text() const { return text_; }  // the genome with its terminator

 private:
  Bases text_;
  std::vector<Node> nodes_;
  std::vector<Children> children_;
  std::vector<Up> ups_;
};

}  // namespace weft::workloads

#endif
