// Static re-reference interval prediction with hit priority (Jaleel, Theobald, Steely, Emer: High performance
// cache replacement using re-reference interval prediction, ISCA 2010, section 3): a line comes with the
// prediction that it is used again late, and is expected soon once it is. Lines that are used only once, as
// of a long scan, leave before those that are used again.
#include <algorithm>
#include <vector>

#include "weft/cache/replacement.h"

namespace weft::cache {
namespace {

struct SrripOptions final : PartOptionsOf<SrripOptions> {
  std::uint64_t bits = 2;  // section 3.2
  void describe(config::Visitor& v) override {
    v.integer("srrip_bits", bits, {1, 8}, "bits", "replacement srrip: of the prediction that each line has");
  }
};

class Srrip final : public Replacement {
 public:
  Srrip(const SrripOptions& options, const Setting& setting)
      : ways_(setting.ways),
        distant_(static_cast<std::uint8_t>((1u << options.bits) - 1)),
        predictions_(setting.places(), 0) {}

  void found(std::size_t place) override { predictions_[place] = 0; }
  void placed(std::size_t place, bool evicts) override {
    if (evicts) age(place);
    predictions_[place] = static_cast<std::uint8_t>(distant_ - 1);
  }
  // The first one of those that come last: after the ageing that `placed` makes up for it is the first that
  // is distant.
  std::size_t victim(const Set& set) const override {
    std::size_t best = set.end();
    for (std::size_t place = set.first; place < set.end(); ++place) {
      if (set.may_go(place) && (best == set.end() || predictions_[place] > predictions_[best])) best = place;
    }
    return best;
  }
  void reset() override { std::fill(predictions_.begin(), predictions_.end(), std::uint8_t{0}); }
  void archive(Archive& archive) override { archive(predictions_); }

 private:
  // All lines of the set come nearer to `distant` until the victim is there.
  void age(std::size_t victim) {
    const auto steps = static_cast<unsigned>(distant_ - predictions_[victim]);
    const std::size_t first = victim / ways_ * ways_;
    for (std::size_t place = first; place < first + ways_; ++place) {
      predictions_[place] =
          static_cast<std::uint8_t>(std::min<unsigned>(predictions_[place] + steps, distant_));
    }
  }

  const std::size_t ways_;
  const std::uint8_t distant_;
  std::vector<std::uint8_t> predictions_;
};

}  // namespace

WEFT_REGISTER_PART(part<Srrip, SrripOptions>("srrip",
                                             "one that was not used again, by a prediction per line"))

}  // namespace weft::cache
