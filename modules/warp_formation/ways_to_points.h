// From which places of a program threads may still come to a likely-convergence point of a branch: before the
// branch's reconvergence point, within its function. A compiler would tell the hardware by an instruction at
// the branches that turn away, as BREAK does on NVIDIA's GPUs.
#ifndef WEFT_WARP_FORMATION_WAYS_TO_POINTS_H
#define WEFT_WARP_FORMATION_WAYS_TO_POINTS_H

#include <cstdint>
#include <vector>

#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

class WaysToPoints {
 public:
  WaysToPoints() = default;
  // `points`: likely_convergence_points(program, rule).
  WaysToPoints(const ptx::Program& program, const std::vector<ptx::Pc>& points, Reconvergence rule);

  // A point of several branches: before the reconvergence point of any of them.
  bool lead(ptx::Pc from, ptx::Pc point) const { return leads_[number_of_[point]][block_of_[from]] != 0; }

 private:
  std::vector<std::uint32_t> block_of_;           // by PC
  std::vector<std::uint32_t> number_of_;          // of a point, by its PC
  std::vector<std::vector<std::uint8_t>> leads_;  // by a point's number and by block
};

}  // namespace weft::warp_formation

#endif
