// The keys of variable_warps.
#ifndef WEFT_WARP_FORMATION_VARIABLE_WARPS_OPTIONS_H
#define WEFT_WARP_FORMATION_VARIABLE_WARPS_OPTIONS_H

#include <cstdint>
#include <string>

#include "warp_formation/powers.h"
#include "warp_formation/sbr_options.h"

namespace weft::warp_formation {

// Whether gangs of a warp become one where they meet.
enum class Regang : std::uint8_t { kInelastic, kElastic };
// Whether slice-warps whose data have come wait for the others of their gang.
enum class GangMemory : std::uint8_t { kPatient, kImpatient };

struct VariableWarpsOptions final : OptionsOf<VariableWarpsOptions> {
  std::uint64_t slice = 4;
  Regang regang = Regang::kElastic;
  GangMemory memory = GangMemory::kPatient;
  SbrOrder order = SbrOrder::kFallthroughFirst;

  void describe(config::Visitor& v) override {
    v.integer(
        "slice", slice, {1, 32}, "lanes",
        "lanes of a slice, and threads of a slice-warp in a row: a power of two; not more than the SIMD "
        "group has, or the warp");
    config::choice(v, "regang", regang, {{"inelastic", Regang::kInelastic}, {"elastic", Regang::kElastic}},
                   "gangs of a warp that have split stay apart (recalled: I-VWS), or become one where they "
                   "meet (recalled: E-VWS)");
    config::choice(v, "memory", memory,
                   {{"patient", GangMemory::kPatient}, {"impatient", GangMemory::kImpatient}},
                   "a gang waits for the data of all its threads, or splits when some slice-warps have "
                   "theirs (recalled: E-VWS-ImpatientMem)");
    order_key(v, order, "which path of a divergent branch of a slice-warp runs first");
  }
  void check(const std::string& where) const override {
    if (power_of_two(slice)) return;
    throw InputError(where + "/slice",
                     "found " + std::to_string(slice) + "; allowed: powers of two from 1 to 32");
  }
  void randomise(Random& random) override {
    slice = std::uint64_t{1} << random() % 6;
    regang = static_cast<Regang>(random() % 2);
    memory = static_cast<GangMemory>(random() % 2);
    order = static_cast<SbrOrder>(random() % 4);
  }
};

}  // namespace weft::warp_formation

#endif
