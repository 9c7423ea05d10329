// What sbi and swi share: simultaneous branch and warp interweaving (Brunie, Collange, Diamos: Simultaneous
// branch and warp interweaving for sustained GPU performance, ISCA 2012). A warp has a table of contexts: its
// splits, sorted by priority. In lanes that an instruction leaves free, another one begins in the same cycle.
#ifndef WEFT_WARP_FORMATION_INTERWEAVING_H
#define WEFT_WARP_FORMATION_INTERWEAVING_H

#include "warp_formation/powers.h"
#include "warp_formation/split_options.h"
#include "warp_formation/split_scheme.h"

namespace weft::warp_formation {

class Interweaving : public SplitScheme {
 public:
  storage::Arrays arrays(std::uint64_t entries) const override {
    storage::Arrays arrays;
    add(arrays, contexts_of_warps(entries));
    if (sets_ != 0) add(arrays, masks());
    return arrays;
  }

 protected:
  // One split of a warp at a time, or two, the second with a context of its own.
  static SplitRules one_split() {
    SplitRules rules;
    rules.frontier = 1;
    rules.merges = rules.beside = true;
    return rules;
  }
  static SplitRules two_splits(bool constraints, const CommonConfig& config, const Geometry& geometry) {
    SplitRules rules = one_split();
    rules.frontier = 2;
    rules.awaits_first = constraints;
    rules.shared_contexts = geometry.threads / static_cast<unsigned>(config.warp_size);
    return rules;
  }

  Interweaving(const SplitRules& rules, const CommonConfig& config, const Geometry& geometry)
      : SplitScheme(rules, config, geometry), branches_(rules.frontier > 1), sets_(rules.sets) {}

  void bind_tables(statistics::Group& group) override {
    Statistics& s = statistics();
    group.counter("merges", statistics::Unit("merges"), "times that two splits became one where they met",
                  s.merges);
    if (branches_) {
      group.counter("beside_own_warp", units::kInstructions,
                    "instructions that began beside one of another split of their warp", s.beside_own);
      group.counter("constrained", statistics::Unit("waits"),
                    "times that a split waited for the first one of its warp where paths of a branch meet",
                    s.constrained);
    }
    if (sets_ != 0) {
      group.counter("beside_other_warps", units::kInstructions,
                    "instructions that began beside one of another warp", s.beside_others);
      bind_table(group, masks(), s.masks);
    }
    group.derived("deepest_stack", statistics::Quantity::kLevel, units::kEntries,
                  "most splits of a warp: entries of its table of contexts",
                  [&s] { return static_cast<double>(s.most_splits); });
    bind_storage(group, "tables of contexts of all warps at their fullest, and what searches for masks",
                 [this, &s] { return static_cast<double>(storage::counted_bits(arrays(s.most_splits))); });
    s.splits.bind(
        group, "contexts",
        [this, &s] { return static_cast<double>(contexts_of_warps(s.most_splits).entries); },
        [this] { return static_cast<double>(contexts_of_warps(1).bits); });
  }

 private:
  // A PC, a call depth and a bit for each thread. The first ones are those that run.
  storage::Array contexts_of_warps(std::uint64_t entries) const {
    return storage::ram("contexts", warps() * entries, kPcBits + kDepthBits + warp_size());
  }
  // The threads of each warp's next instruction. A search asks for warps that have none in the lanes taken.
  storage::Array masks() const { return storage::cam("masks", warps(), warp_size()); }

  const bool branches_;
  const unsigned sets_;
};

}  // namespace weft::warp_formation

#endif
