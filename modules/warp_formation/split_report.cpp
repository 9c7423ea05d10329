// Census, statistics and dump.
#include <sstream>

#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

Census SplitScheme::census() const {
  Census census;
  for (const auto& warp : warps_) {
    if (warp.live) warp.splits.count(census);
  }
  return census;
}

WarpFormation::Next SplitScheme::next(unsigned context, Issue& issue) const {
  const Context& c = of_context_[context];
  if (c.split == kNone || !warps_[c.warp].live) return Next::kNone;
  fill(issue, context);
  return schedulers_[c.warp % schedulers_.size()].eligible.has(context) ? Next::kOffered : Next::kHeld;
}

unsigned SplitScheme::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

std::string SplitScheme::dump() const {
  std::ostringstream out;
  for (unsigned w = 0; w < warps(); ++w) {
    const Warp& warp = warps_[w];
    if (!warp.live) continue;
    out << "warp " << w << " (block slot " << warp.slot << ", threads " << warp.number * size_ << " to "
        << warp.number * size_ + size_ - 1 << "):"
        << (warp.at_barrier ? " waits at a block barrier"
            : warp.at_sync  ? " waits for other threads of its warp"
                            : " can run")
        << "\n";
    warp.splits.describe(out, size_, *program_);
  }
  return out.str();
}

void SplitScheme::bind(statistics::Group& group) {
  Statistics& s = statistics_;
  group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                s.divergent_branches);
  group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                s.uniform_branches);
  group.counter("bar_in_divergence", statistics::Unit("barriers"),
                "arrivals at a block barrier of a warp whose threads have diverged (undefined in CUDA)",
                s.barriers_in_divergence);
  group.counter("path_switches", statistics::Unit("switches"),
                "times that other threads of a warp ran because some came to a block barrier",
                s.path_switches);
  group.counter(
      "lone_departures", statistics::Unit("departures"),
      "times that threads left a reconvergence point without others, which waited at block barriers",
      s.lone_departures);
  group.counter("context_waits", units::kEntries, "splits that could run and found no context free",
                s.context_waits);
  group.maximum("most_splits", units::kEntries, "most splits of a warp", s.most_splits);
  group.maximum("most_points", units::kEntries,
                "most reconvergence points at which a warp had threads to meet", s.most_points);
  group.gauge(
      "parted_warps", units::kWarps, "warps whose threads are in more than one split or at points", [this] {
        return count_warps([](const Warp& w) { return w.splits.points() + w.splits.count() > 1 ? 1u : 0u; });
      });
  group.gauge("splits", units::kEntries, "splits of all warps",
              [this] { return count_warps([](const Warp& w) { return w.splits.count(); }); });
  bind_tables(group);
}

}  // namespace weft::warp_formation
