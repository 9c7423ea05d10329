// Greedy then oldest (Rogers, O'Connor, Aamodt: Cache-conscious wavefront scheduling, MICRO 2012).
#include <cstdint>
#include <vector>

#include "weft/warp_formation/warp_order.h"

namespace weft::warp_formation {
namespace {

class GreedyThenOldest final : public WarpOrder {
 public:
  explicit GreedyThenOldest(const Setting& setting)
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
    for (unsigned c = oldest(left); c != kNone; c = oldest(left)) {
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
  unsigned oldest(const ContextSet& left) const {
    unsigned oldest = kNone;
    std::uint64_t first = UINT64_MAX;
    for (unsigned w = 0; w < words_; ++w) {
      for (std::uint64_t rest = left.word(w); rest != 0; rest &= rest - 1) {
        const unsigned c = w * 64 + static_cast<unsigned>(__builtin_ctzll(rest));
        if (arrivals_[c] >= first) continue;
        first = arrivals_[c];
        oldest = c;
      }
    }
    return oldest;
  }

  const unsigned contexts_, words_;
  std::vector<std::uint64_t> arrivals_;  // by context: the number of its warp's arrival
  std::uint64_t last_arrival_ = 0;
  unsigned last_ = kNone;
};

}  // namespace

WEFT_REGISTER_PART(part<GreedyThenOldest>("greedy_then_oldest", "the last one issued, else the oldest"))

}  // namespace weft::warp_formation
