#include "warp_formation/ways_to_points.h"

#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

WaysToPoints::WaysToPoints(const ptx::Program& program, const std::vector<ptx::Pc>& points,
                           Reconvergence rule)
    : block_of_(program.code.size(), 0), number_of_(program.code.size(), UINT32_MAX) {
  const auto blocks = static_cast<std::uint32_t>(program.blocks.size());
  std::vector<std::vector<std::uint32_t>> predecessors(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (ptx::Pc pc = program.blocks[b].first; pc <= program.blocks[b].last; ++pc) block_of_[pc] = b;
    for (const std::uint32_t s : program.blocks[b].successors) {
      if (s < blocks) predecessors[s].push_back(b);
    }
  }
  for (ptx::Pc branch = 0; branch < points.size(); ++branch) {
    const ptx::Pc point = points[branch];
    if (point == ptx::kNoPc) continue;
    if (number_of_[point] == UINT32_MAX) {
      number_of_[point] = static_cast<std::uint32_t>(leads_.size());
      leads_.emplace_back(blocks, 0);
    }
    const ptx::Pc end = reconvergence_point(program.code[branch], rule);
    std::vector<std::uint8_t> found(blocks, 0);
    std::vector<std::uint32_t> open{block_of_[point]};
    found[block_of_[point]] = 1;
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      leads_[number_of_[point]][block] = 1;
      for (const std::uint32_t p : predecessors[block]) {
        if (found[p] != 0 || (end != ptx::kNoPc && p == block_of_[end])) continue;
        found[p] = 1;
        open.push_back(p);
      }
    }
  }
}

}  // namespace weft::warp_formation
