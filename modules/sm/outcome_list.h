// The outcomes of an issue, as a scheme is told of them: threads by where they go on.
#ifndef WEFT_SM_OUTCOME_LIST_H
#define WEFT_SM_OUTCOME_LIST_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "isa/isa.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::sm {

class OutcomeList {
 public:
  using Kind = warp_formation::Outcome::Kind;

  // Room for threads of one issue that each have an outcome of their own.
  OutcomeList() {
    groups_.reserve(std::size_t{2} * warp_formation::kMaxGroups * isa::kLanes);
    outcomes_.reserve(std::size_t{warp_formation::kMaxGroups} * isa::kLanes + 1);
  }

  void clear() {
    groups_.clear();
    outcomes_.clear();
  }
  // The groups added from here on have this outcome. One without threads gives way to the next.
  void begin(Kind kind, ptx::Pc next_pc, unsigned depth, std::uint32_t argument = 0) {
    drop_empty();
    warp_formation::Outcome outcome;
    outcome.kind = kind;
    outcome.next_pc = next_pc;
    outcome.depth = static_cast<std::uint16_t>(depth);
    outcome.argument = argument;
    outcome.groups = {groups_.data() + groups_.size(), 0};
    outcomes_.push_back(outcome);
  }
  // Those threads of `group` that the mask has.
  void add(const warp_formation::ThreadGroup& group, std::uint32_t mask) {
    if (mask == 0) return;
    groups_.push_back(group);
    groups_.back().mask = mask;
    ++outcomes_.back().groups.count;
  }

  // Whether all threads of the issue have one outcome, and that is to go on.
  bool is_one_way() {
    drop_empty();
    return outcomes_.size() == 1 && outcomes_[0].kind == Kind::kGo;
  }
  // The only outcome is of exactly the threads of the issue.
  void mark_whole() { outcomes_[0].whole = true; }
  warp_formation::Outcomes outcomes() {
    drop_empty();
    return {outcomes_.data(), static_cast<std::uint32_t>(outcomes_.size())};
  }

 private:
  void drop_empty() {
    if (!outcomes_.empty() && outcomes_.back().groups.count == 0) outcomes_.pop_back();
  }

  std::vector<warp_formation::ThreadGroup> groups_;
  std::vector<warp_formation::Outcome> outcomes_;
};

}  // namespace weft::sm

#endif
