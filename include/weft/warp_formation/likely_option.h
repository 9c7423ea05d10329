// The key `likely_convergence`, which schemes share whose reconvergence stack or barriers have such points
// (likely_convergence.h).
#ifndef WEFT_WARP_FORMATION_LIKELY_OPTION_H
#define WEFT_WARP_FORMATION_LIKELY_OPTION_H

#include <cstdint>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

// Where threads of a divergent branch wait for each other before its reconvergence point.
enum class LikelyConvergence : std::uint8_t { kOff, kStatic };

template <class Own>
class LikelyOptionsOf : public OptionsOf<Own> {
 public:
  LikelyConvergence likely_convergence = LikelyConvergence::kOff;
  bool likely_points() const { return likely_convergence != LikelyConvergence::kOff; }

  void describe_shared(config::Visitor& v) final {
    config::choice(v, "likely_convergence", likely_convergence,
                   {{"off", LikelyConvergence::kOff}, {"static", LikelyConvergence::kStatic}},
                   "schemes sbr, tbc, harp and crown: points before a branch's reconvergence point at which "
                   "threads also meet; static: chosen from the control-flow graph");
  }
  SchemeOptions::SharedKey shared_key() const final {
    return {"likely_convergence", likely_points(), "likely-convergence points"};
  }

 protected:
  void randomise_likely(Random& random) { likely_convergence = static_cast<LikelyConvergence>(random() % 2); }
};

}  // namespace weft::warp_formation

#endif
