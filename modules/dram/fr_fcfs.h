// The keys of the order `fr_fcfs`.
#ifndef WEFT_DRAM_FR_FCFS_H
#define WEFT_DRAM_FR_FCFS_H

#include <cstdint>

#include "weft/common/parts.h"

namespace weft::dram {

struct FrFcfsOptions final : PartOptionsOf<FrFcfsOptions> {
  std::uint64_t row_hit_limit = 0;
  void describe(config::Visitor& v) override;
};

}  // namespace weft::dram

#endif
