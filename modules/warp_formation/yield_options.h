// The keys of stackless and thread_frontiers, whose warps run one of their paths at a time (path_scheme.h).
#ifndef WEFT_WARP_FORMATION_YIELD_OPTIONS_H
#define WEFT_WARP_FORMATION_YIELD_OPTIONS_H

#include <cstdint>

#include "weft/warp_formation/warp_formation_config.h"

namespace weft::warp_formation {

template <class Own>
class YieldOptionsOf : public OptionsOf<Own> {
 public:
  std::uint64_t yield_after = 0;

  void describe(config::Visitor& v) override {
    v.integer("yield_after", yield_after, {0, 1'000'000}, "branches",
              "threads that took so many branches backward while others of their warp could run let these go "
              "first; 0: never, as published");
  }
  void randomise(Random& random) override { yield_after = random() % 4; }

 private:
  friend Own;
  YieldOptionsOf() = default;
};

struct StacklessOptions final : YieldOptionsOf<StacklessOptions> {};

// How the hardware finds the threads of the first block: a sorted stack, or a PC for each thread and branches
// that are conservative.
enum class FrontierMode : std::uint8_t { kSortedStack, kConservative };

struct ThreadFrontiersOptions final : YieldOptionsOf<ThreadFrontiersOptions> {
  FrontierMode mode = FrontierMode::kSortedStack;

  void describe(config::Visitor& v) override {
    config::choice(
        v, "mode", mode,
        {{"sorted_stack", FrontierMode::kSortedStack}, {"conservative", FrontierMode::kConservative}},
        "how a warp finds the block that runs next: by a sorted stack of its places, or by a PC for each "
        "thread and conservative branches");
    YieldOptionsOf<ThreadFrontiersOptions>::describe(v);
  }
  void randomise(Random& random) override {
    mode = static_cast<FrontierMode>(random() % 2);
    YieldOptionsOf<ThreadFrontiersOptions>::randomise(random);
  }
};

}  // namespace weft::warp_formation

#endif
