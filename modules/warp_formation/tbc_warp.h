// A warp of thread block compaction: threads of its block's top entry that run together. Private to tbc and
// capri.
#ifndef WEFT_WARP_FORMATION_TBC_WARP_H
#define WEFT_WARP_FORMATION_TBC_WARP_H

#include <cstdint>
#include <ostream>

#include "warp_formation/commit_record.h"
#include "weft/warp_formation/lane_packing.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::warp_formation {

struct TbcWarp {
  TbcWarp(unsigned rows, const LanePermuter& home) : packed(rows, home) {}
  bool live = false, in_flight = false;
  bool at_barrier = false, at_sync = false;  // threads of it wait, and so does the warp
  bool alone = false;                        // on paths of its own (lone_warp.h)
  bool to_barrier = false;                   // some are at a barrier once the instruction is done
  std::uint16_t slot = 0, depth = 0;
  ptx::Pc pc = ptx::kNoPc;
  PackedWarp packed;
  CommitRecord record;

  void count(Census& census) const {
    (in_flight    ? census.issued
     : at_barrier ? census.barrier
     : at_sync    ? census.warp_sync
                  : census.ready) += packed.threads();
  }

  void describe(std::ostream& out, const ptx::Program& program) const {
    out << "    warp of " << packed.threads() << " threads at pc " << pc << " (" << program.place(pc) << "): "
        << (in_flight    ? "instruction in flight"
            : at_barrier ? "waits at a barrier"
            : at_sync    ? "waits for others of its threads' original warps"
                         : "can be issued")
        << "\n";
  }
};

}  // namespace weft::warp_formation

#endif
