// Greedy then oldest (Rogers, O'Connor, Aamodt: Cache-conscious wavefront scheduling, MICRO 2012).
#include <algorithm>
#include <vector>

#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {
namespace {

class GreedyThenOldest final : public WarpOrder {
 public:
  explicit GreedyThenOldest(const Setting& setting) : contexts_(setting.contexts) {
    by_age_.reserve(contexts_);
  }
  void arrived(unsigned context) override { by_age_.push_back(static_cast<std::uint16_t>(context)); }
  void left(unsigned context) override {
    by_age_.erase(std::find(by_age_.begin(), by_age_.end(), static_cast<std::uint16_t>(context)));
  }
  Stall pick(const ContextSet& eligible, const Attempt& attempt, const ContextSet&) override {
    Stall why = Stall::kNone;
    ContextSet left = eligible;  // not tried yet
    if (last_ < contexts_ && left.has(last_)) {
      why = attempt(last_);
      if (why == Stall::kNone) return why;
      left.remove(last_);
    }
    for (std::size_t i = 0; i < by_age_.size() && !left.empty(); ++i) {
      const unsigned c = by_age_[i];
      if (!left.has(c)) continue;
      const Stall stall = attempt(c);
      if (stall == Stall::kNone) {
        last_ = c;
        return stall;
      }
      why = worse(why, stall);
      left.remove(c);
    }
    return why == Stall::kNone ? Stall::kEmpty : why;
  }
  void reset() override {
    by_age_.clear();
    last_ = kNone;
  }
  void archive(Archive& archive) override { archive(at_rest(by_age_), last_); }

 private:
  static constexpr unsigned kNone = ContextSet::kMaxContexts - 1;

  const unsigned contexts_;
  std::vector<std::uint16_t> by_age_;  // oldest first
  unsigned last_ = kNone;
};

}  // namespace

WEFT_REGISTER_PART(part<GreedyThenOldest>("greedy_then_oldest", "the last one issued, else the oldest"))

}  // namespace weft::warp_formation
