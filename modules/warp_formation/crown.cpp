// CROWN (Lashgar's thesis slides, 2012), HARP's predecessor: the same mechanism with tables of its own, and
// a Waiting-Lookup whose oldest warp makes room (slide 52).
#include "warp_formation/reincarnating_warps.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Crown final : public ReincarnatingWarps {
 public:
  Crown(const CrownOptions& options, const CommonConfig& config, const Geometry& geometry)
      : ReincarnatingWarps(options, options.likely_points(), config.reconvergence, geometry) {}
};

WEFT_REGISTER_SCHEME(scheme<Crown, CrownOptions>("crown", "CROWN: tables per scheduler domain"))

}  // namespace
}  // namespace weft::warp_formation
