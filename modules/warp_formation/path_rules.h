// What a scheme with paths (path_scheme.h) asks of its rules, and what all such schemes count.
#ifndef WEFT_WARP_FORMATION_PATH_RULES_H
#define WEFT_WARP_FORMATION_PATH_RULES_H

#include <cstdint>
#include <ostream>

#include "warp_formation/warp_paths.h"
#include "weft/common/statistics.h"
#include "weft/common/storage.h"
#include "weft/warp_formation/table_accesses.h"

namespace weft::warp_formation {

// What rules are called for, in the order of the calls after an instruction: `exited` and `waits`, `before`
// for each path that goes on, `choose`. None of them comes while an instruction of the warp is in flight.
struct PathRules {
  struct Warp {};                         // what they keep for each warp
  static constexpr bool kBlocks = false;  // they block paths: `before` and `held_back` are called
  static constexpr bool kByPlace = true;  // paths that come to one place become one

  void attach(const ptx::Program& /*program*/) {}
  void reset() {}
  void start(Warp& /*own*/, WarpPaths& /*paths*/) {}
  // Threads of the last instruction exited, or wait at a block barrier.
  void exited(Warp& /*own*/, WarpPaths& /*paths*/, const WarpMask& /*threads*/) {}
  void waits(Warp& /*own*/, WarpPaths& /*paths*/, const WarpMask& /*threads*/) {}
  // Whether a step from one PC to another begins a loop anew (WarpPaths::Path::backward).
  bool turns(ptx::Pc from, ptx::Pc to) const { return to <= from; }
  // Whether threads go on at this place without `before`.
  bool passes(ptx::Pc /*pc*/) const { return true; }
  // The path is about to go on at its place: afterwards it has passed or is blocked. It may be split.
  void before(Warp& /*own*/, WarpPaths& /*paths*/, unsigned /*path*/) {}
  // Blocked threads that cannot go on before at least one of `standing` does.
  WarpMask held_back(const Warp& /*own*/, const WarpPaths& /*paths*/, const WarpMask& /*standing*/) const {
    return {};
  }
  // Issue slots that what the rules did since the last call takes: the warp offers nothing before.
  static constexpr bool kTakesSlots = false;
  bool takes_slots() const { return false; }
  unsigned take_slots(Warp& /*own*/) { return 0; }
  // Whether a path that enters the table is compared with its entries.
  bool searches() const { return false; }
  void bind(statistics::Group& /*group*/) {}
  void add_arrays(storage::Arrays& /*arrays*/) const {}  // beside the table of paths
  void describe(std::ostream& /*out*/, const Warp& /*own*/, unsigned /*words*/) const {}
};

// Rules by which a ready path comes before another. With the key `yield_after` (YieldOptionsOf) paths that
// turn in a loop give way to others after so many branches backward.
struct YieldingRules : PathRules {
  explicit YieldingRules(std::uint64_t yield_after) : yield_after_(yield_after) {}

  void reset() { yields_ = 0; }
  void bind(statistics::Group& group) {
    group.counter("yields", statistics::Unit("yields"),
                  "times that threads let others of their warp go first after branches backward", yields_);
  }

 protected:
  template <class Before>
  unsigned choose_by(WarpPaths& paths, Before&& before) {
    const unsigned first = paths.best(before);
    if (first == WarpPaths::kNone || yield_after_ == 0) return first;
    if (paths.ready() == 1) {
      paths.unhurried(first);
    } else if (paths[first].backward >= yield_after_) {
      ++yields_;
      return paths.give_way(first, before);
    }
    return first;
  }

 private:
  std::uint64_t yield_after_;
  std::uint64_t yields_ = 0;
};

// What such schemes count.
struct PathStatistics {
  std::uint64_t divergent_branches = 0, uniform_branches = 0, merges = 0, barriers_in_divergence = 0;
  std::uint64_t path_switches = 0, most_paths = 0;
  TableAccesses table;

  void bind(statistics::Group& group, const char* most, const char* most_meaning) {
    group.counter("divergent_branches", units::kBranches, "branches after which threads of a warp diverge",
                  divergent_branches);
    group.counter("uniform_branches", units::kBranches, "branches after which a warp stays together",
                  uniform_branches);
    group.counter("merges", statistics::Unit("merges"), "times that two paths of a warp became one", merges);
    group.counter("bar_in_divergence", statistics::Unit("barriers"),
                  "arrivals at a block barrier of a warp whose threads have diverged (undefined in CUDA)",
                  barriers_in_divergence);
    group.counter("path_switches", statistics::Unit("switches"),
                  "times that a warp changed to another path because threads came to a block barrier",
                  path_switches);
    group.maximum(most, units::kEntries, most_meaning, most_paths);
  }
};

}  // namespace weft::warp_formation

#endif
