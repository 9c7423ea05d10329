// Greedy orders: a scheduler stays with the warp that it issued last as long as it can. Then comes the first
// of the others by age, which the order says.
#ifndef WEFT_WARP_FORMATION_GREEDY_ORDER_H
#define WEFT_WARP_FORMATION_GREEDY_ORDER_H

#include <cstdint>
#include <vector>

#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {

enum class Age : std::uint8_t { kOldest, kYoungest };

template <Age kFirst>
class GreedyOrder final : public WarpOrder {
 public:
  explicit GreedyOrder(const Setting& setting)
      : contexts_(setting.contexts), words_((contexts_ + 63) / 64), arrivals_(contexts_, 0) {}
  void arrived(unsigned context) override { arrivals_[context] = ++last_arrival_; }
  void left(unsigned) override {}
  Stall pick(const ContextSet& eligible, const Attempt& attempt, const ContextSet&) override {
    Stall why = Stall::kNone;
    ContextSet left = eligible;  // not tried yet
    if (last_ < contexts_ && left.has(last_)) {
      why = attempt(last_);
      if (why == Stall::kNone) return why;
      left.remove(last_);
    }
    for (unsigned c = first(left); c != kNone; c = first(left)) {
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
    last_arrival_ = 0;
    last_ = kNone;
  }
  // Warps that arrive later have later numbers, whatever the last one was.
  void archive(Archive& archive) override {
    archive(last_);
    set_anew(arrivals_, last_arrival_);
  }

 private:
  static constexpr unsigned kNone = ContextSet::kMaxContexts;

  // Few are left as a rule: those that are known to wait are not among them.
  unsigned first(const ContextSet& left) const {
    unsigned found = kNone;
    std::uint64_t arrival = 0;
    for (unsigned w = 0; w < words_; ++w) {
      for (std::uint64_t rest = left.word(w); rest != 0; rest &= rest - 1) {
        const unsigned c = w * 64 + static_cast<unsigned>(__builtin_ctzll(rest));
        const bool later = arrivals_[c] >= arrival, earlier = arrivals_[c] <= arrival;
        if (found != kNone && (kFirst == Age::kOldest ? later : earlier)) continue;
        arrival = arrivals_[c];
        found = c;
      }
    }
    return found;
  }

  const unsigned contexts_, words_;
  std::vector<std::uint64_t> arrivals_;  // by context: the number of its warp's arrival, from 1 on
  std::uint64_t last_arrival_ = 0;
  unsigned last_ = kNone;
};

}  // namespace weft::warp_formation

#endif
