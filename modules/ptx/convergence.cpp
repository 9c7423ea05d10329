#include "ptx/convergence.h"

#include <algorithm>

#include "ptx/liveness.h"
#include "ptx/loops.h"

namespace weft::ptx {
namespace {

bool is_memory_of_a_thread(const Instruction& i) {
  return i.space == Space::kLocal || i.space == Space::kGeneric;
}

// Which branches depend on what polls return. Where a register holds it once, it counts as if it always did.
class Polling {
 public:
  Polling(const Draft& draft, const std::vector<bool>& polls, const FlowGraph& flow, const Loops& loops)
      : draft_(draft), polls_(polls), flow_(flow), loops_(loops), holds_(draft.registers.size(), false) {
    spread();
    mark_loops();
  }

  bool loop_polls(std::uint32_t header) const { return polling_[header]; }
  // A loop of several entries.
  bool other_loop_polls() const { return any_; }

 private:
  // Until nothing changes any more: each round goes through the whole function, but most need two.
  void spread() {
    if (std::find(polls_.begin(), polls_.end(), true) == polls_.end()) return;
    for (bool changed = true; changed;) {
      changed = false;
      for (Pc pc = 0; pc < draft_.code.size(); ++pc) changed = spread(pc) || changed;
    }
  }
  bool spread(Pc pc) {
    const DraftInstruction& d = draft_.code[pc];
    bool given = polls_[pc];
    const bool is_access = is_memory_of_a_thread(d.fixed);
    if (d.fixed.op == Opcode::kCall) return given && set(memory_);
    if (d.fixed.op == Opcode::kLd && is_access) given = given || memory_;
    for_each_read(d, [&](VirtualId id) { given = given || holds_[id]; });
    if (!given) return false;
    if (d.fixed.op == Opcode::kSt && is_access) return set(memory_);
    bool changed = false;
    for_each_write(d, [&](VirtualId id) {
      changed = changed || !holds_[id];
      holds_[id] = true;
    });
    return changed;
  }
  static bool set(bool& flag) { return !std::exchange(flag, true); }

  bool depends(const DraftInstruction& branch) const {
    bool found = false;
    for_each_read(branch, [&](VirtualId id) { found = found || holds_[id]; });
    return found;
  }

  // The innermost loop that holds both the poll and a branch that depends on a poll.
  void mark_loops() {
    polling_.assign(flow_.blocks.size(), false);
    std::vector<bool> decides(flow_.blocks.size(), false);  // by header
    for (const BasicBlock& block : flow_.blocks) {
      const DraftInstruction& last = draft_.code[block.last];
      if (block.successors.size() < 2 || !depends(last)) continue;
      any_ = true;
      std::uint32_t loop = loops_.loop_of(flow_.block_of[block.last]);
      for (; loop != Loops::kNone && !decides[loop]; loop = loops_.around(loop)) decides[loop] = true;
    }
    for (Pc pc = 0; pc < draft_.code.size(); ++pc) {
      if (!polls_[pc]) continue;
      std::uint32_t loop = loops_.loop_of(flow_.block_of[pc]);
      while (loop != Loops::kNone && !decides[loop]) loop = loops_.around(loop);
      if (loop != Loops::kNone) polling_[loop] = true;
    }
  }

  const Draft& draft_;
  const std::vector<bool>& polls_;
  const FlowGraph& flow_;
  const Loops& loops_;
  std::vector<bool> holds_;    // by register
  bool memory_ = false;        // of the thread: its local memory, arguments and results
  std::vector<bool> polling_;  // by header
  bool any_ = false;
};

class Placement {
 public:
  Placement(const Draft& draft, const FlowGraph& flow, const Loops& loops, Convergence& result)
      : draft_(draft),
        flow_(flow),
        loops_(loops),
        exit_(static_cast<std::uint32_t>(flow.blocks.size())),
        result_(result),
        seen_(exit_, 0),
        waits_(exit_),
        leaves_(exit_),
        joins_(exit_) {}

  void place() {
    for (std::uint32_t block = 0; block < exit_; ++block) {
      if (!loops_.is_reachable(block)) continue;
      place_before(block);
      place_between_turns(block);
    }
    list_actions();
    place_at_calls();
  }

 private:
  struct Wait {
    std::uint32_t barrier = 0;
    std::uint32_t depth = 0;  // of the block where it is joined
    bool at_post_dominator = false;
  };

  // Several ways lead to the block, or a loop is left here.
  void place_before(std::uint32_t block) {
    if (block == 0) return;
    from_.clear();
    bool leaves_loop = false;
    for (const std::uint32_t p : loops_.predecessors(block)) {
      if (loops_.dominates(block, p)) continue;
      from_.push_back(p);
      leaves_loop = leaves_loop || loops_.outermost_without(p, block) != Loops::kNone;
    }
    if (from_.size() < 2 && !leaves_loop) return;
    std::uint32_t first = loops_.immediate_dominator(block);
    bool at_entry = false;
    while (true) {
      const std::uint32_t loop = loops_.outermost_without(first, block);
      if (loop == Loops::kNone) break;
      first = loops_.immediate_dominator(loop);
      at_entry = loop == 0;
      if (at_entry) break;
    }
    add(first, at_entry, block);
  }

  // Several ways lead back to a loop's header: those that go on with the loop meet there.
  void place_between_turns(std::uint32_t header) {
    from_.clear();
    std::uint32_t first = Loops::kNone;
    for (const std::uint32_t p : loops_.predecessors(header)) {
      if (!loops_.dominates(header, p)) continue;
      from_.push_back(p);
      first = first == Loops::kNone ? p : loops_.common_dominator(first, p);
    }
    if (from_.size() < 2) return;
    while (true) {
      const std::uint32_t loop = loops_.outermost_without(first, header);
      if (loop == Loops::kNone) break;
      first = loops_.immediate_dominator(loop);
    }
    add(first, false, header);
  }

  // A barrier that threads join in block `first`, or (`at_entry`) where the function begins, and wait at
  // before `block`. The region between them is what leads to the ends of the ways in `from_` without `first`.
  void add(std::uint32_t first, bool at_entry, std::uint32_t block) {
    ++mark_;
    region_.clear();
    const auto reach = [&](std::uint32_t b) {
      if (seen_[b] == mark_) return;
      seen_[b] = mark_;
      region_.push_back(b);
    };
    for (const std::uint32_t p : from_) reach(p);
    bool parts = false, at_post_dominator = false;
    for (std::size_t next = 0; next < region_.size();) {
      const std::uint32_t b = region_[next++];
      searched_ += 1 + flow_.blocks[b].successors.size();
      if (searched_ > kConvergenceSearch) return;
      if (may_part(flow_.blocks[b])) {
        parts = true;
        at_post_dominator = at_post_dominator || flow_.blocks[b].post_dominator == block;
      }
      if (b == first && !at_entry) continue;
      for (const std::uint32_t p : loops_.predecessors(b)) reach(p);
    }
    if (!parts) return;
    const std::uint32_t barrier = result_.barriers++;
    waits_[block].push_back({barrier, at_entry ? 0 : loops_.depth(first) + 1, at_post_dominator});
    using Kind = BarrierAction::Kind;
    joins_[first].push_back({at_entry ? Kind::kJoinAtEntry : Kind::kJoin, at_post_dominator, barrier});
    for (const std::uint32_t b : region_) {
      for (const std::uint32_t s : flow_.blocks[b].successors) {
        if (s == exit_ || s == block || (seen_[s] == mark_ && (s != first || at_entry))) continue;
        auto& here = leaves_[s];
        if (here.empty() || here.back().barrier != barrier)
          here.push_back({Kind::kLeave, at_post_dominator, barrier});
      }
    }
  }

  bool may_part(const BasicBlock& block) const {
    const Instruction& last = draft_.code[block.last].fixed;
    return block.successors.size() > 1 && !(last.is_branch() && last.uniform);
  }

  // By PC: threads leave first, then wait at what was joined last, then join.
  void list_actions() {
    for (std::uint32_t b = 0; b < exit_; ++b) {
      auto& actions = result_.actions[flow_.blocks[b].first];
      actions = std::move(leaves_[b]);
      std::stable_sort(waits_[b].begin(), waits_[b].end(),
                       [](const Wait& x, const Wait& y) { return x.depth > y.depth; });
      for (const Wait& wait : waits_[b])
        actions.push_back({BarrierAction::Kind::kWait, wait.at_post_dominator, wait.barrier});
      actions.insert(actions.end(), joins_[b].begin(), joins_[b].end());
    }
  }

  // A call through a register may lead threads to several functions, which return to the next instruction.
  void place_at_calls() {
    for (Pc pc = 0; pc + 1 < draft_.code.size(); ++pc) {
      const DraftInstruction& d = draft_.code[pc];
      if (d.fixed.op != Opcode::kCall || d.fixed.src[0].kind == Operand::Kind::kNone) continue;
      const std::uint32_t barrier = result_.barriers++;
      result_.actions[pc].push_back({BarrierAction::Kind::kJoin, true, barrier});
      auto& behind = result_.actions[pc + 1];
      behind.insert(behind.begin(), {BarrierAction::Kind::kWait, true, barrier});
    }
  }

  const Draft& draft_;
  const FlowGraph& flow_;
  const Loops& loops_;
  const std::uint32_t exit_;
  Convergence& result_;
  std::uint64_t searched_ = 0;  // blocks and edges
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> seen_;  // by block: the barrier whose region holds it
  std::vector<std::uint32_t> from_, region_;
  std::vector<std::vector<Wait>> waits_;                    // by block
  std::vector<std::vector<BarrierAction>> leaves_, joins_;  // by block
};

void mark_turns(const FlowGraph& flow, const Draft& draft, const Loops& loops, const Polling& polling,
                std::vector<std::uint8_t>& turns) {
  for (std::uint32_t b = 0; b < flow.blocks.size(); ++b) {
    const BasicBlock& block = flow.blocks[b];
    if (!loops.is_reachable(b)) continue;
    for (const std::uint32_t s : block.successors) {
      if (s == flow.blocks.size() || !loops.leads_back(b, s)) continue;
      const bool polls = loops.dominates(s, b) ? polling.loop_polls(s) : polling.other_loop_polls();
      const Instruction& last = draft.code[block.last].fixed;
      const bool by_branch = last.op == Opcode::kBrx || (last.is_branch() && flow.block_of[last.target] == s);
      auto& turn = turns[block.last];
      turn = static_cast<std::uint8_t>(turn | (by_branch ? Turn::kTaken : Turn::kFallThrough) |
                                       (polls ? Turn::kPolls : 0));
    }
  }
}

}  // namespace

bool is_poll(const Instruction& i) {
  if (i.op == Opcode::kAtom) return true;
  return i.op == Opcode::kLd && (i.is_volatile || i.fresh || i.mode == Mode::kAll);
}

Convergence find_convergence(const Draft& draft, const std::vector<bool>& polls, const FlowGraph& flow) {
  Convergence result;
  result.actions.resize(draft.code.size());
  result.turns.assign(draft.code.size(), 0);
  const Loops loops(flow);
  Placement(draft, flow, loops, result).place();
  mark_turns(flow, draft, loops, Polling(draft, polls, flow, loops), result.turns);
  return result;
}

}  // namespace weft::ptx
