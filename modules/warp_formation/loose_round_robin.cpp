// Loose round robin: whoever is ready after the warp that was issued last.
#include "warp_formation/round_robin.h"

namespace weft::warp_formation {
namespace {

class LooseRoundRobin final : public WarpOrder {
 public:
  explicit LooseRoundRobin(const Setting& setting) : contexts_(setting.contexts) {}
  Stall pick(const ContextSet& eligible, const Attempt& attempt, const ContextSet&) override {
    return turns_.pick(eligible, attempt, 0, contexts_);
  }
  void reset() override { turns_ = RoundRobin(); }
  void archive(Archive& archive) override { archive(turns_); }

 private:
  const unsigned contexts_;
  RoundRobin turns_;
};

}  // namespace

WEFT_REGISTER_PART(part<LooseRoundRobin>("loose_round_robin", "the next one after the last one issued"))

}  // namespace weft::warp_formation
