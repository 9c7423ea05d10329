// The keys of two-level scheduling.
#ifndef WEFT_WARP_FORMATION_TWO_LEVEL_OPTIONS_H
#define WEFT_WARP_FORMATION_TWO_LEVEL_OPTIONS_H

#include <cstdint>

#include "weft/common/parts.h"

namespace weft::warp_formation {

struct TwoLevelOptions final : PartOptionsOf<TwoLevelOptions> {
  std::uint64_t group_warps = 8;
  std::uint64_t timeout_instructions = 0;
  void describe(config::Visitor& v) override;
};

}  // namespace weft::warp_formation

#endif
