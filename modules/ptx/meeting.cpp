#include "ptx/meeting.h"

#include <algorithm>

namespace weft::ptx {
namespace {

bool is_indirect(const Instruction& call) {
  return call.src[0].kind != Operand::Kind::kNone;
}

bool any_with_address(const std::vector<bool>& barriers, const Reach& reach) {
  return std::any_of(reach.with_address.begin(), reach.with_address.end(),
                     [&](std::uint32_t function) { return barriers[function]; });
}

// The ways of one function, from each of its branches in turn.
class Search {
 public:
  Search(const FlowGraph& flow, std::vector<bool> waits, std::uint64_t limit)
      : blocks_(flow.blocks),
        exit_(static_cast<std::uint32_t>(flow.blocks.size())),
        waits_(std::move(waits)),
        limit_(limit),
        found_(blocks_.size(), 0),
        passed_(blocks_.size(), 0),
        before_(blocks_.size(), 0),
        place_(blocks_.size(), 0) {}

  std::uint32_t meeting_of(std::uint32_t branch) {
    ordinary_ = blocks_[branch].post_dominator;
    ++mark_;
    seen_ = 0;
    if (!find_way(branch)) return ordinary_;
    return first_common_block(branch);
  }

 private:
  bool is_inside(std::uint32_t block) const { return block != exit_ && block != ordinary_; }

  // One way from the branch to a block with a barrier, the shortest. False: there is none, or it is too far.
  bool find_way(std::uint32_t branch) {
    work_.clear();
    const auto reach = [this](std::uint32_t block, std::uint32_t from) {
      for (const std::uint32_t s : blocks_[block].successors) {
        if (!is_inside(s) || found_[s] == mark_) continue;
        found_[s] = mark_;
        before_[s] = from;
        work_.push_back(s);
      }
    };
    reach(branch, exit_);
    std::size_t next = 0;
    while (next < work_.size()) {
      const std::uint32_t block = work_[next++];
      if (++seen_ > limit_) return false;
      if (waits_[block]) {
        lay_down(block);
        return true;
      }
      reach(block, block);
    }
    return false;
  }

  void lay_down(std::uint32_t last) {
    way_.clear();
    for (std::uint32_t block = last; block != exit_; block = before_[block]) way_.push_back(block);
    std::reverse(way_.begin(), way_.end());
    for (std::uint32_t i = 0; i < way_.size(); ++i) place_[way_[i]] = i + 1;
  }

  // Goes along the way found and looks how far ahead of it the other ways come. A block that none of them
  // comes past is common to all; the sink, behind the barriers, counts as the place after the last.
  std::uint32_t first_common_block(std::uint32_t branch) {
    const auto sink = static_cast<std::uint32_t>(way_.size() + 1);
    std::uint32_t farthest = 0;
    for (std::uint32_t i = 0; i < way_.size(); ++i) {
      farthest = std::max(farthest, reach_ahead(i == 0 ? branch : way_[i - 1], sink));
      if (farthest == sink) return ordinary_;
      if (farthest == i + 1) return way_[i];
    }
    return ordinary_;
  }

  // The farthest place of the way to which one leads from `from` beside it.
  std::uint32_t reach_ahead(std::uint32_t from, std::uint32_t sink) {
    std::uint32_t farthest = 0;
    work_.assign(1, from);
    while (!work_.empty()) {
      const std::uint32_t block = work_.back();
      work_.pop_back();
      if (++seen_ > limit_) return sink;
      for (const std::uint32_t s : blocks_[block].successors) {
        if (!is_inside(s)) continue;
        if (is_on_way(s)) {
          farthest = std::max(farthest, place_[s]);
        } else if (waits_[s]) {
          return sink;
        } else if (passed_[s] != mark_) {
          passed_[s] = mark_;
          work_.push_back(s);
        }
      }
    }
    return farthest;
  }
  // Places of earlier searches are still there.
  bool is_on_way(std::uint32_t block) const {
    const std::uint32_t place = place_[block];
    return place != 0 && place <= way_.size() && way_[place - 1] == block;
  }

  const std::vector<BasicBlock>& blocks_;
  const std::uint32_t exit_;
  const std::vector<bool> waits_;
  const std::uint64_t limit_;
  std::uint64_t seen_ = 0;                     // blocks, by this search
  std::uint32_t ordinary_ = 0;                 // the branch's post-dominator
  std::uint32_t mark_ = 0;                     // of this search in found_ and passed_
  std::vector<std::uint32_t> found_, passed_;  // by block
  std::vector<std::uint32_t> before_, place_;  // by block: the one before it; where on the way, from 1 on
  std::vector<std::uint32_t> way_, work_;
};

}  // namespace

std::vector<bool> functions_with(IsKind is_kind, const std::vector<const Draft*>& functions,
                                 const Reach& reach) {
  std::vector<bool> found(functions.size(), false), has_address(functions.size(), false);
  for (const std::uint32_t function : reach.with_address) has_address[function] = true;
  std::vector<std::vector<std::uint32_t>> callers(functions.size());
  std::vector<std::uint32_t> indirect_callers, work;
  const auto add = [&](std::uint32_t function) {
    if (found[function]) return;
    found[function] = true;
    work.push_back(function);
  };
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    for (const DraftInstruction& d : functions[f]->code) {
      if (is_kind(d.fixed)) add(f);
      if (d.fixed.op != Opcode::kCall) continue;
      (is_indirect(d.fixed) ? indirect_callers : callers[d.callee]).push_back(f);
    }
  }
  while (!work.empty()) {
    const std::uint32_t function = work.back();
    work.pop_back();
    for (const std::uint32_t caller : callers[function]) add(caller);
    if (!has_address[function]) continue;
    for (const std::uint32_t caller : indirect_callers) add(caller);
    indirect_callers.clear();
  }
  return found;
}

std::vector<bool> places_with(IsKind is_kind, const Draft& draft, const std::vector<bool>& functions,
                              const Reach& reach) {
  const bool behind_addresses = any_with_address(functions, reach);
  std::vector<bool> found(draft.code.size(), false);
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    const DraftInstruction& d = draft.code[pc];
    found[pc] = is_kind(d.fixed) || (d.fixed.op == Opcode::kCall &&
                                     (is_indirect(d.fixed) ? behind_addresses : functions[d.callee]));
  }
  return found;
}

bool is_block_barrier(const Instruction& i) {
  return i.is_barrier();
}

void find_meeting_points(const Draft& draft, const std::vector<bool>& barriers, const Reach& reach,
                         FlowGraph& flow) {
  const std::size_t count = flow.blocks.size();
  flow.meeting.resize(count);
  for (std::size_t b = 0; b < count; ++b) flow.meeting[b] = flow.blocks[b].post_dominator;
  const std::vector<bool> here = places_with(is_block_barrier, draft, barriers, reach);
  std::vector<bool> waits(count, false);
  bool any = false;
  for (Pc pc = 0; pc < draft.code.size(); ++pc) {
    if (!here[pc]) continue;
    waits[flow.block_of[pc]] = true;
    any = true;
  }
  if (!any) return;
  const auto parts = [&](const BasicBlock& block) {
    const Instruction& last = draft.code[block.last].fixed;
    return block.successors.size() > 1 && (last.is_branch() || last.op == Opcode::kBrx);
  };
  const auto branches =
      static_cast<std::uint64_t>(std::count_if(flow.blocks.begin(), flow.blocks.end(), parts));
  Search search(flow, std::move(waits), kMeetingSearch / std::max<std::uint64_t>(branches, 1));
  for (std::uint32_t b = 0; b < count; ++b) {
    if (parts(flow.blocks[b])) flow.meeting[b] = search.meeting_of(b);
  }
}

}  // namespace weft::ptx
