// Thread block compaction: all warps of a block's entry wait for each other at every branch.
//
// Fung, Aamodt: Thread block compaction for efficient SIMT control flow, HPCA 2011 (compacting_warps.h).
#include "warp_formation/compacting_warps.h"
#include "warp_formation/tbc_options.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Tbc final : public CompactingWarps {
 public:
  Tbc(const TbcOptions& options, const CommonConfig& config, const Geometry& geometry)
      : CompactingWarps(rules(options), config, geometry) {}

  void bind(statistics::Group& group) override {
    bind_shared(group, "stacks of all block slots at their deepest, and warp buffer", [] { return 0; });
  }

 private:
  static Rules rules(const TbcOptions& options) {
    Rules rules;
    rules.order = options.order;
    rules.likely = options.likely_points();
    rules.likely_key = true;
    return rules;
  }
};

WEFT_REGISTER_SCHEME(scheme<Tbc, TbcOptions>("tbc", "thread block compaction"))

}  // namespace
}  // namespace weft::warp_formation
