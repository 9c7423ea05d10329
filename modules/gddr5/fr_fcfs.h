// The keys of the order `fr_fcfs`.
#ifndef WEFT_GDDR5_FR_FCFS_H
#define WEFT_GDDR5_FR_FCFS_H

#include <cstdint>

#include "weft/common/parts.h"

namespace weft::gddr5 {

struct FrFcfsOptions final : PartOptionsOf<FrFcfsOptions> {
  std::uint64_t row_hit_limit = 0;
  void describe(config::Visitor& v) override;
};

}  // namespace weft::gddr5

#endif
