// Dual-path execution (Rhu and Erez: The dual-path execution model for efficient GPU control flow, HPCA
// 2013): of the branch that is innermost in a warp, both paths run at a time.
#include "warp_formation/powers.h"
#include "warp_formation/split_options.h"
#include "warp_formation/split_scheme.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class DualPath final : public SplitScheme {
 public:
  DualPath(const DualPathOptions& options, const CommonConfig& config, const Geometry& geometry)
      : SplitScheme(rules(options, config, geometry), config, geometry) {}

  storage::Arrays arrays(std::uint64_t stack_entries) const override {
    storage::Arrays arrays;
    add(arrays, stacks(stack_entries));
    return arrays;
  }

 private:
  // A second one for each warp.
  static SplitRules rules(const DualPathOptions& options, const CommonConfig& config,
                          const Geometry& geometry) {
    SplitRules rules;
    rules.at_a_time = WarpSplits::AtATime::kTwo;
    rules.order = options.order;
    rules.shared_contexts = geometry.threads / static_cast<unsigned>(config.warp_size);
    return rules;
  }
  // A row: the reconvergence point, and for each side its PC and its threads.
  storage::Array stacks(std::uint64_t rows) const {
    return storage::ram("stacks", warps() * rows, 3 * kPcBits + 2 * warp_size());
  }
  // The lowest row holds the whole warp.
  std::uint64_t deepest() { return statistics().most_points + 1; }

  void bind_tables(statistics::Group& group) override {
    group.derived("deepest_stack", statistics::Quantity::kLevel, units::kEntries,
                  "most rows that a stack held", [this] { return static_cast<double>(deepest()); });
    bind_storage(group, "stacks of all warps at their deepest",
                 [this] { return static_cast<double>(storage::counted_bits(arrays(deepest()))); });
    statistics().points.bind(
        group, "stacks", [this] { return static_cast<double>(stacks(deepest()).entries); },
        [this] { return static_cast<double>(stacks(1).bits); });
  }
};

WEFT_REGISTER_SCHEME(
    scheme<DualPath, DualPathOptions>("dual_path", "both paths of the innermost branch of a warp at a time"))

}  // namespace
}  // namespace weft::warp_formation
