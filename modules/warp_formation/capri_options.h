// The keys of capri.
#ifndef WEFT_WARP_FORMATION_CAPRI_OPTIONS_H
#define WEFT_WARP_FORMATION_CAPRI_OPTIONS_H

#include <cstdint>
#include <string>

#include "warp_formation/sbr_options.h"
#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// What says whether the warps of an entry wait for each other at a branch.
enum class AdequacyPredictor : std::uint8_t { kTwoBit, kOneBit, kAlwaysAdequate };

struct CapriOptions final : OptionsOf<CapriOptions> {
  SbrOrder order = SbrOrder::kFallthroughFirst;  // not kGs2Lane
  AdequacyPredictor predictor = AdequacyPredictor::kTwoBit;
  std::uint64_t capt_entries = 32, capt_ways = 8;
  bool capt_survives_launch = true;

  void describe(config::Visitor& v) override;
  void check(const std::string& where) const override;
  void randomise(Random& random) override;
};

}  // namespace weft::warp_formation

#endif
