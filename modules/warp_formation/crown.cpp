// CROWN (Lashgar's thesis slides, 2012), HARP's predecessor: the same mechanism with tables of its own, and
// a Waiting-Lookup whose oldest warp makes room (slide 52).
#include "warp_formation/reincarnating_warps.h"

namespace weft::warp_formation {
namespace {

class Crown final : public ReincarnatingWarps {
 public:
  Crown(const Config& config, const Geometry& geometry)
      : ReincarnatingWarps(config.crown, config.reconvergence, geometry) {}
};

WEFT_REGISTER_SCHEME("crown", Crown)

}  // namespace
}  // namespace weft::warp_formation
