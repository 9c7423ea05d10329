// The keys of sbr; dwr and lwm, which have its stacks, go by its order too.
#ifndef WEFT_WARP_FORMATION_SBR_OPTIONS_H
#define WEFT_WARP_FORMATION_SBR_OPTIONS_H

#include <cstdint>

#include "weft/warp_formation/likely_option.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Which path of a divergent branch runs first (the top of the reconvergence stack).
enum class SbrOrder : std::uint8_t { kFallthroughFirst, kTakenFirst, kGs2Lane, kMinorityFirst };

// The key `order`.
inline void order_key(config::Visitor& v, SbrOrder& order, const char* meaning) {
  config::choice(v, "order", order,
                 {{"fallthrough_first", SbrOrder::kFallthroughFirst},
                  {"taken_first", SbrOrder::kTakenFirst},
                  {"gs2_lane", SbrOrder::kGs2Lane},
                  {"minority_first", SbrOrder::kMinorityFirst}},
                 meaning);
}

struct SbrOptions final : LikelyOptionsOf<SbrOptions> {
  SbrOrder order = SbrOrder::kFallthroughFirst;

  void describe(config::Visitor& v) override {
    order_key(v, order, "which path of a divergent branch runs first");
  }
  void randomise(Random& random) override {
    order = static_cast<SbrOrder>(random() % 4);
    randomise_likely(random);
  }
};

// How a reconvergence stack moves at a branch.
struct StackRules {
  SbrOrder order = SbrOrder::kFallthroughFirst;
  Reconvergence reconvergence = Reconvergence::kBarrierAware;
};

}  // namespace weft::warp_formation

#endif
