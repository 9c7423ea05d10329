// The predictor of compaction adequacy: whether warps that wait for each other at a branch are compacted into
// fewer. A table of branches, each with a saturating counter. Private to capri.cpp.
#ifndef WEFT_WARP_FORMATION_CAPRI_PREDICTOR_H
#define WEFT_WARP_FORMATION_CAPRI_PREDICTOR_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "warp_formation/capri_options.h"
#include "warp_formation/pc_table.h"
#include "weft/common/archive.h"
#include "weft/warp_formation/table_accesses.h"

namespace weft::warp_formation {

class CapriPredictor {
 public:
  explicit CapriPredictor(const CapriOptions& options)
      : always_(options.predictor == AdequacyPredictor::kAlwaysAdequate),
        most_(options.predictor == AdequacyPredictor::kOneBit ? 1 : 3),
        branches_(options.capt_entries, options.capt_ways),
        counters_(options.capt_entries, 0) {}

  void clear() {
    branches_.clear();
    std::fill(counters_.begin(), counters_.end(), std::uint8_t{0});
  }
  void archive(Archive& archive) { archive(branches_, counters_); }

  // A branch that is not in the table is predicted adequate: it behaves as under tbc, and so it is learned.
  bool adequate(ptx::Pc branch) {
    if (always_) return true;
    ++uses_.reads;
    const std::size_t entry = branches_.use(branch);
    return entry == PcTable::kNowhere || counters_[entry] >= threshold();
  }
  // True: another branch made room.
  bool train(ptx::Pc branch, bool adequate) {
    if (always_) return false;
    ++uses_.writes;
    const PcTable::Inserted inserted = branches_.insert(branch);
    std::uint8_t& counter = counters_[inserted.index];
    if (inserted.fresh) counter = threshold();
    if (adequate && counter < most_) ++counter;
    if (!adequate && counter > 0) --counter;
    return inserted.evicted;
  }

  // {valid, tag, counter}.
  std::uint64_t entry_bits() const {
    return always_ ? 0 : branches_.bits() / branches_.entries() + (most_ == 1 ? 1 : 2);
  }
  std::uint64_t bits() const { return branches_.entries() * entry_bits(); }
  TableAccesses& uses() { return uses_; }

 private:
  // The least value that predicts adequate.
  std::uint8_t threshold() const { return most_ == 1 ? 1 : 2; }

  const bool always_;
  const std::uint8_t most_;
  PcTable branches_;
  std::vector<std::uint8_t> counters_;  // of the entries
  TableAccesses uses_;
};

}  // namespace weft::warp_formation

#endif
