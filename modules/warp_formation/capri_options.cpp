// The keys of capri, their rules, and values for tests.
#include "warp_formation/capri_options.h"

#include <array>

#include "warp_formation/table_rule.h"

namespace weft::warp_formation {

void CapriOptions::describe(config::Visitor& v) {
  config::choice(v, "order", order,
                 {{"fallthrough_first", SbrOrder::kFallthroughFirst},
                  {"taken_first", SbrOrder::kTakenFirst},
                  {"minority_first", SbrOrder::kMinorityFirst}},
                 "which path of a divergent branch runs first");
  config::choice(
      v, "predictor", predictor,
      {{"two_bit", AdequacyPredictor::kTwoBit},
       {"one_bit", AdequacyPredictor::kOneBit},
       {"always_adequate", AdequacyPredictor::kAlwaysAdequate}},
      "counter of a branch, which says whether warps wait there to be compacted: saturating, of two "
      "bits, or the last outcome; always_adequate: they always wait, as under tbc");
  v.integer("capt_entries", capt_entries, {1, 4096}, "entries",
            "compaction-adequacy prediction table; the default is recalled, not read in a source");
  v.integer("capt_ways", capt_ways, {1, 4096}, "ways",
            "associativity of the prediction table; the default is recalled, not read in a source");
  v.boolean("capt_survives_launch", capt_survives_launch,
            "the prediction table keeps its branches from launch to launch; false: it is empty when a kernel "
            "starts");
}

void CapriOptions::check(const std::string& where) const {
  check_table(where, "capt", capt_entries, capt_ways);
}

void CapriOptions::randomise(Random& random) {
  order =
      std::array{SbrOrder::kFallthroughFirst, SbrOrder::kTakenFirst, SbrOrder::kMinorityFirst}[random() % 3];
  predictor = std::array{AdequacyPredictor::kTwoBit, AdequacyPredictor::kTwoBit, AdequacyPredictor::kOneBit,
                         AdequacyPredictor::kAlwaysAdequate}[random() % 4];
  capt_ways = 1u << random() % 3;
  capt_entries = capt_ways << random() % 3;
  capt_survives_launch = random() % 4 != 0;
}

}  // namespace weft::warp_formation
