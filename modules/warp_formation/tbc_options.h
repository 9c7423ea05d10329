// The keys of tbc.
#ifndef WEFT_WARP_FORMATION_TBC_OPTIONS_H
#define WEFT_WARP_FORMATION_TBC_OPTIONS_H

#include <array>

#include "warp_formation/sbr_options.h"

namespace weft::warp_formation {

struct TbcOptions final : LikelyOptionsOf<TbcOptions> {
  SbrOrder order = SbrOrder::kFallthroughFirst;  // not kGs2Lane

  void describe(config::Visitor& v) override {
    config::choice(v, "order", order,
                   {{"fallthrough_first", SbrOrder::kFallthroughFirst},
                    {"taken_first", SbrOrder::kTakenFirst},
                    {"minority_first", SbrOrder::kMinorityFirst}},
                   "which path of a divergent branch runs first");
  }
  void randomise(Random& random) override {
    order = std::array{SbrOrder::kFallthroughFirst, SbrOrder::kTakenFirst,
                       SbrOrder::kMinorityFirst}[random() % 3];
    randomise_likely(random);
  }
};

}  // namespace weft::warp_formation

#endif
