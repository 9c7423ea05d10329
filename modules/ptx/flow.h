// Basic blocks, successors, and immediate post-dominators with one virtual exit.
#ifndef WEFT_PTX_FLOW_H
#define WEFT_PTX_FLOW_H

#include <vector>

#include "ptx/draft.h"

namespace weft::ptx {

struct FlowGraph {
  std::vector<BasicBlock> blocks;       // in order of their PCs; blocks.size() stands for the virtual exit
  std::vector<std::uint32_t> block_of;  // by PC
  std::vector<std::uint32_t> dominance_order;  // a block comes after its dominators; unreachable blocks last
  std::vector<std::uint32_t> reverse_post_order;  // the same for reachable blocks, which come last
  std::vector<std::uint32_t> meeting;  // by block: where the threads that part at its end meet (meeting.h)
};

// A block ends after every bra, ret and exit, guarded or not, and before every branch target. A guarded ret
// or exit has the virtual exit as its second successor. Blocks from which no exit can be reached (endless
// loops) are connected to the virtual exit for the post-dominators only: the last such block in program order
// first, until all are.
FlowGraph build_flow(const Draft& draft);

}  // namespace weft::ptx

#endif
