// Simultaneous branch interweaving: beside an instruction begins one of another split of the same warp.
#include "warp_formation/interweaving.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Sbi final : public Interweaving {
 public:
  Sbi(const SbiOptions& options, const CommonConfig& config, const Geometry& geometry)
      : Interweaving(two_splits(options.constraints, config, geometry), config, geometry) {}
};

WEFT_REGISTER_SCHEME(scheme<Sbi, SbiOptions>("sbi",
                                             "two paths of a warp in lanes of a unit in the same cycle")
                         .that_issues_beside())

}  // namespace
}  // namespace weft::warp_formation
