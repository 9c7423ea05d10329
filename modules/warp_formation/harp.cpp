// HARP (Lashgar, Khonsari, Baniasadi: ACM TECS 2014): warps as wide as the SIMD group, reincarnated at
// reconvergence barriers; see reincarnating_warps.h.
#include "warp_formation/reincarnating_warps.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Harp final : public ReincarnatingWarps {
 public:
  Harp(const HarpOptions& options, const CommonConfig& config, const Geometry& geometry)
      : ReincarnatingWarps(options, options.likely_points(), config.reconvergence, geometry) {}
};

WEFT_REGISTER_SCHEME(scheme<Harp, HarpOptions>("harp", "HARP: tables per scheduler domain"))

}  // namespace
}  // namespace weft::warp_formation
