// Dynamic warp subdivision (Meng, Tarjan, Skadron: Dynamic warp subdivision for integrated branch and memory
// divergence tolerance, ISCA 2010): a warp with a reconvergence stack becomes several splits, at branches
// whose paths meet before a short block, and where some of its threads have their data before others.
#include "warp_formation/powers.h"
#include "warp_formation/split_options.h"
#include "warp_formation/split_scheme.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class Dws final : public SplitScheme {
 public:
  Dws(const DwsOptions& options, const CommonConfig& config, const Geometry& geometry)
      : SplitScheme(rules(options, geometry), config, geometry), entries_(options.entries) {}

  storage::Arrays arrays(std::uint64_t stack_entries) const override {
    storage::Arrays arrays;
    add(arrays, stack_array(warps(), stack_entries, warp_size()));
    add(arrays, split_table());
    return arrays;
  }

 private:
  // The splits of a table may all be one scheduler's.
  static SplitRules rules(const DwsOptions& options, const Geometry& geometry) {
    SplitRules rules;
    rules.at_a_time = WarpSplits::AtATime::kOne;
    rules.order = options.order;
    rules.divided = static_cast<unsigned>(options.entries);
    rules.shared_contexts = rules.divided * geometry.schedulers;
    rules.short_block =
        options.branches == BranchSplits::kNone ? 0 : static_cast<unsigned>(options.short_block);
    rules.merges = true;
    rules.memory = options.memory;
    rules.run_ahead = options.run_ahead;
    return rules;
  }
  // Warp, PC, reconvergence point, threads, and whether it is ready, waits for memory or at a barrier.
  storage::Array split_table() const {
    return storage::cam("warp_splits", entries_, bits_for(warps()) + 2 * kPcBits + warp_size() + 2);
  }
  // The lowest entry holds the whole warp; the others come in pairs at most.
  std::uint64_t deepest() { return statistics().most_points * 2 + 1; }

  void bind_tables(statistics::Group& group) override {
    Statistics& s = statistics();
    group.counter("branch_divisions", units::kBranches, "branches that divided a warp", s.branch_divisions);
    group.counter("memory_divisions", statistics::Unit("divisions"),
                  "times that threads whose data had come ran ahead of the others", s.memory_divisions);
    group.counter("full", statistics::Unit("divisions"),
                  "divisions that were refused because the warp-split table was full", s.full);
    group.counter("merges", statistics::Unit("merges"), "times that two splits became one where they met",
                  s.merges);
    group.maximum("most_entries", units::kEntries, "most entries of the warp-split table in use",
                  s.most_divided);
    group.derived("deepest_stack", statistics::Quantity::kLevel, units::kEntries,
                  "most entries that a reconvergence stack may have held",
                  [this] { return static_cast<double>(deepest()); });
    bind_storage(group, "stacks of all warps at their deepest, and the warp-split table",
                 [this] { return static_cast<double>(storage::counted_bits(arrays(deepest()))); });
    s.points.bind(
        group, "stacks", [this] { return static_cast<double>(warps() * deepest()); },
        [this] { return static_cast<double>(stack_array(1, 1, warp_size()).bits); });
    bind_table(group, split_table(), s.splits);
  }

  const std::uint64_t entries_;
};

WEFT_REGISTER_SCHEME(scheme<Dws, DwsOptions>(
    "dws", "warps that divide at branches and at loads of which some threads have their data"))

}  // namespace
}  // namespace weft::warp_formation
