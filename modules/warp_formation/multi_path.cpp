// All paths of a warp under way at a time (ElTantawy et al.: A scalable multi-path microarchitecture for
// efficient GPU control flow, HPCA 2014): a table of splits, and one of the points at which they meet. With a
// time-out, as in AWARE (ElTantawy and Aamodt: MIMD synchronization on SIMT architectures, MICRO 2016).
#include "warp_formation/powers.h"
#include "warp_formation/split_options.h"
#include "warp_formation/split_scheme.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

class MultiPath final : public SplitScheme {
 public:
  MultiPath(const MultiPathOptions& options, const CommonConfig& config, const Geometry& geometry)
      : SplitScheme(rules(options, geometry), config, geometry), entries_(options.entries) {}

  storage::Arrays arrays(std::uint64_t) const override {
    storage::Arrays arrays;
    add(arrays, split_table());
    add(arrays, point_table());
    return arrays;
  }

 private:
  // Any thread may be a split.
  static SplitRules rules(const MultiPathOptions& options, const Geometry& geometry) {
    SplitRules rules;
    rules.at_a_time = WarpSplits::AtATime::kAll;
    rules.timeout = options.timeout;
    rules.shared_contexts = geometry.threads;
    return rules;
  }
  // PC, reconvergence point and threads: 12 bytes for warps of 32.
  storage::Array split_table() const {
    return storage::ram("split_table", warps() * entries_, 2 * kPcBits + warp_size());
  }
  // PC, point outside, threads that have come and threads to come: 16 bytes.
  storage::Array point_table() const {
    return storage::ram("reconvergence_table", warps() * entries_, 2 * kPcBits + 2 * warp_size());
  }

  void bind_tables(statistics::Group& group) override {
    Statistics& s = statistics();
    group.counter("timeouts", statistics::Unit("departures"),
                  "times that threads left a reconvergence point because nobody had come to it for too long",
                  s.timeouts);
    group.derived("spills", statistics::Quantity::kLevel, units::kEntries,
                  "entries that the fullest tables of a warp lacked", [this, &s] {
                    const auto lacks = [this](std::uint64_t most) {
                      return most > entries_ ? most - entries_ : 0;
                    };
                    return static_cast<double>(lacks(s.most_splits) + lacks(s.most_points));
                  });
    bind_storage(group, "both tables of all warps",
                 [this] { return static_cast<double>(storage::counted_bits(arrays(0))); });
    bind_table(group, split_table(), s.splits);
    bind_table(group, point_table(), s.points);
  }

  const std::uint64_t entries_;
};

WEFT_REGISTER_SCHEME(scheme<MultiPath, MultiPathOptions>(
    "multi_path", "all paths of a warp at a time, which meet at post-dominators"))

}  // namespace
}  // namespace weft::warp_formation
