// A plugin with parts other than schemes: each is what a user would write in a file of its own.
#include <algorithm>
#include <vector>

#include "weft/cache/replacement.h"
#include "weft/cache/set_index.h"
#include "weft/dram/request_order.h"
#include "weft/warp_formation/warp_order.h"

namespace weft {
namespace {

// The line that was used last makes room.
class Mru final : public cache::Replacement {
 public:
  explicit Mru(const Setting& setting) : used_(setting.places()) {}
  void found(std::size_t place) override { used_[place] = ++clock_; }
  void placed(std::size_t place, bool) override { found(place); }
  std::size_t victim(const Set& set) const override {
    std::size_t best = set.end();
    for (std::size_t place = set.first; place < set.end(); ++place) {
      if (set.may_go(place) && (best == set.end() || used_[place] > used_[best])) best = place;
    }
    return best;
  }
  void reset() override {
    std::fill(used_.begin(), used_.end(), 0u);
    clock_ = 0;
  }
  void archive(Archive& archive) override { archive(used_, clock_); }

 private:
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
};

struct RotatedOptions final : PartOptionsOf<RotatedOptions> {
  std::uint64_t bits = 1;
  void describe(config::Visitor& v) override {
    v.integer("rotated_bits", bits, {0, 16}, "bits", "set_index rotated: bits of the line's number left out");
  }
};
class Rotated final : public cache::SetIndex {
 public:
  Rotated(const RotatedOptions& options, const Setting&) : bits_(options.bits) {}
  std::uint64_t mixed(std::uint64_t line) const override { return line >> bits_; }

 private:
  std::uint64_t bits_;
};

// The warp whose context has the highest number goes first.
class Last final : public warp_formation::WarpOrder {
 public:
  explicit Last(const Setting& setting) : contexts_(setting.contexts) {}
  warp_formation::Stall pick(const warp_formation::ContextSet& eligible, const Attempt& attempt,
                             const warp_formation::ContextSet&) override {
    warp_formation::Stall why = warp_formation::Stall::kEmpty;
    for (unsigned c = contexts_; c-- > 0;) {
      if (!eligible.has(c)) continue;
      const warp_formation::Stall stall = attempt(c);
      if (stall == warp_formation::Stall::kNone) return stall;
      why = worse(why, stall);
    }
    return why;
  }
  void reset() override {}
  void archive(Archive&) override {}

 private:
  const unsigned contexts_;
};

// The youngest request of a bank is served next.
class Youngest final : public dram::RequestOrder {
 public:
  explicit Youngest(const Setting&) {}
  std::uint16_t next(const dram::WaitingRequests& waiting) const override {
    std::uint16_t index = waiting.oldest();
    while (waiting.younger(index) != dram::WaitingRequests::kNone) index = waiting.younger(index);
    return index;
  }
};

WEFT_REGISTER_PART(part<Mru>("mru", "the most recently used"))
WEFT_REGISTER_PART(part<Rotated, RotatedOptions>("rotated", "without its lowest bits"))
WEFT_REGISTER_PART(part<Last>("last", "the highest context"))
WEFT_REGISTER_PART(part<Youngest>("youngest", "the youngest"))

}  // namespace
}  // namespace weft
