// Two-level scheduling (Narasiman et al.: Improving GPU performance via large warps and two-level warp
// scheduling, MICRO 2011): round robin inside the prioritised fetch group; the next group when no warp of it
// can run, and that one becomes the prioritised one when the old group waits for memory only, or at the
// timeout.
#include "warp_formation/round_robin.h"
#include "warp_formation/two_level_options.h"

namespace weft::warp_formation {

void TwoLevelOptions::describe(config::Visitor& v) {
  v.begin("two_level", "two-level scheduling");
  v.integer("group_warps", group_warps, {1, 256}, "warps", "warps of one fetch group");
  v.integer(
      "timeout_instructions", timeout_instructions, {0, 1u << 30}, "instructions",
      "instructions after which a group gives way to the next; 0: only when all its warps wait for memory");
  v.end();
}

namespace {

class TwoLevel final : public WarpOrder {
 public:
  TwoLevel(const TwoLevelOptions& options, const Setting& setting)
      : size_(static_cast<unsigned>(options.group_warps)),
        timeout_(options.timeout_instructions),
        contexts_(setting.contexts),
        groups_((contexts_ + size_ - 1) / size_) {}

  void arrived(unsigned context) override { live_.add(context); }
  void left(unsigned context) override { live_.remove(context); }
  bool wants_far() const override { return true; }

  Stall pick(const ContextSet& eligible, const Attempt& attempt, const ContextSet& waits) override {
    ContextSet far = waits;
    auto noting = [&](unsigned context) {
      const Stall stall = attempt(context);
      if (stall == Stall::kMemory || stall == Stall::kBarrier) far.add(context);
      return stall;
    };
    Stall why = Stall::kNone;
    bool first_waits_long = false;
    for (unsigned i = 0; i < groups_; ++i) {
      const unsigned group = (prioritised_ + i) % groups_;
      const unsigned low = group * size_;
      const unsigned high = std::min(low + size_, contexts_);
      const Stall stall = turns_.pick(eligible, noting, low, high);
      if (stall == Stall::kNone) {
        count_issue(group, i > 0 && first_waits_long);
        return Stall::kNone;
      }
      if (i == 0) {
        ContextSet near = live_;
        near.remove(far);
        first_waits_long = near.next(low) >= high;
      }
      why = worse(why, stall);
    }
    return why;
  }

  void reset() override {
    live_.clear();
    turns_ = RoundRobin();
    prioritised_ = 0;
    issued_ = 0;
  }
  void archive(Archive& archive) override { archive(at_rest(live_), turns_, prioritised_, issued_); }

 private:
  void count_issue(unsigned group, bool switches) {
    if (switches) {
      prioritised_ = group;
      issued_ = 0;
    }
    ++issued_;
    if (timeout_ != 0 && issued_ >= timeout_) {
      prioritised_ = (prioritised_ + 1) % groups_;
      issued_ = 0;
    }
  }

  const unsigned size_;
  const std::uint64_t timeout_;
  const unsigned contexts_, groups_;
  ContextSet live_;
  RoundRobin turns_;
  unsigned prioritised_ = 0;  // fetch group
  std::uint64_t issued_ = 0;  // of it
};

}  // namespace

WEFT_REGISTER_PART(part<TwoLevel, TwoLevelOptions>("two_level", "by fetch groups"))

}  // namespace weft::warp_formation
