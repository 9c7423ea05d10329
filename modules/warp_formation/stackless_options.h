// The key of stackless.
#ifndef WEFT_WARP_FORMATION_STACKLESS_OPTIONS_H
#define WEFT_WARP_FORMATION_STACKLESS_OPTIONS_H

#include <cstdint>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

struct StacklessOptions final : OptionsOf<StacklessOptions> {
  std::uint64_t yield_after = 0;

  void describe(config::Visitor& v) override {
    v.integer("yield_after", yield_after, {0, 1'000'000}, "branches",
              "threads that took so many branches backward while others of their warp could run let these go "
              "first; 0: never, as published");
  }
  void randomise(Random& random) override { yield_after = random() % 4; }
};

}  // namespace weft::warp_formation

#endif
