// A suffix tree of DNA, in the layout that the kernels walk.
//
//   const SuffixTree tree(genome);              // Ukkonen's algorithm, then renumbered
//   tree.nodes()[id].children[base]             // kNone: there is none
//
// Nodes near the root are numbered level by level, those below depth first or in blocks of levels, so that
// threads that begin a search meet in few cache lines and a thread that goes on finds a node's descendants
// nearby. A node and its children lie side by side: a search reads both.
#ifndef WEFT_WORKLOADS_MUMMER_GPU_SUFFIX_TREE_H
#define WEFT_WORKLOADS_MUMMER_GPU_SUFFIX_TREE_H

#include <array>

#include "workloads/mummer_gpu/genome.h"

namespace weft::workloads {

class SuffixTree {
 public:
  static constexpr std::uint32_t kNone = 0, kRoot = 1;  // node numbers; nothing has the number 0
  static constexpr std::uint32_t kLeaf = 0x80000000u;

  struct Node {
    std::uint32_t begin = 0, end = 0;  // the edge to it: bases [begin, end); the terminator lies at the end
    std::uint32_t link = 0;            // suffix link; of a leaf: kLeaf | where its suffix begins
    std::uint32_t depth = 0;           // bases from the root, with the terminator
    std::array<std::uint32_t, 4> children{};  // by base; kNone: there is none
  };
  // How a traversal goes up, and the child whose edge begins with the terminator.
  struct Up {
    std::uint32_t parent = 0, ended = 0;
  };

  enum class Order {
    kByDepth,   // eight levels by breadth, each subtree below by depth
    kInBlocks,  // as MUMmerGPU 2 does: 17 levels by breadth, below a node with its next four levels by depth
  };

  explicit SuffixTree(const Bases& genome, Order order = Order::kByDepth);

  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Up>& ups() const { return ups_; }
  const Bases& text() const { return text_; }  // the genome with its terminator

 private:
  Bases text_;
  std::vector<Node> nodes_;
  std::vector<Up> ups_;
};

}  // namespace weft::workloads

#endif
