// Where the lanes of a memory instruction went, for the coalescer and the bank-conflict logic.
//
//   record.clear();                                  // an instruction begins
//   LaneAccess& lanes = record.add(space, chunk, group, mask, bytes);
//
// Nothing is allocated once the record has been as large as the largest instruction needs.
#ifndef WEFT_EXECUTE_ACCESS_RECORD_H
#define WEFT_EXECUTE_ACCESS_RECORD_H

#include <array>
#include <cstdint>
#include <vector>

#include "isa/isa.h"
#include "weft/ptx/program.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {

// Where lanes of one chunk went in one address space, one element each.
struct LaneAccess {
  ptx::Space space = ptx::Space::kGlobal;  // kGlobal, kShared, kConst, kParam, kLocal (an offset in device
                                           // memory); kTexture: nowhere, the texture unit answers by itself
  std::uint16_t chunk = 0;
  std::uint16_t group = 0;  // its number among the groups of the issue
  std::uint32_t mask = 0;
  std::uint32_t bytes = 4;          // per lane
  std::uint64_t low = 0, high = 0;  // smallest and largest address of the lanes in the mask
  std::array<std::uint64_t, isa::kLanes>
      address{};  // kShared: offset; kParam: in the parameters; else in device memory, or + kSystemSpace
  // System memory: first and last byte of the window, + kSystemSpace.
  std::uint64_t window_first = 0, window_last = 0;
};

class AccessRecord {
 public:
  // Room for each group in three spaces, and local elements of up to four words each.
  AccessRecord() : accesses_(std::size_t{warp_formation::kMaxGroups} * 6) {}

  void clear() { count_ = 0; }
  unsigned count() const { return count_; }
  const LaneAccess* data() const { return accesses_.data(); }
  LaneAccess& operator[](unsigned number) { return accesses_[number]; }

  // Its addresses are the caller's to fill in. References to earlier ones end.
  LaneAccess& add(ptx::Space space, unsigned chunk, unsigned group, std::uint32_t mask, std::uint32_t bytes) {
    if (count_ == accesses_.size()) accesses_.emplace_back();
    LaneAccess& lanes = accesses_[count_++];
    lanes.space = space;
    lanes.chunk = static_cast<std::uint16_t>(chunk);
    lanes.group = static_cast<std::uint16_t>(group);
    lanes.mask = mask;
    lanes.bytes = bytes;
    return lanes;
  }

 private:
  std::vector<LaneAccess> accesses_;  // the first count_ are of the instruction
  unsigned count_ = 0;
};

}  // namespace weft::execute

#endif
