// Simultaneous warp interweaving: beside an instruction begins one of another warp whose threads are on other
// lanes; with `branches`, also one of another split of the same warp, as under sbi.
#include "warp_formation/interweaving.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Swi final : public Interweaving {
 public:
  Swi(const SwiOptions& options, const CommonConfig& config, const Geometry& geometry)
      : Interweaving(rules(options, config, geometry), config, geometry) {}

 private:
  static SplitRules rules(const SwiOptions& options, const CommonConfig& config, const Geometry& geometry) {
    SplitRules rules = options.branches ? two_splits(true, config, geometry) : one_split();
    rules.sets = static_cast<unsigned>(options.sets);
    return rules;
  }
};

WEFT_REGISTER_SCHEME(
    scheme<Swi, SwiOptions>("swi", "two warps in lanes of a unit in the same cycle").that_issues_beside())

}  // namespace
}  // namespace weft::warp_formation
