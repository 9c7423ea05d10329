// HARP (Lashgar, Khonsari, Baniasadi: ACM TECS 2014): warps as wide as the SIMD group, reincarnated at
// reconvergence barriers; see reincarnating_warps.h.
#include "warp_formation/reincarnating_warps.h"

namespace weft::warp_formation {
namespace {

class Harp final : public ReincarnatingWarps {
 public:
  Harp(const Config& config, const Geometry& geometry)
      : ReincarnatingWarps(config.harp, config.reconvergence, geometry) {}
};

WEFT_REGISTER_SCHEME("harp", Harp)

}  // namespace
}  // namespace weft::warp_formation
